"""Robust policy iteration: evaluate by sweeps until the residual is small, then take the best actions."""

import numpy as np

from robust_core import MDP, Contamination, TotalVariation, UncertaintySet, Variant, support
from robust_core.validate import Floats

ACCURACY = 1e-6


def plan(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """A policy that takes one action a state."""
    states, scale = np.arange(mdp.n_states), np.abs(mdp.cost).max()
    policy, V = mdp.cost.argmin(axis=1), np.zeros(mdp.n_states)
    near = ACCURACY * (1.0 - mdp.gamma) ** 2 / 8.0 * scale
    while True:
        while True:
            Q = mdp.cost + mdp.gamma * support(mdp, uncertainty_set, V)
            V, last = Q[states, policy], V
            if np.abs(V - last).max() <= near:
                break
        Q = mdp.cost + mdp.gamma * support(mdp, uncertainty_set, V)
        better = np.where(Q.min(axis=1) < Q[states, policy] - 4.0 * near / (1.0 - mdp.gamma), Q.argmin(axis=1), policy)
        if (better == policy).all():
            return np.asarray(np.eye(mdp.n_actions)[policy])
        policy = better


VARIANT = Variant(
    "robust policy iteration",
    "policy planner",
    plan,
    (Contamination, TotalVariation),
    ("optimal policy",),
    {"accuracy": ACCURACY},
)
