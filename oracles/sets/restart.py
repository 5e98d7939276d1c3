"""Restarts, {(1−R)p + Rq : q on the restart states}: definition, rationals, a linear program."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.members import mean
from oracles.sets.programs import normalised_mean
from oracles.sets.registration import Cut, SetOracle, register
from robust_core.sets import Restart
from robust_core.validate import Floats


def contains(uncertainty_set: Restart, p: Vector, q: Vector) -> bool:
    """q >= (1−R)p, with equality outside the restart states."""
    share = 1 - Fraction(uncertainty_set.radius)
    kept = zip(p, q, uncertainty_set.states.tolist(), strict=True)
    return sum(q) == 1 and all(y >= share * x if restart else y == share * x for x, y, restart in kept)


def enclose(uncertainty_set: Restart, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Exactly: (1−R) p·v + R max of v over the restart states."""
    R = Fraction(uncertainty_set.radius)
    top = max(y for y, restart in zip(v, uncertainty_set.states.tolist(), strict=True) if restart)
    value = (1 - R) * sum((x * y for x, y in zip(p, v, strict=True)), Fraction(0)) + R * top
    return value, value


def propose(uncertainty_set: Restart, p: Floats, v: Floats) -> Floats:
    """All of R at the best restart state."""
    q = (1.0 - uncertainty_set.radius) * p
    q[int(np.where(uncertainty_set.states > 0.0, v, -np.inf).argmax())] += uncertainty_set.radius
    return q


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[Restart, Floats], None]]:
    """(1−R)p <= q, and nothing above it outside the restart states, for cvxpy."""
    import cvxpy as cp

    lower, upper = (cp.Parameter(q.shape, nonneg=True) for _ in range(2))

    def write(uncertainty_set: Restart, rows: Floats) -> None:
        lower.value = (1.0 - uncertainty_set.radius) * rows
        upper.value = (1.0 - uncertainty_set.radius) * rows + 2.0 * uncertainty_set.states

    return [q >= lower, q <= upper], write


def price(uncertainty_set: Restart, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """sigma_K(y) = (1−R) p·y + R max of y over the restart states."""
    top = y[:, uncertainty_set.states > 0.0].max(axis=1)
    return y, (1.0 - uncertainty_set.radius) * mean(p, y) + uncertainty_set.radius * top


def attained(uncertainty_set: Restart, p: Floats, q: Floats, v: Floats) -> Floats:
    """(1−R)p and what q has above it on the restart states, normalised to R; one of them if there is nothing."""
    restart = uncertainty_set.states > 0.0
    above = np.where(restart, np.maximum(q - (1.0 - uncertainty_set.radius) * p, 0.0), 0.0)
    first = v[:, int(restart.argmax())]
    return (1.0 - uncertainty_set.radius) * mean(p, v) + uncertainty_set.radius * normalised_mean(above, v, first)


register(
    Restart,
    SetOracle(contains=contains, enclose=enclose, propose=propose, program=Cut(constraints, price, attained)),
)
