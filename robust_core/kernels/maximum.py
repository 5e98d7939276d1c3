"""The maximum of a vector that changes one entry at a time, without reading it all at every step.

Two ways, both exact. *Watch*: remember the place of the best entry and a bound on all others; only when the best
entry falls below that bound must the vector be read again. Nearly free on ordinary trajectories, but a walk that
keeps visiting the top entries forces a scan at each step. *Tournament*: a tree over the vector in which four meet in
a match, ⌈log4 S⌉ matches a step whatever happens. The learners' loop watches, and takes the tree for a while when scans
have become dense, so its worst case is the tree's.
"""

import numpy as np

from robust_core.kernels.jit import compiled, inlined
from robust_core.kernels.walk import U64, Word
from robust_core.validate import Floats

# Scanned entries per step beyond which the tree is cheaper (a scan costs its entries and as much as so many more),
# and the scans that are free at the start of a watch.
SCAN_BUDGET = 4
SCAN_START = 8
FREE_SCANS = 4
# How long the tree is kept: long enough that building it (S reads) is a small part.
TREE_STEPS_PER_STATE = 16
TREE_STEPS = 4096

_1, _2, _3 = U64(1), U64(2), U64(3)


def planted(values: Floats) -> tuple[Floats, Floats]:
    """A tree whose leaves are the values, and its leaves as a vector of their own (a view: one store serves both).

    Node i has the children 4i … 4i + 3 and the root is node 1, so the level of 4^k nodes is at 4^k … 2·4^k − 1; what is
    between the levels is never read. Leaves beyond the values are −inf.
    """
    levels = ((len(values) - 1).bit_length() + 1) // 2
    leaves = 1 << (2 * levels)
    tree = np.full(2 * leaves, -np.inf)
    V = tree[leaves : leaves + len(values)]
    V[:] = values
    return tree, V


@compiled
def best_two(V: Floats) -> tuple[Word, float]:
    """The place of the maximum, and the largest of the other entries."""
    place, best, second = 0, V[0], -np.inf
    for i in range(1, V.size):
        if V[i] > second:
            if V[i] > best:
                place, best, second = i, V[i], best
            else:
                second = V[i]
    return U64(place), second


@compiled
def build(tree: Floats) -> None:
    """Play all matches, level by level."""
    level = tree.size >> 3
    while level > 0:
        for node in range(level, 2 * level):
            first = 4 * node
            pairs = max(tree[first], tree[first + 1]), max(tree[first + 2], tree[first + 3])
            tree[node] = max(pairs[0], pairs[1])
        level >>= 2


@inlined
def changed(tree: Floats, place: Word, value: float) -> float:
    """Play the matches above the leaf that now has `value`; returns the maximum.

    No branch depends on the values, so none is mispredicted. The opponents are known before the value is: what
    the next step waits for is one comparison of the value with the best of them, not the climb.
    """
    node = U64(tree.size >> 1) + place
    winner, opponents = value, -np.inf
    while node > _1:
        opponent = max(tree[node ^ _1], max(tree[node ^ _2], tree[node ^ _3]))  # noqa: PLW3301 - a pair, then the third
        opponents = max(opponents, opponent)
        winner = max(winner, opponent)
        node >>= _2
        tree[node] = winner
    return max(value, opponents)
