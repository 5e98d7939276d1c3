"""Support functions of reverse Kullback-Leibler balls around all rows of a kernel.

The plain form, with the mathematics, is in `robust_core.sets.reverse_kullback_leibler`. One pass over a row per step
takes log G, H and the derivative of both, in vector lanes. The value is corrected to second order, so that few passes
are needed.
"""

import math

import numpy as np

from robust_core.kernels.jit import compiled, reassociated
from robust_core.kernels.logarithm import log_near
from robust_core.kernels.rows import Rows, central, moments, support_ends
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints

LEAST_RADIUS = 1e-18
ACCURACY = 1e-6
STEPS = 400
SMALLEST = 2.0**-1000
EPS = 2.0**-52


@reassociated
def _pass(p: Floats, d: Floats, s: float, mean: float) -> tuple[float, float, float]:
    """Σ p log((s−d)/g), Σ p y and Σ p y², y = (d−mean)/(s−d), with g = s − mean. Where p = 0, d < s."""
    logs = excess = squares = 0.0
    inverse = 1.0 / (s - mean)
    for i in range(p.size):
        less = (mean - d[i]) * inverse
        ratio = (s - d[i]) * inverse
        w = p[i]
        logs += w * log_near(ratio, less)
        y = less / ratio
        excess -= w * y
        squares += w * y * y
    return logs, excess, squares


@compiled
def _row(p: Floats, d: Floats, r: float, pole: float) -> tuple[float, float]:
    """(sigma, eta) of values −1 <= d <= 0, d = 0 attained on allowed states of mass `pole`."""
    if r == 0.0 or r < LEAST_RADIUS:
        s0, s1, _, _ = moments(p, d)
        return min(s1 / s0 + math.sqrt(2.0 * r * central(p, d, s1 / s0) / s0), 0.0), np.inf
    s0, s1, s2, s3 = moments(p, d)
    mean = s1 / s0
    variance = s2 / s0 - mean * mean
    if variance < 1e-6 * s2 / s0:
        variance = central(p, d, mean) / s0
    if mean == 0.0:
        return 0.0, 1.0
    if pole == 0.0:
        logs, excess, _ = _pass(p, d, 0.0, mean)
        if logs / s0 + math.log1p(excess / s0) <= r:
            return mean + mean * math.expm1(logs / s0 - r), 0.0
    skew = s3 / s0 - 3.0 * mean * s2 / s0 + 2.0 * mean * mean * mean
    low, high = SMALLEST, 2.0**40 / math.sqrt(r)
    # f = Var/(2g²) + 2·skew/(3g³) + …, so that g is about √(Var/2r) + 2·skew/(3 Var).
    s = math.sqrt(0.5 * variance / r) + mean
    if variance > 0.0:
        s += 2.0 * skew / (3.0 * variance)
    if not s > 0.0:
        s = min(pole, 0.125) if pole > 0.0 else 2.0**-10
    s = min(max(s, low), high)
    value = 0.0
    noise = 0.25 * (p.size + 8) * EPS  # of f, times g: less cannot be told from 0
    for _ in range(STEPS):
        g = s - mean
        logs, excess, squares = _pass(p, d, s, mean)
        logs /= s0
        excess /= s0
        h = 1.0 + excess
        f = logs + math.log1p(excess)
        slope = (excess * excess - squares / s0) / (h * g)
        value = mean - g * math.expm1(logs - r)
        if f > r:
            low = s
        else:
            high = s
        off = abs(f - r)
        close = off <= ACCURACY * r
        if close or high <= low * (1.0 + 4 * EPS) or (f <= r and s < 2.0**-60) or off * max(g, 1.0) <= noise:
            if close and slope < 0.0:
                # The derivative of the bound in s is 1 − e^{f−r} = −(f−r) to first order, and that of f is `slope`.
                value += 0.5 * off * off / slope
            break
        if s < -0.25 * mean:
            step = s * math.exp(min(max((r - f) / (s * slope), -700.0), 700.0))
        else:
            root = math.sqrt(2.0 * f) if f > 0.0 else 0.0
            step = s - (1.0 / math.sqrt(2.0 * r) - 1.0 / root) * root * root * root / slope if root > 0.0 else 0.0
        s = step if low < step < high else math.sqrt(low) * math.sqrt(high)
    return min(value, 0.0), s


@compiled
def _rows(
    within: bool, offsets: Ints, successors: Ints, probabilities: Floats, dense: bool, longest: int, v: Floats,
    order: Ints, radii: Floats, sigma: Floats,
) -> None:  # fmt: skip
    n = longest
    d, values = np.empty(n), np.empty(n)
    lowest, highest = v[order[0]], v[order[order.size - 1]]
    width = highest - lowest
    shared = (v - highest) / (width if width > 0.0 else 1.0)
    none = np.empty(0, dtype=np.int64)
    for row in range(radii.size):
        first, last = offsets[row], offsets[row + 1]
        p = probabilities[first:last]
        size = last - first
        if dense and p[order[v.size - 1]] > 0.0 and (not within or p[order[0]] > 0.0):
            top, span, part = highest, width, shared
        else:
            for k in range(size):
                values[k] = v[k] if dense else v[successors[first + k]]
            ends = support_ends(p, values[:size], order if dense else none)
            top = values[ends[1]] if within else highest
            span = top - values[ends[0]]
            part = d[:size]
            for k in range(size):
                part[k] = (values[k] - top) / span if p[k] > 0.0 and span > 0.0 else -1.0
        pole = 0.0
        for k in range(size):
            pole += p[k] if part[k] == 0.0 else 0.0
        sigma[row] = top + span * _row(p, part, radii[row], pole)[0] if span > 0.0 else top


def kernel_support(mdp: MDP, radius: float | Floats, within: bool, v: Floats) -> Floats:
    """sigma of the balls around every p(.|s,a): an array (S, A)."""
    rows = Rows.of(mdp, v, radius)
    sigma = np.empty(rows.radii.size)
    _rows(
        within, rows.offsets, rows.successors, rows.probabilities, rows.dense, rows.longest, rows.v, rows.order,
        rows.radii, sigma,
    )  # fmt: skip
    return rows.result(sigma)
