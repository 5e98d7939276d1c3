"""L2 ball on the simplex: q = p + delta + theta (v − mean) on the states A that keep mass; negative ones are taken out.

On the affine hull H of the distributions on A, the point of the ball where q·v is largest is p' + theta (v − mean),
p' the projection of p on H (p + delta on A, delta = p(outside A)/|A|), mean that of v on A without weights, and theta
>= 0 such that the distance from p is r: theta² Σ_A (v−mean)² = r² − Σ_outside p² − |A| delta².

A state where it is negative has no mass in the worst case. The worst case is the projection on the simplex of p +
theta* v for some theta*. (1) At the same theta, projecting further, from H on the distributions C on A, takes q no
farther from p: p' is in C, projections do not expand distances, and by Pythagoras distances from p in H are those
from p' plus a constant. So theta* >= theta. (2) A state that is negative in the projection on H is zero in that on C
(Michelot 1986). (3) As theta grows, a state that has reached zero stays there: q = (p + theta v − tau)⁺, tau' is the
mean of v on the states with mass, it exceeds v of the states that reach zero, and it only grows when they leave.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core.mdp import MDP
from robust_core.sets.base import Ball, RowSolver
from robust_core.sets.rows import deviations, weights
from robust_core.validate import Floats


@dataclass(frozen=True)
class L2(Ball):
    """L2 ball on the simplex: {q : √Σ(q−p)² <= r}: the radius is the distance, not its square, and has no weights.

    `within_support`: q stays in the support of p; by default mass may move to any state.
    """

    kind: ClassVar[str] = "l2"
    splits: ClassVar[bool] = False

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds, compiled."""
        from robust_core.kernels import solutions

        return solutions.Solver(
            mdp, self, solutions.EUCLIDEAN, solutions.WITHIN if self.within_support else solutions.FULL, self.radius
        )

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import l2

        return l2.kernel_support(mdp, self.radius, self.within_support, v)

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """q·v about the largest value, and q = p + delta + theta (v − mean) on the states that keep mass."""
        shape = rows.shape[:-1]
        p = weights(rows).reshape(-1, v.size)
        r = np.broadcast_to(np.asarray(self.radius), shape).reshape(-1, 1)
        active = self.allowed(p)
        top, span, d = deviations(v, active)
        q, moving = p.copy(), np.ones_like(active[:, :1])
        with np.errstate(all="ignore"):
            for _ in range(v.size + 1):
                count = active.sum(axis=-1, keepdims=True)
                mean = np.where(active, d, 0.0).sum(axis=-1, keepdims=True) / count
                norm = np.sqrt(np.where(active, (d - mean) ** 2, 0.0).sum(axis=-1, keepdims=True))
                out = np.where(active, 0.0, p)
                delta = out.sum(axis=-1, keepdims=True) / count
                # The distance from p to its projection on H; r² underflows where nothing is outside A.
                far = np.sqrt((out**2).sum(axis=-1, keepdims=True) + count * delta**2)
                left = np.where(far > 0.0, np.sqrt(np.maximum((r - far) * (r + far), 0.0)), r)
                moving &= r >= far
                theta = np.where(norm > 0.0, left / norm, 0.0)
                tried = np.where(active, p + delta + theta * (d - mean), 0.0)
                q = np.where(moving, np.maximum(tried, 0.0), q)
                below = active & (tried < 0.0) & moving
                moving &= below.any(axis=-1, keepdims=True)
                if not moving.any():
                    break
                active &= ~below
        q /= q.sum(axis=-1, keepdims=True)
        value = top[:, 0] + span[:, 0] * (q * d).sum(axis=-1)
        return value.reshape(shape), q.reshape(rows.shape)
