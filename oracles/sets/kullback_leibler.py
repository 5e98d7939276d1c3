"""The Kullback-Leibler ball, {q : Σ q log(q/p) <= r}: definition, an enclosure in sixty digits, a convex program.

For every b > 0, weak duality gives sigma(v) <= (r + log Σ p e^{bv})/b (the upper bound). The tilted q ∝ p e^{bv}, moved
towards p until its divergence is surely at most r, is a member (the lower bound): the divergence is convex and 0 at p.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.digits import precision
from oracles.arithmetic.exact import Vector
from oracles.sets.members import LEAST_TOTAL, candidates, normalise, pulled_value
from oracles.sets.registration import Cut, SetOracle, register
from oracles.sets.roots import DIGITS, LEAST_RADIUS, NARROW, decimal, dot, root
from robust_core.sets import KullbackLeibler
from robust_core.validate import EPS, Floats

MARGIN = Decimal("1e-45")
"""More than the rounding of a divergence or of a bound of values in [−1, 0], relative to 1 + b."""
POLISHING = 8
"""Steps of Newton's method in sixty digits; one or two are enough unless r is next to the threshold."""
MULTIPLIERS = 2.0 ** np.arange(-24.0, 25.0)
"""Multipliers at which the price of a program is first tried."""


def contains(uncertainty_set: KullbackLeibler, p: Vector, q: Vector) -> bool:
    """Σ q log(q/p) <= r; a divergence within 1e-45 of r counts as r."""
    if sum(q) != 1 or min(q) < 0 or any(y > 0 and x == 0 for x, y in zip(p, q, strict=True)):
        return False
    with precision(DIGITS):
        terms = (decimal(y) * decimal(y / x).ln() for x, y in zip(p, q, strict=True) if y > 0)
        return sum(terms, Decimal(0)) <= Decimal(uncertainty_set.radius) + MARGIN


def enclose(uncertainty_set: KullbackLeibler, p: Vector, v: Vector) -> tuple[Fraction, Fraction]:
    """Bounds on sigma(v) that differ by less than 1e-17 of the span of v on the support of p."""
    states = [s for s, x in enumerate(p) if x > 0]
    top = max(v[s] for s in states)
    span = top - min(v[s] for s in states)
    nominal = sum((p[s] * v[s] for s in states), Fraction(0))
    if span == 0 or uncertainty_set.radius == 0.0:
        return (top, top) if span == 0 else (nominal, nominal)
    with precision(DIGITS):
        r = Decimal(uncertainty_set.radius)
        threshold = -decimal(sum((p[s] for s in states if v[s] == top), Fraction(0))).ln()
        if r >= threshold + MARGIN:
            return top, top
        d = [(v[s] - top) / span for s in states]
        wide = max(r, LEAST_RADIUS)
        b = Decimal(_multiplier([float(p[s]) for s in states], [float(x) for x in d], float(wide)))
        low, high = _polish([decimal(p[s]) for s in states], [decimal(x) for x in d], wide, threshold, b)
    lower = nominal if r < LEAST_RADIUS else max(nominal, top + span * Fraction(low))
    return lower, min(top, top + span * Fraction(high))


def _polish(p: list[Decimal], d: list[Decimal], r: Decimal, threshold: Decimal, b: Decimal) -> tuple[Decimal, Decimal]:
    """Bounds from b, and from better b while they are far apart; values d in [−1, 0]."""
    nominal, lower, upper = dot(p, d), Decimal(-1), Decimal(0)
    for _ in range(POLISHING):
        tilted = [x * (b * y).exp() for x, y in zip(p, d, strict=True)]
        total = sum(tilted, Decimal(0))
        log_total, value = total.ln(), dot(tilted, d) / total
        margin = MARGIN * (1 + b)
        upper = min(upper, (r + log_total + margin) / b)
        divergence = b * value - log_total
        share = min(Decimal(1), r / (divergence + margin))
        lower = max(lower, nominal + share * (value - nominal) - MARGIN)
        slope = b * dot(tilted, [(y - value) ** 2 for y in d]) / total  # of the divergence in b
        if upper - lower <= NARROW:
            break
        b += max(-b / 2, min(b, _step(r, threshold, divergence, slope) if slope > 0 else -b / 2))
    return lower, upper


