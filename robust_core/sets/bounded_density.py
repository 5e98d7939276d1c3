"""Bounded densities: the highest values first, each as much as allowed. sigma is the CVaR of the upper part 1−R."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import RowSolver, Threshold, UncertaintySet
from robust_core.sets.rows import fill, weights
from robust_core.validate import Floats


@dataclass(frozen=True)
class BoundedDensity(UncertaintySet):
    """Bounded densities: {q : q <= p/(1−R)}, 0 <= R < 1; q stays in the support of p.

    p is then a contamination of q: p = (1−R)q + R·(anything). sigma is the mean of the upper part 1−R of v under p,
    the conditional value at risk of level R. At R = 1, which is refused, (1−R)q <= p would hold for every q, while
    the limit R → 1 is the maximum over the support of p.
    """

    kind: ClassVar[str] = "bounded_density"
    radii: ClassVar[tuple[float | Threshold, ...]] = (
        0.0, 0.5, 0.25, 0.75, 0.1, 0.9, *(Threshold(factor) for factor in (1.0, 1.0 - 1e-15, 1.0 - 1e-9, 0.999)),
        1e-8, 1e-300, 1.0 - 2.0**-20, 1.0 - 2.0**-52,
    )  # fmt: skip
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", validate.radius("radius", self.radius, most=1.0, reached=False))

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds, compiled."""
        from robust_core.kernels import solutions

        return solutions.Solver(mdp, self, solutions.DENSITY, solutions.WITHIN, self.radius)

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import polyhedral

        return polyhedral.bounded_density_support(mdp, self.radius, v)

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The box 0 <= q <= p/(1−R), filled from the highest value on."""
        p = weights(rows)
        return fill(np.zeros_like(p), np.minimum(p / (1.0 - np.asarray(self.radius)[..., None]), 1.0), v)
