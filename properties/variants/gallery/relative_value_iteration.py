"""The robust average cost by relative value iteration: min(TW − W) <= gain <= max(TW − W), whatever W.

Every step mixes W and its image, which makes periodic models converge too. The bounds stay those of the same W.
"""

import numpy as np

from robust_core import MDP, Contamination, TotalVariation, UncertaintySet, Variant, support

ACCURACY = 1e-9
MIX = 0.75


def plan(mdp: MDP, uncertainty_set: UncertaintySet) -> float:
    """The middle of the bounds, once they are near."""
    W = np.zeros(mdp.n_states)
    while True:
        image = (mdp.cost + support(mdp, uncertainty_set, W)).min(axis=1)
        change = image - W
        if np.ptp(change) <= ACCURACY * np.abs(mdp.cost).max():
            return float(change.min() + change.max()) / 2.0
        W = W + MIX * change
        W = W - W.min()


VARIANT = Variant(
    "robust relative value iteration",
    "average cost planner",
    plan,
    (Contamination, TotalVariation),
    ("average cost",),
    {"accuracy": ACCURACY},
)
