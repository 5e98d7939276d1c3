# mypy: disable-error-code="misc,untyped-decorator,assignment,return-value"
# (the compiler infers the types: its integers are numpy's, and its decorators are not annotated)
"""Compiled total variation: z(v) of every row, and nature's answer to v.

σ_{s,a}(v) = z_{s,a}(v) + R·max v with z = Σp v less the mass R of least value. The mass below some *level* of v goes,
the mass above it stays, and so does a part of the mass at the level: z = Σp·max(v, level) − R·level. One pass over a
row confirms a guess of its level, and the level of the last backup is nearly always right. What is kept of it is the
row's `marginal`, something at the level: the place of a state in the order of all (dense), or of an entry among all
entries (sparse). Dense rows share one sort of the states, and a wrong guess is moved through it; long sparse rows move
from a value to its neighbour. Short sparse rows with a wrong guess are collected, and all their values are tried as
levels, many rows side by side, without a branch: z is the least of Σp·max(v, level) − R·level, a convex function of the
level that is linear between values.
"""

from typing import NamedTuple

import numpy as np

from oracles.planning.rows import FAR, Indices, jit, jit_any_order, read_ahead
from robust_core.validate import Floats, Ints

RUN = 16  # states sorted by insertion before runs are merged
NEAR = 4  # neighbours that a sparse row tries before it bisects
NONE = -1  # no guess yet
SHORT = 16  # the longest row whose values are all tried as levels if the guess is wrong
LANES = 64  # rows side by side
PIECE = 1024  # rows whose wrong levels are found together


class Ranking(NamedTuple):
    """The states in ascending order of v, their values, and for each place the first one of equal value."""

    order: Ints
    values: Floats
    first: Ints
    spare: Ints  # room for merging


@jit
def sort_states(v: Floats, ranking: Ranking) -> None:
    """Rank the states by v: a merge sort that is fast when the order nearly fits already."""
    order, n_states = ranking.order, v.shape[0]
    for begin in range(0, n_states, RUN):
        for i in range(begin + 1, min(begin + RUN, n_states)):
            state, j = order[i], i - 1
            while j >= begin and v[order[j]] > v[state]:
                order[j + 1] = order[j]
                j -= 1
            order[j + 1] = state
    width = RUN
    while width < n_states:
        for middle in range(width, n_states, 2 * width):
            merge(v, order, ranking.spare, middle - width, middle, min(middle + width, n_states))
        width *= 2
    first = 0
    for i in range(n_states):
        value = v[order[i]]
        ranking.values[i] = value
        first = first if value == ranking.values[first] else i
        ranking.first[i] = first


@jit
def merge(v: Floats, order: Ints, spare: Ints, begin: int, middle: int, end: int) -> None:
    """Merge the sorted runs order[begin:middle] and order[middle:end]; what is in place is not touched."""
    left = middle
    while left > begin and v[order[left - 1]] > v[order[middle]]:
        left -= 1
    moved = middle - left
    for i in range(moved):
        spare[i] = order[left + i]
    i, right, to = 0, middle, left
    while i < moved:
        if right < end and v[order[right]] < v[spare[i]]:
            order[to] = order[right]
            right += 1
        else:
            order[to] = spare[i]
            i += 1
        to += 1


@jit_any_order
def four_raised(
    p0: Floats, p1: Floats, p2: Floats, p3: Floats, v: Floats, l0: float, l1: float, l2: float, l3: float
) -> tuple[float, float, float, float, float, float, float, float]:
    """Σ p·max(v, level) of four rows, and the mass below the level of each."""
    z0 = z1 = z2 = z3 = below0 = below1 = below2 = below3 = 0.0
    for i in range(v.shape[0]):
        value = v[i]
        mass = p0[i]
        z0 += mass * (value if value > l0 else l0)
        below0 += mass if value < l0 else 0.0
        mass = p1[i]
        z1 += mass * (value if value > l1 else l1)
        below1 += mass if value < l1 else 0.0
        mass = p2[i]
        z2 += mass * (value if value > l2 else l2)
        below2 += mass if value < l2 else 0.0
        mass = p3[i]
        z3 += mass * (value if value > l3 else l3)
        below3 += mass if value < l3 else 0.0
    return z0, z1, z2, z3, below0, below1, below2, below3


