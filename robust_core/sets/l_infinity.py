"""L∞ ball on the simplex: a box around p cut by Σq = 1, filled from the highest value on."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core.mdp import MDP
from robust_core.sets.base import Ball, RowSolver
from robust_core.sets.rows import fill, weights
from robust_core.validate import Floats


@dataclass(frozen=True)
class LInfinity(Ball):
    """L∞ ball on the simplex: {q : |q−p| <= r in every state}.

    `within_support`: q stays in the support of p; by default mass may move to any state.
    """

    kind: ClassVar[str] = "l_infinity"
    splits: ClassVar[bool] = False

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds, compiled."""
        from robust_core.kernels import solutions

        return solutions.Solver(
            mdp, self, solutions.BALL, solutions.WITHIN if self.within_support else solutions.FULL, self.radius
        )

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import polyhedral

        return polyhedral.l_infinity_support(mdp, self.radius, self.within_support, v)

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The box (p−r)⁺ <= q <= min(p+r, 1), filled from the highest value on."""
        p = weights(rows)
        r = np.asarray(self.radius)[..., None]
        return fill(np.maximum(p - r, 0.0), np.where(self.allowed(p), np.minimum(p + r, 1.0), 0.0), v)
