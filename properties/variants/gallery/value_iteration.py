"""Robust value iteration: T until MacQueen's bounds meet."""

import numpy as np

from robust_core import MDP, Contamination, TotalVariation, UncertaintySet, Variant, bellman
from robust_core.validate import Floats

ACCURACY = 2.0**-30


def plan(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """Q* to ACCURACY·max|c|/(1−gamma): with d = TQ − Q, Q* lies in TQ + gamma/(1−gamma)[min d, max d]."""
    Q = np.zeros_like(mdp.cost)
    scale = float(np.abs(mdp.cost).max()) / (1.0 - mdp.gamma)
    while True:
        image = bellman(mdp, uncertainty_set, Q)
        low, high = (mdp.gamma / (1.0 - mdp.gamma) * end for end in ((image - Q).min(), (image - Q).max()))
        if high - low <= ACCURACY * scale:
            return image + (low + high) / 2.0
        Q = image


VARIANT = Variant(
    "robust value iteration",
    "planner",
    plan,
    (Contamination, TotalVariation),
    ("optimal", "radii per pair"),
    options={"accuracy": ACCURACY},
)
