"""The L1 ball, {q : Σ|q−p| <= r}, with and without leaving the support: definition, rationals, a linear program."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.members import candidates, mean, move_outside, normalise, pulled_value
from oracles.sets.registration import Cut, SetOracle, register
from robust_core.sets import L1
from robust_core.validate import EPS, Floats


def contains(uncertainty_set: L1, p: Vector, q: Vector) -> bool:
    """Σ|q−p| <= r, and q = 0 where p = 0 if it has to stay there."""
    if sum(q) != 1 or min(q) < 0:
        return False
    if uncertainty_set.within_support and any(y > 0 and x == 0 for x, y in zip(p, q, strict=True)):
        return False
    return sum(abs(x - y) for x, y in zip(p, q, strict=True)) <= Fraction(uncertainty_set.radius)


def enclose(uncertainty_set: L1, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Exactly: mass r/2 leaves the lowest values for the highest, state by state."""
    top = max(y for x, y in zip(p, v, strict=True) if x > 0 or not uncertainty_set.within_support)
    left, value = Fraction(uncertainty_set.radius) / 2, Fraction(0)
    for y, x in sorted(zip(v, p, strict=True)):
        moved = min(left, x)
        left -= moved
        value += (x - moved) * y + moved * top
    return value, value


def propose(uncertainty_set: L1, p: Floats, v: Floats) -> Floats:
    """The same move in floats."""
    q, left = p.copy(), float(uncertainty_set.radius) / 2
    allowed = p > 0.0 if uncertainty_set.within_support else np.ones(p.shape, dtype=bool)
    best = int(np.where(allowed, v, -np.inf).argmax())
    for s in np.argsort(v).tolist():
        moved = min(left, q[s]) if s != best else 0.0
        q[s] -= moved
        q[best] += moved
        left -= moved
    return q


def threshold(uncertainty_set: L1, p: Floats, v: Floats) -> float:
    """2(1 − p*), p* the mass of the allowed states of highest v."""
    top = v[p > 0.0].max() if uncertainty_set.within_support else v.max()
    return float(2.0 * p[v < top].sum())


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[L1, Floats], None]]:
    """Σ(q−p)⁺ <= r/2 for cvxpy, which is half the distance because both sum to 1; and a cap on q."""
    import cvxpy as cp

    half, cap = cp.Parameter(nonneg=True), cp.Parameter(q.shape, nonneg=True)

    def write(uncertainty_set: L1, rows: Floats) -> None:
        half.value = uncertainty_set.radius / 2
        cap.value = np.where((rows > 0.0) | (not uncertainty_set.within_support), 2.0, 0.0)

    return [cp.sum(cp.pos(q - p), axis=1) <= half, q <= cap], write


def price(uncertainty_set: L1, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """K = {Σ|q−p| <= r, Σq = 1}: sigma_K(y) = p·y + r/2 (max y − min y), over the support if q stays there.

    On the simplex no distance exceeds 2, so a larger r is 2.
    """
    moved, counts = move_outside(p, y, uncertainty_set.within_support)
    span = np.where(counts, y, -np.inf).max(axis=1) - np.where(counts, y, np.inf).min(axis=1)
    return moved, mean(p, y) + min(uncertainty_set.radius, 2.0) / 2 * span


def attained(uncertainty_set: L1, p: Floats, q: Floats, v: Floats) -> Floats:
    """p + t(q−p): the distance, off by less than (12n+16) EPS (see total variation), falls with t."""
    q = candidates(p, q, uncertainty_set.within_support)
    distance = np.abs(q - normalise(p)).sum(axis=1) + (12 * p.shape[-1] + 16) * EPS
    return pulled_value(p, q, v, distance, uncertainty_set.radius)


register(
    L1,
    SetOracle(
        contains=contains,
        enclose=enclose,
        propose=propose,
        threshold=threshold,
        program=Cut(constraints, price, attained),
    ),
)
