"""R-contamination, {(1−R)p + Rq : q any distribution}: its definition and four ways to its support function."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.programs import mean, normalised_mean
from oracles.sets.registration import Cut, SetOracle, register
from robust_core.sets import Contamination
from robust_core.validate import Floats


def contains(uncertainty_set: Contamination, p: Vector, q: Vector) -> bool:
    """q >= (1−R)p."""
    kept = 1 - Fraction(uncertainty_set.radius)
    return sum(q) == 1 and min(q) >= 0 and all(x >= kept * y for x, y in zip(q, p, strict=True))


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[Contamination, Floats], None]]:
    """K = {q >= (1−R)p} for cvxpy."""
    import cvxpy as cp

    floor = cp.Parameter(q.shape)

    def write(uncertainty_set: Contamination, rows: Floats) -> None:
        floor.value = (1.0 - uncertainty_set.radius) * rows

    return [q >= floor], write


def price(uncertainty_set: Contamination, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """K = {q >= (1−R)p}: sigma_K(y) = (1−R) p·y for y <= 0, infinite elsewhere."""
    moved = np.minimum(y, 0.0)
    return moved, (1.0 - uncertainty_set.radius) * mean(p, moved)


def attained(uncertainty_set: Contamination, p: Floats, q: Floats, v: Floats) -> Floats:
    """(1−R)p + Ru with u the normalised part of q above (1−R)p."""
    nominal = mean(p, v)
    excess = np.maximum(q - (1.0 - uncertainty_set.radius) * p, 0.0)
    return (1.0 - uncertainty_set.radius) * nominal + uncertainty_set.radius * normalised_mean(excess, v, nominal)


def vertices(uncertainty_set: Contamination, p: Vector) -> Iterator[Vector]:
    """The set is (1−R)p + R·simplex: one vertex per state."""
    radius = Fraction(uncertainty_set.radius)
    for receiver in range(len(p)):
        yield tuple((1 - radius) * x + radius * (s == receiver) for s, x in enumerate(p))


def largest_mass(uncertainty_set: Contamination, mass: int, whole: int) -> int:
    """g(x) = (1−R)x + R."""
    numerator, denominator = uncertainty_set.radius.as_integer_ratio()
    return (denominator - numerator) * mass + numerator * whole


register(
    Contamination,
    SetOracle(
        contains=contains,
        program=Cut(constraints, price, attained),
        vertices=vertices,
        largest_mass=largest_mass,
        is_base_polytope=True,
    ),
)
