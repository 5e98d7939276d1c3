"""Support functions of chi-square balls around all rows of a kernel; the plain form is in
`robust_core.sets.chi_square`.

The states that are kept are those of value at least `low`, so a pass is a comparison and a few sums per entry, without
branches. Values count from `low`.
"""

import math

import numpy as np

from robust_core.kernels.jit import compiled, reassociated
from robust_core.kernels.rows import Rows, support_ends
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints

EPS = 2.0**-52
# Below it squares of small deviations may have underflowed; the norm is then taken in units of its largest term.
_LEAST_VARIANCE = 2.0**-900


@reassociated
def _first(p: Floats, values: Floats, low: float) -> tuple[float, float, float]:
    """Mass and first moment of v − low on the states of value >= low, and the mass below."""
    mass = moment = gone = 0.0
    for i in range(p.size):
        e = values[i] - low
        kept = p[i] if e >= 0.0 else 0.0
        mass += kept
        gone += p[i] - kept
        moment += kept * e
    return mass, moment, gone


@reassociated
def _second(p: Floats, values: Floats, low: float, mean: float) -> float:
    """Σ p (v − low − mean)² on the states of value >= low."""
    total = 0.0
    for i in range(p.size):
        e = values[i] - low
        x = e - mean
        total += p[i] * x * x if e >= 0.0 else 0.0
    return total


@compiled
def _second_scaled(p: Floats, values: Floats, low: float, mean: float, mass: float) -> float:
    """√(Σ p (v − low − mean)²/mass) without underflow."""
    largest = 0.0
    for i in range(p.size):
        if values[i] >= low:
            largest = max(largest, math.sqrt(p[i] / mass) * abs(values[i] - low - mean))
    total = 0.0
    if largest > 0.0:
        for i in range(p.size):
            if values[i] >= low:
                x = math.sqrt(p[i] / mass) * abs(values[i] - low - mean) / largest
                total += x * x
    return largest * math.sqrt(total)


@compiled
def _next_lowest(p: Floats, values: Floats, order: Ints, place: int, low: float, least: float) -> tuple[int, float]:
    """The place in the order, if there is one, and the smallest value with p > 0, above `low` and at least `least`."""
    if order.size == p.size:
        while place < p.size - 1 and (
            values[order[place]] <= low or values[order[place]] < least or p[order[place]] <= 0.0
        ):
            place += 1
        return place, values[order[place]]
    found = np.inf
    for i in range(p.size):
        if p[i] > 0.0 and values[i] > low and values[i] >= least and values[i] < found:
            found = values[i]
    return 0, found


@compiled
def _row(p: Floats, values: Floats, order: Ints, r: float) -> float:
    lowest, highest = support_ends(p, values, order)
    low, top = values[lowest], values[highest]
    value = top
    place = 0
    while low < top:
        mass, moment, gone = _first(p, values, low)
        k = r * mass - gone if gone > 0.0 else r
        if k < 0.0 or (k == 0.0 and gone > 0.0):
            break  # rounding dropped one state too many: the value before was right
        mean = moment / mass
        variance = _second(p, values, low, mean) / mass
        s = math.sqrt(variance) if variance > _LEAST_VARIANCE else _second_scaled(p, values, low, mean, mass)
        root = math.sqrt(k)
        value = min(low + (mean + s * root), top)
        if mean * root <= s:
            break
        # What lies below eta goes; what lies within rounding of the mean waits until it is the lowest.
        eta = min(mean - s / root, mean * (1.0 - 8 * p.size * EPS))
        place, low = _next_lowest(p, values, order, place, low, low + eta)
        if not low < top:
            value = top
    return value


@compiled
def _rows(
    offsets: Ints, successors: Ints, probabilities: Floats, dense: bool, longest: int, v: Floats, order: Ints,
    radii: Floats, sigma: Floats,
) -> None:  # fmt: skip
    gathered, none = np.empty(longest), np.empty(0, dtype=np.int64)
    for row in range(radii.size):
        first, last = offsets[row], offsets[row + 1]
        if dense:
            sigma[row] = _row(probabilities[first:last], v, order, radii[row])
        else:
            for k in range(last - first):
                gathered[k] = v[successors[first + k]]
            sigma[row] = _row(probabilities[first:last], gathered[: last - first], none, radii[row])


def kernel_support(mdp: MDP, radius: float | Floats, v: Floats) -> Floats:
    """sigma of the balls around every p(.|s,a): an array (S, A)."""
    rows = Rows.of(mdp, v, radius)
    sigma = np.empty(rows.radii.size)
    _rows(
        rows.offsets, rows.successors, rows.probabilities, rows.dense, rows.longest, rows.v, rows.order, rows.radii,
        sigma,
    )  # fmt: skip
    return rows.result(sigma)
