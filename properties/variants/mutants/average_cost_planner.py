"""Wrong planners of the average cost."""

from collections.abc import Callable
from typing import Any

import numpy as np

from properties.variants.mutants.planner import one_action
from robust_core import Contamination, TotalVariation, UncertaintySet, Variant, support
from robust_core.mdp import MDP
from robust_core.validate import Floats

Plan = Callable[[MDP, Any], Any]
ACCURACY = 1e-9


def _mutant(name: str, make: Plan, *sets: type[UncertaintySet]) -> Variant:
    options = {"accuracy": ACCURACY}
    sets = sets or (Contamination, TotalVariation)
    return Variant(f"average cost {name}", "average cost planner", make, sets, ("average cost",), options)


def _fixed_point(mdp: MDP, backup: Callable[[Floats], Floats], sweeps: int = 400) -> Floats:
    """W = min_a backup(W), by sweeps of a contraction."""
    W = np.zeros(mdp.n_states)
    for _ in range(sweeps):
        image = backup(W).min(axis=1)
        if np.abs(image - W).max() <= 1e-13 * np.abs(mdp.cost).max():
            return np.asarray(image)
        W = image
    return W


def _shorter(mdp: MDP, uncertainty_set: Any, discount: float = 1.0) -> Floats:
    """W at discount 1−R times another."""
    R = uncertainty_set.radius
    return _fixed_point(mdp, lambda W: mdp.cost + discount * (support(mdp, uncertainty_set, W) - R * W.max()))


def _with_gamma(mdp: MDP, uncertainty_set: Any) -> Any:
    return uncertainty_set.radius * _shorter(mdp, uncertainty_set, mdp.gamma).max()


def _discounted(mdp: MDP, uncertainty_set: Any) -> Any:
    """(1−gamma) max V*, sold as the average cost."""
    V = _fixed_point(mdp, lambda W: mdp.cost + mdp.gamma * support(mdp, uncertainty_set, W))
    return (1.0 - mdp.gamma) * V.max()


def _half_radius(mdp: MDP, uncertainty_set: Any) -> Any:
    half = uncertainty_set.with_radius(uncertainty_set.radius / 2.0)
    return half.radius * _shorter(mdp, half).max()


def _vanilla(mdp: MDP, uncertainty_set: Any) -> Any:
    """The nominal model from the worst start, by a discount close to 1."""
    W = _fixed_point(mdp, lambda W: mdp.cost + 0.99 * (mdp.P @ W))
    return 0.01 * W.max()


def _some_sweeps(mdp: MDP, uncertainty_set: Any, sweeps: int = 10) -> Any:
    """Some sweeps, and the mean of the last differences."""
    W = last = np.zeros(mdp.n_states)
    for _ in range(sweeps):
        last, W = W, (mdp.cost + support(mdp, uncertainty_set, W)).min(axis=1)
    return (W - last).mean()


def _small_change(mdp: MDP, uncertainty_set: Any) -> Any:
    """Stops at an absolute tolerance, whatever the size of the costs."""
    W = np.zeros(mdp.n_states)
    while True:
        image = (mdp.cost + support(mdp, uncertainty_set, W)).min(axis=1)
        low, high = (image - W).min(), (image - W).max()
        if high - low <= 1e-3:
            return high
        W = image - image.min()


def _mean_of_actions(mdp: MDP, uncertainty_set: Any) -> Any:
    mean = MDP(mdp.P.mean(axis=1, keepdims=True), mdp.cost.mean(axis=1, keepdims=True), mdp.gamma)
    return uncertainty_set.radius * _shorter(mean, uncertainty_set).max()


def _discounted_policy(mdp: MDP, uncertainty_set: Any) -> Any:
    """The average cost of the policy that is optimal at the discount of the model."""
    V = _fixed_point(mdp, lambda W: mdp.cost + mdp.gamma * support(mdp, uncertainty_set, W))
    chosen = (mdp.cost + mdp.gamma * support(mdp, uncertainty_set, V)).argmin(axis=1)
    return uncertainty_set.radius * _shorter(one_action(mdp, chosen), uncertainty_set).max()


def _span(mdp: MDP, uncertainty_set: Any) -> Any:
    W = _shorter(mdp, uncertainty_set)
    return uncertainty_set.radius * (W.max() - W.min())


def _worst_action(mdp: MDP, uncertainty_set: Any) -> Any:
    rewards = MDP(mdp.P, -mdp.cost, mdp.gamma)
    return -uncertainty_set.radius * _shorter(rewards, uncertainty_set).min()


def _by_contamination(mdp: MDP, uncertainty_set: Any) -> Any:
    return uncertainty_set.radius * _shorter(mdp, Contamination(uncertainty_set.radius)).max()


WITHOUT_RADIUS = _mutant("without the factor R", lambda mdp, uncertainty_set: _shorter(mdp, uncertainty_set).max())
WITH_GAMMA = _mutant("at the discount of the model", _with_gamma)
SMALLEST = _mutant(
    "of the best state", lambda mdp, uncertainty_set: uncertainty_set.radius * _shorter(mdp, uncertainty_set).min()
)
MEAN_STATE = _mutant(
    "of the mean state", lambda mdp, uncertainty_set: uncertainty_set.radius * _shorter(mdp, uncertainty_set).mean()
)
FIRST_STATE = _mutant(
    "of the first state", lambda mdp, uncertainty_set: uncertainty_set.radius * _shorter(mdp, uncertainty_set)[0]
)
DISCOUNTED = _mutant("of the discounted problem", _discounted)
HALF_RADIUS = _mutant("with half the radius", _half_radius)
VANILLA = _mutant("that is not robust", _vanilla)
SOME_SWEEPS = _mutant("after ten sweeps", _some_sweeps)
SMALL_CHANGE = _mutant("that stops at a small change", _small_change)
NEVER = _mutant("that is 0", lambda mdp, uncertainty_set: 0.0)
MEAN_OF_ACTIONS = _mutant("of the mean action", _mean_of_actions)
DISCOUNTED_POLICY = _mutant("of the discounted policy", _discounted_policy)
SPAN = _mutant("of the span", _span)
WORST_ACTION = _mutant("of rewards", _worst_action)
BY_CONTAMINATION = _mutant("of contamination for variation", _by_contamination, TotalVariation)


def _unchanged(mdp: MDP, uncertainty_set: Any) -> Any:
    """Stops when the greedy policy has been the same for thirty sweeps."""
    W, same, policy = np.zeros(mdp.n_states), 0, np.zeros(mdp.n_states, dtype=np.int64)
    while True:
        Q = mdp.cost + support(mdp, uncertainty_set, W)
        change, greedy = Q.min(axis=1) - W, Q.argmin(axis=1)
        same, policy = (same + 1 if (greedy == policy).all() else 0), greedy
        if same == 30:
            return (change.min() + change.max()) / 2.0
        W = Q.min(axis=1) - Q.min()


UNCHANGED = _mutant("that stops at an unchanged policy", _unchanged)
HUNDREDS = _mutant("after five hundred sweeps", lambda mdp, uncertainty_set: _some_sweeps(mdp, uncertainty_set, 500))
