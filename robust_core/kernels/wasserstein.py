"""Support functions of Wasserstein balls of order 1 around all rows of a kernel.

The plain form, with the mathematics, is in `robust_core.sets.wasserstein`. The hulls are made once for all rows from
the metric's rows in order of distance: a state that is no better than a nearer one is passed over, so the stack is
rarely touched, and a hull ends at the best state of all.
"""

from dataclasses import dataclass

import numpy as np

from robust_core.kernels.jit import compiled
from robust_core.kernels.rows import Rows
from robust_core.mdp import MDP
from robust_core.sets.base import WorstRows
from robust_core.validate import EPS, Floats, Ints

FEW = 32
"""Successors up to which the steepest of their next segments is looked for; longer rows share one order of all."""


@compiled
def hulls(
    states: Ints, distances: Floats, v: Floats, first: Floats, source: Ints, length: Floats, gain: Floats, begin: Ints,
    end: Ints,
) -> int:  # fmt: skip
    """The segments of all hulls, source by source; how many there are.

    `first` and `begin` are the value and the state where each hull begins, `end` the state where each segment ends.
    """
    S = v.size
    at, value, place = np.empty(S), np.empty(S), np.empty(S, dtype=np.int64)
    count, top = 0, v.max()
    for i in range(S):
        size = 0
        best = -np.inf
        for k in range(S):
            if best == top:
                break
            x = v[states[i, k]]
            if x > best:
                best = x
                d = distances[i, k]
                if size and at[size - 1] == d:  # at the same distance the better state
                    size -= 1
                while size > 1 and (value[size - 1] - value[size - 2]) * (d - at[size - 1]) <= (x - value[size - 1]) * (
                    at[size - 1] - at[size - 2]
                ):
                    size -= 1
                at[size], value[size], place[size] = d, x, states[i, k]
                size += 1
        first[i], begin[i] = value[0], place[0]
        for k in range(1, size):
            source[count], length[count], gain[count] = i, at[k] - at[k - 1], value[k] - value[k - 1]
            end[count] = place[k]
            count += 1
    return count


@dataclass(frozen=True)
class Hulls:
    """The segments of all hulls for values v, source by source."""

    v: Floats
    first: Ints
    """The state where the hull of each source begins."""
    starts: Ints
    """Where the segments of each source begin."""
    source: Ints
    end: Ints
    length: Floats
    gain: Floats
    slope: Floats

    @classmethod
    def of(cls, by_distance: tuple[Ints, Floats], v: Floats) -> "Hulls":
        """Made in one pass over the metric."""
        S = len(v)
        value, first, length, gain = np.empty(S), np.empty(S, dtype=np.int64), np.empty(S * S), np.empty(S * S)
        source, end = np.empty(S * S, dtype=np.int64), np.empty(S * S, dtype=np.int64)
        count = hulls(*by_distance, v, value, source, length, gain, first, end)
        source, end, length, gain = source[:count], end[:count], length[:count], gain[:count]
        with np.errstate(all="ignore"):
            slope = gain / length
        return cls(v, first, np.searchsorted(source, np.arange(S + 1)), source, end, length, gain, slope)

    def walked(self, mdp: MDP, radii: Floats, pairs: Ints, found: WorstRows) -> tuple[Floats, Floats]:
        """Value of the plan and dual bound of some pairs; and their rows, if there is room for them."""
        rows, value, bound = mdp.rows, np.empty(len(pairs)), np.empty(len(pairs))
        source, end, length, gain, slope = self.source, self.end, self.length, self.gain, self.slope
        if shared := int(np.diff(rows.offsets).max()) > FEW:
            order = np.argsort(-slope, kind="stable")
            source, end, length, gain, slope = source[order], end[order], length[order], gain[order], slope[order]
        _walk(
            rows.offsets, rows.successors, rows.probabilities, pairs, radii, self.v, self.first, self.starts, shared,
            source, end, length, gain, slope, found.ends, found.places, found.shares, value, bound,
        )  # fmt: skip
        return value, bound


@compiled
def _walk(
    offsets: Ints, successors: Ints, probabilities: Floats, pairs: Ints, radii: Floats, v: Floats, first: Ints, starts:
    Ints, shared: bool, source: Ints, end: Ints, length: Floats, gain: Floats, slopes: Floats, ends: Ints, places: Ints,
    shares: Floats, value: Floats, bound: Floats,
) -> None:  # fmt: skip
    """Plans of the rows `pairs`; segments go by falling slope if `shared`, or source by source: rows are short."""
    S, top, filled = v.size, v.max(), 0
    mass, at, far = np.zeros(S), np.empty(S, dtype=np.int64), np.empty(S)
    heads, steep = np.empty(S, dtype=np.int64), np.empty(S)
    for k in range(pairs.size):
        begin, stop, r = offsets[pairs[k]], offsets[pairs[k] + 1], radii[pairs[k]]
        total = base = 0.0
        for j in range(begin, stop):
            total += probabilities[j]
        for j in range(begin, stop):
            i, n = successors[j], j - begin
            mass[i], at[i], far[i] = probabilities[j] / total, first[i], 0.0
            base += mass[i] * (v[first[i]] - top)
            if not shared:
                heads[n] = starts[i]
                steep[n] = slopes[starts[i]] if starts[i] < starts[i + 1] else -1.0
        left, spent, gained, slope, split, part = r, 0.0, 0.0, 0.0, -1, 0.0
        m = count = 0
        while True:
            if shared:
                while m < source.size and mass[source[m]] == 0.0:
                    m += 1
                if m == source.size:
                    break
                c = m
                m += 1
            else:
                n = 0
                for j in range(1, stop - begin):
                    n = j if steep[j] > steep[n] else n
                if steep[n] < 0.0:
                    break
                c = heads[n]
                heads[n] += 1
                steep[n] = slopes[c + 1] if c + 1 < starts[source[c] + 1] else -1.0
            count += 1
            i = source[c]
            cost = mass[i] * length[c]
            if cost <= left:
                left -= cost
                spent += cost
                at[i] = end[c]
                far[i] += length[c]
            else:
                slope, split, part = slopes[c], c, left / length[c]
                spent += left
                gained = part * gain[c]
                break
        needed = spent * (1.0 + (count + 8.0) * EPS)
        share = 1.0 if needed <= r else r / needed * (1.0 - 2.0 * EPS)
        dual = slope * r
        for j in range(begin, stop):
            i = successors[j]
            gained += mass[i] * (v[at[i]] - v[first[i]])  # by sources: S² segments would round S² times
            dual += mass[i] * (v[at[i]] - top - slope * far[i])
            if places.size > 0:
                kept = mass[i]
                if split >= 0 and source[split] == i:
                    kept = max(kept - part, 0.0)
                    places[filled], shares[filled] = end[split], mass[i] - kept
                    filled += 1
                places[filled], shares[filled] = at[i], kept
                filled += 1
            mass[i] = 0.0
        value[k] = top + min(base + share * gained, 0.0)
        bound[k] = top + (min(dual, 0.0) if slope < np.inf else 0.0)
        if places.size > 0:
            ends[k] = filled


def kernel_support(mdp: MDP, by_distance: tuple[Ints, Floats], radius: float | Floats, v: Floats) -> Floats:
    """sigma of the balls around every p(.|s,a): an array (S, A)."""
    rows = Rows.of(mdp, v, radius)
    every = np.arange(rows.radii.size)
    return rows.result(Hulls.of(by_distance, rows.v).walked(mdp, rows.radii, every, WorstRows.empty(0, 0))[0])
