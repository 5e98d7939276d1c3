"""Worst rows and bounds of sets that move mass by state: contamination, restarts, local adversaries, Wasserstein balls.

Affine: sigma = top + (1−R) Σ p (y − top), y the largest value within reach of each state, top that of the restart
states: a product of n terms, which with the defect of the row errs by less than (8n + 32) u max|y|.

Wasserstein: along the hulls (`robust_core.sets.wasserstein`) until the budget is spent. Lower: the plan, whose cost
errs by (m+8) u of itself over m segments, shortened by that share. Upper: l r + Σ p_i max_j (v_j − l d_ij) for the
slope l where the budget ends; the maximum is at the hull's point there. All terms are at most the span of v, since l r
and l d are at most the gains that were bought. A point that rounding leaves out of a hull lies 8 u above it at most,
and at most S are left out one after the other. Together below (32 S + 64) u max|v|.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robust_core.kernels.jit import compiled
from robust_core.kernels.rows import UNIT, products
from robust_core.kernels.wasserstein import Hulls
from robust_core.mdp import MDP
from robust_core.sets.base import WorstRows
from robust_core.validate import Floats, Ints


@compiled
def _moved(
    offsets: Ints, successors: Ints, probabilities: Floats, pairs: Ints, targets: Ints, best: int, radii: Floats,
    v: Floats, ends: Ints, places: Ints, shares: Floats, sigma: Floats,
) -> None:  # fmt: skip
    """The rows `pairs` with their mass at the targets, and the share of a restart at `best`."""
    filled = 0
    for m in range(pairs.size):
        r, total = radii[pairs[m]], 0.0
        for k in range(offsets[pairs[m]], offsets[pairs[m] + 1]):
            places[filled], shares[filled] = targets[successors[k]], probabilities[k] * (1.0 - r)
            total += probabilities[k] * (v[targets[successors[k]]] - v[best])
            filled += 1
        if r > 0.0:
            places[filled], shares[filled] = best, r
            filled += 1
        ends[m], sigma[m] = filled, v[best] + (1.0 - r) * total


@compiled
def _highest(offsets: Ints, states: Ints, v: Floats) -> Ints:
    """The best of the states that are near each state."""
    found = np.empty(v.size, dtype=np.int64)
    for i in range(v.size):
        best = states[offsets[i]]
        for k in range(offsets[i] + 1, offsets[i + 1]):
            best = states[k] if v[states[k]] > v[best] else best
        found[i] = best
    return found


@dataclass(frozen=True)
class AffineSolver:
    """sigma = (1−R) Σ p·max over `near` of v + R·max over `restarts` of v.

    Without `near` mass stays where it is; without `restarts` all states are.
    """

    mdp: MDP
    radius: float | Floats = 0.0
    restarts: Ints | None = None
    near: tuple[Ints, Ints] | None = None
    """Offsets and the states near each state."""

    def _moved(self, v: Floats) -> tuple[Floats, int, Ints]:
        """The value and the place that each state leads to, and the best restart."""
        targets = np.arange(len(v)) if self.near is None else _highest(*self.near, v)
        best = int(v.argmax()) if self.restarts is None else int(self.restarts[v[self.restarts].argmax()])
        return v[targets], best, targets

    @cached_property
    def radii(self) -> Floats:
        """The share that restarts, for each row."""
        return np.array(np.broadcast_to(self.radius, self.mdp.cost.shape), dtype=np.float64).reshape(-1)

    def support(self, v: Floats) -> Floats:
        """sigma of all rows."""
        y, best, _ = self._moved(v)
        if not self.mdp.is_sparse:
            return v[best] + (1.0 - self.radii) * (self.mdp.P @ (y - v[best])).reshape(-1)
        rows, sigma = self.mdp.rows, np.empty(self.mdp.cost.size)
        products(rows.offsets, rows.successors, rows.probabilities, y, float(v[best]), self.radii, sigma)
        return sigma

    def rows(self, v: Floats, pairs: Ints) -> WorstRows:
        """Rows of nature at v of the given pairs."""
        _, best, targets = self._moved(v)
        rows = self.mdp.rows
        most = int((np.diff(rows.offsets)[pairs] + 1).sum())
        found = WorstRows.empty(len(pairs), most, rows.successors.dtype)
        _moved(
            rows.offsets, rows.successors, rows.probabilities, pairs, targets, best, self.radii, v, found.ends,
            found.places, found.shares, found.sigma,
        )  # fmt: skip
        return found

    def bounds(self, v: Floats) -> tuple[Floats, Floats]:
        """lower <= sigma <= upper for all pairs."""
        found = self.support(v)
        longest = int(np.diff(self.mdp.rows.offsets).max()) if self.mdp.is_sparse else self.mdp.n_states
        margin = (16.0 * longest + 64.0) * UNIT * float(np.abs(v).max()) + 2.0**-1000
        return found - margin, found + margin


@dataclass
class TransportSolver:
    """Rows of a Wasserstein ball with one metric for all pairs."""

    mdp: MDP
    by_distance: tuple[Ints, Floats]
    radius: float | Floats
    last: tuple[Floats, Hulls] | None = None
    """The hulls of the last values: a backup and its rows share them."""

    def support(self, v: Floats) -> Floats:
        """Values of the plans of all rows."""
        return self._walked(v, np.arange(self.mdp.cost.size), WorstRows.empty(0, 0))[0]

    def rows(self, v: Floats, pairs: Ints) -> WorstRows:
        """Rows of nature at v of the given pairs."""
        most = int((np.diff(self.mdp.rows.offsets)[pairs] + 1).sum())
        found = WorstRows.empty(len(pairs), most)
        found.sigma[:] = self._walked(v, pairs, found)[0]
        return found

    def bounds(self, v: Floats) -> tuple[Floats, Floats]:
        """lower <= sigma <= upper for all pairs."""
        value, bound = self._walked(v, np.arange(self.mdp.cost.size), WorstRows.empty(0, 0))
        margin = (32.0 * self.mdp.n_states + 64.0) * UNIT * float(np.abs(v).max()) * 2.0 + 2.0**-1000
        return value - margin, bound + margin

    @cached_property
    def radii(self) -> Floats:
        """The radius of each row."""
        return np.array(np.broadcast_to(self.radius, self.mdp.cost.shape), dtype=np.float64).reshape(-1)

    def _walked(self, v: Floats, pairs: Ints, found: WorstRows) -> tuple[Floats, Floats]:
        exponent = int(np.frexp(np.abs(v).max())[1]) if v.any() else -1074
        if self.last is None or not np.array_equal(self.last[0], v):
            self.last = v.copy(), Hulls.of(self.by_distance, np.ldexp(v, -exponent))
        value, bound = self.last[1].walked(self.mdp, self.radii, pairs, found)
        return np.ldexp(value, exponent), np.ldexp(bound, exponent)
