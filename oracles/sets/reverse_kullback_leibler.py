"""The reverse Kullback-Leibler ball, {q : Σ p log(p/q) <= r}: definition, an enclosure in sixty digits, a program.

For every eta > max v the weighted mean inequality gives sigma(v) <= eta − e^{−r}G, G = Π (eta−v)^p: with Σ p log(q/p)
>= −r, Σ q (eta−v) >= Σ p (q/p)(eta−v) >= Π ((q/p)(eta−v))^p >= e^{−r}G. The masses e^{−r}G p/(eta−v) have Σ p
log(p/q) = r exactly; if they sum to at most 1, they and the rest at a state of highest v are a member, and otherwise
they over their sum, moved towards p.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.digits import precision
from oracles.arithmetic.exact import Vector
from oracles.sets.members import candidates, mean, move_outside, normalise, pulled_value
from oracles.sets.registration import Cut, SetOracle, register
from oracles.sets.roots import DIGITS, LEAST_RADIUS, NARROW, decimal, dot, root
from robust_core.sets import ReverseKullbackLeibler
from robust_core.validate import EPS, Floats

MARGIN = Decimal("1e-35")
"""More than the rounding of a bound, relative to 1 + s with s < 1e19, and less than a rounding of floats."""
LEAST_SHIFT = 1e-40
"""eta − max v need not be smaller: the bound is off by as much at most."""
POLISHING = 6
SHIFTS = 2.0 ** np.arange(-50.0, 31.0)


def contains(uncertainty_set: ReverseKullbackLeibler, p: Vector, q: Vector) -> bool:
    """Σ p log(p/q) <= r, and q = 0 where p = 0 if it has to stay there; a divergence within 1e-45 of r counts as r."""
    if sum(q) != 1 or min(q) < 0 or any(x > 0 and y == 0 for x, y in zip(p, q, strict=True)):
        return False
    if uncertainty_set.within_support and any(y > 0 and x == 0 for x, y in zip(p, q, strict=True)):
        return False
    with precision(DIGITS):
        terms = (decimal(x) * decimal(x / y).ln() for x, y in zip(p, q, strict=True) if x > 0)
        return sum(terms, Decimal(0)) <= Decimal(uncertainty_set.radius) + Decimal("1e-45")


def enclose(uncertainty_set: ReverseKullbackLeibler, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Bounds on sigma(v) that differ by less than 1e-17 of the span of v on the allowed states."""
    allowed = [s for s, x in enumerate(p) if x > 0 or not uncertainty_set.within_support]
    top = max(v[s] for s in allowed)
    span = top - min(v[s] for s in allowed)
    states = [s for s in allowed if p[s] > 0]
    nominal = sum((p[s] * v[s] for s in states), Fraction(0))
    if span == 0 or uncertainty_set.radius == 0.0:
        return (top, top) if span == 0 else (nominal, nominal)
    if nominal == top:
        return top, top
    with precision(DIGITS):
        r = Decimal(uncertainty_set.radius)
        wide = max(r, LEAST_RADIUS)
        d = [(v[s] - top) / span for s in states]
        shift = Decimal(_shift([float(p[s]) for s in states], [float(x) for x in d], float(wide)))
        low, high = _polish([decimal(p[s]) for s in states], [decimal(x) for x in d], wide, shift)
    lower = nominal if r < LEAST_RADIUS else max(nominal, top + span * Fraction(low))
    return lower, min(top, top + span * Fraction(high))