def _step(r: Decimal, threshold: Decimal, divergence: Decimal, slope: Decimal) -> Decimal:
    """Newton's step for the root of the divergence, or for the logarithm of what is missing to the threshold."""
    if r <= threshold / 2 and divergence > 0:
        return 2 * divergence * ((r / divergence).sqrt() - 1) / slope
    left, wanted = threshold - divergence, threshold - r
    return left * (left / wanted).ln() / slope if left > 0 and wanted > 0 else Decimal("-Infinity")


def _multiplier(p: list[float], d: list[float], r: float) -> float:
    """b of the worst case in floats; nothing relies on it."""
    pairs = list(zip(p, d, strict=True))

    def excess(exponent: float) -> float:
        """Nearly linear: the divergence grows like b² at first."""
        return math.log(max(_divergence(pairs, math.exp(exponent)), 1e-300) / r)

    low = 0.5 * math.log(8.0 * r) - 0.1  # Hoeffding: the divergence is at most b²/8
    high = max(low + 1.0, 0.0)
    while excess(high) < 0.0 and high < 60.0:
        high += 2.0
    return math.exp(root(excess, low, high))


def _divergence(pairs: list[tuple[float, float]], b: float) -> float:
    """KL of the tilted distribution: Σ p (t log t − t + 1), t its density: no term cancels another."""
    total = sum(x * math.expm1(b * y) for x, y in pairs)
    log_total = math.log1p(total) if total > -0.5 else math.log(sum(x * math.exp(b * y) for x, y in pairs) or 1e-308)
    return sum(x * _entropy(b * y - log_total) for x, y in pairs)


SERIES = 1e-2
"""Below it a series is used: there its next term and the cancellation of the difference are about equal."""


def _entropy(w: float) -> float:
    """w e^w − e^w + 1: below `SERIES` the series, whose next term is w⁵/420 of it, above the difference.

    That errs by 4u/|w|. Both are below 3e-13 at 1e-2, and nothing relies on either.
    """
    if abs(w) < SERIES:
        return w * w * (1 / 2 + w * (1 / 3 + w * (1 / 8 + w * (1 / 30 + w * (1 / 144)))))
    return w * math.exp(min(w, 700.0)) - math.expm1(min(w, 700.0))


def propose(uncertainty_set: KullbackLeibler, p: Floats, v: Floats) -> Floats:
    """The tilted distribution."""
    support = p > 0.0
    top = v[support].max()
    span = top - v[support].min()
    best = support & (v == top)
    if span == 0.0 or uncertainty_set.radius == 0.0:
        return p
    if uncertainty_set.radius >= -math.log(min(p[best].sum(), 1.0)):
        q = np.where(best, p, 0.0)
    else:
        d = np.where(support, (v - top) / span, 0.0)
        b = _multiplier(p[support].tolist(), d[support].tolist(), max(uncertainty_set.radius, 1e-30))
        q = p * np.exp(b * d)
    return q / q.sum()


def threshold(uncertainty_set: KullbackLeibler, p: Floats, v: Floats) -> float:
    """−log of the mass of the states of highest v in the support."""
    top = v[p > 0.0].max()
    return -math.log1p(-min(p[v < top].sum() / p.sum(), 1.0 - 2.0**-53))


