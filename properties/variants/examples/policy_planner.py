"""The greedy policy of robust value iteration: if |Q − Q*| <= e, it loses at most 2e / (1 − gamma)."""

import numpy as np

from robust_core import Contamination, TotalVariation, Variant, bellman

ACCURACY = 1e-6


def plan(mdp, uncertainty_set):
    Q = np.zeros_like(mdp.cost)
    while True:
        image = bellman(mdp, uncertainty_set, Q)
        if np.abs(image - Q).max() <= ACCURACY * (1 - mdp.gamma) / 2 * np.abs(mdp.cost).max():
            return np.eye(mdp.n_actions)[Q.argmin(axis=1)]
        Q = image


VARIANT = Variant(
    "my policy planner",
    "policy planner",
    plan,
    (Contamination, TotalVariation),
    ("optimal policy",),
    {"accuracy": ACCURACY},
)
