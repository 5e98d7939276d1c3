"""The robust policy gradient under contamination: an ordinary one at discount gamma(1−R), from another start."""

import numpy as np

from robust_core import Contamination, Variant


def gradient(mdp, uncertainty_set, policy, rho):
    R, gamma = uncertainty_set.radius, mdp.gamma
    b = gamma * (1 - R)
    P_pi = np.einsum("sa,sat->st", policy, mdp.P)
    ahead = np.linalg.inv(np.eye(mdp.n_states) - b * P_pi)
    W = ahead @ (policy * mdp.cost).sum(axis=1)
    start = rho.copy()
    start[W.argmax()] += gamma * R / (1 - gamma)
    visits = start @ ahead
    return visits[:, None] * (mdp.cost + b * mdp.expectation(W))


VARIANT = Variant("my policy gradient", "policy gradient", gradient, (Contamination,), ("policy gradient",))
