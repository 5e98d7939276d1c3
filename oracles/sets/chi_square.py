"""The chi-square ball, {q : Σ (q−p)²/p <= r}: definition, sigma = a + √b in rationals, a convex program."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.members import candidates, mean, move_outside, normalise, pulled_value
from oracles.sets.rationals import enclose_root
from oracles.sets.registration import Cut, SetOracle, register
from robust_core.sets import ChiSquare
from robust_core.validate import EPS, Floats


def contains(uncertainty_set: ChiSquare, p: Vector, q: Vector) -> bool:
    """Σ (q−p)²/p <= r, and q = 0 where p = 0."""
    if sum(q) != 1 or min(q) < 0 or any(y > 0 and x == 0 for x, y in zip(p, q, strict=True)):
        return False
    distance = sum((y - x) ** 2 / x for x, y in zip(p, q, strict=True) if x > 0)
    return distance <= Fraction(uncertainty_set.radius)


def _moments(p: Vector, v: Vector, states: list[int]) -> tuple[Fraction, Fraction, Fraction]:
    mass = sum((p[s] for s in states), Fraction(0))
    centre = sum((p[s] * v[s] for s in states), Fraction(0)) / mass
    variance = sum((p[s] * (v[s] - centre) ** 2 for s in states), Fraction(0)) / mass
    return mass, centre, variance


def _optimum(uncertainty_set: ChiSquare, p: Vector, v: Vector) -> tuple[list[int], Fraction, Fraction, Fraction]:
    """The states with mass in the worst case, and there k = (1+r)m − 1, mean and variance of v.

    The conditions of Kuhn and Tucker: q = (p/m)(1 + √k (v−mean)/s) >= 0 on the states, and v <= eta = mean − s/√k
    below. Both compare squares of rationals, so they are decided; from all states down, the lowest value leaves while
    v <= eta, that is (mean − v)² k >= s².
    """
    rising = sorted((s for s in range(len(p)) if p[s] > 0), key=lambda s: v[s])
    r = Fraction(uncertainty_set.radius)
    while True:
        mass, centre, variance = _moments(p, v, rising)
        k = (1 + r) * mass - 1
        if variance == 0 or (centre - v[rising[0]]) ** 2 * k < variance:
            return rising, k, centre, variance
        lowest = v[rising[0]]
        rising = [s for s in rising if v[s] > lowest]


def enclose(uncertainty_set: ChiSquare, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """mean + √(variance·k) on the states that have mass in the worst case."""
    _, k, centre, variance = _optimum(uncertainty_set, p, v)
    return enclose_root(centre, variance * k)


def propose(uncertainty_set: ChiSquare, p: Floats, v: Floats) -> Floats:
    """p (v − eta)⁺ up to a factor, or p tilted linearly while no state is without mass."""
    row, values = tuple(map(Fraction, p.tolist())), tuple(map(Fraction, v.tolist()))
    states, k, centre, variance = _optimum(uncertainty_set, tuple(x / sum(row) for x in row), values)
    q = np.zeros_like(p)
    scale = np.sqrt(float(k / variance)) if variance else 0.0
    q[states] = p[states] * np.maximum(1.0 + scale * (v[states] - float(centre)), 0.0)
    return q / q.sum()


def threshold(uncertainty_set: ChiSquare, p: Floats, v: Floats) -> float:
    """1/p* − 1, p* the mass of the states of highest v in the support."""
    return float(p.sum() / p[(p > 0.0) & (v == v[p > 0.0].max())].sum() - 1.0)


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[ChiSquare, Floats], None]]:
    """‖(q−p)/√p‖ <= √r for cvxpy, and a cap on q that is 0 where p is, and elsewhere never reached."""
    import cvxpy as cp

    weight, centre, cap = (cp.Parameter(q.shape, nonneg=True) for _ in range(3))
    length = cp.Parameter(nonneg=True)

    def write(uncertainty_set: ChiSquare, rows: Floats) -> None:
        positive = rows > 0.0
        weight.value = positive / np.sqrt(np.where(positive, rows, 1.0))
        centre.value, cap.value, length.value = np.sqrt(rows), 2.0 * positive, np.sqrt(uncertainty_set.radius)

    return [cp.norm(cp.multiply(weight, q) - centre, 2, axis=1) <= length, q <= cap], write


def price(uncertainty_set: ChiSquare, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """sigma_K(y) = p·y + √(r Var_p y); the rounding of the second term is added to it."""
    moved, _ = move_outside(p, y, True)
    weights = normalise(p)
    centre = mean(weights, y)
    spread = np.sqrt((weights * (y - centre[:, None]) ** 2).sum(axis=1))
    margin = 1.0 + 8 * (p.shape[1] + 4) * EPS
    # Σ p (y−c)² is least at the mean: an error of c only enlarges it. Products that underflow are below 2^-1000.
    return moved, centre + np.sqrt(uncertainty_set.radius) * (spread * margin + 2.0**-500)


def attained(uncertainty_set: ChiSquare, p: Floats, q: Floats, v: Floats) -> Floats:
    """p + t(q−p): the distance falls with t². Relative errors of q and p, (4n+4) EPS, move its root by 2(4n+4) EPS."""
    weights, q = normalise(p), candidates(p, q, True)
    with np.errstate(all="ignore"):
        inverse = np.where(p > 0.0, 1.0 / np.where(p > 0.0, weights, 1.0), 0.0)
        norm = np.sqrt(((q - weights) ** 2 * inverse).sum(axis=1))
        norm += 16 * (p.shape[1] + 1) * EPS * (1.0 + norm)
        return pulled_value(p, q, v, norm**2 * (1.0 + 8 * EPS), uncertainty_set.radius, power=2.0)


register(
    ChiSquare,
    SetOracle(
        contains=contains,
        enclose=enclose,
        propose=propose,
        threshold=threshold,
        program=Cut(constraints, price, attained),
    ),
)
