"""Interval sets: entrywise bounds on q, cut by Σq = 1 and filled from the highest value on."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import Pick, RowSolver, UncertaintySet
from robust_core.sets.rows import fill, weights
from robust_core.validate import EPS, Floats

if TYPE_CHECKING:
    from robust_core.kernels.solutions import Bounds

SPARSE = 0.25
"""The share of entries with mass up to which bounds are kept by rows of such entries."""


@dataclass(frozen=True)
class Interval(UncertaintySet):
    """Interval set: {q : low <= q <= high in every state}, for one row (S,) or for every pair (S, A, S).

    The bounds are the set: the nominal p does not enter. `around` makes them from p and half widths.
    """

    kind: ClassVar[str] = "interval"
    axes: ClassVar[Mapping[str, int]] = {"low": 1, "high": 1}
    splits: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    low: Floats
    high: Floats

    def __post_init__(self) -> None:
        low, high = validate.bounds(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @classmethod
    def around(cls, p: ArrayLike, width: ArrayLike) -> "Interval":
        """p ± width within [0, 1], rounded outwards so that p over its sum is inside."""
        rows = validate.array("p", p, shape=(None,) * max(validate.axes("p", p), 1))
        validate.distribution_rows("p", rows)
        half = validate.array("width", width, shape=(None,) * validate.axes("width", width))
        if not (half >= 0.0).all():
            raise ValueError(f"width must not be negative, got {half.min()}")
        if half.ndim > rows.ndim or any(
            n not in (1, m) for n, m in zip(half.shape[::-1], rows.shape[::-1], strict=False)
        ):
            raise ValueError(f"width must be one number or have the shape of p, {rows.shape}, got shape {half.shape}")
        centre = weights(rows)
        slack = 2 * (rows.shape[-1] + 2) * EPS * centre
        return cls(np.maximum(centre - half - slack, 0.0), np.minimum(centre + half + slack, 1.0))

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The bounds, filled from the highest value on: the same for every row."""
        value, worst = fill(self.low, self.high, v)
        return np.broadcast_to(value, rows.shape[:-1]).copy(), np.broadcast_to(worst, rows.shape).copy()

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds, compiled."""
        from robust_core.kernels import solutions

        reach = solutions.FULL if self.entries.dense else solutions.WITHIN
        return solutions.Solver(mdp, self, solutions.INTERVAL, reach, box=self.entries)

    @cached_property
    def entries(self) -> "Bounds":
        """The bounds of the states that may have mass, if these are few."""
        from robust_core.kernels.solutions import Bounds

        S = self.high.shape[-1]
        low, high, rows = self.low.reshape(-1), self.high.reshape(-1), np.arange(self.high.size // S + 1) * S
        at = np.flatnonzero(high)
        dense = len(at) > SPARSE * len(high)
        parts = (rows, at[:0], low, high) if dense else (np.searchsorted(at, rows), at % S, low[at], high[at])
        for part in parts:
            part.setflags(write=False)
        return Bounds(parts[0], parts[1], parts[2], parts[3], dense)

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import polyhedral

        value = polyhedral.box_support(self.low, self.high, v)
        return np.broadcast_to(value, (mdp.n_states, mdp.n_actions)).copy()

    @classmethod
    def choose(cls, pick: Pick, radius: float, p: Floats, v: Floats) -> "Interval":
        """Bounds around the first row, of several shapes and widths: absolute, relative, on one side, or none.

        Or around equal masses or the last state: the bounds are the set, and p may be outside.
        """
        row = np.asarray(p).reshape(-1, len(v))[0]
        width = pick((0.25, 0.5, 0.1, 0.0, 1.0, 0.01, 2.0**-17, 1e-8))
        shape = pick(("around", "row", "relative", "above", "below", "all", "equal", "last"))
        centres = {"around": row, "equal": np.full(len(v), 1.0 / len(v)), "last": np.eye(len(v))[-1]}
        if shape in centres:
            return cls.around(centres[shape], width)
        if shape == "row":
            return cls.around(row, np.minimum(width * (1.0 + np.arange(len(v))), 1.0))
        centred = cls.around(row, 0.0)
        low = np.zeros(len(v)) if shape in ("above", "all") else centred.low * (1.0 - width)
        high = np.ones(len(v)) if shape in ("below", "all") else np.minimum(centred.high * (1.0 + width), 1.0)
        return cls(low, high)