def constraints(q: Any, p: Any) -> tuple[list[Any], Callable[[KullbackLeibler, Floats], None]]:
    """Σ q log(q/p) <= r for cvxpy, and a cap on q that is 0 where p is, and elsewhere never reached."""
    import cvxpy as cp

    centre, cap = (cp.Parameter(q.shape, nonneg=True) for _ in range(2))
    radius = cp.Parameter(nonneg=True)

    def write(uncertainty_set: KullbackLeibler, rows: Floats) -> None:
        centre.value, cap.value = np.where(rows > 0.0, rows, 1.0), 2.0 * (rows > 0.0)
        radius.value = uncertainty_set.radius

    # Where p is 0 the centre is 1 and q is 0, which adds 0·log 0 = 0.
    return [cp.sum(cp.rel_entr(q, centre), axis=1) <= radius, q <= cap], write


def price(uncertainty_set: KullbackLeibler, p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """sigma_K(y) <= (r + log Σ p e^{by})/b for every b: the least over some b, then over finer ones about it.

    Rounding is far below the allowance of `certificate`: about top = max y, log Σ p e^{b(y−top)} errs by 3n EPS
    relative if it is small, and absolutely if b·(top − mean) > ½, so divided by b by 9n EPS/2 times the span of y at
    most. Where p is 0 so is q, and y may be so high that v − y is largest elsewhere.
    """
    support, size = p > 0.0, np.abs(y).max(axis=1, keepdims=True)
    moved = np.where(support, y, 2.0 + size)
    top = np.where(support, y, -np.inf).max(axis=1, keepdims=True)
    gap = np.where(support, y - top, 0.0)
    span = -gap.min(axis=1, keepdims=True)
    span = np.where(span > LEAST_TOTAL, span, 1.0)
    centre = np.sqrt(2.0 * max(uncertainty_set.radius, 1e-30)) / span
    bound = np.full(len(p), np.inf)
    grid, weights = MULTIPLIERS, normalise(p)[:, :, None]
    for _ in range(12):
        b = centre[:, :, None] * grid[None, None, :]
        x = gap[:, :, None] * b
        inner = (weights * np.expm1(x)).sum(axis=1)
        direct = np.log(np.maximum((weights * np.exp(x)).sum(axis=1), LEAST_TOTAL))
        log_mean = np.where(inner > -0.5, np.log1p(np.maximum(inner, -0.75)), direct)
        values = (uncertainty_set.radius + log_mean) / b[:, 0, :]
        chosen = values.argmin(axis=1)
        bound = np.minimum(bound, values.min(axis=1))
        centre = centre * grid[chosen][:, None]
        grid = np.exp(np.log(grid[len(grid) // 2 + 1] / grid[len(grid) // 2]) * np.linspace(-1.0, 1.0, 9))
    return moved, np.minimum(top[:, 0] + bound, top[:, 0])


def attained(uncertainty_set: KullbackLeibler, p: Floats, q: Floats, v: Floats) -> Floats:
    """The value of p + t(q−p), q on the support of p, t = r/D at most 1: D is above KL(q‖p), which is convex and 0 at
    p.

    D is Σ p (x log x − x + 1), x = q/p, whose terms are >= 0. Relative errors of q and p of at most (4n+4) EPS move
    it by that times Σ q (2 + |log x|), and its own rounding is less; D is enlarged by twice as much.
    """
    support, weights, q = p > 0.0, normalise(p), candidates(p, q, True)
    with np.errstate(all="ignore"):
        x = np.where(support, q / np.where(support, weights, 1.0), 1.0)
        log = np.where(x > 0.0, np.log(np.where(x > 0.0, x, 1.0)), 0.0)
        terms = np.where(support, q * log - q + weights, 0.0)
        size = (q * (2.0 + np.abs(log)) + weights).sum(axis=1)
        distance = np.maximum(terms, 0.0).sum(axis=1) + 16 * (p.shape[1] + 1) * EPS * size
    return pulled_value(p, q, v, np.where(np.isfinite(distance), distance, np.inf), uncertainty_set.radius)


register(
    KullbackLeibler,
    SetOracle(
        contains=contains,
        enclose=enclose,
        propose=propose,
        threshold=threshold,
        program=Cut(constraints, price, attained),
    ),
)
