"""The total-variation ball, {q : ½‖q−p‖₁ <= R}: its definition and four ways to its support function."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.programs import LEAST_TOTAL, mean, normalised_mean
from oracles.sets.registration import Cut, SetOracle, register
from robust_core.sets import TotalVariation
from robust_core.validate import EPS, Floats


def contains(uncertainty_set: TotalVariation, p: Vector, q: Vector) -> bool:
    """½‖q−p‖₁ <= R."""
    distance = sum(abs(x - y) for x, y in zip(q, p, strict=True)) / 2
    return sum(q) == 1 and min(q) >= 0 and distance <= Fraction(uncertainty_set.radius)


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[TotalVariation, Floats], None]]:
    """K = {½‖q−p‖₁ <= R} for cvxpy."""
    import cvxpy as cp

    radius = cp.Parameter(nonneg=True)

    def write(uncertainty_set: TotalVariation, rows: Floats) -> None:
        radius.value = uncertainty_set.radius

    # ½‖q−p‖₁ = Σ(q−p)⁺ because both sum to 1; half as many rows, and HiGHS is twice as fast.
    return [cp.sum(cp.pos(q - p), axis=1) <= radius], write


def price(uncertainty_set: TotalVariation, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """K = {½‖q−p‖₁ <= R, Σq = 1}: sigma_K(y) = p·y + R (max y − min y)."""
    return y, mean(p, y) + uncertainty_set.radius * (y.max(axis=1) - y.min(axis=1))


def attained(uncertainty_set: TotalVariation, p: Floats, q: Floats, v: Floats) -> Floats:
    """p + t(q−p) with q normalised and t so small that the distance is certainly at most R.

    The float distance below is off by less than (6n+8) EPS: q over its exact sum differs from the float
    quotient by n EPS/2 relative, p from its normalised self by (2n+1) EPS, and the float sum adds n EPS/2
    of its terms, which are at most 2 in all.
    """
    total = np.maximum(q.sum(axis=1, keepdims=True), LEAST_TOTAL)
    distance = np.maximum(q / total - p, 0.0).sum(axis=1) + (6 * p.shape[-1] + 8) * EPS
    share = np.where(distance > uncertainty_set.radius, uncertainty_set.radius / distance * (1.0 - 4 * EPS), 1.0)
    nominal = mean(p, v)
    return (1.0 - share) * nominal + share * normalised_mean(q, v, nominal)


def vertices(uncertainty_set: TotalVariation, p: Vector) -> Iterator[Vector]:
    """Points that take all the mass of some states and part of one more, and give it to one state.

    A maximiser of q·v moves m = min(R, 1−p_i) of mass to one state i (a best one: mass moved anywhere else may as
    well go there) out of the others, which is a fractional knapsack: some basic solution takes all of the states in
    a set J and part of at most one more state. Hence every v has a maximiser among the points listed, and a vertex,
    being the only maximiser of some v, is one of them.
    """
    for receiver in range(len(p)):
        others = [s for s in range(len(p)) if s != receiver]
        moved = min(Fraction(uncertainty_set.radius), 1 - p[receiver])
        for size in range(len(p)):
            for emptied in combinations(others, size):
                missing = moved - sum(p[s] for s in emptied)
                yield from _completed(p, receiver, emptied, missing)


def _completed(p: Vector, receiver: int, emptied: tuple[int, ...], missing: Fraction) -> Iterator[Vector]:
    """The points that empty some states and take the `missing` rest from one more state."""
    if missing < 0:
        return
    q = list(p)
    for s in emptied:
        q[receiver] += q[s]
        q[s] = Fraction(0)
    if missing == 0:
        yield tuple(q)
        return
    for donor, mass in enumerate(q):
        if donor != receiver and donor not in emptied and mass > missing:
            point = list(q)
            point[donor] -= missing
            point[receiver] += missing
            yield tuple(point)


def largest_mass(uncertainty_set: TotalVariation, mass: int, whole: int) -> int:
    """g(x) = min(1, x + R)."""
    numerator, denominator = uncertainty_set.radius.as_integer_ratio()
    return min(denominator * whole, denominator * mass + numerator * whole)


register(
    TotalVariation,
    SetOracle(
        contains=contains,
        program=Cut(constraints, price, attained),
        vertices=vertices,
        largest_mass=largest_mass,
        is_base_polytope=True,
    ),
)
