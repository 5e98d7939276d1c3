"""Faults of planners: values, policies and the operator."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from properties.variants.faults import Fault
from robust_core import MDP, BoundedDensity, Contamination, Variant
from robust_core.validate import Floats

ACCURACY = 1e-9
POLICY_ACCURACY = 1e-6
NOMINAL = {"radii": (0.0,)}
LIMIT = 100_000
"""Sweeps after which a loop that never ends is called endless by its author too."""


def _size(mdp: MDP) -> float:
    return float(np.abs(mdp.cost).max())


def _backup(mdp: MDP, V: Floats) -> Floats:
    return mdp.cost + mdp.gamma * mdp.expectation(V)


def _iterate(mdp: MDP, over: Callable[[Floats, Floats, int], bool], backup: Any = _backup) -> Floats:
    """Value iteration until `over(new V, old V, sweeps)`."""
    V = np.zeros(mdp.n_states)
    for sweep in range(1, LIMIT):
        Q = backup(mdp, V)
        image = Q.min(axis=1)
        if over(image, V, sweep):
            return np.asarray(Q)
        V = image
    raise RuntimeError(f"no end after {LIMIT} sweeps")


def _converged(mdp: MDP, accuracy: float = ACCURACY) -> Callable[[Floats, Floats, int], bool]:
    limit = accuracy * (1.0 - mdp.gamma) / 4.0 * _size(mdp)
    return lambda image, V, sweep: bool(np.abs(image - V).max() <= limit)


def _optimal(mdp: MDP) -> Floats:
    return _iterate(mdp, _converged(mdp))


def _values_of(mdp: MDP, policy: Floats) -> Floats:
    """V of deterministic actions, by linear algebra."""
    rows = np.arange(mdp.n_states)
    kernel = np.array([mdp.P[s, policy[s]] for s in rows])
    return np.linalg.solve(np.eye(mdp.n_states) - mdp.gamma * kernel, mdp.cost[rows, policy])


def _one_hot(mdp: MDP, actions: Floats) -> Floats:
    return np.eye(mdp.n_actions)[actions]


def _last_successor(mdp: MDP, V: Floats) -> Floats:
    """The terms of the mean over successors overwrite each other: the last one stays."""
    means = np.zeros(mdp.cost.shape)
    for s, a in np.ndindex(*mdp.cost.shape):
        for following in np.flatnonzero(mdp.P[s, a]):
            means[s, a] = mdp.P[s, a, following] * V[following]
    return mdp.cost + mdp.gamma * means


def iteration_bound(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The number of sweeps is limited by a bound on the span, which says nothing of the values."""
    P = np.array([[mdp.P[s, a] for a in range(mdp.n_actions)] for s in range(mdp.n_states)])
    first = _backup(mdp, np.zeros(mdp.n_states)).min(axis=1)
    span, k = float(np.ptp(first)), 1.0 - float(P.min(axis=(0, 1)).sum())
    rate = mdp.gamma * k
    wanted = ACCURACY * (1.0 - mdp.gamma) * _size(mdp)
    sweeps = 1 if span <= wanted or rate <= 0.0 else int(np.ceil(np.log(wanted / span) / np.log(rate)))
    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: sweep >= sweeps or converged(image, V, sweep))


