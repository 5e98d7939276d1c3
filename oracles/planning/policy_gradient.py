"""The gradient of the robust value of a policy under contamination, exactly.

With b = gamma(1−R) and W the ordinary value of pi at discount b, V_R = W + gamma R/(1−gamma)·max W (`closed_form`). For
a start distribution rho and a maximiser s* of W the objective rho·V_R is therefore the ordinary objective at discount b
from the weights rho + gamma R/(1−gamma)·1_{s*}, and the policy gradient theorem gives

    ∂(rho·V_R)/∂pi(a|s) = d(s) q(s,a),      dᵀ = (rho + gamma R/(1−gamma) 1_{s*})ᵀ(I − bP_pi)⁻¹,      q = c + bPW,

to be used in directions that keep Σ_a pi(a|s) = 1. If several states attain max W the objective has a kink there; each
of them gives a subgradient of the maximum, and the derivative along a direction is the largest of theirs.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Matrix, Vector
from robust_core import validate
from robust_core.mdp import MDP


@dataclass(frozen=True)
class PolicyGradient:
    """rho·V_R, its gradients (one per maximiser of W), the maximisers, and q at discount gamma(1−R), in rationals."""

    value: Fraction
    gradients: tuple[Matrix, ...]
    maximisers: tuple[int, ...]
    q: Matrix

    def derivative(self, direction: ArrayLike) -> Fraction:
        """The derivative from the right along a direction (S, A) whose rows sum to 0."""
        moves = [[Fraction(x) for x in row] for row in np.asarray(direction).tolist()]
        if any(sum(row) != 0 for row in moves):
            raise ValueError("direction must have rows that sum to 0 exactly")
        flat = [x for row in moves for x in row]
        return max(
            sum((g * x for g, x in zip((g for row in gradient for g in row), flat, strict=True)), Fraction(0))
            for gradient in self.gradients
        )


def policy_gradient(
    mdp: MDP, radius: float, policy: ArrayLike, start: ArrayLike, *, slack: float = 0.0
) -> PolicyGradient:
    """The gradient of start·V_R^pi by the entries of the policy.

    With `slack`, states count as maximisers whose W is at most that below the largest.

    >>> mdp = MDP([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]], [[1.0, 0.5], [0.0, 0.0]], 0.5)
    >>> found = policy_gradient(mdp, 0.5, [[0.5, 0.5], [1.0, 0.0]], [1.0, 0.0])
    >>> found.maximisers, found.derivative([[1.0, -1.0], [0.0, 0.0]]) > 0
    ((0,), True)
    """
    pi_floats = validate.policy(policy, mdp.n_states, mdp.n_actions)
    rho = exact.distribution(validate.array("start", start, shape=(mdp.n_states,)).tolist()).fractions()
    gamma, R = Fraction(mdp.gamma), Fraction(validate.unit_interval("radius", radius))
    b, factor = gamma * (1 - R), gamma * R / (1 - gamma)
    cost, P = exact.costs(mdp), exact.kernel(mdp)
    pi = [exact.distribution(row) for row in pi_floats.tolist()]
    rows = [exact.mixture(weights, P[s]) for s, weights in enumerate(pi)]
    mean_cost = [
        sum((w * c for w, c in zip(weights.fractions(), cost[s], strict=True)), Fraction(0))
        for s, weights in enumerate(pi)
    ]
    W = exact.discounted_values(rows, mean_cost, b).fractions()
    q = tuple(
        tuple(cost[s][a] + b * sum((p * w for p, w in zip(P[s][a].fractions(), W, strict=True)), Fraction(0))
              for a in range(mdp.n_actions)) for s in range(mdp.n_states)
    )  # fmt: skip
    tops = tuple(s for s, w in enumerate(W) if w >= max(W) - Fraction(slack))
    # Column t of (I − bP)⁻¹ is the value of the cost 1_t; rho times it is d(t).
    columns = [
        exact.discounted_values(rows, [Fraction(int(s == t)) for s in range(len(W))], b).fractions()
        for t in range(len(W))
    ]

    def occupancy(top: int) -> Vector:
        weights = [r + (factor if s == top else 0) for s, r in enumerate(rho)]
        return tuple(sum((w * x for w, x in zip(weights, column, strict=True)), Fraction(0)) for column in columns)

    gradients = tuple(tuple(tuple(d * x for x in q[s]) for s, d in enumerate(occupancy(top))) for top in tops)
    value = sum((r * w for r, w in zip(rho, W, strict=True)), Fraction(0)) + factor * max(W)
    return PolicyGradient(value, gradients, tops, q)
