"""Support functions of Kullback-Leibler balls around all rows of a kernel.

The plain form, with the mathematics, is in `robust_core.sets.kullback_leibler`. Here one pass over a row per step of
Newton's method takes Σ p e^{bd}, Σ p e^{bd} d and Σ p e^{bd} d² at once, in vector lanes. The first step starts at a
root of the expansion of f to third order; the value is corrected to second order, (f−r)²/(2b²f'), so that a root to
1e-6 is enough.
"""

import math

import numpy as np

from robust_core.kernels.exponential import exp, expm1
from robust_core.kernels.jit import compiled, reassociated
from robust_core.kernels.rows import Rows, central, moments, support_ends
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints

LEAST_RADIUS = 1e-18
ACCURACY = 1e-6
STEPS = 200
EPS = 2.0**-52


@reassociated
def _tilted(p: Floats, d: Floats, b: float) -> tuple[float, float, float]:
    """Σ p e, Σ p e d, Σ p e d² with e = e^{bd}, d <= 0."""
    s0 = s1 = s2 = 0.0
    for i in range(p.size):
        x = d[i]
        w = p[i] * exp(b * x)
        wx = w * x
        s0 += w
        s1 += wx
        s2 += wx * x
    return s0, s1, s2


@reassociated
def _tilted_little(p: Floats, d: Floats, b: float) -> tuple[float, float, float]:
    """Σ p (e − 1), Σ p e d, Σ p e d²."""
    s0 = s1 = s2 = 0.0
    for i in range(p.size):
        x = d[i]
        less = p[i] * expm1(b * x)
        w = p[i] + less
        wx = w * x
        s0 += less
        s1 += wx
        s2 += wx * x
    return s0, s1, s2


@reassociated
def _tilted_central(p: Floats, d: Floats, b: float, mean: float) -> float:
    """Σ p e^{bd} (d − mean)²."""
    total = 0.0
    for i in range(p.size):
        x = d[i] - mean
        total += p[i] * exp(b * d[i]) * x * x
    return total


@compiled
def _mass_below(p: Floats, d: Floats) -> tuple[float, float]:
    """The mass at d = 0 and below."""
    best = rest = 0.0
    for i in range(p.size):
        if d[i] < 0.0:
            rest += p[i]
        else:
            best += p[i]
    return best, rest


@compiled
def _row(p: Floats, d: Floats, r: float, best: float, rest: float, start: float, steps: int) -> tuple[float, float]:
    """(sigma of values d with maximum 0 and minimum −1 on the support, the multiplier for the next call).

    `best` and `rest` are the masses at the maximum and below it. `steps` = 1 with a `start` evaluates the bound
    there; more steps go on from it.
    """
    total = best + rest
    threshold = -math.log1p(-rest / total) if rest < 0.5 * total else -math.log(best / total)
    if r >= threshold:
        return 0.0, start
    b = start
    if not start > 0.0:
        s0, s1, s2, s3 = moments(p, d)
        mean = s1 / s0
        variance = s2 / s0 - mean * mean
        if variance < 1e-6 * s2 / s0:
            variance = central(p, d, mean) / s0
        if r < LEAST_RADIUS:
            return min(mean + math.sqrt(2.0 * r * variance), 0.0), 0.0
        b = math.sqrt(2.0 * r / variance) if variance > 0.0 else np.inf
        skew = s3 / s0 - 3.0 * mean * s2 / s0 + 2.0 * mean * mean * mean
        bend = b * skew / (3.0 * variance) if variance > 0.0 else 0.0
        b = b / (1.0 + bend) if bend > -0.5 else 2.0 * b
        b = min(b, 4.0 * (threshold + 1.0))
        gap = -mean
    else:
        gap = 1.0
    low, high = math.sqrt(8.0 * r), 2.0**57 * threshold
    b = min(max(b, low), high)
    noise = (p.size + 8) * 0.5 * EPS
    value = 0.0
    following = b
    for _ in range(steps):
        if b * gap <= 1.0:
            s0, s1, s2 = _tilted_little(p, d, b)
            s0 /= total
            log_mean = math.log1p(s0)
            s0 = (1.0 + s0) * total
        else:
            s0, s1, s2 = _tilted(p, d, b)
            log_mean = math.log(s0 / total)
        mean = s1 / s0
        variance = s2 / s0 - mean * mean
        if variance < 1e-6 * s2 / s0:
            variance = _tilted_central(p, d, b, mean) / s0
        f = b * mean - log_mean
        value = (r + log_mean) / b
        slope = b * variance
        left, wanted = threshold - f, threshold - r
        if f < r:
            low = b
        else:
            high = b
        if r <= 0.5 * threshold:
            root = math.sqrt(2.0 * f) if f > 0.0 else 0.0
            following = b - (root - math.sqrt(2.0 * r)) * root / slope
        else:
            following = b + math.log(left / wanted) * left / slope if left > 0.0 else 0.0
        inside = low < following < high
        if not inside:
            following = math.sqrt(low) * math.sqrt(high)
        off = abs(f - r)
        # Beyond sigma the bound is at most this over b: q_b is a member if f <= r, and else pulled to p.
        excess = off * max(1.0, (log_mean + b * gap) / f) if f > r else off
        if off <= ACCURACY * min(r, wanted) or excess <= noise * b or high <= low * (1.0 + 4 * EPS):
            if steps > 1 and slope > 0.0 and off <= ACCURACY * min(r, wanted):
                value -= off * off / (2.0 * b * b * slope)
            following = following if inside else b  # at the root the step is a rounding, on either side
            break
        if steps > 1:
            b = following
    return min(value, 0.0), following


