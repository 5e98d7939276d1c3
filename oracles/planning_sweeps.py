# mypy: disable-error-code="misc,untyped-decorator"
"""Compiled backups: z(v) of every row, for dense and sparse kernels, without the term common to all rows.

σ_{s,a}(v) = z_{s,a}(v) + R·max v with, under contamination, z = (1−R)Σp v (the factor (1−R) is in `scale`) and,
under total variation, z = Σp v less the mass R of least value. There the mass below some *level* of v goes, the
mass above it stays, and of the mass at the level the fraction `kept` stays: one pass over a row confirms a guess
of its level, and the level of the last backup is nearly always right. A state at the level is the row's `marginal`
state. Frozen levels make z linear in v: that is nature's kernel.

A model is (dense, offsets, successors, probabilities): either the dense rows, one per pair, or the sparse ones
are empty.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robust_core.validate import Floats, Ints

Indices = NDArray[np.uint64]  # unsigned: signed ones are tested for being negative at every access
Model = tuple[Floats, Indices, Indices, Floats]
Frozen = tuple[Indices, Indices, Floats]

LONG_ROW = 24  # sparse rows longer than this are sorted to find a first level
INSERTION = 96  # up to so many states insertion sort of a nearly sorted order beats sorting anew

# Free order of summation and fused operations: the bounds in `enclosure` hold for every order.
_any_order = njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
_exact_order = njit(cache=True, nogil=True)


@_any_order
def dot(p: Floats, v: Floats) -> float:
    """Σ p v."""
    total = 0.0
    for i in range(v.shape[0]):
        total += p[i] * v[i]
    return total


@_exact_order
def sparse_dot(successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats) -> float:
    """Σ p v of one sparse row (short, so vectorising it would cost more than it saves)."""
    total = 0.0
    for k in range(begin, end):
        total += probabilities[k] * v[successors[k]]
    return total


@_exact_order
def sort_states(v: Floats, order: Ints, place: Ints) -> None:
    """Put `order` into the ascending order of v (fast when it nearly is already), `place` into its inverse."""
    n_states = v.shape[0]
    if n_states > INSERTION:
        order[:] = np.argsort(v)
    else:
        for i in range(1, n_states):
            state = order[i]
            key = v[state]
            j = i - 1
            while j >= 0 and v[order[j]] > key:
                order[j + 1] = order[j]
                j -= 1
            order[j + 1] = state
    for i in range(n_states):
        place[order[i]] = i


@_any_order
def split(p: Floats, v: Floats, ranks: Floats, level: float) -> tuple[float, float, float, float]:
    """(mass below, mass at, Σp v at, Σp v above) the level of `ranks`."""
    below = at = value_at = above = 0.0
    for i in range(v.shape[0]):
        rank = ranks[i]
        mass = p[i]
        below += mass if rank < level else 0.0
        at += mass if rank == level else 0.0
        value_at += mass * v[i] if rank == level else 0.0
        above += mass * v[i] if rank > level else 0.0
    return below, at, value_at, above


@_exact_order
def fraction_kept(below: float, at: float, radius: float) -> float:
    """What stays of the mass at the level."""
    return min(max((below + at - radius) / at, 0.0), 1.0) if at > 0.0 else 0.0


@_exact_order
def dense_level(
    p: Floats, v: Floats, order: Ints, place: Ints, guess: int, radius: float
) -> tuple[float, int, float]:
    """(z, marginal state, fraction kept) of a dense row; `order` sorts v."""
    n_states = v.shape[0]
    level = v[guess]
    below, at, _, above = split(p, v, v, level)
    if below > radius or below + at < radius:
        low = place[guess]
        while low > 0 and v[order[low - 1]] == level:
            low -= 1
        high = low
        while high < n_states and v[order[high]] == level:
            high += 1
        while below + at < radius and high < n_states:
            below += at
            low, at, level = high, 0.0, v[order[high]]
            while high < n_states and v[order[high]] == level:
                at += p[order[high]]
                high += 1
            above -= at * level
        while below > radius and low > 0:
            above += at * level
            high, at, level = low, 0.0, v[order[low - 1]]
            while low > 0 and v[order[low - 1]] == level:
                low -= 1
                at += p[order[low]]
            below -= at
        guess = order[low]
    return above + (below + at - radius) * level, guess, fraction_kept(below, at, radius)


@_exact_order
def first_level(successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats, radius: float) -> int:
    """A successor to start the search for the level from: the least for a short row, the level of a long one."""
    least = begin
    for k in range(begin, end):
        if v[successors[k]] < v[successors[least]]:
            least = k
    if end - begin > np.uint64(LONG_ROW):
        mass = 0.0
        for i in np.argsort(v[successors[begin:end]]):
            least = begin + np.uint64(i)
            mass += probabilities[least]
            if mass >= radius:
                break
    return np.int64(successors[least])


@_exact_order
def sparse_level(
    successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats, guess: int, radius: float
) -> tuple[float, int, float]:
    """(z, marginal state, fraction kept) of a sparse row, moving from the guessed level to its neighbours."""
    level = v[guess]
    direction = 0
    while True:
        below = at = above = 0.0
        lower, upper = -np.inf, np.inf
        for k in range(begin, end):
            value = v[successors[k]]
            mass = probabilities[k]
            below += mass if value < level else 0.0
            at += mass if value == level else 0.0
            above += mass * value if value > level else 0.0
            lower = max(lower, value if value < level else -np.inf)
            upper = min(upper, value if value > level else np.inf)
        # Two sums of the same masses may disagree in the last place: never turn back.
        if below > radius and lower > -np.inf and direction <= 0:
            direction, level = -1, lower
        elif below + at < radius and upper < np.inf and direction >= 0:
            direction, level = 1, upper
        else:
            break
    if direction != 0:
        for k in range(begin, end):
            if v[successors[k]] == level:
                guess = np.int64(successors[k])
    return above + (below + at - radius) * level, guess, fraction_kept(below, at, radius)


@_exact_order
def levels_backup(
    model: Model, cost: Floats, scale: float, radius: float, v: Floats, order: Ints, place: Ints,
    mask: Floats, marginal: Ints, kept: Floats, q: Floats,
) -> None:  # fmt: skip
    """q = cost + scale·z(v) under total variation for the pairs with a positive mask; marginal < 0: no guess."""
    dense, offsets, successors, probabilities = model
    n_states, n_actions = cost.shape
    start = order[int(radius * (n_states - 1))]
    for state in range(n_states):
        for action in range(n_actions):
            if mask[state, action] > 0.0:
                row = state * n_actions + action
                guess = marginal[state, action]
                if offsets.shape[0] == 0:
                    guess = start if guess < 0 else guess
                    z, guess, share = dense_level(dense[row], v, order, place, guess, radius)
                else:
                    begin, end = offsets[row], offsets[row + 1]
                    if guess < 0:
                        guess = first_level(successors, probabilities, begin, end, v, radius)
                    z, guess, share = sparse_level(successors, probabilities, begin, end, v, guess, radius)
                marginal[state, action] = guess
                kept[state, action] = share
                q[state, action] = cost[state, action] + scale * z


@_exact_order
def mean_backup(model: Model, cost: Floats, scale: float, v: Floats, q: Floats) -> None:
    """q = cost + scale·Σp v for all pairs."""
    dense, offsets, successors, probabilities = model
    flat = q.reshape(q.size)
    costs = cost.reshape(q.size)
    if offsets.shape[0] == 0:
        np.dot(dense, v, flat)
        for row in range(flat.shape[0]):
            flat[row] = costs[row] + scale * flat[row]
    else:
        begin = offsets[0]
        for row in range(flat.shape[0]):
            end = offsets[row + 1]
            flat[row] = costs[row] + scale * sparse_dot(successors, probabilities, begin, end, v)
            begin = end


@_exact_order
def room(model: Model, policy: Floats, control: bool) -> Frozen:
    """Arrays for the frozen rows of this policy or, under control, of any deterministic one; empty if dense."""
    offsets = model[1]
    n_states, n_actions = policy.shape if offsets.shape[0] > 0 else (0, 0)
    size = 0
    for state in range(n_states):
        longest = total = 0
        for action in range(n_actions):
            row = state * n_actions + action
            length = np.int64(offsets[row + 1]) - np.int64(offsets[row])
            longest = max(longest, length)
            total += length if policy[state, action] > 0.0 else 0
        size += longest if control else total
    return np.zeros(n_states + 1, dtype=np.uint64), np.empty(size, dtype=np.uint64), np.empty(size)


@_exact_order
def freeze(
    model: Model, policy: Floats, total_variation: bool, anchor: Floats, marginal: Ints, kept: Floats,
    frozen: Frozen,
) -> None:  # fmt: skip
    """Write the kernel of a policy, with nature's answer to `anchor`, as one sparse row per state."""
    _, offsets, successors, probabilities = model
    frozen_offsets, targets, weights = frozen
    n_states, n_actions = policy.shape if offsets.shape[0] > 0 else (0, 0)
    at = frozen_offsets[0]
    one = np.uint64(1)
    for state in range(n_states):
        for action in range(n_actions):
            share = policy[state, action]
            if share > 0.0:
                row = state * n_actions + action
                level = anchor[marginal[state, action]] if total_variation else -np.inf
                for k in range(offsets[row], offsets[row + 1]):
                    rank = anchor[successors[k]] if total_variation else 0.0
                    stays = kept[state, action] if rank == level else 1.0
                    targets[at] = successors[k]
                    weights[at] = share * probabilities[k] * stays if rank >= level else 0.0
                    at += one
        frozen_offsets[state + 1] = at


@_exact_order
def sweep(
    model: Model, policy: Floats, total_variation: bool, anchor: Floats, marginal: Ints, kept: Floats,
    frozen: Frozen, scale: float, x: Floats, out: Floats,
) -> None:  # fmt: skip
    """out = scale·(the policy's average of z(x) under nature's answer to `anchor`), linear in x."""
    dense, offsets, _, _ = model
    frozen_offsets, targets, weights = frozen
    n_states, n_actions = policy.shape
    if offsets.shape[0] > 0:
        begin = frozen_offsets[0]
        for state in range(n_states):
            end = frozen_offsets[state + 1]
            out[state] = scale * sparse_dot(targets, weights, begin, end, x)
            begin = end
        return
    for state in range(n_states):
        total = 0.0
        for action in range(n_actions):
            share = policy[state, action]
            if share > 0.0:
                row = dense[state * n_actions + action]
                if total_variation:
                    level = anchor[marginal[state, action]]
                    _, _, value_at, above = split(row, x, anchor, level)
                    total += share * (above + kept[state, action] * value_at)
                else:
                    total += share * dot(row, x)
        out[state] = scale * total
