"""Relative value iteration for the robust average cost: min(TW − W) <= gain <= max(TW − W), whatever W."""

import numpy as np

from robust_core import Contamination, TotalVariation, Variant, support

ACCURACY = 1e-9


def plan(mdp, uncertainty_set):
    W = np.zeros(mdp.n_states)
    while True:
        last, Q = W, mdp.cost + support(mdp, uncertainty_set, W)
        W = Q.min(axis=1)
        low, high = (W - last).min(), (W - last).max()
        if high - low <= ACCURACY * np.abs(mdp.cost).max():
            return (low + high) / 2
        W = W - W.min()


VARIANT = Variant(
    "my average-cost planner",
    "average cost planner",
    plan,
    (Contamination, TotalVariation),
    ("average cost",),
    options={"accuracy": ACCURACY},
)
