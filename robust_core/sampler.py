"""Sampling (action, next state) from a state with one 64-bit draw: alias tables in exact integers.

From state s the pair (a, s') has probability pi(a|s) p(s'|s,a). These are rounded to multiples of 2^-62 that sum
to 1 exactly (the largest entry takes the remainder; an entry below 2^-63 is never drawn) and laid out in 2^k
columns of equal mass by the sweep of Hübschle-Schneider and Sanders ("Parallel Weighted Random Sampling", 2019),
so the table reproduces them without any further error.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.validate import Ints

MASS_BITS = 62
LARGEST_TABLE = 1 << 28  # columns: 4 GiB


@dataclass(frozen=True, eq=False)
class AliasTable:
    """2^column_bits columns per state; a column holds a threshold and two outcomes packed as (first << 32 | second).

    An outcome is (next state << action_bits | action).
    """

    columns: NDArray[np.uint64]
    column_bits: int
    action_bits: int
    n_states: int
    n_actions: int


def outcome(table: AliasTable, state: int, bits: int) -> tuple[int, int]:
    """The (action, next state) that 64 random bits select in `state`: a pure function of table and bits.

    >>> mdp = MDP([[[0.25, 0.75]], [[0.0, 1.0]]], [[0.0], [0.0]], 0.5)
    >>> table = alias_table(mdp, [[1.0], [1.0]])
    >>> [outcome(table, 0, quarter << 62)[1] for quarter in range(4)]
    [0, 1, 1, 1]
    """
    column = (state << table.column_bits) + (bits >> (64 - table.column_bits))
    threshold, packed = (int(word) for word in table.columns[column])
    below = (bits << table.column_bits) & ((1 << 64) - 1) < threshold
    chosen = packed >> 32 if below else packed & 0xFFFFFFFF
    return chosen & ((1 << table.action_bits) - 1), chosen >> table.action_bits


def alias_table(mdp: MDP, policy: ArrayLike) -> AliasTable:
    """The table of (a, s') under a behaviour policy."""
    validate.instance("mdp", mdp, MDP)
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    action_bits = (mdp.n_actions - 1).bit_length()
    if mdp.n_states << action_bits > 1 << 32:
        raise ValueError(f"S={mdp.n_states}, A={mdp.n_actions} is too large: S·2^⌈log2 A⌉ must be at most 2^32")
    weights, outcomes = _joint(mdp, pi, action_bits)
    kept, alias = _sweep(weights)
    column_bits = weights.shape[1].bit_length() - 1
    full = kept == 1 << (MASS_BITS - column_bits)
    threshold = kept.astype(np.uint64) << np.uint64(64 - MASS_BITS + column_bits)
    threshold[full] = np.uint64((1 << 64) - 1)  # 2^64 does not fit; both outcomes of such a column are equal
    second = np.where(full, outcomes, np.take_along_axis(outcomes, alias, axis=1))
    packed = (outcomes << np.uint64(32)) | second
    columns = np.stack([threshold.ravel(), packed.ravel()], axis=1)
    columns.setflags(write=False)
    return AliasTable(columns, column_bits, action_bits, mdp.n_states, mdp.n_actions)


def _joint(mdp: MDP, pi: NDArray[np.float64], action_bits: int) -> tuple[Ints, NDArray[np.uint64]]:
    """Integer weights that sum to 2^62 in every state, and the packed outcomes, padded to a power of two."""
    rows = mdp.rows
    row = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(rows.offsets))
    probability = pi.ravel()[row] * rows.probabilities
    possible = probability > 0.0
    row, probability, successors = row[possible], probability[possible], rows.successors[possible]
    state, action = row // mdp.n_actions, row % mdp.n_actions
    lengths = np.bincount(state, minlength=mdp.n_states)
    column_bits = max(1, int(lengths.max() - 1).bit_length())
    if mdp.n_states << column_bits > LARGEST_TABLE:
        raise ValueError(
            f"a table of {mdp.n_states} states x {1 << column_bits} outcomes is too large: at most {LARGEST_TABLE}"
        )
    place = np.arange(len(state)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shape = (mdp.n_states, 1 << column_bits)
    weights = np.zeros(shape, dtype=np.int64)
    weights[state, place] = np.rint(np.ldexp(probability, MASS_BITS)).astype(np.int64)
    everyone = np.arange(mdp.n_states)
    weights[everyone, weights.argmax(axis=1)] += (1 << MASS_BITS) - weights.sum(axis=1)
    outcomes = np.zeros(shape, dtype=np.uint64)
    outcomes[state, place] = (successors.astype(np.uint64) << np.uint64(action_bits)) | action.astype(np.uint64)
    return weights, outcomes


def _sweep(weights: Ints) -> tuple[Ints, Ints]:
    """For every column the mass its own outcome keeps and the outcome that fills the rest; all states at once.

    Columns in ascending order of weight: `light` walks the ones with at most the capacity, `heavy` the others.
    Each round finishes one column of every state: a light one is filled up from the current heavy one, or a
    heavy one that has been used up to its capacity is filled from the next.
    """
    n_states, width = weights.shape
    capacity = 1 << (MASS_BITS + 1 - width.bit_length())
    everyone = np.arange(n_states)
    order = np.argsort(weights, axis=1, kind="stable")
    kept, alias = np.empty_like(weights), np.empty_like(weights)
    light = np.zeros(n_states, dtype=np.int64)
    heavy = (weights <= capacity).sum(axis=1)
    first_heavy = heavy.copy()
    column = order[everyone, np.minimum(heavy, width - 1)]
    left = np.where(heavy < width, weights[everyone, column], capacity)
    for _ in range(width):
        from_light = (left > capacity) | (heavy == width)
        light_column = order[everyone, np.minimum(light, width - 1)]
        heavy_column = order[everyone, np.minimum(heavy, width - 1)]
        next_column = order[everyone, np.minimum(heavy + 1, width - 1)]
        finished = np.where(from_light, light_column, heavy_column)
        mass = np.where(from_light, weights[everyone, light_column], left)
        kept[everyone, finished] = mass
        alias[everyone, finished] = np.where(from_light, heavy_column, next_column)
        moved_on = weights[everyone, next_column] + left - capacity
        left = np.where(from_light, left - (capacity - mass), moved_on)
        light += from_light
        heavy += ~from_light
    if not ((light == first_heavy) & (heavy == width)).all():
        raise AssertionError("alias sweep did not place every outcome")
    return kept, alias
