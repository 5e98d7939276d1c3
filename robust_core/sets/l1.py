"""L1 ball on the simplex: nature takes mass r/2 from the states of lowest v and gives it to the best state."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core.mdp import MDP
from robust_core.sets.base import Ball, RowSolver
from robust_core.sets.rows import weights
from robust_core.validate import Floats


@dataclass(frozen=True)
class L1(Ball):
    """L1 ball on the simplex: {q : Σ|q−p| <= r}. Twice the total variation: L1(r) is TotalVariation(r/2).

    `within_support`: q stays in the support of p; by default mass may move to any state.
    """

    kind: ClassVar[str] = "l1"

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds, compiled."""
        from robust_core.kernels import solutions

        return solutions.Solver(
            mdp,
            self,
            solutions.MASS,
            solutions.WITHIN if self.within_support else solutions.TOP,
            0.5 * np.asarray(self.radius),
        )

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import polyhedral

        return polyhedral.l1_support(mdp, self.radius, self.within_support, v)

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """top + Σ k (v − top), k the mass that the states keep; the worst case has the rest on the best state."""
        p = weights(rows)
        allowed = self.allowed(p)
        best = np.where(allowed, v, -np.inf).argmax(axis=-1)[..., None]
        top = v[best]
        half = np.asarray(self.radius)[..., None] / 2
        order = np.argsort(v, kind="stable")
        ascending = p[..., order]
        taken = np.clip(half - (np.cumsum(ascending, axis=-1) - ascending), 0.0, ascending)
        kept = np.empty_like(p)
        kept[..., order] = ascending - taken
        value = top[..., 0] + (kept * np.where(allowed, v - top, 0.0)).sum(axis=-1)
        moved = taken.sum(axis=-1, keepdims=True)
        np.put_along_axis(kept, best, np.take_along_axis(kept, best, -1) + moved, -1)
        return value, kept
