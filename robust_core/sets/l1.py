"""L1 ball on the simplex: nature takes mass r/2 from the states of lowest v and gives it to the best state."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import LEVELS, Pick, Threshold, UncertaintySet
from robust_core.sets.rows import at_scale, weights
from robust_core.validate import Floats


@dataclass(frozen=True)
class L1(UncertaintySet):
    """L1 ball on the simplex: {q : Σ|q−p| <= r}. Twice the total variation: L1(r) is TotalVariation(r/2).

    `within_support`: q stays in the support of p; by default mass may move to any state.
    """

    kind: ClassVar[str] = "l1"
    radii: ClassVar[tuple[float | Threshold, ...]] = LEVELS
    radius: float
    within_support: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", validate.radius("radius", self.radius))
        object.__setattr__(self, "within_support", validate.boolean("within_support", self.within_support))

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """top + Σ k (v − top), k the mass that the states keep."""
        return at_scale(lambda scaled: self._move(rows, scaled)[0], v)

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """The mass that each state keeps, and the rest on the best state."""
        return self._move(rows, v)[1]

    @classmethod
    def choose(cls, pick: Pick, radius: float, p: Floats, v: Floats) -> "L1":
        """The radius, and whether q stays in the support."""
        return cls(radius, pick((False, True)))

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import polyhedral

        return polyhedral.l1_support(mdp, self.radius, self.within_support, v)

    def _move(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """sigma and the worst case of each row."""
        p = weights(rows)
        allowed = p > 0.0 if self.within_support else np.ones(p.shape, dtype=bool)
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
