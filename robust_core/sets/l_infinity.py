"""L∞ ball on the simplex: a box around p cut by Σq = 1, filled from the highest value on."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import LEVELS, Pick, Threshold, UncertaintySet
from robust_core.sets.rows import at_scale, fill, weights
from robust_core.validate import Floats


@dataclass(frozen=True)
class LInfinity(UncertaintySet):
    """L∞ ball on the simplex: {q : |q−p| <= r in every state}.

    `within_support`: q stays in the support of p; by default mass may move to any state.
    """

    kind: ClassVar[str] = "l_infinity"
    radii: ClassVar[tuple[float | Threshold, ...]] = LEVELS
    splits: ClassVar[bool] = False
    radius: float
    within_support: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", validate.radius("radius", self.radius))
        object.__setattr__(self, "within_support", validate.boolean("within_support", self.within_support))

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """The box (p−r)⁺ <= q <= min(p+r, 1), filled from the highest value on."""
        return at_scale(lambda scaled: fill(*self._box(rows), scaled)[0], v)

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """The filling."""
        return fill(*self._box(rows), v)[1]

    @classmethod
    def choose(cls, pick: Pick, radius: float, p: Floats, v: Floats) -> "LInfinity":
        """The radius, and whether q stays in the support."""
        return cls(radius, pick((False, True)))

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import polyhedral

        return polyhedral.l_infinity_support(mdp, self.radius, self.within_support, v)

    def _box(self, rows: Floats) -> tuple[Floats, Floats]:
        p = weights(rows)
        r = np.asarray(self.radius)[..., None]
        upper = np.minimum(p + r, 1.0)
        return np.maximum(p - r, 0.0), np.where(p > 0.0, upper, 0.0) if self.within_support else upper