@jit
def dense_settled(p: Floats, ranking: Ranking, at: int, total: float, below: float, radius: float) -> tuple[float, int]:
    """(Σ p·max(v, level), place of the level) when the guess `at` was wrong."""
    order, values = ranking.order, ranking.values
    while below + p[order[at]] < radius and at < values.shape[0] - 1:
        below += p[order[at]]
        at += 1
        total += below * (values[at] - values[at - 1])
    while below > radius and at > 0:
        total -= below * (values[at] - values[at - 1])
        at -= 1
        below -= p[order[at]]
    return total, at


@jit
def dense_levels(
    dense: Floats, radius: float, v: Floats, ranking: Ranking, rows: Ints, marginal: Ints, z: Floats, below: Floats
) -> None:
    """z[k] = z(v) of the dense row rows[k]; `below` is room for as many numbers."""
    order, values, first = ranking.order, ranking.values, ranking.first
    last = rows.shape[0] - 1
    for k in range(0, last + 1, 4):
        k1, k2, k3 = min(k + 1, last), min(k + 2, last), min(k + 3, last)
        r0, r1, r2, r3 = rows[k], rows[k1], rows[k2], rows[k3]
        z[k], z[k1], z[k2], z[k3], below[k], below[k1], below[k2], below[k3] = four_raised(
            dense[r0], dense[r1], dense[r2], dense[r3], v,
            values[marginal[r0]], values[marginal[r1]], values[marginal[r2]], values[marginal[r3]],
        )  # fmt: skip
        for i in range(k, k3 + 1):
            row = rows[i]
            at = first[marginal[row]]
            if below[i] > radius or below[i] + dense[row, order[at]] < radius:
                z[i], at = dense_settled(dense[row], ranking, at, z[i], below[i], radius)
            marginal[row] = at
            z[i] -= radius * values[at]


@jit
def sparse_probe(
    successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats, level: float
) -> tuple[float, float, float, int, int]:
    """(Σ p·max(v, level), mass below the level, mass up to it, entry of the next lower value, of the next higher)."""
    total = below = up_to = 0.0
    lower, higher = -np.inf, np.inf
    lower_at = higher_at = NONE
    for k in range(begin, end):
        value = v[successors[k]]
        mass = probabilities[k]
        total += mass * (value if value > level else level)
        below += mass if value < level else 0.0
        up_to += mass if value <= level else 0.0
        if lower < value < level:
            lower, lower_at = value, np.int64(k)
        if level < value < higher:
            higher, higher_at = value, np.int64(k)
    return total, below, up_to, lower_at, higher_at


@jit
def middle_entry(successors: Indices, begin: int, end: int, v: Floats, low: float, high: float) -> int:
    """Of the entries with low < v < high, the middle one as they are stored."""
    count = 0
    for k in range(begin, end):
        count += low < v[successors[k]] < high
    count //= 2
    found = NONE
    for k in range(begin, end):
        if low < v[successors[k]] < high and count >= 0:
            found = np.int64(k)
            count -= 1
    return found


@jit
def sparse_settled(
    successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats, entry: int, radius: float
) -> tuple[float, int]:
    """(Σ p·max(v, level), marginal) from a wrong guess: to its neighbours, then by bisection."""
    low, high = -np.inf, np.inf  # levels known to be too low and too high
    steps = 0
    while True:
        level = v[successors[entry]]
        total, below, up_to, lower_at, higher_at = sparse_probe(successors, probabilities, begin, end, v, level)
        neighbour = lower_at if below > radius else higher_at if up_to < radius else NONE
        if neighbour == NONE:
            return total, entry
        low, high = (low, level) if below > radius else (level, high)
        # Sums of the same masses in another order may disagree in the last place: never turn back.
        if not low < v[successors[neighbour]] < high:
            return total, entry
        steps += 1
        entry = neighbour if steps <= NEAR else middle_entry(successors, begin, end, v, low, high)


