"""J of linear evaluation with its gradient and omega(theta), from the model."""

import numpy as np

from robust_core import Contamination, Variant


def objective(mdp, uncertainty_set, policy, features, smoothing, theta):
    R, S = uncertainty_set.radius, mdp.n_states
    chain = np.einsum("sa,sat->st", policy, mdp.P)
    # mu (I - chain) = 0, and its entries sum to 1.
    mu = np.linalg.solve((np.eye(S) - chain + np.ones((S, S))).T, np.ones(S))
    V, weighted = features @ theta, features.T * mu
    delta = (policy * mdp.cost).sum(axis=1) + mdp.gamma * ((1 - R) * chain @ V + R * smoothing.value(V)) - V
    moment, C = weighted @ delta, weighted @ features
    after = mdp.gamma * ((1 - R) * chain @ features + R * smoothing.gradient(V) @ features)
    slope = after.T @ weighted.T - C
    omega = np.linalg.solve(C, moment)
    return moment @ omega, 2.0 * slope @ omega, omega


VARIANT = Variant(
    "my objective",
    "objective",
    objective,
    (Contamination,),
    ("objective", "objective gradient", "tracked weights"),
)
