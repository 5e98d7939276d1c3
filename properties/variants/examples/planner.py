"""Robust value iteration: with d = TQ − Q, |TQ − Q*| <= gamma max|d| / (1 − gamma)."""

import numpy as np

from robust_core import Contamination, TotalVariation, Variant, bellman

ACCURACY = 1e-9


def plan(mdp, uncertainty_set):
    Q = np.zeros_like(mdp.cost)
    while True:
        image = bellman(mdp, uncertainty_set, Q)
        if np.abs(image - Q).max() <= ACCURACY * np.abs(mdp.cost).max():
            return image
        Q = image


VARIANT = Variant(
    "my planner", "planner", plan, (Contamination, TotalVariation), ("optimal",), options={"accuracy": ACCURACY}
)
