"""Robust value iteration on V in place (Gauss-Seidel): every state sees the states that moved before it."""

import numpy as np

from robust_core import MDP, Contamination, TotalVariation, UncertaintySet, Variant, sigma
from robust_core.validate import Floats

ACCURACY = 1e-9


def plan(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """V, once a sweep moves no state by more than is allowed: an error contracts by gamma in every sweep."""
    V, scale = np.zeros(mdp.n_states), float(np.abs(mdp.cost).max())
    while True:
        moved = 0.0
        for s in range(mdp.n_states):
            worst = [float(sigma(uncertainty_set.at(s, a), mdp.P[s, a], V)) for a in range(mdp.n_actions)]
            image = float((mdp.cost[s] + mdp.gamma * np.array(worst)).min())
            moved, V[s] = max(moved, abs(image - V[s])), image
        if moved <= ACCURACY * scale:
            return V


VARIANT = Variant(
    "robust Gauss-Seidel value iteration",
    "value planner",
    plan,
    (Contamination, TotalVariation),
    ("optimal value",),
    {"accuracy": ACCURACY},
)
