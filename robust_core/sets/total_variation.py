"""Total-variation ball: nature takes mass R from the states of lowest v and gives it to the best state.

In the order of ascending v, state i keeps k_i = p_i − min(p_i, R left), so sigma(v) = Σ k_i v_i + (1 − Σ k_i) max v.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import RowSolver, UncertaintySet
from robust_core.validate import Floats


@dataclass(frozen=True)
class TotalVariation(UncertaintySet):
    """Total-variation ball: {q : ½‖q − p‖₁ <= R}."""

    kind: ClassVar[str] = "total_variation"
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", validate.radius("radius", self.radius, most=1.0))

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """Σ k_i v_i + (1 − Σ k_i) max v for each row, k the mass that the states keep."""
        if self.radius == 1.0:  # the whole simplex: exactly the maximum
            return np.full(rows.shape[:-1], v.max())
        order, kept = self._kept_mass(rows, v)
        return kept @ v[order] + (1.0 - kept.sum(axis=-1)) * v.max()

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """The mass that each state keeps, and the rest on the best state."""
        order, kept = self._kept_mass(rows, v)
        worst = np.empty_like(rows)
        worst[..., order] = kept
        # A row may sum to a little more than 1, and no mass is negative.
        worst[..., v.argmax()] += np.maximum(1.0 - kept.sum(axis=-1), 0.0)
        return worst

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds, compiled."""
        from robust_core.kernels import solutions

        return solutions.Solver(mdp, self, solutions.MASS, solutions.TOP, self.radius)

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled: the sort of v is shared by all rows."""
        from robust_core.kernels import polyhedral, total_variation

        if self.pairs:
            return polyhedral.l1_support(mdp, 2.0 * np.asarray(self.radius), False, v)

        return total_variation.kernel_support(mdp, self.radius, v)

    def _kept_mass(self, rows: Floats, v: Floats) -> tuple[np.ndarray, Floats]:
        """The order of ascending v and, in that order, the mass each state keeps when R is taken from the bottom."""
        order = np.argsort(v, kind="stable")
        ascending = rows[..., order]
        before = np.cumsum(ascending, axis=-1) - ascending
        taken = np.clip(self.radius - before, 0.0, ascending)
        return order, ascending - taken
