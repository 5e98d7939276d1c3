"""The robust average cost under contamination by an ordinary discounted problem: the gain is R max W.

W is the optimal value of the ordinary problem at discount 1 − R (docs/theorems.md), here by policy iteration.
"""

import numpy as np

from robust_core import MDP, Contamination, UncertaintySet, Variant

ACCURACY = 1e-9


def plan(mdp: MDP, uncertainty_set: UncertaintySet) -> float:
    """R max W."""
    R = float(getattr(uncertainty_set, "radius", 0.0))
    policy, states = np.zeros(mdp.n_states, dtype=np.int64), np.arange(mdp.n_states)
    while True:
        matrix = np.eye(mdp.n_states) - (1.0 - R) * mdp.P[states, policy]
        W = np.linalg.solve(matrix, mdp.cost[states, policy])
        Q = mdp.cost + (1.0 - R) * mdp.expectation(W)
        # An action is left only for one that is better by more than rounding.
        margin = ACCURACY * R * np.abs(mdp.cost).max()
        better = np.where(Q.min(axis=1) < Q[states, policy] - margin, Q.argmin(axis=1), policy)
        if (better == policy).all():
            return float(R * W.max())
        policy = better


VARIANT = Variant(
    "robust average cost by a discount",
    "average cost planner",
    plan,
    (Contamination,),
    ("average cost",),
    {"accuracy": ACCURACY},
)
