"""Support functions of Wasserstein balls of order 1 around all rows of a kernel.

The plain form, with the mathematics, is in `robust_core.sets.wasserstein`. The hulls are made once for all rows from
the metric's rows in order of distance: a state that is no better than a nearer one is passed over, so the stack is
rarely touched.
"""

import numpy as np

from robust_core.kernels.jit import compiled
from robust_core.kernels.rows import Rows
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints


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
    count = 0
    for i in range(S):
        size = 0
        best = -np.inf
        for k in range(S):
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


@compiled
def _rows(
    offsets: Ints, successors: Ints, probabilities: Floats, dense: bool, longest: int, top: float, first: Floats,
    source: Ints, length: Floats, gain: Floats, starts: Ints, places: Ints, radii: Floats, sigma: Floats,
) -> None:  # fmt: skip
    """`places` are the ranks by falling slope of the segments source by source; the others are sorted by slope."""
    chosen = np.empty(source.size, dtype=np.int64)
    owner = np.empty(source.size if not dense else 0)
    for row in range(radii.size):
        begin, end = offsets[row], offsets[row + 1]
        p = probabilities[begin:end]
        mass = moment = 0.0
        for k in range(end - begin):
            mass += p[k]
            moment += p[k] * (first[k if dense else successors[begin + k]] - top)
        left = radii[row] * mass
        if dense:
            for k in range(source.size):
                if not left > 0.0:
                    break
                w = p[source[k]]
                cost = w * length[k]
                moment += w * gain[k] if cost <= left else gain[k] * (left / length[k])
                left -= cost
        else:
            count = 0
            for k in range(end - begin):
                i = successors[begin + k]
                for j in range(starts[i], starts[i + 1]):
                    chosen[count] = places[j]
                    owner[places[j]] = p[k]
                    count += 1
            chosen[:count].sort()
            for j in range(count):
                if not left > 0.0:
                    break
                k = chosen[j]
                cost = owner[k] * length[k]
                moment += owner[k] * gain[k] if cost <= left else gain[k] * (left / length[k])
                left -= cost
        sigma[row] = top + min(moment / mass, 0.0)


def kernel_support(mdp: MDP, by_distance: tuple[Ints, Floats], radius: float | Floats, v: Floats) -> Floats:
    """sigma of the balls around every p(.|s,a): an array (S, A)."""
    rows, S = Rows.of(mdp, v, radius), mdp.n_states
    first, source = np.empty(S), np.empty(S * S, dtype=np.int64)
    length, gain = np.empty(S * S), np.empty(S * S)
    begin, end = np.empty(S, dtype=np.int64), np.empty(S * S, dtype=np.int64)
    count = hulls(*by_distance, rows.v, first, source, length, gain, begin, end)
    source, length, gain = source[:count], length[:count], gain[:count]
    with np.errstate(all="ignore"):
        order = np.argsort(-(gain / length), kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(count)
    starts = np.searchsorted(source, np.arange(S + 1))
    sigma = np.empty(rows.radii.size)
    _rows(
        rows.offsets, rows.successors, rows.probabilities, rows.dense, rows.longest, float(rows.v.max()), first,
        source[order], length[order], gain[order], starts, places, rows.radii, sigma,
    )  # fmt: skip
    return rows.result(sigma)
