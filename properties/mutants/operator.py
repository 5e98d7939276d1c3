"""Wrong robust Bellman operators."""

import numpy as np

from robust_core import Contamination, TotalVariation, UncertaintySet, Variant, bellman, support
from robust_core.mdp import MDP

_SETS = (Contamination, TotalVariation)


def _maximum_for_minimum(mdp: MDP, uncertainty_set: UncertaintySet, Q: np.ndarray) -> np.ndarray:
    return mdp.cost + mdp.gamma * support(mdp, uncertainty_set, Q.max(axis=1))


def _no_discount(mdp: MDP, uncertainty_set: UncertaintySet, Q: np.ndarray) -> np.ndarray:
    return mdp.cost + support(mdp, uncertainty_set, Q.min(axis=1))


def _l1_radius(mdp: MDP, uncertainty_set: TotalVariation, Q: np.ndarray) -> np.ndarray:
    return bellman(mdp, TotalVariation(uncertainty_set.radius / 2), Q)


MAXIMUM_FOR_MINIMUM = Variant("T with max for min", "operator", _maximum_for_minimum, _SETS, ("bellman",))
NO_DISCOUNT = Variant("T without gamma", "operator", _no_discount, _SETS, ("bellman",))
L1_RADIUS = Variant("T with the L1 radius", "operator", _l1_radius, (TotalVariation,), ("bellman",))
