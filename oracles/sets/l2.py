"""The L2 ball, {q : √Σ(q−p)² <= r}, inside the support or not: definition, a + √b in rationals, a program."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from oracles.sets.members import candidates, mean, move_outside, normalise, pulled_value
from oracles.sets.rationals import enclose_root
from oracles.sets.registration import Cut, SetOracle, register
from robust_core.sets import L2
from robust_core.validate import EPS, Floats


def contains(uncertainty_set: L2, p: Vector, q: Vector) -> bool:
    """Σ(q−p)² <= r², and q = 0 where p = 0 if it has to stay there."""
    if sum(q) != 1 or min(q) < 0:
        return False
    if uncertainty_set.within_support and any(y > 0 and x == 0 for x, y in zip(p, q, strict=True)):
        return False
    return sum((y - x) ** 2 for x, y in zip(p, q, strict=True)) <= Fraction(uncertainty_set.radius) ** 2


Path = tuple[list[int], Fraction, Fraction, Fraction, Fraction]


def _follow(uncertainty_set: L2, p: Vector, v: Vector) -> Path:
    """(states with mass, delta, mean, Σ(v−mean)², theta²) at the point of the path that is r away from p.

    The path q(theta), the projection of p + theta v on the distributions, starts at p; the distance from p grows with
    theta. Between breakpoints it is p + delta + theta (v − mean) on the states A that have mass; the next breakpoint
    is where one of them reaches 0, and it stays there. Breakpoints are rational, and the distance there is compared
    with r in squares.
    """
    inside = uncertainty_set.within_support
    active = [s for s in range(len(p)) if p[s] > 0 or not inside]
    square = Fraction(uncertainty_set.radius) ** 2
    while True:
        count = len(active)
        out = [p[s] for s in range(len(p)) if s not in active]
        delta = sum(out, Fraction(0)) / count
        centre = sum((v[s] for s in active), Fraction(0)) / count
        spread = sum(((v[s] - centre) ** 2 for s in active), Fraction(0))
        left = square - sum((x * x for x in out), Fraction(0)) - count * delta**2
        if spread == 0:
            return active, delta, centre, spread, Fraction(0)
        breakpoints = {s: (p[s] + delta) / (centre - v[s]) for s in active if v[s] < centre}
        first = min(breakpoints.values())
        if first**2 * spread >= left:
            return active, delta, centre, spread, max(left, Fraction(0)) / spread
        active = [s for s in active if breakpoints.get(s) != first]


def enclose(uncertainty_set: L2, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Σ (p + delta) v + theta Σ(v−mean)² on the states with mass."""
    active, delta, _, spread, theta_squared = _follow(uncertainty_set, p, v)
    base = sum(((p[s] + delta) * v[s] for s in active), Fraction(0))
    return enclose_root(base, theta_squared * spread**2)


def propose(uncertainty_set: L2, p: Floats, v: Floats) -> Floats:
    """The point of the path in floats."""
    row = tuple(map(Fraction, p.tolist()))
    centred = tuple(x / sum(row) for x in row)
    active, delta, centre, _, theta_squared = _follow(uncertainty_set, centred, tuple(map(Fraction, v.tolist())))
    q = np.zeros_like(p)
    theta = np.sqrt(float(theta_squared))
    q[active] = np.maximum(p[active] + float(delta) + theta * (v[active] - float(centre)), 0.0)
    return q / q.sum()


def threshold(uncertainty_set: L2, p: Floats, v: Floats) -> float:
    """The distance of p from the distributions on the allowed states of highest v."""
    inside = uncertainty_set.within_support
    top = v[p > 0.0].max() if inside else v.max()
    best = (v == top) & ((p > 0.0) | (not inside))
    rest = np.where(v < top, p, 0.0)
    return float(np.sqrt((rest**2).sum() + rest.sum() ** 2 / best.sum()))


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[L2, Floats], None]]:
    """‖q−p‖ <= r for cvxpy, and a cap on q."""
    import cvxpy as cp

    radius, cap = cp.Parameter(nonneg=True), cp.Parameter(q.shape, nonneg=True)

    def write(uncertainty_set: L2, rows: Floats) -> None:
        radius.value = uncertainty_set.radius
        cap.value = np.where((rows > 0.0) | (not uncertainty_set.within_support), 2.0, 0.0)

    return [cp.norm(q - p, 2, axis=1) <= radius, q <= cap], write


def price(uncertainty_set: L2, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """K = {‖q−p‖ <= r, Σq = 1}: sigma_K(y) = p·y + r‖y − mean‖, over the support if q stays there.

    On the simplex no distance exceeds √2, so a larger r is 1.5. A mean that is off only enlarges the norm.
    """
    moved, counts = move_outside(p, y, uncertainty_set.within_support)
    centre = np.where(counts, y, 0.0).sum(axis=1, keepdims=True) / counts.sum(axis=1, keepdims=True)
    norm = np.sqrt((np.where(counts, y - centre, 0.0) ** 2).sum(axis=1)) * (1.0 + (p.shape[1] + 8) * EPS)
    return moved, mean(p, y) + min(uncertainty_set.radius, 1.5) * norm


def attained(uncertainty_set: L2, p: Floats, q: Floats, v: Floats) -> Floats:
    """p + t(q−p): the distance, off by less than (6n+16) EPS, falls with t."""
    q = candidates(p, q, uncertainty_set.within_support)
    distance = np.sqrt(((q - normalise(p)) ** 2).sum(axis=1)) + (6 * p.shape[-1] + 16) * EPS
    return pulled_value(p, q, v, distance, uncertainty_set.radius)


register(
    L2,
    SetOracle(
        contains=contains,
        enclose=enclose,
        propose=propose,
        threshold=threshold,
        program=Cut(constraints, price, attained),
    ),
)
