"""What the support functions of several sets share: scale, deviations from the largest value, filling a box.

All forms take rows on the last axis. A row of floats stands for the row over its exact sum; `weights` is that row up to
one rounding per entry and those of the sum.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from robust_core.validate import Floats


def at_scale(form: Callable[[Floats], Floats], v: Floats) -> Floats:
    """`form(v)` for a form that is homogeneous in v: v is scaled by a power of two, exactly, to ½ <= max|v| <= 1.

    Squares and products of values such as 1e±200 would leave the range of floats.
    """
    values, exponent = to_unit_scale(v)
    return np.ldexp(form(values), exponent)


def to_unit_scale(v: Floats) -> tuple[Floats, int]:
    """(x, k) with v = 2^k x and ½ <= max|x| <= 1; x = 0 if v is."""
    exponent = int(np.frexp(np.abs(v).max())[1])
    return np.ldexp(v, -exponent), exponent


def weights(rows: Floats) -> Floats:
    """Each row over its sum."""
    return rows / rows.sum(axis=-1, keepdims=True)


def deviations(v: Floats, allowed: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """(top, span, d) of each row: v = top + span·d with −1 <= d <= 0 on the states that are `allowed`, d = 0 elsewhere.

    top and span are those of v on the allowed states; d is exactly 0 where v = top, and everywhere if v is constant.
    """
    top = np.where(allowed, v, -np.inf).max(axis=-1, keepdims=True)
    below = np.where(allowed, v - top, 0.0)
    span = -below.min(axis=-1, keepdims=True)
    return top, span, below / np.where(span > 0.0, span, 1.0)


def fill(lower: Floats, upper: Floats, v: Floats) -> tuple[Floats, Floats]:
    """max q·v over lower <= q <= upper, Σq = 1, and q: from the lowest mass, raise the states of highest v.

    The value is eta + Σ q (v−eta), eta the value where the filling stops: rounding of Σq = 1 does not move it.
    """
    falling = np.argsort(-v, kind="stable")
    room = (upper - lower)[..., falling]
    left = 1.0 - lower.sum(axis=-1, keepdims=True)
    raised = np.clip(left - (np.cumsum(room, axis=-1) - room), 0.0, room)
    last = v.size - 1 - np.argmax(raised[..., ::-1] > 0.0, axis=-1)
    last = np.where((raised > 0.0).any(axis=-1), last, 0)
    eta = v[falling][last][..., None]
    q = lower.copy()
    q[..., falling] += raised
    value: Floats = (eta + (q * (v - eta)).sum(axis=-1, keepdims=True))[..., 0]
    return value, q
