"""Support functions of L2 balls around all rows of a kernel; the plain form is in `robust_core.sets.l2`.

The states with mass are a mask of zeros and ones, so a pass is a few sums without branches. While no state has been
taken out, the mean and the norm of v are common to all rows. Sparse rows from which mass may leave are spread over
all states.
"""

import math

import numpy as np

from robust_core.kernels.jit import compiled, reassociated
from robust_core.kernels.rows import Rows, central, support_ends
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints

EPS = 2.0**-52


@reassociated
def _counts(p: Floats, d: Floats, active: Floats) -> tuple[float, float, float, float, float]:
    """States with mass, Σ d on them, Σ p and Σ p² on the others, Σ p on all."""
    count = moment = out = squares = mass = 0.0
    for i in range(p.size):
        a = active[i]
        gone = (1.0 - a) * p[i]
        count += a
        moment += a * d[i]
        out += gone
        squares += gone * gone
        mass += p[i]
    return count, moment, out, squares, mass


@reassociated
def _value(p: Floats, d: Floats, active: Floats, shift: float, slope: float, mean: float) -> tuple[float, float, float]:
    """Σ q d, Σ q and the number of negative entries of q = p + shift + slope (d − mean) on the states with mass."""
    moment = total = negative = 0.0
    for i in range(p.size):
        q = active[i] * (p[i] + shift + slope * (d[i] - mean))
        negative += 1.0 if q < 0.0 else 0.0
        q = q if q > 0.0 else 0.0
        moment += q * d[i]
        total += q
    return moment, total, negative


@reassociated
def _drop(p: Floats, d: Floats, active: Floats, shift: float, slope: float, mean: float) -> None:
    """States whose q is negative lose their mass."""
    for i in range(p.size):
        active[i] = 0.0 if p[i] + shift + slope * (d[i] - mean) < 0.0 else active[i]


@compiled
def _row(p: Floats, d: Floats, active: Floats, r: float) -> float:
    """sigma of values d <= 0 whose maximum on the allowed states is 0; `active` marks these states and is used up."""
    value, left = 0.0, 0.0
    for _ in range(p.size + 1):
        count, moment, out, squares, mass = _counts(p, d, active)
        mean = moment / count
        norm = math.sqrt(central(active, d, mean))
        delta = out / count
        if out > 0.0:
            far = math.sqrt(squares + count * delta * delta)
            if r * mass < far:
                break
            left = math.sqrt((r * mass - far) * (r * mass + far))
        else:
            left = r * mass
        theta = left / norm if norm > 0.0 else 0.0
        moment, total, negative = _value(p, d, active, delta, theta, mean)
        value = moment / total
        if negative == 0.0:
            break
        _drop(p, d, active, delta, theta, mean)
    return value


@compiled
def _rows(
    within: bool, offsets: Ints, successors: Ints, probabilities: Floats, dense: bool, longest: int, v: Floats,
    order: Ints, radii: Floats, sigma: Floats,
) -> None:  # fmt: skip
    spread = not dense and not within
    n = v.size if spread else longest
    p, d, active, values = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    highest = v[order[order.size - 1]]
    shared = v - highest
    none = np.empty(0, dtype=np.int64)
    for row in range(radii.size):
        first, last = offsets[row], offsets[row + 1]
        if spread:
            p[:] = 0.0
            for k in range(first, last):
                p[successors[k]] = probabilities[k]
            active[:] = 1.0
            sigma[row] = highest + _row(p, shared, active, radii[row])
        elif not within:
            active[:] = 1.0
            sigma[row] = highest + _row(probabilities[first:last], shared, active, radii[row])
        else:
            size = last - first
            mine = probabilities[first:last]
            for k in range(size):
                values[k] = v[k] if dense else v[successors[first + k]]
            top = values[support_ends(mine, values[:size], order if dense else none)[1]]
            for k in range(size):
                active[k] = 1.0 if mine[k] > 0.0 else 0.0
                d[k] = values[k] - top if mine[k] > 0.0 else 0.0
            sigma[row] = top + _row(mine, d[:size], active[:size], radii[row])


def kernel_support(mdp: MDP, radius: float | Floats, within: bool, v: Floats) -> Floats:
    """sigma of the balls around every p(.|s,a): an array (S, A)."""
    rows = Rows.of(mdp, v, radius)
    sigma = np.empty(rows.radii.size)
    _rows(
        within, rows.offsets, rows.successors, rows.probabilities, rows.dense, rows.longest, rows.v, rows.order,
        rows.radii, sigma,
    )  # fmt: skip
    return rows.result(sigma)