def _polish(p: list[Decimal], d: list[Decimal], r: Decimal, s: Decimal) -> tuple[Decimal, Decimal]:
    """Bounds from eta = s above the maximum 0, and from better s while they are far apart."""
    nominal, lower, upper = dot(p, d), Decimal(-1), Decimal(0)
    for _ in range(POLISHING):
        gaps = [s - y for y in d]
        log_g = dot(p, [x.ln() for x in gaps])
        masses = [x / y for x, y in zip(p, gaps, strict=True)]
        h = sum(masses, Decimal(0))
        factor = (log_g - r).exp()
        margin = MARGIN * (1 + s)
        upper = min(upper, s - factor + margin)
        value, excess = factor * dot(masses, d), log_g + h.ln() - r
        if factor * h > 1:
            value = nominal + r / (r + excess + MARGIN) * (value / (factor * h) - nominal)
        lower = max(lower, value - margin)
        if upper - lower <= NARROW or s == 0:
            break
        slope = h - sum((x / y for x, y in zip(masses, gaps, strict=True)), Decimal(0)) / h  # of the divergence in s
        s += max(-s / 2, min(s, -excess / slope)) if slope != 0 else s
    return lower, upper


def _shift(p: list[float], d: list[float], r: float) -> float:
    """eta − max v in floats; nothing relies on it."""
    pairs = list(zip(p, d, strict=True))
    pole = any(y == 0.0 for y in d)
    least = LEAST_SHIFT if pole else 0.0
    if _divergence(pairs, least) <= r:
        return least
    low = high = math.log(LEAST_SHIFT)
    while _divergence(pairs, math.exp(high)) > r and high < 50.0:
        low, high = high, high + 6.0
    return math.exp(root(lambda x: math.log(max(_divergence(pairs, math.exp(x)), 1e-300) / r), low, high))


def _divergence(pairs: list[tuple[float, float]], s: float) -> float:
    """KL(p‖q) of q ∝ p/(s−d): Σ p (t − 1 − log t), t = q/p: no term cancels another."""
    centre = sum(x * y for x, y in pairs)
    g = s - centre
    ratios = [(y - centre) / g for _, y in pairs]
    logs = [math.log1p(-z) if z < 0.5 else math.log((s - y) / g) for z, (_, y) in zip(ratios, pairs, strict=True)]
    excess = sum(x * z * g / (s - y) for z, (x, y) in zip(ratios, pairs, strict=True))
    log_h = math.log1p(excess)
    return sum(x * _exponential_excess(-log - log_h) for log, (x, _) in zip(logs, pairs, strict=True))


SERIES = 1e-2
"""Below it a series is used: there its next term and the cancellation of the difference are about equal."""


def _exponential_excess(w: float) -> float:
    """e^w − 1 − w: below `SERIES` the series, whose next term is w⁵/2520 of it, above the difference.

    That errs by 4u/|w|. Both are 4e-14 there, and nothing relies on either.
    """
    if abs(w) < SERIES:
        return w * w * (1 / 2 + w * (1 / 6 + w * (1 / 24 + w * (1 / 120 + w * (1 / 720)))))
    return math.expm1(min(w, 700.0)) - w


def propose(uncertainty_set: ReverseKullbackLeibler, p: Floats, v: Floats) -> Floats:
    """p/(eta − v), and the rest at the best state."""
    support = p > 0.0
    allowed = support if uncertainty_set.within_support else np.ones(p.shape, dtype=bool)
    top = v[allowed].max()
    span = top - v[allowed].min()
    if span == 0.0 or uncertainty_set.radius == 0.0:
        return p
    d = (v - top) / span
    r = max(uncertainty_set.radius, 1e-30)
    s = _shift(p[support].tolist(), d[support].tolist(), r)
    gaps = np.where(support, np.maximum(s - d, 1e-300), 1.0)
    factor = np.exp((p * np.log(gaps)).sum() - r)
    q = np.where(support, factor * p / gaps, 0.0)
    q[int(np.where(allowed, v, -np.inf).argmax())] += max(1.0 - q.sum(), 0.0)
    return q / q.sum()


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[ReverseKullbackLeibler, Floats], None]]:
    """Σ p log(p/q) <= r for cvxpy as −Σ p log q <= r − Σ p log p, and a cap on q."""
    import cvxpy as cp

    weight, cap = (cp.Parameter(q.shape, nonneg=True) for _ in range(2))
    level = cp.Parameter(q.shape[0])

    def write(uncertainty_set: ReverseKullbackLeibler, rows: Floats) -> None:
        weight.value = rows
        level.value = uncertainty_set.radius - (rows * np.log(np.where(rows > 0.0, rows, 1.0))).sum(axis=1)
        cap.value = np.where((rows > 0.0) | (not uncertainty_set.within_support), 2.0, 0.0)

    return [cp.sum(cp.multiply(weight, -cp.log(q)), axis=1) <= level, q <= cap], write


