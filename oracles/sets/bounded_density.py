"""Bounded densities, {q : (1−R)q <= p}: definition, rationals, a linear program."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.l_infinity import box_price
from oracles.sets.members import candidates, move_outside, normalise, pulled_value
from oracles.sets.registration import Cut, SetOracle, register
from robust_core.sets import BoundedDensity
from robust_core.validate import EPS, Floats


def contains(uncertainty_set: BoundedDensity, p: Vector, q: Vector) -> bool:
    """(1−R)q <= p."""
    share = 1 - Fraction(uncertainty_set.radius)
    return sum(q) == 1 and min(q) >= 0 and all(share * y <= x for x, y in zip(p, q, strict=True))


def enclose(uncertainty_set: BoundedDensity, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Exactly: the mean of the upper part 1−R of v under p."""
    share = 1 - Fraction(uncertainty_set.radius)
    left, value = share, Fraction(0)
    for y, x in sorted(zip(v, p, strict=True), reverse=True):
        taken = min(left, x)
        value += taken * y
        left -= taken
    return value / share, value / share


def propose(uncertainty_set: BoundedDensity, p: Floats, v: Floats) -> Floats:
    """The upper part in floats."""
    q, left = np.zeros_like(p), 1.0 - float(uncertainty_set.radius)
    for s in np.argsort(-v).tolist():
        q[s] = min(max(left, 0.0), p[s])
        left -= q[s]
    return q / q.sum()


def threshold(uncertainty_set: BoundedDensity, p: Floats, v: Floats) -> float:
    """1 − p*, p* the mass of the states of highest v in the support."""
    return float(p[v < v[p > 0.0].max()].sum())


def largest_mass(uncertainty_set: BoundedDensity, mass: int, whole: int) -> int:
    """g(x) = min(1, x/(1−R)) in units of 1/(whole·(denominator − numerator)) of R."""
    part, denominator = uncertainty_set.radius.as_integer_ratio()
    return min((denominator - part) * whole, denominator * mass)


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[BoundedDensity, Floats], None]]:
    """q <= p/(1−R) for cvxpy; a cap above 2 is never reached."""
    import cvxpy as cp

    cap = cp.Parameter(q.shape, nonneg=True)

    def write(uncertainty_set: BoundedDensity, rows: Floats) -> None:
        cap.value = np.minimum(rows / (1.0 - uncertainty_set.radius), 2.0)

    return [q <= cap], write


def price(uncertainty_set: BoundedDensity, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """K = {0 <= q <= p/(1−R)}: sigma_K(y) = Σ p y⁺/(1−R), from above by (3n+4) EPS of itself for p and 1−R."""
    moved, _ = move_outside(p, y, True)
    upper = normalise(p) / (1.0 - uncertainty_set.radius)
    return moved, box_price(np.zeros_like(p), upper, y) * (1.0 + (3 * p.shape[1] + 8) * EPS)


def attained(uncertainty_set: BoundedDensity, p: Floats, q: Floats, v: Floats) -> Floats:
    """p + t(q−p): the largest density over 1, max q/p − 1 <= R/(1−R), falls with t; its error is (4n+8) EPS of q/p."""
    q, weights = candidates(p, q, True), normalise(p)
    with np.errstate(all="ignore"):
        density = np.where(p > 0.0, q / np.where(p > 0.0, weights, 1.0), 0.0).max(axis=1)
    excess = density * (1.0 + (4 * p.shape[1] + 16) * EPS) - 1.0
    room = uncertainty_set.radius / (1.0 - uncertainty_set.radius) * (1.0 - 4 * EPS)
    return pulled_value(p, q, v, np.maximum(excess, 2.0**-60), room)


register(
    BoundedDensity,
    SetOracle(
        contains=contains,
        enclose=enclose,
        propose=propose,
        threshold=threshold,
        largest_mass=largest_mass,
        is_base_polytope=True,
        program=Cut(constraints, price, attained),
    ),
)
