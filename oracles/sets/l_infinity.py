"""The L∞ ball, {q : |q−p| <= r}, with and without leaving the support: definition, rationals, a linear program."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.members import candidates, move_outside, normalise, pulled_value
from oracles.sets.rationals import fill
from oracles.sets.registration import Cut, SetOracle, register
from robust_core.sets import LInfinity
from robust_core.validate import EPS, Floats


def contains(uncertainty_set: LInfinity, p: Vector, q: Vector) -> bool:
    """|q−p| <= r in every state, and q = 0 where p = 0 if it has to stay there."""
    if sum(q) != 1 or min(q) < 0:
        return False
    if uncertainty_set.within_support and any(y > 0 and x == 0 for x, y in zip(p, q, strict=True)):
        return False
    return max(abs(x - y) for x, y in zip(p, q, strict=True)) <= Fraction(uncertainty_set.radius)


def enclose(uncertainty_set: LInfinity, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Exactly: the box is filled from the highest value on."""
    r = Fraction(uncertainty_set.radius)
    lower = tuple(max(x - r, Fraction(0)) for x in p)
    upper = tuple(min(x + r, Fraction(1)) if x > 0 or not uncertainty_set.within_support else Fraction(0) for x in p)
    value = fill(lower, upper, v)
    return value, value


def _box(uncertainty_set: LInfinity, p: Floats) -> tuple[Floats, Floats]:
    upper = np.minimum(p + uncertainty_set.radius, 1.0)
    if uncertainty_set.within_support:
        upper = np.where(p > 0.0, upper, 0.0)
    return np.maximum(p - uncertainty_set.radius, 0.0), upper


def propose(uncertainty_set: LInfinity, p: Floats, v: Floats) -> Floats:
    """The same filling in floats."""
    q, upper = _box(uncertainty_set, p)
    left = 1.0 - q.sum()
    for s in np.argsort(-v).tolist():
        added = min(max(left, 0.0), upper[s] - q[s])
        q[s] += added
        left -= added
    return q / q.sum()


def threshold(uncertainty_set: LInfinity, p: Floats, v: Floats) -> float:
    """The largest entry below the maximum, or what each of the best states must take up."""
    top = v[p > 0.0].max() if uncertainty_set.within_support else v.max()
    best = (v == top) & ((p > 0.0) | (not uncertainty_set.within_support))
    rest = np.where(v < top, p, 0.0)
    return float(max(rest.max(), rest.sum() / best.sum()))


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[LInfinity, Floats], None]]:
    """The box for cvxpy."""
    import cvxpy as cp

    lower, upper = (cp.Parameter(q.shape, nonneg=True) for _ in range(2))

    def write(uncertainty_set: LInfinity, rows: Floats) -> None:
        lower.value, upper.value = _box(uncertainty_set, rows)

    return [q >= lower, q <= upper], write


def price(uncertainty_set: LInfinity, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """sigma of the box: Σ upper·y⁺ − lower·y⁻, its rounding and that of the bounds (`box_price`)."""
    moved, _ = move_outside(p, y, uncertainty_set.within_support)
    return moved, box_price(*_box(uncertainty_set, normalise(p)), y)


def box_price(lower: Floats, upper: Floats, y: Floats) -> Floats:
    """Σ upper·y⁺ − lower·y⁻ from above.

    A bound errs by (n+2) EPS times an entry of p and by EPS/2 of itself, so that all of them together move the sum by
    (n+2) EPS max|y|, which the allowance of `certificate` holds, and by EPS/2 of its terms; n terms round by n EPS/2.
    """
    raised, kept = np.maximum(y, 0.0), np.maximum(-y, 0.0)
    size = (upper * raised + lower * kept).sum(axis=1)
    return (upper * raised - lower * kept).sum(axis=1) + (y.shape[1] + 2) * EPS * size


def attained(uncertainty_set: LInfinity, p: Floats, q: Floats, v: Floats) -> Floats:
    """p + t(q−p): the distance, off by (4n+4) EPS in the largest entry, falls with t."""
    q = candidates(p, q, uncertainty_set.within_support)
    distance = np.abs(q - normalise(p)).max(axis=1) + (4 * p.shape[-1] + 8) * EPS
    return pulled_value(p, q, v, distance, uncertainty_set.radius)


register(
    LInfinity,
    SetOracle(
        contains=contains,
        enclose=enclose,
        propose=propose,
        threshold=threshold,
        program=Cut(constraints, price, attained),
    ),
)
