"""Faults of planners: values, policies and the operator."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from properties.variants.faults import Fault, Faults
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


def _converged(mdp: MDP) -> Callable[[Floats, Floats, int], bool]:
    limit = ACCURACY * (1.0 - mdp.gamma) / 4.0 * _size(mdp)
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


FAULTS = Faults()


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


@FAULTS.of("sawcordwell/pymdptoolbox#14", "2015-04-13", _planner, "planner with an iteration bound")
def iteration_bound(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The bound on the number of sweeps is reached before the values are within epsilon."""
    P = np.array([[mdp.P[s, a] for a in range(mdp.n_actions)] for s in range(mdp.n_states)])
    first = _backup(mdp, np.zeros(mdp.n_states)).min(axis=1)
    span, k = float(np.ptp(first)), 1.0 - float(P.min(axis=(0, 1)).sum())
    rate = mdp.gamma * k
    wanted = ACCURACY * (1.0 - mdp.gamma) * _size(mdp)
    sweeps = 1 if span <= wanted or rate <= 0.0 else int(np.ceil(np.log(wanted / span) / np.log(rate)))
    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: sweep >= sweeps or converged(image, V, sweep))


@FAULTS.of("aimacode/aima-python#16", "2010-04-29", _policy, "policy iteration that evaluates in place")
def same_state_evaluation(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Policy evaluation reads V(s) for V(s'), so policy iteration ends after one iteration."""
    rows, actions = np.arange(mdp.n_states), np.zeros(mdp.n_states, dtype=int)
    for _ in range(LIMIT):
        V = mdp.cost[rows, actions] / (1.0 - mdp.gamma)
        better = _backup(mdp, V).argmin(axis=1)
        if (better == actions).all():
            break
        actions = better
    return _one_hot(mdp, actions)


@FAULTS.of("aimacode/aima-python#29", "2011-11-12", _planner, "planner with a strict comparison")
def strict_comparison(mdp: MDP, uncertainty_set: Any) -> Floats:
    """`<` for `<=` in the stopping rule: an endless loop where change and limit are 0."""
    limit = ACCURACY * _size(mdp)
    return _iterate(mdp, lambda image, V, sweep: bool(np.abs(image - V).max() < limit))


@FAULTS.of("pemami4911/POMDPy#20", "2017-12-11", _values, "values of an overwritten sum")
def overwritten_sum(mdp: MDP, uncertainty_set: Any) -> Floats:
    """`=` for `+=` in the sum over successors."""
    return _iterate(mdp, _converged(mdp), _last_successor).min(axis=1)


@FAULTS.of("pemami4911/POMDPy#17", "2016-12-19", _planner, "planner with swapped loops")
def swapped_loops(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Two loops in the wrong order, unseen in a symmetric model."""
    P = np.array([[mdp.P[s, a] for a in range(mdp.n_actions)] for s in range(mdp.n_states)])

    def backup(mdp: MDP, V: Floats) -> Floats:
        return mdp.cost + mdp.gamma * np.einsum("tas,t->sa", P, V)

    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: sweep == 1000 or converged(image, V, sweep), backup)


@FAULTS.of("h2r/pomdp-py#20", "2022-06-16", _values, "values of the same state")
def same_state(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The value of s where that of s' belongs."""
    backup = lambda mdp, V: mdp.cost + mdp.gamma * V[:, None]  # noqa: E731
    return _iterate(mdp, _converged(mdp), backup).min(axis=1)


@FAULTS.of("mimoralea/applied-reinforcement-learning#1", "2017-06-01", _operator, "T of the same state")
def same_state_operator(mdp: MDP, uncertainty_set: Any, Q: Floats) -> Floats:
    """Old V[s] for old V[s'] in the backup of value iteration."""
    return mdp.cost + mdp.gamma * Q.min(axis=1)[:, None]


@FAULTS.of("dennybritz/reinforcement-learning#5", "2016-10-07", _policy, "policy improved by the last successor")
def improved_by_last_successor(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Action values of policy iteration are made from the last successor alone."""
    actions = np.zeros(mdp.n_states, dtype=int)
    for _ in range(100):
        better = _last_successor(mdp, _values_of(mdp, actions)).argmin(axis=1)
        if (better == actions).all():
            break
        actions = better
    return _one_hot(mdp, actions)


@FAULTS.of("mimoralea/applied-reinforcement-learning#3", "2017-07-05", _policy, "policy improved by the same state")
def improved_by_same_state(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Policy improvement with the value of s."""
    V = _optimal(mdp).min(axis=1)
    return _one_hot(mdp, (mdp.cost + mdp.gamma * V[:, None]).argmin(axis=1))


@FAULTS.of(
    "ShangtongZhang/reinforcement-learning-an-introduction#28",
    "2017-03-08",
    _planner,
    "policy iteration evaluated once",
)
def evaluated_once(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Policy evaluation runs to the end the first time only, then one sweep each."""
    rows, actions = np.arange(mdp.n_states), np.zeros(mdp.n_states, dtype=int)
    V = _values_of(mdp, actions)
    for _ in range(LIMIT):
        better = _backup(mdp, V).argmin(axis=1)
        if (better == actions).all():
            break
        actions = better
        V = _backup(mdp, V)[rows, actions]
    return _backup(mdp, V)


@FAULTS.of("cmaron/CS-7641-assignments#18", "2019-04-02", _planner, "planner that looks at its last change")
def last_change(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The change that decides is that of the last state in the loop."""
    limit = ACCURACY * (1.0 - mdp.gamma) * _size(mdp)
    return _iterate(mdp, lambda image, V, sweep: abs(image[-1] - V[-1]) <= limit)


@FAULTS.of("jsboige/CoursIA#14836", "2026-09-06", _planner, "planner without absorbing states in the residual")
def absorbing_left_out(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Terminal states are skipped before the residual is updated."""
    counts = np.array([any(mdp.P[s, a, s] < 1.0 for a in range(mdp.n_actions)) for s in range(mdp.n_states)])
    limit = ACCURACY * (1.0 - mdp.gamma) * _size(mdp)
    return _iterate(mdp, lambda image, V, sweep: bool(np.abs(image - V)[counts].max(initial=0.0) <= limit))


@FAULTS.of("JuliaPOMDP/DiscreteValueIteration.jl#45", "2021-03-30", _planner, "planner of a hundred sweeps")
def hundred_sweeps(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The limit of 100 iterations is reached silently."""
    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: sweep == 100 or converged(image, V, sweep))


@FAULTS.of("markkho/msdm#15", "2021-03-22", _values, "values of fifty sweeps")
def fifty_sweeps(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The limit of 50 iterations is reached silently."""
    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: sweep == 50 or converged(image, V, sweep)).min(axis=1)


@FAULTS.of("jlm429/bettermdptools#6", "2023-03-31", _planner, "planner with a short track")
def short_track(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Off by one: an index out of bounds when the iterations run out before convergence."""
    track, converged = np.zeros((1000, mdp.n_states)), _converged(mdp)

    def over(image: Floats, V: Floats, sweep: int) -> bool:
        track[sweep] = image
        return converged(image, V, sweep)

    return _iterate(mdp, over)


@FAULTS.of("kevin-hanselman/grid-world-rl#1", "2023-11-16", _planner, "planner with the default discount")
def default_discount(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The discount is not passed on to the iteration."""
    model = MDP(mdp.P, mdp.cost, 0.9)
    return _iterate(model, _converged(model))


@FAULTS.of("ucla-rlcourse/RLexample#3", "2020-05-06", _operator, "T without the discount of its argument")
def no_discount(mdp: MDP, uncertainty_set: Any, Q: Floats) -> Floats:
    """Gamma is missing in the backup."""
    return mdp.cost + mdp.expectation(Q.min(axis=1))


@FAULTS.of(
    "FrancescoSaverioZuppichini/Reinforcement-Learning-Cheat-Sheet#8",
    "2018-06-05",
    _planner,
    "planner with a reversed comparison",
)
def reversed_comparison(mdp: MDP, uncertainty_set: Any) -> Floats:
    """The comparison of the error with the threshold is reversed."""
    converged = _converged(mdp)
    return _iterate(mdp, lambda image, V, sweep: not converged(image, V, sweep) or sweep > 1)


@FAULTS.of("dennybritz/reinforcement-learning#203", "2019-06-23", _policy, "policy iteration with changing ties")
def changing_ties(mdp: MDP, uncertainty_set: Any) -> Floats:
    """Policy iteration does not end where several policies are optimal."""
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
FAULTS += [
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
]
