"""Wrong backups, planners and policies of s-rectangular sets."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from properties.variants.s_rectangular import ACCURACY
from properties.variants.s_rectangular import policy as right_policy
from robust_core import MDP, SRectangular, SRectangularL1, SRectangularL2, Variant, bellman_values, sigma, solve_states
from robust_core.sets import S_RECTANGULAR
from robust_core.sets.s_rectangular import SRectangularLInfinity
from robust_core.validate import Floats

Backup = Callable[[MDP, Any, Floats], Floats]
LEAVING = (SRectangularL1, SRectangularL2, SRectangularLInfinity)


def _operator(name: str, make: Backup, *sets: type[SRectangular]) -> Variant:
    return Variant(f"s-rectangular T {name}", "operator", make, sets or S_RECTANGULAR, ("bellman",))


def _altered(change: Callable[[float], float]) -> Backup:
    """T with another budget."""
    return lambda mdp, uncertainty_set, V: bellman_values(
        mdp, replace(uncertainty_set, radius=change(uncertainty_set.radius)), V
    )


def _rows(mdp: MDP, uncertainty_set: SRectangular, V: Floats, radius: float) -> Floats:
    """c + gamma sigma(V), every row with a ball of its own."""
    return mdp.cost + mdp.gamma * sigma(uncertainty_set._ball(radius), mdp.P, V)


def _per_action(mdp: MDP, uncertainty_set: Any, V: Floats) -> Floats:
    """Every action has the whole budget: also the best deterministic policy."""
    return _rows(mdp, uncertainty_set, V, uncertainty_set.radius).min(axis=1)


def _equal_parts(mdp: MDP, uncertainty_set: Any, V: Floats) -> Floats:
    """Every action has its share of the budget."""
    return _rows(mdp, uncertainty_set, V, uncertainty_set.radius / mdp.n_actions).min(axis=1)


def _uniform(mdp: MDP, uncertainty_set: Any, V: Floats) -> Floats:
    """The agent takes all actions alike, and nature spends its budget alike."""
    return _rows(mdp, uncertainty_set, V, uncertainty_set.radius / mdp.n_actions).mean(axis=1)


def _best_nominal(mdp: MDP, uncertainty_set: Any, V: Floats) -> Floats:
    """The agent takes the action that is best in the nominal model."""
    best = (mdp.cost + mdp.gamma * mdp.P @ V).argmin(axis=1)
    return _rows(mdp, uncertainty_set, V, uncertainty_set.radius)[np.arange(mdp.n_states), best]


def _helped(mdp: MDP, uncertainty_set: Any, V: Floats) -> Floats:
    """Nature helps: it makes the best action better."""
    worst = sigma(uncertainty_set._ball(uncertainty_set.radius), mdp.P, -V)
    return (mdp.cost - mdp.gamma * worst).min(axis=1)


def _uncapped(mdp: MDP, uncertainty_set: Any, V: Floats) -> Floats:
    """Mass leaves the lowest value without end: neither its mass nor the largest value stops it."""
    values = np.empty(mdp.n_states)
    for s in range(mdp.n_states):
        w = mdp.cost[s][:, None] + mdp.gamma * V
        means, rate = (mdp.P[s] * w).sum(axis=1), np.ptp(w, axis=1) / 2.0
        order = np.argsort(means)
        u = means[order[0]]
        for k in range(1, len(order) + 1):
            some = order[:k]
            slopes = 1.0 / np.maximum(rate[some], 1e-300)
            u = (uncertainty_set.radius + (slopes * means[some]).sum()) / slopes.sum()
            if k == len(order) or u <= means[order[k]]:
                break
        values[s] = u
    return values


def _within(value: bool) -> Backup:
    return lambda mdp, uncertainty_set, V: bellman_values(mdp, replace(uncertainty_set, within_support=value), V)


def _first_two(mdp: MDP, uncertainty_set: Any, V: Floats) -> Floats:
    """Actions beyond the second are forgotten."""
    return bellman_values(MDP(mdp.P[:, :2], mdp.cost[:, :2], mdp.gamma), uncertainty_set, V)


def _without_discount(mdp: MDP, uncertainty_set: Any, V: Floats) -> Floats:
    """The ball is around p·(c + gamma V) with V itself where mass moves."""
    return bellman_values(mdp, uncertainty_set, V) + (1.0 - mdp.gamma) * uncertainty_set.radius * np.ptp(V)


def _one_budget(mdp: MDP, uncertainty_set: Any, V: Floats) -> Floats:
    """The budget of the first state for all."""
    return bellman_values(mdp, uncertainty_set.with_radius(float(np.ravel(uncertainty_set.radius)[0])), V)


PER_ACTION = _operator("with the whole budget for each action", _per_action)
EQUAL_PARTS = _operator("with equal parts of the budget", _equal_parts)
UNIFORM = _operator("of the uniform policy", _uniform)
BEST_NOMINAL = _operator("of the best nominal action", _best_nominal)
NOMINAL = _operator(
    "that is not robust", lambda mdp, uncertainty_set, V: (mdp.cost + mdp.gamma * mdp.P @ V).min(axis=1)
)
HELPED = _operator("with a nature that helps", _helped)
# Bisection to an absolute 1e-4.
COARSE = _operator(
    "to four digits", lambda mdp, uncertainty_set, V: np.round(bellman_values(mdp, uncertainty_set, V), 4)
)
UNCAPPED = _operator("without a cap", _uncapped, SRectangularL1)
SQUARED = _operator("with the budget squared", _altered(lambda budget: budget**2))
HALVED = _operator("with half the budget", _altered(lambda budget: budget / 2.0))
DOUBLED = _operator("with the budget as total variation", _altered(lambda budget: 2.0 * budget))
AT_MOST_ONE = _operator("with a budget of at most 1", _altered(lambda budget: min(budget, 1.0)))
STAYING = _operator("that stays in the support", _within(True), *LEAVING)
LEAVES = _operator("that leaves the support", _within(False), *LEAVING)
FIRST_TWO = _operator("of the first two actions", _first_two)
WITHOUT_DISCOUNT = _operator("without discount of what moves", _without_discount)
ONE_BUDGET = Variant(
    "s-rectangular T with the budget of the first state",
    "operator",
    _one_budget,
    S_RECTANGULAR,
    ("bellman", "radii per pair"),
)


def _planner(name: str, make: Any) -> Variant:
    options = {"accuracy": ACCURACY}
    return Variant(f"s-rectangular planner {name}", "value planner", make, S_RECTANGULAR, ("optimal value",), options)


def _iterate(mdp: MDP, uncertainty_set: SRectangular, backup: Backup) -> Floats:
    """Plain iteration until the change is 1e-4, as published."""
    V = np.zeros(mdp.n_states)
    for _ in range(2_000):
        image = backup(mdp, uncertainty_set, V)
        if np.abs(image - V).max() <= 1e-4:
            return image
        V = image
    return V


def _stale(mdp: MDP, uncertainty_set: SRectangular) -> Floats:
    """The policy and the rows of the first backup, kept for ever."""
    found = solve_states(mdp, uncertainty_set, mdp.cost.min(axis=1))
    chain = np.einsum("sa,sat->st", found.policy, found.kernel)
    return np.linalg.solve(np.eye(mdp.n_states) - mdp.gamma * chain, (found.policy * mdp.cost).sum(axis=1))


SMALL_CHANGE = _planner("that stops at a small change", lambda m, u: _iterate(m, u, bellman_values))
RECTANGULAR = _planner("of the rectangular set", lambda m, u: _iterate(m, u, _per_action))
STALE = _planner("with a stale pair", _stale)


def _policies(name: str, make: Callable[[Floats], Floats]) -> Variant:
    return Variant(
        f"s-rectangular policies {name}",
        "policy planner",
        lambda mdp, uncertainty_set: make(right_policy(mdp, uncertainty_set)),
        S_RECTANGULAR,
        ("optimal policy",),
        {"accuracy": 2.0 * ACCURACY},
    )


def _inverse(policy: Floats) -> Floats:
    inverse = np.where(policy > 0.0, 1.0 / np.where(policy > 0.0, policy, 1.0), 0.0)
    return inverse / inverse.sum(axis=1, keepdims=True)


DETERMINISTIC = _policies("made deterministic", lambda pi: np.eye(pi.shape[1])[pi.argmax(axis=1)])
ACTIVE_ALIKE = _policies(
    "that take active actions alike", lambda pi: (pi > 0.0) / (pi > 0.0).sum(axis=1, keepdims=True)
)
INVERSE = _policies("with probabilities inverted", _inverse)


def _alike_once(mdp: MDP, uncertainty_set: SRectangular, V: Floats) -> Floats:
    """Two actions that are alike are made one, as may be done for (s,a)-rectangular sets."""
    P, cost = mdp.P, mdp.cost
    if mdp.n_actions > 1 and np.array_equal(P[:, -1], P[:, -2]) and np.array_equal(cost[:, -1], cost[:, -2]):
        mdp = MDP(P[:, :-1], cost[:, :-1], mdp.gamma)
    return bellman_values(mdp, uncertainty_set, V)


ALIKE_ONCE = _operator("that makes actions that are alike one", _alike_once)
