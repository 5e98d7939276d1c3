"""Robust value iteration on the values of states, for contamination."""

import numpy as np

from robust_core import Contamination, Variant

ACCURACY = 1e-9


def plan(mdp, uncertainty_set):
    R, V = uncertainty_set.radius, np.zeros(mdp.n_states)
    while True:
        Q = mdp.cost + mdp.gamma * ((1 - R) * mdp.expectation(V) + R * V.max())
        image = Q.min(axis=1)
        if np.abs(image - V).max() <= ACCURACY * np.abs(mdp.cost).max():
            return image
        V = image


VARIANT = Variant(
    "my value planner", "value planner", plan, (Contamination,), ("optimal value",), options={"accuracy": ACCURACY}
)