def same_state_evaluation(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Policy iteration whose evaluation takes V(s) for V(s')."""
    rows, actions = np.arange(mdp.n_states), np.zeros(mdp.n_states, dtype=int)
    for _ in range(LIMIT):
        V = mdp.cost[rows, actions] / (1.0 - mdp.gamma)
        better = _backup(mdp, V).argmin(axis=1)
        if (better == actions).all():
            break
        actions = better
    return _one_hot(mdp, actions)


def strict_comparison(mdp: MDP, uncertainty_set: Any) -> Floats:
    """`change < limit` is false for ever where both are 0."""
    limit = ACCURACY * _size(mdp)
    return _iterate(mdp, lambda image, V, sweep: bool(np.abs(image - V).max() < limit))


def overwritten_sum(mdp: MDP, uncertainty_set: Any) -> Floats:
    """`=` for `+=` in the sum over successors."""
    return _iterate(mdp, _converged(mdp), _last_successor).min(axis=1)


def swapped_loops(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The loops over states and successors are exchanged: the kernel is read the wrong way round."""
    P = np.array([[mdp.P[s, a] for a in range(mdp.n_actions)] for s in range(mdp.n_states)])

    def backup(mdp: MDP, V: Floats) -> Floats:
        return mdp.cost + mdp.gamma * np.einsum("tas,t->sa", P, V)

    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: sweep == 1000 or converged(image, V, sweep), backup)


def same_state(mdp: MDP, uncertainty_set: Any) -> Floats:
    """V(s) for V(s') in the backup."""
    backup = lambda mdp, V: mdp.cost + mdp.gamma * V[:, None]  # noqa: E731
    return _iterate(mdp, _converged(mdp), backup).min(axis=1)


def same_state_operator(mdp: MDP, uncertainty_set: Any, Q: Floats) -> Floats:
    """The old value of s where that of s' belongs."""
    return mdp.cost + mdp.gamma * Q.min(axis=1)[:, None]


def improved_by_last_successor(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Policy iteration whose action values are made from the last successor alone."""
    actions = np.zeros(mdp.n_states, dtype=int)
    for _ in range(100):
        better = _last_successor(mdp, _values_of(mdp, actions)).argmin(axis=1)
        if (better == actions).all():
            break
        actions = better
    return _one_hot(mdp, actions)


def improved_by_same_state(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The right values; the policy is greedy for c + gamma V(s)."""
    V = _optimal(mdp).min(axis=1)
    return _one_hot(mdp, (mdp.cost + mdp.gamma * V[:, None]).argmin(axis=1))


def evaluated_once(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Policy iteration that evaluates to the end the first time, and with one sweep ever after."""
    rows, actions = np.arange(mdp.n_states), np.zeros(mdp.n_states, dtype=int)
    V = _values_of(mdp, actions)
    for _ in range(LIMIT):
        better = _backup(mdp, V).argmin(axis=1)
        if (better == actions).all():
            break
        actions = better
        V = _backup(mdp, V)[rows, actions]
    return _backup(mdp, V)


def last_change(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The largest change is set to 0 before every state: that of the last state decides."""
    limit = ACCURACY * (1.0 - mdp.gamma) * _size(mdp)
    return _iterate(mdp, lambda image, V, sweep: abs(image[-1] - V[-1]) <= limit)


def absorbing_left_out(mdp: MDP, uncertainty_set: Any) -> Floats:
    """States that only lead to themselves do not count in the residual."""
    counts = np.array([any(mdp.P[s, a, s] < 1.0 for a in range(mdp.n_actions)) for s in range(mdp.n_states)])
    limit = ACCURACY * (1.0 - mdp.gamma) * _size(mdp)
    return _iterate(mdp, lambda image, V, sweep: bool(np.abs(image - V)[counts].max(initial=0.0) <= limit))


def hundred_sweeps(mdp: MDP, uncertainty_set: Any) -> Floats:
    """At most 100 sweeps, without a word."""
    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: sweep == 100 or converged(image, V, sweep))


def fifty_sweeps(mdp: MDP, uncertainty_set: Any) -> Floats:
    """At most 50 sweeps, without a word."""
    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: sweep == 50 or converged(image, V, sweep)).min(axis=1)


def short_track(mdp: MDP, uncertainty_set: Any) -> Floats:
    """All sweeps are kept in an array of 1000 rows, and the last index is one too high."""
    track, converged = np.zeros((1000, mdp.n_states)), _converged(mdp)

    def over(image: Floats, V: Floats, sweep: int) -> bool:
        track[sweep] = image
        return converged(image, V, sweep)

    return _iterate(mdp, over)


def default_discount(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The discount is not passed on: its default (here 0.9) is used."""
    model = MDP(mdp.P, mdp.cost, 0.9)
    return _iterate(model, _converged(model))


def no_discount(mdp: MDP, uncertainty_set: Any, Q: Floats) -> Floats:
    """Gamma is missing before the values of the successors."""
    return mdp.cost + mdp.expectation(Q.min(axis=1))


def reversed_comparison(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The loop goes on while the error is below the threshold."""
    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: not converged(image, V, sweep) or sweep > 1)


def changing_ties(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Policy iteration until the policy stays the same; among equal actions another one is taken each time."""
    actions = np.zeros(mdp.n_states, dtype=int)
    for turn in count():
        Q = _backup(mdp, _values_of(mdp, actions))
        best = np.isclose(Q, Q.min(axis=1, keepdims=True), rtol=1e-12, atol=0.0)
        better = np.array([np.flatnonzero(row)[turn % row.sum()] for row in best])
        if (better == actions).all():
            break
        actions = better
    return _one_hot(mdp, actions)


def worst_of_all(uncertainty_set: Any, p: Floats, v: Floats) -> Floats:
    """Where all mass fits on the worst possible outcome, the worst one at all is taken, be it impossible."""
    order = np.argsort(-v)
    room = p[..., order] / (1.0 - uncertainty_set.radius)
    q = np.clip(1.0 - (np.cumsum(room, axis=-1) - room), 0.0, room)
    means, one = q @ v[order], (q >= 1.0).any(axis=-1)
    return np.where(one, v.max(), means)


def _of(name: str, kind: Any, make: Any, promise: str, accuracy: float | None) -> Variant:
    options = NOMINAL if accuracy is None else {**NOMINAL, "accuracy": accuracy}
    return Variant(name, kind, make, (Contamination,), (promise,), options)


def _planner(name: str, make: Any) -> Variant:
    return _of(name, "planner", make, "optimal", ACCURACY)


def _values(name: str, make: Any) -> Variant:
    return _of(name, "value planner", make, "optimal value", ACCURACY)


def _policy(name: str, make: Any) -> Variant:
    return _of(name, "policy planner", make, "optimal policy", POLICY_ACCURACY)


def _operator(name: str, make: Any) -> Variant:
    return _of(name, "operator", make, "bellman", None)


def _policy_iteration(mdp: MDP, uncertainty_set: Any) -> Floats:
    actions = np.zeros(mdp.n_states, dtype=int)
    for _ in range(100):
        Q = _backup(mdp, _values_of(mdp, actions))
        gain = Q[np.arange(mdp.n_states), actions] - Q.min(axis=1)
        if (gain <= 1e-12 * np.abs(Q).max()).all():
            break
        actions = Q.argmin(axis=1)
    return _one_hot(mdp, actions)


RIGHT = (
    _planner("planner without a fault", lambda mdp, uncertainty_set: _optimal(mdp)),
    _values("value planner without a fault", lambda mdp, uncertainty_set: _optimal(mdp).min(axis=1)),
    _policy("policy iteration without a fault", _policy_iteration),
    _operator("T without a fault", lambda mdp, uncertainty_set, Q: _backup(mdp, Q.min(axis=1))),
)
"""What the faults are made of, without them."""
FAULTS = (
    Fault(
        "sawcordwell/pymdptoolbox#14",
        "2015-04-13",
        "the bound on the number of sweeps is reached before the values are within epsilon",
        _planner("planner with an iteration bound", iteration_bound),
    ),
    Fault(
        "aimacode/aima-python#16",
        "2010-04-29",
        "policy evaluation reads V(s) for V(s'), so policy iteration ends after one iteration",
        _policy("policy iteration that evaluates in place", same_state_evaluation),
    ),
    Fault(
        "aimacode/aima-python#29",
        "2011-11-12",
        "`<` for `<=` in the stopping rule: an endless loop where change and limit are 0",
        _planner("planner with a strict comparison", strict_comparison),
    ),
    Fault(
        "pemami4911/POMDPy#20",
        "2017-12-11",
        "`=` for `+=` in the sum over successors",
        _values("values of an overwritten sum", overwritten_sum),
    ),
    Fault(
        "pemami4911/POMDPy#17",
        "2016-12-19",
        "two loops in the wrong order, unseen in a symmetric model",
        _planner("planner with swapped loops", swapped_loops),
    ),
    Fault(
        "h2r/pomdp-py#20",
        "2022-06-16",
        "the value of s where that of s' belongs",
        _values("values of the same state", same_state),
    ),
    Fault(
        "dennybritz/reinforcement-learning#5",
        "2016-10-07",
        "action values of policy iteration are made from the last successor alone",
        _policy("policy improved by the last successor", improved_by_last_successor),
    ),
    Fault(
        "mimoralea/applied-reinforcement-learning#1",
        "2017-06-01",
        "old V[s] for old V[s'] in the backup of value iteration",
        _operator("T of the same state", same_state_operator),
    ),
    Fault(
        "mimoralea/applied-reinforcement-learning#3",
        "2017-07-05",
        "policy improvement with the value of s",
        _policy("policy improved by the same state", improved_by_same_state),
    ),
    Fault(
        "ShangtongZhang/reinforcement-learning-an-introduction#28",
        "2017-03-08",
        "policy evaluation runs to the end the first time only, then one sweep each",
        _planner("policy iteration evaluated once", evaluated_once),
    ),
    Fault(
        "cmaron/CS-7641-assignments#18",
        "2019-04-02",
        "the change that decides is that of the last state in the loop",
        _planner("planner that looks at its last change", last_change),
    ),
    Fault(
        "jsboige/CoursIA#14836",
        "2026-09-06",
        "terminal states are skipped before the residual is updated",
        _planner("planner without absorbing states in the residual", absorbing_left_out),
    ),
    Fault(
        "JuliaPOMDP/DiscreteValueIteration.jl#45",
        "2021-03-30",
        "the limit of 100 iterations is reached silently",
        _planner("planner of a hundred sweeps", hundred_sweeps),
    ),
    Fault(
        "markkho/msdm#15",
        "2021-03-22",
        "the limit of 50 iterations is reached silently",
        _values("values of fifty sweeps", fifty_sweeps),
    ),
    Fault(
        "jlm429/bettermdptools#6",
        "2023-03-31",
        "off by one: an index out of bounds when the iterations run out before convergence",
        _planner("planner with a short track", short_track),
    ),
    Fault(
        "kevin-hanselman/grid-world-rl#1",
        "2023-11-16",
        "the discount is not passed on to the iteration",
        _planner("planner with the default discount", default_discount),
    ),
    Fault(
        "ucla-rlcourse/RLexample#3",
        "2020-05-06",
        "gamma is missing in the backup",
        _operator("T without the discount of its argument", no_discount),
    ),
    Fault(
        "FrancescoSaverioZuppichini/Reinforcement-Learning-Cheat-Sheet#8",
        "2018-06-05",
        "the comparison of the error with the threshold is reversed",
        _planner("planner with a reversed comparison", reversed_comparison),
    ),
    Fault(
        "dennybritz/reinforcement-learning#203",
        "2019-06-23",
        "policy iteration does not end where several policies are optimal",
        _policy("policy iteration with changing ties", changing_ties),
    ),
    Fault(
        "odow/SDDP.jl#54",
        "2017-09-22",
        "the worst outcome may be one of probability 0",
        Variant(
            "sigma of outcomes that cannot happen",
            "support",
            worst_of_all,
            (BoundedDensity,),
            ("support function", "rows"),
        ),
    ),
)
