"""Wrong planners of policies."""

from collections.abc import Callable
from typing import Any

import numpy as np

from properties.variants.gallery.value_iteration import plan
from properties.variants.mutants.planner import evaluate
from robust_core import Contamination, TotalVariation, UncertaintySet, Variant, bellman
from robust_core.mdp import MDP
from robust_core.validate import Floats

Plan = Callable[[MDP, Any], Floats]
ACCURACY = 1e-6


def _mutant(name: str, make: Plan, *sets: type[UncertaintySet]) -> Variant:
    options = {"accuracy": ACCURACY}
    sets = sets or (Contamination, TotalVariation)
    return Variant(f"planner of policies {name}", "policy planner", make, sets, ("optimal policy",), options)


def _greedy(Q: Floats) -> Floats:
    return np.eye(Q.shape[1])[Q.argmin(axis=1)]


def _with_gamma(mdp: MDP, gamma: float) -> MDP:
    return MDP(mdp.kernel, mdp.cost, gamma)


def _not_robust(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """The policy of the nominal model: under contamination the horizon is too long."""
    return _greedy(plan(mdp, Contamination(0.0)))


def _softmax(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """A soft policy sold as optimal."""
    Q = plan(mdp, uncertainty_set)
    weights = np.exp(-(Q - Q.min(axis=1, keepdims=True)) / (np.abs(mdp.cost).max() + 1e-300))
    return weights / weights.sum(axis=1, keepdims=True)


def _warm(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """A soft policy whose temperature is the accuracy, as a part of the spread of values."""
    Q = plan(mdp, uncertainty_set)
    weights = np.exp(-(Q - Q.min(axis=1, keepdims=True)) / (ACCURACY * np.ptp(Q) + 1e-300))
    return weights / weights.sum(axis=1, keepdims=True)


def _explores(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Greedy with a hundredth of exploration."""
    greedy = _greedy(plan(mdp, uncertainty_set))
    return 0.99 * greedy + 0.01 / mdp.n_actions


def _half_radius(mdp: MDP, uncertainty_set: Contamination) -> Floats:
    return _greedy(plan(mdp, Contamination(uncertainty_set.radius / 2.0)))


def _long_sight(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    return _greedy(plan(_with_gamma(mdp, (1.0 + mdp.gamma) / 2.0), uncertainty_set))


def _unchanged(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Stops when the policy did not change in a sweep."""
    Q = mdp.cost
    while True:
        image = bellman(mdp, uncertainty_set, Q)
        if np.array_equal(_greedy(image), _greedy(Q)):
            return _greedy(image)
        Q = image


def _unnormalised(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    Q = plan(mdp, uncertainty_set)
    return (Q.min(axis=1, keepdims=True) == Q).astype(float)


def _improved(times: int) -> Plan:
    def make(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
        """Improves the nominal policy, and stops before it is the best."""
        policy = _not_robust(mdp, uncertainty_set)
        for _ in range(times):
            policy = _greedy(evaluate(mdp, uncertainty_set, policy.argmax(axis=1)))
        return policy

    return make


LARGEST_COST = _mutant("with the dearest action", lambda mdp, uncertainty_set: _greedy(-mdp.cost))
MYOPIC = _mutant("with the cheapest action", lambda mdp, uncertainty_set: _greedy(mdp.cost))
NOT_ROBUST = _mutant("that is not robust", _not_robust)
WORST_ACTION = _mutant("of the worst action", lambda mdp, uncertainty_set: _greedy(-plan(mdp, uncertainty_set)))
UNIFORM = _mutant("that does not choose", lambda mdp, uncertainty_set: np.full(mdp.cost.shape, 1.0 / mdp.n_actions))
SOFTMAX = _mutant("with a soft choice", _softmax)
EXPLORES = _mutant("that explores", _explores)
HALF_RADIUS = _mutant("with half the radius", _half_radius, Contamination)
LONG_SIGHT = _mutant("with a longer horizon", _long_sight)
ONE_SWEEP = _mutant("with one sweep", lambda mdp, uncertainty_set: _greedy(bellman(mdp, uncertainty_set, mdp.cost)))
UNCHANGED = _mutant("that stops when the policy stays", _unchanged)
# The action of the state before: an index that is off by one.
SHIFTED = _mutant(
    "off by one state", lambda mdp, uncertainty_set: np.roll(_greedy(plan(mdp, uncertainty_set)), 1, axis=0)
)
UNNORMALISED = _mutant("with all best actions", _unnormalised)
IMPROVED_ONCE = _mutant("that improves the nominal one once", _improved(1))
IMPROVED_TWICE = _mutant("that improves the nominal one twice", _improved(2))


def _settled(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Stops when the policy has been the same for 200 sweeps."""
    Q, same = np.zeros_like(mdp.cost), 0
    while same < 200:
        last, Q = Q, bellman(mdp, uncertainty_set, Q)
        same = same + 1 if (Q.argmin(axis=1) == last.argmin(axis=1)).all() else 0
    return _greedy(Q)


def _five_horizons(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Five times 1/(1−gamma) sweeps."""
    Q = np.zeros_like(mdp.cost)
    for _ in range(int(5.0 / (1.0 - mdp.gamma))):
        Q = bellman(mdp, uncertainty_set, Q)
    return _greedy(Q)


def _worth_while(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Policy iteration that changes an action where that gains a thousandth of the largest cost."""
    rows, policy = np.arange(mdp.n_states), mdp.cost.argmin(axis=1)
    while True:
        Q = evaluate(mdp, uncertainty_set, policy)
        better = Q[rows, policy] - Q.min(axis=1) > 1e-3 * np.abs(mdp.cost).max()
        if not better.any():
            return np.eye(mdp.n_actions)[policy]
        policy = np.where(better, Q.argmin(axis=1), policy)


SETTLED = _mutant("that stops at a settled policy", _settled)
FIVE_HORIZONS = _mutant("of five horizons", _five_horizons)
WORTH_WHILE = _mutant("that leaves out small gains", _worth_while)


def _one_at_a_time(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Changes the action that gains most, four times as often as there are states."""
    rows, policy = np.arange(mdp.n_states), np.zeros(mdp.n_states, dtype=int)
    for _ in range(4 * mdp.n_states):
        Q = evaluate(mdp, uncertainty_set, policy)
        s = int((Q[rows, policy] - Q.min(axis=1)).argmax())
        policy[s] = Q[s].argmin()
    return np.eye(mdp.n_actions)[policy]


ONE_AT_A_TIME = _mutant("that improves one state at a time", _one_at_a_time, Contamination)
WARM = _mutant("that is soft at the scale of its accuracy", _warm)


def _ends_are_free(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """A state that costs nothing and is never left has value 0, as if nature could not take anyone from there."""
    stays = mdp.P[np.arange(mdp.n_states), :, np.arange(mdp.n_states)].min(axis=1) == 1.0
    ends = stays & (mdp.cost == 0.0).all(axis=1)
    Q = np.zeros_like(mdp.cost)
    while True:
        image = np.where(ends[:, None], 0.0, bellman(mdp, uncertainty_set, Q))
        if np.abs(image - Q).max() <= ACCURACY * (1.0 - mdp.gamma) * np.abs(mdp.cost).max():
            return _greedy(image)
        Q = image


ENDS_ARE_FREE = _mutant("for whom free ends have value 0", _ends_are_free, TotalVariation)