def price(uncertainty_set: ReverseKullbackLeibler, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """K = {KL(p‖q) <= r, Σq = 1}: sigma_K(y) <= eta − e^{−r} Π (eta−y)^p for eta >= max y: the least over some eta,
    then finer.

    About the mean, with g = eta − mean: mean − g·expm1(−r + Σ p log((eta−y)/g)). Its rounding is that of the exponent,
    (4n+16) EPS (1 + r), times g; it is added.
    """
    moved, counts = move_outside(p, y, uncertainty_set.within_support)
    weights, n = normalise(p), p.shape[1]
    centre = mean(weights, y)[:, None]
    top = np.where(counts, y, -np.inf).max(axis=1, keepdims=True)
    span = np.maximum(top - np.where(counts, y, np.inf).min(axis=1, keepdims=True), 2.0**-1000)
    shift, grid = span.copy(), SHIFTS
    bound = top[:, 0].copy()
    with np.errstate(all="ignore"):
        for _ in range(12):
            s = shift[:, :, None] * grid[None, None, :]
            g = s + (top - centre)[:, :, None]
            x = (y - centre)[:, :, None] / g
            direct = np.log((s + (top - y)[:, :, None]) / g)
            log = np.where(x < 0.5, np.log1p(-np.minimum(x, 0.5)), direct)
            terms = np.where((weights > 0.0)[:, :, None], weights[:, :, None] * log, 0.0)
            exponent = terms.sum(axis=1) - uncertainty_set.radius
            margin = (4 * n + 16) * EPS * (1.0 + uncertainty_set.radius + np.abs(terms).sum(axis=1))
            values = centre - g[:, 0, :] * np.expm1(exponent - margin)
            values = np.where(np.isfinite(values), values, np.inf)
            chosen = values.argmin(axis=1)
            bound = np.minimum(bound, values.min(axis=1))
            shift = shift * grid[chosen][:, None]
            grid = np.exp(np.log(grid[len(grid) // 2 + 1] / grid[len(grid) // 2]) * np.linspace(-1.0, 1.0, 9))
    return moved, bound


def attained(uncertainty_set: ReverseKullbackLeibler, p: Floats, q: Floats, v: Floats) -> Floats:
    """p + t(q−p), t = r/D: D is above KL(p‖q), which is convex in q and 0 at p.

    D is Σ p (x − 1 − log x) over the support, x = q/p, and q outside it. Relative errors of q and p of (4n+4) EPS
    move it by that times Σ p (2 + x + |log x|); it is enlarged by twice as much.
    """
    support, weights = p > 0.0, normalise(p)
    q = candidates(p, q, uncertainty_set.within_support)
    with np.errstate(all="ignore"):
        x = np.where(support, q / np.where(support, weights, 1.0), 1.0)
        log = np.log(x)
        terms = np.where(support, weights * (x - 1.0 - log), q)
        size = np.where(support, weights * (2.0 + x + np.abs(log)), q).sum(axis=1)
        distance = np.maximum(terms, 0.0).sum(axis=1) + 16 * (p.shape[1] + 1) * EPS * size
    distance = np.where(np.isfinite(distance), distance, np.inf)
    return pulled_value(p, q, v, distance, uncertainty_set.radius)


register(
    ReverseKullbackLeibler,
    SetOracle(contains=contains, enclose=enclose, propose=propose, program=Cut(constraints, price, attained)),
)
