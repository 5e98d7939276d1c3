"""Proposals of multipliers and plans for certificates, in floats; the checker verifies what follows from them."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from robust_core.sets.wasserstein import segments
from robust_core.validate import Floats

_Bound = Callable[[float], float]


def _level(here: Any, p: Floats, V: Floats) -> float:
    """The level t at which the bound of a set on q·V, convex and piecewise linear in t, is least.

    It is the first value where the slope to the right is not negative. Slopes are sums of masses: the bounds themselves
    would be equal after rounding at values that are nearly equal.
    """
    order = np.argsort(V, kind="stable")
    if here.kind in ("total_variation", "l1"):
        slopes = np.cumsum(p[order]) - (here.radius / 2 if here.kind == "l1" else here.radius)
    else:
        low, high = np.zeros_like(p), p
        if here.kind == "bounded_density":
            high = p / (1.0 - here.radius)
        elif here.kind == "interval":
            low, high = here.low, here.high
        else:
            allowed = p > 0.0 if here.within_support else np.ones(len(p), dtype=bool)
            low, high = np.maximum(p - here.radius, 0.0), np.where(allowed, p + here.radius, 0.0)
        slopes = 1.0 - (high.sum() - np.cumsum(high[order])) - np.cumsum(low[order])
    rises = np.flatnonzero(slopes >= 0.0)
    return float(V[order[rises[0] if len(rises) else -1]])


LEVELS = ("total_variation", "l1", "l_infinity", "interval", "bounded_density", "chi_square", "l2")
"""Sets whose first multiplier is a level of values, which moves with the values."""


def multipliers(here: Any, p: Floats, V: Floats) -> list[float]:
    """Multipliers that make the bound on q·V about as low as it can be."""
    p = p / p.sum()
    if here.kind in ("contamination", "restart", "local_adversary"):
        return []
    if here.kind == "l2":
        return level_and_scale(here, p, V)
    if here.kind == "reverse_kullback_leibler":
        return [_gap(here, p, V)]
    if here.kind == "wasserstein":
        return [spend(here, p, V)[1]]
    if here.kind == "chi_square":
        return _chi_square(here.radius, p, V)
    if here.kind == "kullback_leibler":
        return [_tilt(here.radius, p[p > 0.0], V[p > 0.0])]
    return [_level(here, p, V)]


def _chi_square(r: float, p: Floats, V: Floats) -> list[float]:
    """The level t and the scale √(d/r) of the least bound; 0 as scale says that the maximum is the bound."""
    w, v = p[p > 0.0], V[p > 0.0]

    def parts(t: float) -> tuple[float, float]:
        x = np.maximum(v - t, 0.0)
        m = float(w @ x)
        return m, float(np.sqrt(w @ (x - m) ** 2))

    def bound(t: float) -> float:
        m, d = parts(t)
        return t + m + float(np.sqrt(r)) * d

    t = least(bound, float(v.min()), float(v.max()))
    deviation = parts(t)[1]
    if r == 0.0 and deviation > 0.0:
        return [t, deviation * 2.0**60]
    scale = deviation / float(np.sqrt(r)) if r > 0.0 else 0.0
    return [t, scale] if bound(t) < v.max() and scale > 0.0 else [t, 0.0]


def level_and_scale(here: Any, p: Floats, V: Floats) -> list[float]:
    """The level t and the scale l of the least bound: the worst case is (p + (V−t)/l)⁺; 0 as scale: the maximum."""
    r, active, kept = float(here.radius), (p > 0.0) | (not here.within_support), np.ones(len(p), dtype=bool)
    while True:
        kept = kept & active
        mean, out = float(V[kept].mean()), np.where(kept, 0.0, p)
        norm, delta = float(np.sqrt(((V[kept] - mean) ** 2).sum())), float(out.sum()) / int(kept.sum())
        far = float(np.sqrt((out**2).sum() + kept.sum() * delta**2))
        left = float(np.sqrt(max((r - far) * (r + far), 0.0))) if far > 0.0 else r
        if norm == 0.0 or r < far:
            return [mean, 0.0]
        theta = max(left / norm, 2.0**-200 / norm)
        below = kept & (p + delta + theta * (V - mean) < 0.0)
        if not below.any():
            return [mean - delta / theta, 1.0 / theta]
        kept = kept & ~below


def _gap(here: Any, p: Floats, V: Floats) -> float:
    """eta − top of the least bound of the ball of KL(p‖q): where Σ p log(eta−V) + log Σ p/(eta−V) falls to r."""
    support, top = p > 0.0, float(V[p > 0.0].max() if here.within_support else V.max())
    w, below = p[support], top - V[support]
    span = float(below.max())
    if span == 0.0:
        return 0.0

    def too_near(logarithm: float) -> bool:
        x = np.exp(logarithm) + below / span
        m = float(w @ x)
        y = (x - m) / m
        # The logarithms of ratios to the mean do not cancel for a distant eta.
        log = np.where(y < -0.5, np.log(x / m), np.log1p(np.maximum(y, -0.5)))
        return float(w @ log) + float(np.log1p(w @ ((m - x) / x))) > here.radius

    low, high = -700.0, 60.0
    if not too_near(low):
        return 0.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if too_near(middle) else (low, middle)
    return float(np.exp(high)) * span


def spend(here: Any, p: Floats, V: Floats) -> tuple[list[tuple[int, int, float]], float]:
    """The moves (source, target, share) of about the best plan of a Wasserstein set, and the slope where r is spent.

    Along the concave hull of the points (distance, value) of each source, steepest first; the budget is counted in
    fractions, and the last move is a little too short.
    """
    parts, left, slope = segments(here.metric, V), Fraction(float(here.radius)), 0.0
    total = sum(map(Fraction, p.tolist()))
    ends = {i: [(int(parts.first[i]), 1.0)] for i in np.flatnonzero(p > 0.0).tolist()}
    columns = (parts.source, parts.start, parts.end, parts.length, parts.gain)
    for i, start, end, length, gain in zip(*(column.tolist() for column in columns), strict=True):
        if i not in ends or ends[i][-1][0] != start:
            continue
        distances = here.metric[i]
        exact = Fraction(float(distances[end])) - Fraction(float(distances[start]))
        cost = Fraction(float(p[i])) / total * exact
        if cost <= left:
            ends[i], left = [(end, 1.0)], left - cost
            continue
        share = float(left / cost) * (1.0 - 2.0**-50)
        slope = gain / length
        ends[i] = [(start, 1.0 - share), (end, share)] if share > 0.0 else ends[i]
        break
    return [(i, j, share) for i, targets in ends.items() for j, share in targets], slope


def _tilt(r: float, p: Floats, v: Floats) -> float:
    """b of the least bound of the Kullback-Leibler ball; 0 says that the maximum is the bound."""
    top, span = float(v.max()), float(np.ptp(v))
    if span == 0.0:
        return 0.0

    def bound(logarithm: float) -> float:
        b = float(np.exp(logarithm))
        z = float(p @ np.expm1(b * (v - top) / span))
        return (r + float(np.log1p(max(z, -1.0 + 1e-300)))) / b

    found = least(bound, -40.0, 40.0)
    return float(np.exp(found)) / span if bound(found) < 0.0 else 0.0


def least(function: _Bound, low: float, high: float) -> float:
    """Where a function that falls and then rises is least (golden section)."""
    ratio = (5**0.5 - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(90):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return min((low, left, right, high), key=function)
