"""The robust policy gradient of softmax parameters, by the worst kernel (Danskin).

Where the worst kernel of a policy is unique, the gradient of its robust value is the ordinary gradient in that kernel
at discount gamma. Under contamination that kernel restarts at the state with the largest value.
"""

import numpy as np

from robust_core import MDP, Contamination, UncertaintySet, Variant
from robust_core.validate import Floats


def gradient(mdp: MDP, uncertainty_set: UncertaintySet, policy: Floats, rho: Floats) -> Floats:
    """d(s) pi(a|s) (Q(s,a) − V(s)), d the discounted visits from rho in the worst kernel."""
    R, gamma = float(getattr(uncertainty_set, "radius", 0.0)), mdp.gamma
    P_pi = np.einsum("sa,sat->st", policy, mdp.P)
    cost = (policy * mdp.cost).sum(axis=1)
    # Under contamination the worst state is that of the ordinary values at discount gamma(1−R).
    W = np.linalg.solve(np.eye(mdp.n_states) - gamma * (1.0 - R) * P_pi, cost)
    worst = np.eye(mdp.n_states)[W.argmax()]
    kernel = (1.0 - R) * mdp.P + R * worst
    ahead = np.linalg.inv(np.eye(mdp.n_states) - gamma * np.einsum("sa,sat->st", policy, kernel))
    V = ahead @ cost
    Q = mdp.cost + gamma * kernel @ V
    visits = rho @ ahead
    return np.asarray(visits[:, None] * policy * (Q - V[:, None]))


VARIANT = Variant(
    "robust policy gradient, softmax",
    "policy gradient",
    gradient,
    (Contamination,),
    ("policy gradient",),
    {"parameters": "softmax"},
)
