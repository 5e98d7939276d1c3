"""Balls that are given by two formulas, a distance and an upper bound of sigma, from which all else follows.

For every s > 0 the bound is at least sigma, so sigma is its minimum over s (strong duality). The bound is convex in s:
golden sections of log s in floats come near to the minimum of many rows at once, and parabolas end there. The value
errs by the square of the error in log s, and by the rounding of the formula, which is of the size of s where eta = s +
max v enters: so the last steps use the longest floats of the processor. The gradient of sigma in v is a worst case;
differences of the bound at the best s give it.
"""

import copy
import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from robust_core.sets.base import Threshold, UncertaintySet
from robust_core.validate import Floats

LOWEST, HIGHEST = -62.0, 10.0
"""The ends of log s for a radius of 1; the multiplier of a smaller radius is at most 1/radius as large."""
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
NARROW = 0.02
"""The bracket of log s from which parabolas start."""
SPACINGS = (1e-2, 1e-4, 1e-5)
"""Of the points of a parabola in log s: its vertex errs by their square, so 1e-8, whose square is a rounding."""
ENOUGH = 1e-16
"""What a last parabola may promise of the span of v; more says that the bound has a kink near its minimum."""
FINEST = 1e-17
"""The bracket of log s at a kink: there the value errs by as much."""
SMALL = 1e-8
"""Radius below which sections need long floats too: the rounding of floats hides the minimum."""
STEP = 1e-6
"""Of the differences in v, relative to s: the error of a derivative is of the order of its square."""
KEPT, NOTHING = 1e-30, 1e-300
"""The share of a mass that is kept, since a distance may be infinite without it; and a mass for 0/0 and 0 log 0."""
BLOCK = 1 << 15
"""Entries of rows at a time: they stay in the cache."""
LONG = np.longdouble


