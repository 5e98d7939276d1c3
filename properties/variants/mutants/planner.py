"""Wrong planners: oracles that are not."""

from typing import Any

import numpy as np

from properties.variants.gallery.value_iteration import ACCURACY, plan
from robust_core import Contamination, TotalVariation, UncertaintySet, Variant, bellman, worst_case
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints


def _mutant(name: str, make: Any, *sets: Any) -> Variant:
    options = {"accuracy": ACCURACY}
    return Variant(f"planner {name}", "planner", make, sets or (Contamination, TotalVariation), ("optimal",), options)


def one_action(mdp: MDP, actions: Ints) -> MDP:
    """The model in which every state has one action."""
    states = np.arange(mdp.n_states)
    return MDP(mdp.P[states, actions][:, None], mdp.cost[states, actions][:, None], mdp.gamma)


def evaluate(mdp: MDP, uset: UncertaintySet, actions: Ints) -> Floats:
    """The robust Q of the policy that takes these actions."""
    return bellman(mdp, uset, np.repeat(plan(one_action(mdp, actions), uset), mdp.n_actions, axis=1))


def _few_sweeps(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    Q = np.zeros_like(mdp.cost)
    for _ in range(20):
        Q = bellman(mdp, uncertainty_set, Q)
    return Q


def _small_change(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Stops when a sweep changes little, which is not when the error is little."""
    Q = np.zeros_like(mdp.cost)
    while True:
        image = bellman(mdp, uncertainty_set, Q)
        if np.abs(image - Q).max() <= 2.0**-20:
            return image
        Q = image


def _settled_worst(mdp: MDP, uncertainty_set: Contamination) -> Floats:
    """The worst state is kept once it was the same in ten sweeps."""
    Q, R, counts = np.zeros_like(mdp.cost), uncertainty_set.radius, [0] * mdp.n_states
    while True:
        V = Q.min(axis=1)
        worst = int(np.argmax(counts)) if max(counts) >= 10 else int(V.argmax())
        counts = [count + 1 if s == worst else 0 for s, count in enumerate(counts)]
        image = mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * V[worst])
        if np.abs(image - Q).max() <= ACCURACY * np.abs(mdp.cost).max():
            return np.asarray(image)
        Q = image


def _eliminates(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Actions are left out for good that are worse by the error of one value; two values err."""
    Q, out = np.zeros_like(mdp.cost), np.zeros(mdp.cost.shape, dtype=bool)
    while True:
        image = np.where(out, np.inf, bellman(mdp, uncertainty_set, Q))
        V = image.min(axis=1)
        change = np.abs(V - Q.min(axis=1)).max()
        if change <= ACCURACY * np.abs(mdp.cost).max():
            return bellman(mdp, uncertainty_set, np.repeat(V[:, None], mdp.n_actions, axis=1))
        out |= image > V[:, None] + mdp.gamma * change / (1.0 - mdp.gamma)
        Q = np.repeat(V[:, None], mdp.n_actions, axis=1)


def _shorter(mdp: MDP, uncertainty_set: Contamination) -> MDP:
    return MDP(mdp.P, mdp.cost, mdp.gamma * (1.0 - uncertainty_set.radius))


def _without_constant(mdp: MDP, uncertainty_set: Contamination) -> Floats:
    """The closed form at discount gamma(1−R), its constant forgotten."""
    return plan(_shorter(mdp, uncertainty_set), Contamination(0.0))


def _wrong_constant(mdp: MDP, uncertainty_set: Contamination) -> Floats:
    """The closed form with 1−b for 1−gamma in the constant."""
    Q = _without_constant(mdp, uncertainty_set)
    b = mdp.gamma * (1.0 - uncertainty_set.radius)
    return Q + mdp.gamma * uncertainty_set.radius / (1.0 - b) * Q.min(axis=1).max()


def _constant_of_table(mdp: MDP, uncertainty_set: Contamination) -> Floats:
    """The closed form with max Q for max V."""
    Q = _without_constant(mdp, uncertainty_set)
    return Q + mdp.gamma * uncertainty_set.radius / (1.0 - mdp.gamma) * Q.max()


def _one_improvement(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Policy iteration that stops after one improvement of the cheapest policy."""
    return evaluate(mdp, uncertainty_set, mdp.cost.argmin(axis=1))


def _values_only(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """V*, repeated for every action."""
    return np.repeat(plan(mdp, uncertainty_set).min(axis=1, keepdims=True), mdp.n_actions, axis=1)


def _variation_by_contamination(mdp: MDP, uncertainty_set: TotalVariation) -> Floats:
    return plan(mdp, Contamination(uncertainty_set.radius))


def _averaged_kernel(mdp: MDP, uncertainty_set: Contamination) -> Floats:
    """Contamination by the uniform distribution, planned as an ordinary model."""
    P = (1.0 - uncertainty_set.radius) * mdp.P + uncertainty_set.radius / mdp.n_states
    return plan(MDP(P / P.sum(axis=2, keepdims=True), mdp.cost, mdp.gamma), Contamination(0.0))


FEW_SWEEPS = _mutant("with few sweeps", _few_sweeps)
SMALL_CHANGE = _mutant("that stops at a small change", _small_change)
NOT_ROBUST = _mutant("that is not robust", lambda mdp, uncertainty_set: plan(mdp, Contamination(0.0)))
WITHOUT_CONSTANT = _mutant("without the constant", _without_constant, Contamination)
WRONG_CONSTANT = _mutant("with a wrong constant", _wrong_constant, Contamination)
CONSTANT_OF_TABLE = _mutant("with the constant of the table", _constant_of_table, Contamination)
ONE_IMPROVEMENT = _mutant("with one improvement", _one_improvement)
VALUES_ONLY = _mutant("of values only", _values_only)
VARIATION_BY_CONTAMINATION = _mutant("of contamination for variation", _variation_by_contamination, TotalVariation)
AVERAGED_KERNEL = _mutant("with a uniform nature", _averaged_kernel, Contamination)


def _settled_policy(mdp: MDP, uset: UncertaintySet) -> Floats:
    """Stops when the greedy policy has not changed for fifty sweeps, then evaluates that policy."""
    Q, kept, policy = np.zeros_like(mdp.cost), 0, np.zeros(mdp.n_states, dtype=np.int64)
    while kept < 50:
        Q = bellman(mdp, uset, Q)
        greedy = Q.argmin(axis=1)
        kept, policy = (kept + 1 if (greedy == policy).all() else 0), greedy
    return evaluate(mdp, uset, policy)


SETTLED_POLICY = _mutant("that stops at a settled policy", _settled_policy)


def _unit_costs(mdp: MDP, uset: UncertaintySet) -> Floats:
    """Costs of size 1, and the result times their size: 0/0 where nothing costs anything."""
    scale = np.abs(mdp.cost).max()
    with np.errstate(invalid="ignore"):
        cost = mdp.cost / scale
    return scale * plan(MDP(mdp.P, cost, mdp.gamma), uset) if np.isfinite(cost).all() else cost


UNIT_COSTS = _mutant("that divides by the largest cost", _unit_costs)


def _few_improvements(mdp: MDP, uset: UncertaintySet, improvements: int = 3) -> Floats:
    """Policy iteration that ends after some improvements."""
    policy = mdp.cost.argmin(axis=1)
    for _ in range(improvements + 1):
        Q = evaluate(mdp, uset, policy)
        policy = Q.argmin(axis=1)
    return Q


def _kept_by_costs() -> Any:
    """Answers are kept by costs, discount and set: another kernel gets the same."""
    kept: dict[Any, Floats] = {}

    def planned(mdp: MDP, uset: UncertaintySet) -> Floats:
        key = (mdp.cost.tobytes(), mdp.gamma, repr(uset))
        return kept.setdefault(key, plan(mdp, uset)).copy()

    return planned


FEW_IMPROVEMENTS = _mutant("of three improvements", _few_improvements)
TWENTY_IMPROVEMENTS = _mutant("of twenty improvements", lambda mdp, uset: _few_improvements(mdp, uset, 20))
KEPT_BY_COSTS = _mutant("that keeps answers by costs", _kept_by_costs())


def _few_worst_rows(mdp: MDP, uset: UncertaintySet) -> Floats:
    """Computes the worst rows seven times, each time for the solution of the model with the last ones."""
    Q = np.zeros_like(mdp.cost)
    for _ in range(7):
        Q = plan(MDP(worst_case(uset, mdp.P, Q.min(axis=1)), mdp.cost, mdp.gamma), Contamination(0.0))
    return Q


FEW_WORST_ROWS = _mutant("that computes the worst rows a few times", _few_worst_rows, TotalVariation)
SETTLED_WORST = _mutant("whose worst state settles", _settled_worst, Contamination)
ELIMINATES = _mutant("that leaves out actions too soon", _eliminates)
