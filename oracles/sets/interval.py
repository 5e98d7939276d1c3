"""Interval sets, {q : low <= q <= high}: definition, rationals, a linear program.

Bounds that the rounding of their sum puts beyond every distribution stand for themselves over their sum.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.l_infinity import box_price
from oracles.sets.members import mean
from oracles.sets.rationals import fill
from oracles.sets.registration import Cut, SetOracle, register
from robust_core.sets import Interval
from robust_core.validate import Floats


def _bounds(uncertainty_set: Interval) -> tuple[Vector, Vector]:
    low, high = (tuple(map(Fraction, x.tolist())) for x in (uncertainty_set.low, uncertainty_set.high))
    least, most = sum(low), sum(high)
    if least > 1:
        low = high = tuple(x / least for x in low)
    elif most < 1:
        low = high = tuple(x / most for x in high)
    return low, high


def contains(uncertainty_set: Interval, p: Vector, q: Vector) -> bool:
    """low <= q <= high."""
    low, high = _bounds(uncertainty_set)
    return sum(q) == 1 and all(x <= y <= z for x, y, z in zip(low, q, high, strict=True))


def enclose(uncertainty_set: Interval, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Exactly: the box is filled from the highest value on."""
    value = fill(*_bounds(uncertainty_set), v)
    return value, value


def propose(uncertainty_set: Interval, p: Floats, v: Floats) -> Floats:
    """The same filling in floats."""
    q = uncertainty_set.low.copy()
    left = 1.0 - q.sum()
    for s in np.argsort(-v).tolist():
        added = min(max(left, 0.0), uncertainty_set.high[s] - q[s])
        q[s] += added
        left -= added
    return q / q.sum()


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[Interval, Floats], None]]:
    """The box for cvxpy."""
    import cvxpy as cp

    lower, upper = (cp.Parameter(q.shape, nonneg=True) for _ in range(2))

    def write(uncertainty_set: Interval, rows: Floats) -> None:
        lower.value = np.broadcast_to(uncertainty_set.low, rows.shape)
        upper.value = np.broadcast_to(uncertainty_set.high, rows.shape)

    return [q >= lower, q <= upper], write


def price(uncertainty_set: Interval, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """sigma of the box: Σ high·y⁺ − low·y⁻, and its rounding."""
    return y, box_price(
        np.broadcast_to(uncertainty_set.low, y.shape), np.broadcast_to(uncertainty_set.high, y.shape), y
    )


def attained(uncertainty_set: Interval, p: Floats, q: Floats, v: Floats) -> Floats:
    """q cut to the box; what its sum is over or below 1 is spread over what is left to the bounds.

    The result keeps the bounds and Σq = 1 up to (2n+8) EPS of mass, which can be put right at a cost of as much times
    twice max|v|: the allowance of `certificate` holds it.
    """
    low, high = uncertainty_set.low, uncertainty_set.high
    q = np.clip(q, low, high)
    missing = 1.0 - q.sum(axis=1, keepdims=True)
    room = np.where(missing > 0.0, high - q, q - low)
    total = room.sum(axis=1, keepdims=True)
    share = np.clip(missing / np.where(total > 0.0, total, 1.0), -1.0, 1.0)
    return mean(q + share * room, v)


register(
    Interval,
    SetOracle(contains=contains, enclose=enclose, propose=propose, program=Cut(constraints, price, attained)),
)
