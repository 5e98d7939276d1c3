"""A robust actor and an exact critic: mirror descent of the policy with step sizes that grow by 1/gamma a step.

The actor multiplies its probabilities by exp(−eta Q(s,·)), Q the robust values of its own policy. Under contamination
the critic solves one linear system at discount gamma(1−R) and adds a constant. With growing step sizes the values
converge linearly at the rate gamma, as those of policy iteration. A learner with a critic that moves has two time
scales, and no exact law speaks of its steps; this is the actor alone.
"""

import numpy as np

from robust_core import MDP, Contamination, UncertaintySet, Variant
from robust_core.validate import Floats

ACCURACY = 1e-4


def plan(mdp: MDP, uncertainty_set: UncertaintySet) -> Floats:
    """The policy of the actor after as many steps as the rate gamma needs."""
    R, gamma = float(getattr(uncertainty_set, "radius", 0.0)), max(mdp.gamma, 0.5)
    eta = (1.0 - mdp.gamma) / (float(np.abs(mdp.cost).max()) or 1.0)
    logits, policy = np.zeros(mdp.cost.shape), np.full(mdp.cost.shape, 1.0 / mdp.n_actions)
    for _ in range(2 + int(np.log(ACCURACY * (1.0 - mdp.gamma) ** 2 / 64.0) / np.log(gamma))):
        Q = _critic(mdp, R, policy)
        eta /= gamma
        logits -= eta * (Q - Q.min(axis=1, keepdims=True))
        logits -= logits.max(axis=1, keepdims=True)
        weights = np.exp(logits)
        policy = weights / weights.sum(axis=1, keepdims=True)
    return policy


def _critic(mdp: MDP, R: float, policy: Floats) -> Floats:
    """Q of the policy up to a constant, which moves no actor."""
    b = mdp.gamma * (1.0 - R)
    P = np.einsum("sa,sat->st", policy, mdp.P)
    W = np.linalg.solve(np.eye(mdp.n_states) - b * P, (policy * mdp.cost).sum(axis=1))
    return np.asarray(mdp.cost + b * mdp.expectation(W))


VARIANT = Variant(
    "robust actor with an exact critic",
    "policy planner",
    plan,
    (Contamination,),
    ("optimal policy",),
    {"accuracy": ACCURACY},
)