@jit_any_order
def try_level(values: Floats, masses: Floats, level: Floats, radius: float, total: Floats) -> None:
    """total = Σp·max(v, level) − R·level of the row in every lane."""
    for lane in range(LANES):
        total[lane] = -radius * level[lane]
    for i in range(values.shape[0]):
        for lane in range(LANES):
            value = values[i, lane]
            total[lane] += masses[i, lane] * (value if value > level[lane] else level[lane])


@jit
def short_levels(
    offsets: Indices, successors: Indices, probabilities: Floats, width: int, radius: float, v: Floats, rows: Ints,
    which: Ints, marginal: Ints, z: Floats,
) -> None:  # fmt: skip
    """z[k] = z(v) of the sparse row rows[k] for the k of `which`, no row longer than `width`: all its values tried."""
    values, masses = np.zeros((width, LANES)), np.zeros((width, LANES))
    total, best, where = np.empty(LANES), np.empty(LANES), np.empty(LANES, dtype=np.int64)
    for start in range(0, which.shape[0], LANES):
        size = min(LANES, which.shape[0] - start)
        for lane in range(size):
            row = rows[which[start + lane]]
            begin, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
            for i in range(width):
                inside = begin + i < end
                k = begin + i if inside else begin
                values[i, lane] = v[successors[k]]
                masses[i, lane] = probabilities[k] if inside else 0.0
        for lane in range(LANES):
            best[lane], where[lane] = np.inf, 0
        for j in range(width):
            try_level(values, masses, values[j], radius, total)
            for lane in range(LANES):
                where[lane] = j if total[lane] < best[lane] else where[lane]
                best[lane] = total[lane] if total[lane] < best[lane] else best[lane]
        for lane in range(size):
            k = which[start + lane]
            z[k] = best[lane]
            marginal[rows[k]] = np.int64(offsets[rows[k]]) + where[lane]


@jit
def sparse_levels(
    offsets: Indices, successors: Indices, probabilities: Floats, width: int, radius: float, v: Floats, rows: Ints,
    marginal: Ints, z: Floats,
) -> None:  # fmt: skip
    """z[k] = z(v) of the sparse row rows[k]: the kept levels are confirmed without a branch, the wrong ones found anew.

    `width` is the length of the longest row if that is short, else 0.
    """
    wrong, far = np.empty(PIECE, dtype=np.int64), v.shape[0] >= FAR
    for start in range(0, rows.shape[0], PIECE):
        count = 0
        for k in range(start, min(start + PIECE, rows.shape[0])):
            row = rows[k]
            begin, end = offsets[row], offsets[row + 1]
            if far:
                read_ahead(successors, begin, end, v)
            level = v[successors[marginal[row]]]
            total = below = up_to = 0.0
            for i in range(begin, end):
                value = v[successors[i]]
                mass = probabilities[i]
                total += mass * (value if value > level else level)
                below += mass if value < level else 0.0
                up_to += mass if value <= level else 0.0
            z[k] = total - radius * level
            wrong[count] = k
            count += (below > radius) | (up_to < radius)
        if width > 0:
            short_levels(offsets, successors, probabilities, width, radius, v, rows, wrong[:count], marginal, z)
        else:
            for k in wrong[:count]:
                row = rows[k]
                total, marginal[row] = sparse_settled(
                    successors, probabilities, offsets[row], offsets[row + 1], v, marginal[row], radius
                )
                z[k] = total - radius * v[successors[marginal[row]]]


@jit
def fraction_kept(below: float, at: float, radius: float) -> float:
    """What stays of the mass at the level."""
    return min(max((below + at - radius) / at, 0.0), 1.0) if at > 0.0 else 0.0
