"""The maximum of a vector that changes one entry at a time, without reading it all at every step.

Two ways, both exact. *Watch*: remember the best entry, its value, and a bound on all others; only when the best
entry falls below that bound must the vector be read again. Nearly free on ordinary trajectories, but a walk that
keeps visiting the top entries forces a scan at each step. *Tournament*: a tree with fan-out 8 over the vector,
O(8 log_8 S) a step whatever happens. The learners' loop watches, and takes the tree for a while when scans have
become dense, so its worst case is the tree's.
"""

import numpy as np

from robust_core.kernels.jit import compiled
from robust_core.kernels.walk import U64, Word
from robust_core.validate import Floats, Ints

# Scanned entries per step beyond which the tree is cheaper, and the scans that are free at the start of a watch.
SCAN_BUDGET = 4
FREE_SCANS = 4
# How long the tree is kept: long enough that building it (S reads) is a small part.
TREE_STEPS_PER_STATE = 16
TREE_STEPS = 4096


def padded(n: int) -> int:
    """n rounded up to a multiple of the fan-out."""
    return -(-n // 8) * 8


def levels(n_states: int) -> Ints:
    """Offsets of the tree's levels in one array; level 0 has a node for every 8 entries, the last has the root."""
    sizes = [padded(n_states) // 8]
    while sizes[-1] > 1:
        sizes[-1] = padded(sizes[-1])
        sizes.append(sizes[-1] // 8)
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


@compiled
def best_two(V: Floats) -> tuple[Word, float, float]:
    """Place and value of the maximum, and the largest of the other entries."""
    place, best, second = 0, V[0], -np.inf
    for i in range(1, V.size):
        if V[i] > second:
            if V[i] > best:
                place, best, second = i, V[i], best
            else:
                second = V[i]
    return U64(place), best, second


@compiled
def _max8(x: Floats, first: Word) -> float:
    a = max(x[first], x[first + U64(1)])
    b = max(x[first + U64(2)], x[first + U64(3)])
    c = max(x[first + U64(4)], x[first + U64(5)])
    d = max(x[first + U64(6)], x[first + U64(7)])
    return max(max(a, b), max(c, d))  # noqa: PLW3301 - two independent halves


@compiled
def build(tree: Floats, offsets: Ints, V: Floats) -> None:
    """Fill the tree from V (padded with −inf to a multiple of 8)."""
    tree[:] = -np.inf
    for block in range(V.size >> 3):
        tree[block] = _max8(V, U64(block << 3))
    for level in range(1, offsets.size - 1):
        below = offsets[level - 1]
        for block in range((offsets[level] - below) >> 3):
            tree[offsets[level] + block] = _max8(tree, U64(below + (block << 3)))


@compiled
def changed(tree: Floats, offsets: Ints, V: Floats, place: Word) -> float:
    """Repair the path above V[place] and return the maximum."""
    block = place >> U64(3)
    value = _max8(V, block << U64(3))
    for level in range(1, offsets.size - 1):
        below = U64(offsets[level - 1])
        if tree[below + block] == value:
            break
        tree[below + block] = value
        block >>= U64(3)
        value = _max8(tree, below + (block << U64(3)))
    else:
        tree[offsets[-2]] = value
    return tree[offsets[-2]]
