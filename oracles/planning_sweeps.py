# mypy: disable-error-code="misc,untyped-decorator,assignment,return-value"
# (the compiler infers the types: its integers are numpy's, and its decorators are not annotated)
"""Compiled backups: z(v) of every row, for dense and sparse kernels, without the term common to all rows.

σ_{s,a}(v) = z_{s,a}(v) + R·max v with, under contamination, z = (1−R)Σp v (the factor (1−R) is in `scale`) and,
under total variation, z = Σp v less the mass R of least value. There the mass below some *level* of v goes, the
mass above it stays, and of the mass at the level the fraction `kept` stays: one pass over a row confirms a guess
of its level, and the level of the last backup is nearly always right. A state at the level is the row's `marginal`
state. Then z = Σp·max(v, level) − R·level. Frozen levels make z linear in v: that is nature's kernel; it is frozen
at an `anchor`, the ranks of the states (dense, where one sort serves all rows) or their values (sparse).

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
INSERTION = 256  # up to so many states insertion sort of a nearly sorted order beats sorting anew

# Free order of summation and fused operations: the bounds in `enclosure` hold for every order.
_any_order = njit(nogil=True, fastmath={"reassoc", "nsz", "contract"})
_exact_order = njit(nogil=True)


@_any_order
def dot(p: Floats, v: Floats) -> float:
    """Σ p v."""
    total = 0.0
    for i in range(v.shape[0]):
        total += p[i] * v[i]
    return total


@_any_order
def four_dots(p: Floats, v: Floats) -> tuple[float, float, float, float]:
    """Σ p v of four rows at once: v is read once."""
    p0, p1, p2, p3 = p[0], p[1], p[2], p[3]
    z0 = z1 = z2 = z3 = 0.0
    for i in range(v.shape[0]):
        value = v[i]
        z0 += p0[i] * value
        z1 += p1[i] * value
        z2 += p2[i] * value
        z3 += p3[i] * value
    return z0, z1, z2, z3


@_exact_order
def sparse_dot(successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats) -> float:
    """Σ p v of one sparse row (short, so vectorising it would cost more than it saves)."""
    total = 0.0
    for k in range(begin, end):
        total += probabilities[k] * v[successors[k]]
    return total


@_exact_order
def sort_states(v: Floats, order: Ints, ranks: Floats) -> None:
    """Put `order` into the ascending order of v (fast when it nearly is already), `ranks` into its inverse."""
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
        ranks[order[i]] = i


@_any_order
def raised(p: Floats, v: Floats, level: float, ranks: Floats, rank: float) -> tuple[float, float]:
    """(Σ p·max(v, level), the mass of the states of lower rank)."""
    total = below = 0.0
    for i in range(v.shape[0]):
        value = v[i]
        mass = p[i]
        total += mass * (value if value > level else level)
        below += mass if ranks[i] < rank else 0.0
    return total, below


@_any_order
def above(p: Floats, v: Floats, ranks: Floats, rank: float) -> float:
    """Σ p v over the states of higher rank."""
    total = 0.0
    for i in range(v.shape[0]):
        total += p[i] * v[i] if ranks[i] > rank else 0.0
    return total


@_exact_order
def fraction_kept(below: float, at: float, radius: float) -> float:
    """What stays of the mass at the level."""
    return min(max((below + at - radius) / at, 0.0), 1.0) if at > 0.0 else 0.0


@_exact_order
def dense_level(
    p: Floats, v: Floats, order: Ints, ranks: Floats, guess: int, radius: float
) -> tuple[float, int, float]:
    """(z, marginal state, fraction kept) of a dense row; `order` sorts v, `ranks` are the places in it."""
    total, below = raised(p, v, v[guess], ranks, ranks[guess])
    last = v.shape[0] - 1
    at = int(ranks[guess])
    while below + p[order[at]] < radius and at < last:
        below += p[order[at]]
        at += 1
        total += below * (v[order[at]] - v[order[at - 1]])
    while below > radius and at > 0:
        total -= below * (v[order[at]] - v[order[at - 1]])
        at -= 1
        below -= p[order[at]]
    guess = order[at]
    return total - radius * v[guess], guess, fraction_kept(below, p[guess], radius)


@_exact_order
def lowest(successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats) -> tuple[float, float, int]:
    """(Σ p v, the mass at the least value, a successor that has it)."""
    total = at = 0.0
    least = np.inf
    where = begin
    for k in range(begin, end):
        value = v[successors[k]]
        mass = probabilities[k]
        total += mass * value
        at = mass if value < least else at + mass if value == least else at
        where = k if value < least else where
        least = value if value < least else least
    return total, at, np.int64(successors[where])


@_exact_order
def sorted_level(successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats, radius: float) -> int:
    """A successor at the level of a long row."""
    mass = 0.0
    where = begin
    for i in np.argsort(v[successors[begin:end]]):
        where = begin + np.uint64(i)
        mass += probabilities[where]
        if mass >= radius:
            break
    return np.int64(successors[where])


@_exact_order
def first_level(
    successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats, radius: float
) -> tuple[float, int, float]:
    """As `sparse_level`, without a guess: often the least value has mass enough."""
    if end - begin > np.uint64(LONG_ROW):
        guess = sorted_level(successors, probabilities, begin, end, v, radius)
    else:
        total, at, guess = lowest(successors, probabilities, begin, end, v)
        if at >= radius:
            return total - radius * v[guess], guess, fraction_kept(0.0, at, radius)
        neighbour = next_level(successors, begin, end, v, v[guess], 1)
        guess = neighbour if neighbour >= 0 else guess
    return sparse_level(successors, probabilities, begin, end, v, guess, radius)


@_exact_order
def next_level(successors: Indices, begin: int, end: int, v: Floats, level: float, direction: int) -> int:
    """The successor of the nearest value above (direction 1) or below (−1) the level; −1 if there is none."""
    found = -1
    nearest = np.inf
    for k in range(begin, end):
        distance = direction * (v[successors[k]] - level)
        if 0.0 < distance < nearest:
            nearest = distance
            found = np.int64(successors[k])
    return found


@_exact_order
def sparse_level(
    successors: Indices, probabilities: Floats, begin: int, end: int, v: Floats, guess: int, radius: float
) -> tuple[float, int, float]:
    """(z, marginal state, fraction kept) of a sparse row, moving from the guessed level to its neighbours."""
    direction = 0
    while True:
        level = v[guess]
        total = below = up_to = 0.0
        for k in range(begin, end):
            value = v[successors[k]]
            mass = probabilities[k]
            total += mass * (value if value > level else level)
            below += mass if value < level else 0.0
            up_to += mass if value <= level else 0.0
        wanted = -1 if below > radius else 1 if up_to < radius else 0
        # Sums of the same masses in another order may disagree in the last place: never turn back.
        if wanted == 0 or wanted == -direction:
            break
        direction = wanted
        neighbour = next_level(successors, begin, end, v, level, direction)
        if neighbour < 0:
            break
        guess = neighbour
    return total - radius * level, guess, fraction_kept(below, up_to - below, radius)


@_exact_order
def levels_backup(
    model: Model, cost: Floats, scale: float, radius: float, v: Floats, order: Ints, ranks: Floats,
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
                    z, guess, share = dense_level(dense[row], v, order, ranks, guess, radius)
                else:
                    begin, end = offsets[row], offsets[row + 1]
                    if guess < 0:
                        z, guess, share = first_level(successors, probabilities, begin, end, v, radius)
                    else:
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
        fours = flat.shape[0] // 4 * 4
        for row in range(0, fours, 4):
            flat[row], flat[row + 1], flat[row + 2], flat[row + 3] = four_dots(dense[row : row + 4], v)
        for row in range(fours, flat.shape[0]):
            flat[row] = dot(dense[row], v)
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
                    at = marginal[state, action]
                    total += share * (above(row, x, anchor, anchor[at]) + kept[state, action] * row[at] * x[at])
                else:
                    total += share * dot(row, x)
        out[state] = scale * total