class DistanceBall(UncertaintySet):
    """{q : distance(p, q) <= radius}: a subclass has a field `radius`, and the formulas `bound` and `distance`.

    In both formulas the states are the first axis of an array, and a second axis has rows: sums are `.sum(axis=0)`.
    They are also evaluated with numbers of 70 digits, so they consist of `+ - * / **`, `abs`, comparisons, `np.where`,
    `np.maximum`, sums, maxima and `np.sqrt`, `np.exp`, `np.log`, `np.expm1`, `np.log1p`.
    """

    radii: ClassVar[tuple[float | Threshold, ...]] = (0.0, 1.0, 0.5, 0.1, 0.01, 0.25, 2.0**-20, 3.0, 10.0, 1e-8)
    power: ClassVar[int] = 1
    """The distance of p + t(q - p) is at most t^power times that of q: 1 if it is convex, 2 for squares of norms."""
    within_support: ClassVar[bool] = False
    """Whether q stays in the support of p; `bound` then never sees the value of a state without mass."""

    @abstractmethod
    def bound(self, p: Any, v: Any, s: Any) -> Any:
        """A number that is at least sigma(v) for every s > 0, convex in s, and sigma(v) for the best s."""

    @abstractmethod
    def distance(self, p: Any, q: Any) -> Any:
        """The definition: convex in q, and 0 at q = p alone."""

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """The least bound over s, between p·v and the largest value that a row may reach."""
        return self._by_blocks(rows, v, lambda p, values: self._best(p, values)[1], np.empty(rows.shape[:-1]))

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """The gradient of the least bound, pulled to p until it is in the ball."""
        return self._by_blocks(rows, v, self._worst, np.empty(rows.shape))

    def _by_blocks(self, rows: Floats, v: Floats, form: Any, result: Floats) -> Floats:
        """A form of rows p (S, n) over their sum and values (S, n) between -1 and 0; numbers are of v, arrays of p."""
        if not hasattr(self, "radius"):
            raise TypeError(f"{type(self).__name__} must be a frozen dataclass with a field `radius`")
        flat, n = rows.reshape(-1, rows.shape[-1]), rows.shape[-1]
        to = result.reshape(-1, *result.shape[rows.ndim - 1 :])
        size = max(BLOCK // n, 1)
        for part in (slice(begin, begin + size) for begin in range(0, len(flat), size)):
            p = flat[part].T.astype(LONG)
            p /= p.sum(axis=0)
            values = np.repeat(np.asarray(v, dtype=LONG)[:, None], p.shape[1], axis=1)
            if self.within_support:
                values = np.where(p > 0.0, values, np.where(p > 0.0, values, np.inf).min(axis=0))
            top = values.max(axis=0)
            unit = top - values.min(axis=0)
            unit[unit == 0.0] = 1.0
            with np.errstate(all="ignore"):
                found = form(p, (values - top) / unit)
            to[part] = found.T if found.ndim > 1 else top + unit * found
        return result

    def _ball(self, kind: type) -> Any:
        """The same set with floats of a kind, and arrays with an axis for rows behind the states."""
        ball = copy.copy(self)
        for name, value in self._values():
            if isinstance(value, (float, np.ndarray)):
                given: Any = np.asarray(value, dtype=kind)
                object.__setattr__(ball, name, given[..., None] if given.ndim else given[()])
        return ball

    def _best(self, p: Any, values: Any) -> tuple[Any, Any]:
        """About the best s of each row, and the bound there."""
        radius = float(self.radius)  # type: ignore[attr-defined]
        mean = (p * values).sum(axis=0)
        if radius == 0.0:
            return np.ones_like(mean), mean
        kind = np.float64 if radius >= SMALL else LONG
        low, high = (np.full(p.shape[1], end, kind) for end in (LOWEST, HIGHEST - math.log(min(radius, 1.0))))
        t = _sections(self._ball(kind), p.astype(kind), values.astype(kind), low, high, NARROW).astype(LONG)
        ball, start = self._ball(LONG), t
        _require_rows(ball, p, values, t)
        for h in SPACINGS:
            left, here, right = (_at(ball, p, values, t + shift) for shift in (-h, 0.0, h))
            bend, slope = left - 2.0 * here + right, left - right
            step = 0.5 * h * slope / bend
            t = t + np.where(np.abs(step) <= NARROW, step, 0.0)
        kinks = np.flatnonzero(~(slope**2 <= 8.0 * ENOUGH * bend) & ~(np.abs(slope) <= ENOUGH))
        if kinks.size:
            low, high = (start[kinks] + side * NARROW for side in (-1.0, 1.0))
            t[kinks] = _sections(ball, p[:, kinks], values[:, kinks], low, high, FINEST)
        return np.exp(t), np.maximum(np.minimum(_at(ball, p, values, t), 0.0), mean)

    def _worst(self, p: Any, values: Any) -> Any:
        """About the worst rows."""
        radius = float(self.radius)  # type: ignore[attr-defined]
        if radius == 0.0:
            return p
        s, ball, q = self._best(p, values)[0], self._ball(LONG), np.empty_like(p)
        h = STEP * np.minimum(s, 1.0)
        for state, shift in enumerate(np.eye(len(p), dtype=LONG)[:, :, None] * h):
            q[state] = (ball.bound(p, values + shift, s) - ball.bound(p, values - shift, s)) / (2.0 * h)
        q = np.maximum(np.nan_to_num(q, nan=0.0, posinf=0.0, neginf=0.0), KEPT * p)
        best = values == values.max(axis=0)
        shared = np.where((p * best).any(axis=0), p * best, best)
        q += shared / shared.sum(axis=0) * np.maximum(1.0 - q.sum(axis=0), 0.0)
        q /= q.sum(axis=0)
        neither = (p == 0.0) & (q == 0.0)
        far = np.nan_to_num(ball.distance(*(np.where(neither, NOTHING, mass) for mass in (p, q))), nan=np.inf)
        return p + np.where(far > radius, (radius / far) ** (1.0 / self.power), 1.0) * (q - p)


def _at(ball: DistanceBall, p: Any, values: Any, t: Any) -> Any:
    """The bound at log s = t, infinite where it is not a number."""
    found = np.asarray(ball.bound(p, values, np.exp(t)))
    if found.shape != t.shape:
        raise ValueError(_of_rows(ball, f"an array of shape {t.shape}", found.shape))
    return np.where(np.isfinite(found), found, np.inf)


def _sections(ball: DistanceBall, p: Any, values: Any, low: Any, high: Any, narrow: float) -> Any:
    """log s of the least bound of each row between two ends, by golden sections."""
    x, y = high - (high - low) * GOLDEN, low + (high - low) * GOLDEN
    at_x, at_y = _at(ball, p, values, x), _at(ball, p, values, y)
    for _ in range(math.ceil(math.log(float((high - low).max()) / narrow) / -math.log(GOLDEN))):
        # Infinite on both sides: s is too small for numbers.
        falls = ~((at_x <= at_y) & np.isfinite(at_x))
        low, high = np.where(falls, x, low), np.where(falls, high, y)
        new = np.where(falls, low + (high - low) * GOLDEN, high - (high - low) * GOLDEN)
        at_new = _at(ball, p, values, new)
        x, y = np.where(falls, y, new), np.where(falls, new, x)
        at_x, at_y = np.where(falls, at_y, at_new), np.where(falls, at_new, at_x)
    return (low + high) / 2.0


def _require_rows(ball: DistanceBall, p: Any, values: Any, t: Any) -> None:
    """Raise unless the bound of the last of several rows is that of the row alone, up to far more than rounding."""
    together, alone = (_at(ball, p[:, rows], values[:, rows], t[rows])[-1] for rows in (slice(None), slice(-1, None)))
    if not abs(together - alone) <= SMALL * (abs(alone) + np.exp(t[-1])) and np.isfinite(alone):
        raise ValueError(_of_rows(ball, f"{float(alone):g} for a row, as for the row alone", f"{float(together):g}"))


def _of_rows(ball: DistanceBall, wanted: str, got: object) -> str:
    return (
        f"{type(ball).__name__}.bound must return one number for each row: expected {wanted}, got {got}; states are "
        "the first axis, so sums are .sum(axis=0)"
    )
