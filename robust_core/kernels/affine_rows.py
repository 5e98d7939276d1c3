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

import numpy as np
from numpy.typing import NDArray

from robust_core.kernels import wasserstein
from robust_core.kernels.jit import compiled
from robust_core.kernels.solutions import UNIT, products
from robust_core.mdp import MDP
from robust_core.sets.base import WorstRows
from robust_core.validate import Floats, Ints


def _chosen(offsets: Ints, pairs: Ints) -> tuple[Ints, Ints]:
    """(places of the entries of some rows, the end of each row among them)."""
    lengths = np.diff(offsets)[pairs]
    ends = np.cumsum(lengths)
    return np.repeat(offsets[pairs] - (ends - lengths), lengths) + np.arange(int(ends[-1])), ends


@dataclass(frozen=True)
class AffineSolver:
    """sigma = (1−R) Σ p·max over `near` of v + R·max over `restarts` of v.

    Without `near` mass stays where it is; without `restarts` all states are.
    """

    mdp: MDP
    radius: float | Floats = 0.0
    restarts: Ints | None = None
    near: NDArray[np.bool_] | None = None

    def _moved(self, v: Floats) -> tuple[Floats, int, Ints]:
        """The value and the place that each state leads to, and the best restart."""
        targets = np.arange(len(v)) if self.near is None else np.where(self.near, v, -np.inf).argmax(axis=-1)
        best = int(v.argmax()) if self.restarts is None else int(self.restarts[v[self.restarts].argmax()])
        return v[targets], best, targets

    @property
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
        rows, shares = self.mdp.rows, self.radii[pairs]
        entries, ends = _chosen(rows.offsets, pairs)
        kept = rows.probabilities[entries] * np.repeat(1.0 - shares, np.diff(ends, prepend=0))
        moved = targets[rows.successors[entries]]
        if not shares.any():
            return WorstRows(ends, moved, kept)
        return WorstRows(
            ends + np.arange(1, len(ends) + 1), np.insert(moved, ends, best), np.insert(kept, ends, shares)
        )

    def bounds(self, v: Floats) -> tuple[Floats, Floats]:
        """lower <= sigma <= upper for all pairs."""
        found = self.support(v)
        longest = int(np.diff(self.mdp.rows.offsets).max()) if self.mdp.is_sparse else self.mdp.n_states
        margin = (16.0 * longest + 64.0) * UNIT * float(np.abs(v).max()) + 2.0**-1000
        return found - margin, found + margin


@compiled
def _walk(
    offsets: Ints, successors: Ints, probabilities: Floats, pairs: Ints, radii: Floats, v: Floats, first: Ints, source:
    Ints, end: Ints, length: Floats, gain: Floats, starts: Ints, ranks: Ints, ends: Ints, places: Ints, shares: Floats,
    lower: Floats, upper: Floats,
) -> None:  # fmt: skip
    """Plans of the rows `pairs`; segments are sorted by falling slope, `ranks` are their places source by source."""
    chosen, mass, at = np.empty(source.size, dtype=np.int64), np.zeros(v.size), np.empty(v.size, dtype=np.int64)
    far = np.empty(v.size)
    top, filled = v.max(), 0
    margin = (32.0 * v.size + 64.0) * UNIT
    for k in range(pairs.size):
        row = pairs[k]
        begin, stop = offsets[row], offsets[row + 1]
        count, total = 0, 0.0
        for j in range(begin, stop):
            total += probabilities[j]
        base = 0.0
        for j in range(begin, stop):
            i = successors[j]
            mass[i], at[i], far[i] = probabilities[j] / total, first[i], 0.0
            base += mass[i] * (v[first[i]] - top)
            for m in range(starts[i], starts[i + 1]):
                chosen[count] = ranks[m]
                count += 1
        chosen[:count].sort()
        r = radii[row]
        left, spent, gained, slope, split, part = r, 0.0, 0.0, 0.0, -1, 0.0
        for m in range(count):
            c = chosen[m]
            i = source[c]
            cost = mass[i] * length[c]
            if cost <= left:
                left -= cost
                spent += cost
                at[i] = end[c]
                far[i] += length[c]
            else:
                slope, split, part = gain[c] / length[c], c, left / length[c]
                spent += left
                gained = part * gain[c]
                break
        needed = spent * (1.0 + (count + 8.0) * 2.0 * UNIT)
        share = 1.0 if needed <= r else r / needed * (1.0 - 4.0 * UNIT)
        bound = slope * r
        for j in range(begin, stop):
            i = successors[j]
            gained += mass[i] * (v[at[i]] - v[first[i]])  # by sources: S² segments would round S² times
            bound += mass[i] * (v[at[i]] - top - slope * far[i])
            if places.size > 0:
                kept = mass[i]
                if split >= 0 and source[split] == i:
                    kept = max(kept - part, 0.0)
                    places[filled], shares[filled] = end[split], mass[i] - kept
                    filled += 1
                places[filled], shares[filled] = at[i], kept
                filled += 1
        bound = min(bound, 0.0) if slope < np.inf else 0.0
        lower[k], upper[k] = top + base + share * gained - margin, top + bound + margin
        if places.size > 0:
            ends[k] = filled


@dataclass(frozen=True)
class TransportSolver:
    """Rows of a Wasserstein ball with one metric for all pairs."""

    mdp: MDP
    by_distance: tuple[Ints, Floats]
    radius: float | Floats

    def support(self, v: Floats) -> Floats | None:
        """The set's own form is the fastest."""
        return None

    def rows(self, v: Floats, pairs: Ints) -> WorstRows:
        """Rows of nature at v of the given pairs."""
        most = int((np.diff(self.mdp.rows.offsets)[pairs] + 1).sum())
        found = WorstRows.empty(len(pairs), most)
        self._walked(v, pairs, found)
        return found

    def bounds(self, v: Floats) -> tuple[Floats, Floats]:
        """lower <= sigma <= upper for all pairs."""
        return self._walked(v, np.arange(self.mdp.cost.size), WorstRows.empty(0, 0))

    def _walked(self, v: Floats, pairs: Ints, found: WorstRows) -> tuple[Floats, Floats]:
        S = self.mdp.n_states
        exponent = int(np.frexp(np.abs(v).max())[1]) if v.any() else -1074
        scaled = np.ldexp(v, -exponent)
        value, first, length, gain = np.empty(S), np.empty(S, dtype=np.int64), np.empty(S * S), np.empty(S * S)
        source, end = np.empty(S * S, dtype=np.int64), np.empty(S * S, dtype=np.int64)
        count = wasserstein.hulls(*self.by_distance, scaled, value, source, length, gain, first, end)
        source, end, length, gain = source[:count], end[:count], length[:count], gain[:count]
        with np.errstate(all="ignore"):
            order = np.argsort(-(gain / length), kind="stable")
        ranks = np.empty_like(order)
        ranks[order] = np.arange(count)
        starts = np.searchsorted(source, np.arange(S + 1))
        radii = np.array(np.broadcast_to(self.radius, self.mdp.cost.shape), dtype=np.float64).reshape(-1)
        rows, lower, upper = self.mdp.rows, np.empty(len(pairs)), np.empty(len(pairs))
        _walk(
            rows.offsets, rows.successors, rows.probabilities, pairs, radii, scaled, first, source[order], end[order],
            length[order], gain[order], starts, ranks, found.ends, found.places, found.shares, lower, upper,
        )  # fmt: skip
        return np.ldexp(lower, exponent) - 2.0**-1000, np.ldexp(upper, exponent) + 2.0**-1000
