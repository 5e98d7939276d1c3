"""R-contamination (Section 3): sigma(v) = (1−R) p·v + R max v, attained by (1−R)p + R·(the best state)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import RowSolver, UncertaintySet
from robust_core.validate import Floats


@dataclass(frozen=True)
class Contamination(UncertaintySet):
    """R-contamination (eq:uncertainset): {(1−R)p + Rq : q any distribution}."""

    kind: ClassVar[str] = "contamination"
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", validate.radius("radius", self.radius, most=1.0))

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """(1−R) p·v + R max v for each row p."""
        return (1.0 - self.radius) * (rows @ v) + self.radius * v.max()

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """(1−R)p + R·(the best state) for each row p."""
        worst = (1.0 - np.asarray(self.radius))[..., None] * rows
        worst[..., v.argmax()] += self.radius
        return worst

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds: a product."""
        from robust_core.kernels.affine_rows import AffineSolver

        return AffineSolver(mdp, self.radius)

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """(1−R) p·v + R max v for each row p of a kernel, dense or sparse."""
        return (1.0 - self.radius) * mdp.expectation(v) + self.radius * v.max()
