"""Rows of a kernel, dense or sparse, as one shape for compiled support functions.

A row is a slice of probabilities with the values of its successors. On dense rows the values are v itself and its
order is shared by all rows; on sparse rows the values are gathered row by row.
"""

from dataclasses import dataclass

import numpy as np

from robust_core.kernels.jit import compiled, reassociated
from robust_core.mdp import MDP, SparseRows
from robust_core.validate import Floats, Ints

UNIT = 2.0**-53


@dataclass(frozen=True)
class Rows:
    """Row i has probabilities[offsets[i]:offsets[i+1]] on the successors at the same places.

    Dense rows have no list of successors. `v` is scaled by 2^-exponent to ½ <= max|v| <= 1. `order` sorts it; of sparse
    rows that are not `ordered` it has the places of the least and of the greatest value alone.
    """

    offsets: Ints
    successors: Ints
    probabilities: Floats
    dense: bool
    longest: int
    v: Floats
    order: Ints
    exponent: int
    radii: Floats
    shape: tuple[int, int]

    @classmethod
    def of(cls, mdp: MDP, v: Floats, radius: float | Floats, *, ordered: bool = False) -> "Rows":
        """The rows of a model, values and a radius per row."""
        S, A = mdp.n_states, mdp.n_actions
        exponent = int(np.frexp(np.abs(v).max())[1])
        scaled = np.ldexp(v, -exponent)
        radii = np.array(np.broadcast_to(radius, (S, A)), dtype=np.float64).reshape(-1)
        whole = ordered or not mdp.is_sparse
        order = np.argsort(scaled, kind="stable") if whole else np.array([scaled.argmin(), scaled.argmax()])
        if isinstance(mdp.kernel, SparseRows):
            sparse = mdp.kernel
            longest = int(np.diff(sparse.offsets).max())
            parts = sparse.offsets, sparse.successors, sparse.probabilities, False, longest
        else:
            # Read-only like those of sparse rows: kernels are compiled for one type of array.
            offsets, successors = np.arange(S * A + 1) * S, np.empty(0, dtype=np.int64)
            offsets.setflags(write=False)
            successors.setflags(write=False)
            parts = offsets, successors, mdp.kernel.reshape(-1), True, S
        return cls(*parts, scaled, order, exponent, radii, (S, A))

    def result(self, sigma: Floats) -> Floats:
        """sigma of the scaled values, as (S, A) and at the scale of v."""
        return np.ldexp(sigma, self.exponent).reshape(self.shape)


@reassociated
def moments(p: Floats, d: Floats) -> tuple[float, float, float, float]:
    """Σ p, Σ p d, Σ p d², Σ p d³."""
    s0 = s1 = s2 = s3 = 0.0
    for i in range(p.size):
        x = d[i]
        w = p[i]
        wx = w * x
        s0 += w
        s1 += wx
        s2 += wx * x
        s3 += wx * x * x
    return s0, s1, s2, s3


@reassociated
def central(p: Floats, d: Floats, mean: float) -> float:
    """Σ p (d − mean)²."""
    total = 0.0
    for i in range(p.size):
        x = d[i] - mean
        total += p[i] * x * x
    return total


@compiled
def support_ends(p: Floats, values: Floats, order: Ints) -> tuple[int, int]:
    """The places of the least and of the greatest value among p > 0; `order` sorts the values, or is empty."""
    n = p.size
    if order.size == n:
        low, high = 0, n - 1
        while p[order[low]] <= 0.0:
            low += 1
        while p[order[high]] <= 0.0:
            high -= 1
        return order[low], order[high]
    low = high = 0
    least, most = np.inf, -np.inf
    for i in range(n):  # no branch depends on the values
        below, above = p[i] > 0.0 and values[i] < least, p[i] > 0.0 and values[i] > most
        low, least = i if below else low, values[i] if below else least
        high, most = i if above else high, values[i] if above else most
    return low, high


@compiled
def products(
    offsets: Ints, successors: Ints, probabilities: Floats, y: Floats, top: float, radii: Floats, sigma: Floats
) -> None:
    """top + (1−R) Σ p (y − top) of sparse rows."""
    for row in range(radii.size):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            total += probabilities[k] * (y[successors[k]] - top)
        sigma[row] = top + (1.0 - radii[row]) * total


@compiled
def together(ends: Ints, places: Ints, shares: Floats, which: Ints, to: Ints) -> None:
    """Moves some of the rows that end at `ends`, in ascending order, to the front; they then end at `to`."""
    filled = 0
    for m in range(which.size):
        k = which[m]
        for i in range(ends[k - 1] if k > 0 else 0, ends[k]):
            places[filled], shares[filled] = places[i], shares[i]
            filled += 1
        to[m] = filled
