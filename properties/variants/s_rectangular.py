"""s-rectangular sets: the operator on values, and planners of values and of randomised policies with a certificate."""

import numpy as np

from robust_core import MDP, SRectangular, Variant, bellman_values, plan_states
from robust_core.sets import S_RECTANGULAR
from robust_core.validate import Floats

ACCURACY = 2.0**-30


def _accuracy(mdp: MDP) -> float:
    return ACCURACY * (float(np.abs(mdp.cost).max()) or 1.0) / (1.0 - mdp.gamma)


def values(mdp: MDP, uncertainty_set: SRectangular) -> Floats:
    """The middle of certified bounds on V*."""
    return plan_states(mdp, uncertainty_set, accuracy=_accuracy(mdp)).values


def policy(mdp: MDP, uncertainty_set: SRectangular) -> Floats:
    """A randomised policy whose robust value is at most the upper bound."""
    return plan_states(mdp, uncertainty_set, accuracy=_accuracy(mdp)).policy


OPERATOR = Variant("s-rectangular operator", "operator", bellman_values, S_RECTANGULAR, ("bellman", "radii per pair"))
VALUES = Variant(
    "s-rectangular planner", "value planner", values, S_RECTANGULAR, ("optimal value",), {"accuracy": ACCURACY}
)
# T_pi v <= TV + 2e at the final point, |v − V*| <= e, and that is amplified by 1/(1−gamma).
POLICY = Variant(
    "s-rectangular policies", "policy planner", policy, S_RECTANGULAR, ("optimal policy",), {"accuracy": 2.0 * ACCURACY}
)
