"""The local adversary, which moves the mass of a state within its neighbourhood: definition, rationals, a program."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.members import mean
from oracles.sets.registration import Cut, SetOracle, register
from oracles.sets.transport import plan_constraints
from robust_core.sets import LocalAdversary
from robust_core.validate import Floats


def _neighbours(uncertainty_set: LocalAdversary) -> list[list[int]]:
    return [[j for j, d in enumerate(row) if d <= uncertainty_set.radius] for row in uncertainty_set.metric.tolist()]


def contains(uncertainty_set: LocalAdversary, p: Vector, q: Vector) -> bool:
    """q(J) <= p(the states with a neighbour in J) for all events J: only then a plan exists (Strassen)."""
    if sum(q) != 1 or min(q) < 0:
        return False
    neighbours = _neighbours(uncertainty_set)
    held = [s for s, x in enumerate(q) if x > 0]
    return all(
        sum(q[j] for j in event) <= sum(x for x, near in zip(p, neighbours, strict=True) if set(event) & set(near))
        for size in range(1, len(held) + 1)
        for event in combinations(held, size)
    )


def enclose(uncertainty_set: LocalAdversary, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Exactly: Σ_i p_i max {v_j : d_ij <= r}."""
    neighbours = _neighbours(uncertainty_set)
    value = sum((x * max(v[j] for j in near) for x, near in zip(p, neighbours, strict=True)), Fraction(0))
    return value, value


def propose(uncertainty_set: LocalAdversary, p: Floats, v: Floats) -> Floats:
    """Every state sends its mass to the best neighbour."""
    q = np.zeros_like(p)
    for mass, near in zip(p, _neighbours(uncertainty_set), strict=True):
        q[max(near, key=lambda j: v[j])] += mass
    return q


def threshold(uncertainty_set: LocalAdversary, p: Floats, v: Floats) -> float:
    """The radius at which every state with mass reaches a state of highest v."""
    return float(uncertainty_set.metric[:, v == v.max()].min(axis=1)[p > 0.0].max())


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[LocalAdversary, Floats], None]]:
    """A plan from p to q that carries nothing beyond the neighbourhoods, for cvxpy."""
    import cvxpy as cp

    plan, marginals = plan_constraints(q, p)
    cap = cp.Parameter(plan.shape, nonneg=True)

    def write(uncertainty_set: LocalAdversary, rows: Floats) -> None:
        reach = 2.0 * (uncertainty_set.metric <= uncertainty_set.radius)
        cap.value = np.broadcast_to(reach.reshape(-1), plan.shape)

    return [*marginals, plan <= cap], write


def price(uncertainty_set: LocalAdversary, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """sigma_K(y) = Σ_i p_i max {y_j : d_ij <= r}."""
    reach = uncertainty_set.metric <= uncertainty_set.radius
    return y, mean(p, np.where(reach, y[:, None, :], -np.inf).max(axis=2))


def attained(uncertainty_set: LocalAdversary, p: Floats, q: Floats, v: Floats) -> Floats:
    """A member that needs no proposal: every state sends its mass to the best neighbour."""
    reach = uncertainty_set.metric <= uncertainty_set.radius
    target = np.where(reach, v[:, None, :], -np.inf).argmax(axis=2)
    return mean(p, np.take_along_axis(v, target, axis=1))


register(
    LocalAdversary,
    SetOracle(
        contains=contains,
        enclose=enclose,
        propose=propose,
        threshold=threshold,
        program=Cut(constraints, price, attained),
    ),
)
