"""Chi-square ball: the worst case is q ∝ p (v−eta)⁺; take out what is below eta until nothing is.

On kept states with nominal mass m and mean and standard deviation s of v (under p), Cauchy-Schwarz gives, for q on
them, q·v <= mean + s√k, k = (1+r)m − 1, with equality at q = (p/m)(1 + √k (v−mean)/s). Where that is negative, v <
eta = mean − s/√k; such states have no mass in the worst case either: eta only rises when they are taken out, and the
eta of the worst case is the last one. So the passes end, at most once per value, and the last value is sigma.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets.base import LEVELS, RowSolver, Threshold, UncertaintySet
from robust_core.sets.rows import deviations, weights
from robust_core.validate import Floats


@dataclass(frozen=True)
class ChiSquare(UncertaintySet):
    """Chi-square ball: {q : Σ (q−p)²/p <= r}, p in the denominator, without a factor ½; q stays in the support of p."""

    kind: ClassVar[str] = "chi_square"
    radii: ClassVar[tuple[float | Threshold, ...]] = (
        *LEVELS,
        # Between the first state that loses its mass and the last: there passes and clips show.
        *(Threshold(factor) for factor in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.6, 0.7)),
    )
    radius: float

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """mean + s√k and (p/m)(1 + √k (v−mean)/s) on the states that are kept."""
        return _drop(rows, v, np.asarray(self.radius))

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds, compiled."""
        from robust_core.kernels import solutions

        return solutions.Solver(mdp, self, solutions.CHI_SQUARE, solutions.WITHIN, self.radius)

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import chi_square

        return chi_square.kernel_support(mdp, self.radius, v)


def _drop(rows: Floats, v: Floats, radius: Floats) -> tuple[Floats, Floats]:
    """sigma and the worst case of each row.

    Values count from the lowest that is kept: for large r that state may have nearly all the mass and the others
    1e-300 of it, and the distance of the mean from the lowest value decides. Where it is a rounding for another
    state, that state waits until it is the lowest.
    """
    shape = rows.shape[:-1]
    p = weights(rows).reshape(-1, v.size)
    r = np.broadcast_to(radius, shape).reshape(-1, 1)
    kept = p > 0.0
    top, span, _ = deviations(v, kept)
    unit = np.where(span > 0.0, span, 1.0)
    value, worst = top.copy(), p.copy()
    moving = np.ones_like(kept[:, :1])
    with np.errstate(all="ignore"):
        while True:
            low = np.where(kept, v, np.inf).min(axis=-1, keepdims=True)
            e = np.where(kept, v - low, 0.0) / unit
            w = np.where(kept, p, 0.0)
            mass, gone = w.sum(axis=-1, keepdims=True), np.where(kept, 0.0, p).sum(axis=-1, keepdims=True)
            k = np.where(gone > 0.0, r * mass - gone, r)  # (1+r)m − 1 without the cancellation
            moving &= (k > 0.0) | (gone == 0.0)  # rounding dropped one state too many: the value before was right
            mean = (w * e).sum(axis=-1, keepdims=True) / mass
            s = _norm(np.sqrt(w / mass) * (e - mean))
            root = np.sqrt(k)
            value = np.where(moving, np.minimum(low + unit * (mean + s * root), top), value)
            scale = np.where(s > 0.0, root / s, 0.0)
            worst = np.where(moving, w / mass * np.maximum(1.0 + scale * (e - mean), 0.0), worst)
            below = kept & ((mean - e) * root > s) & moving
            below &= (e == 0.0) | (mean - e > 8 * v.size * validate.EPS * mean)
            moving &= below.any(axis=-1, keepdims=True)
            if not moving.any():
                break
            kept &= ~below
    worst /= worst.sum(axis=-1, keepdims=True)
    return value.reshape(shape), worst.reshape(rows.shape)


def _norm(x: Floats) -> Floats:
    """The Euclidean norm of each row, without underflow of the squares."""
    largest = np.abs(x).max(axis=-1, keepdims=True)
    unit = x / np.where(largest > 0.0, largest, 1.0)
    return largest * np.sqrt((unit**2).sum(axis=-1, keepdims=True))
