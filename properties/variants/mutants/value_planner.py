"""Wrong planners of values."""

from collections.abc import Callable

import numpy as np

from properties.variants.gallery.value_iteration import ACCURACY, plan
from properties.variants.mutants import planner
from robust_core import Contamination, TotalVariation, UncertaintySet, Variant, bellman
from robust_core.mdp import MDP
from robust_core.validate import Floats

Plan = Callable[[MDP, UncertaintySet], Floats]


def _mutant(name: str, make: Plan, *sets: type[UncertaintySet]) -> Variant:
    options = {"accuracy": ACCURACY}
    sets = sets or (Contamination, TotalVariation)
    return Variant(f"planner of values {name}", "value planner", make, sets, ("optimal value",), options)


def _values(wrong: Variant) -> Plan:
    """The values of a wrong planner of tables."""
    return lambda mdp, uncertainty_set: np.asarray(wrong.make(mdp, uncertainty_set).min(axis=1))


def _relative(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """V* up to a constant, as relative value iteration returns it."""
    V = plan(mdp, uncertainty_set).min(axis=1)
    return V - V[-1]


def _short(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """A hundred sweeps, whatever the discount."""
    Q = np.zeros_like(mdp.cost)
    for _ in range(100):
        Q = bellman(mdp, uncertainty_set, Q)
    return Q.min(axis=1)


def _merged(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """States with the same costs and rows to six digits share the mean of their values."""
    data = np.concatenate([mdp.cost / (np.abs(mdp.cost).max() or 1.0), mdp.P.reshape(mdp.n_states, -1)], axis=1)
    same = np.unique(np.round(data, 6), axis=0, return_inverse=True)[1].reshape(-1)
    V = plan(mdp, uncertainty_set).min(axis=1)
    return np.asarray((np.bincount(same, V) / np.bincount(same))[same])


WITHOUT_CONSTANT = _mutant("without the constant", _values(planner.WITHOUT_CONSTANT), Contamination)
WRONG_CONSTANT = _mutant("with a wrong constant", _values(planner.WRONG_CONSTANT), Contamination)
NOT_ROBUST = _mutant("that is not robust", _values(planner.NOT_ROBUST))
SMALL_CHANGE = _mutant("that stops at a small change", _values(planner.SMALL_CHANGE))
ONE_IMPROVEMENT = _mutant("with one improvement", _values(planner.ONE_IMPROVEMENT))
CONTAMINATION = _mutant("of contamination for variation", _values(planner.VARIATION_BY_CONTAMINATION), TotalVariation)
MEAN_OF_ACTIONS = _mutant(
    "with the mean of the actions", lambda mdp, uncertainty_set: plan(mdp, uncertainty_set).mean(axis=1)
)
FIRST_ACTION = _mutant("of the first action", lambda mdp, uncertainty_set: plan(mdp, uncertainty_set)[:, 0])
LARGEST = _mutant("of the worst action", lambda mdp, uncertainty_set: plan(mdp, uncertainty_set).max(axis=1))
# sigma(V*) in place of V*.
WITHOUT_COST = _mutant(
    "without the first cost", lambda mdp, uncertainty_set: (plan(mdp, uncertainty_set) - mdp.cost).min(axis=1)
)
RELATIVE = _mutant("up to a constant", _relative)
PER_STEP = _mutant("per step", lambda mdp, uncertainty_set: (1.0 - mdp.gamma) * plan(mdp, uncertainty_set).min(axis=1))
# Costs taken for rewards: the agent maximises, and nature with it.
REWARDS = _mutant(
    "of rewards", lambda mdp, uncertainty_set: plan(MDP(mdp.kernel, -mdp.cost, mdp.gamma), uncertainty_set).min(axis=1)
)
SHORT = _mutant("with a hundred sweeps", _short)
MERGED = _mutant("that merges states that are nearly alike", _merged)