@compiled
def _rows(
    offsets: Ints, successors: Ints, probabilities: Floats, dense: bool, longest: int, v: Floats, order: Ints,
    radii: Floats, multipliers: Floats, steps: int, sigma: Floats,
) -> None:  # fmt: skip
    first_low, first_high = order[0], order[order.size - 1]
    width = v[first_high] - v[first_low]
    shared = (v - v[first_high]) / (width if width > 0.0 else 1.0)
    ties = 0
    while dense and ties < v.size and v[order[v.size - 1 - ties]] == v[first_high]:
        ties += 1
    scratch, gathered = np.empty(longest), np.empty(longest)
    none = np.empty(0, dtype=np.int64)
    for row in range(radii.size):
        first, last = offsets[row], offsets[row + 1]
        p = probabilities[first:last]
        n = last - first
        top, span = v[first_high], width
        d = shared
        best = 0.0
        if dense:
            values, sorting = v, order
        else:
            for k in range(n):
                gathered[k] = v[successors[first + k]]
            values, sorting = gathered[:n], none
        if dense and p[first_low] > 0.0 and p[first_high] > 0.0:
            for k in range(ties):
                best += p[order[n - 1 - k]]
            rest = 1.0 - best
            if rest < 0.5:
                best, rest = _mass_below(p, d)
        else:
            lowest, highest = support_ends(p, values, sorting)
            top = values[highest]
            span = top - values[lowest]
            d = scratch[:n]
            for k in range(n):
                d[k] = (values[k] - top) / span if p[k] > 0.0 and span > 0.0 else 0.0
            best, rest = _mass_below(p, d)
        if span <= 0.0:
            sigma[row] = top
        else:
            value, multipliers[row] = _row(p, d, radii[row], best, rest, multipliers[row], steps)
            sigma[row] = top + span * value


def kernel_support(mdp: MDP, radius: float | Floats, v: Floats) -> Floats:
    """sigma of the balls around every p(.|s,a): an array (S, A)."""
    return refine(mdp, radius, v, np.zeros(mdp.n_states * mdp.n_actions), steps=STEPS)


def refine(mdp: MDP, radius: float | Floats, v: Floats, multipliers: Floats, *, steps: int = 1) -> Floats:
    """An upper bound on sigma of every row at the multipliers given, which are replaced by better ones.

    A multiplier belongs to values in [−1, 0]: it does not change if v is shifted or scaled. One step is one pass over
    the rows; repeated on slowly changing v, as in value iteration, the bound is sigma up to the square of the change.
    """
    rows = Rows.of(mdp, v, radius)
    sigma = np.empty(rows.radii.size)
    _rows(
        rows.offsets, rows.successors, rows.probabilities, rows.dense, rows.longest, rows.v, rows.order, rows.radii,
        multipliers, steps, sigma,
    )  # fmt: skip
    return rows.result(sigma)
