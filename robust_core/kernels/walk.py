"""The compiled walk: xoshiro256++ and the alias table, one draw a step (plain forms: `streams`, `sampler`)."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robust_core.kernels.jit import compiled
from robust_core.validate import Ints

if TYPE_CHECKING:
    from robust_core.trajectory import Recording, Walk

U64 = np.uint64
Words = NDArray[np.uint64]
# Typed as Any: inside a kernel these are unsigned 64-bit words, which mypy cannot see.
Word = np.uint64

_17, _19, _23, _32, _41, _45, _64 = (U64(n) for n in (17, 19, 23, 32, 41, 45, 64))
_LOW = U64(0xFFFFFFFF)


@compiled
def next_outcome(
    columns: Words, column_bits: Word, state: Word, x0: Word, x1: Word, x2: Word, x3: Word
) -> tuple[Word, Word, Word, Word, Word]:
    """The packed outcome drawn in `state`, and the generator's next words."""
    total = x0 + x3
    bits = ((total << _23) | (total >> _41)) + x0
    shifted = x1 << _17
    x2 ^= x0
    x3 ^= x1
    x1 ^= x2
    x0 ^= x3
    x2 ^= shifted
    x3 = (x3 << _45) | (x3 >> _19)
    column = (state << column_bits) + (bits >> (_64 - column_bits))
    packed = columns[column, 1]
    chosen = packed >> _32 if (bits << column_bits) < columns[column, 0] else packed & _LOW
    return chosen, x0, x1, x2, x3


@compiled
def _record(
    columns: Words,
    column_bits: Word,
    action_bits: Word,
    stream: Words,
    position: Ints,
    terminal: NDArray[np.bool_],
    s_out: Ints,
    a_out: Ints,
    s_next_out: Ints,
    a_next_out: Ints,
) -> None:
    x0, x1, x2, x3 = stream
    action_mask = (U64(1) << action_bits) - U64(1)
    s, a, s_next = U64(position[0]), U64(position[1]), U64(position[2])
    t = 0
    while t < s_out.size:
        pending, x0, x1, x2, x3 = next_outcome(columns, column_bits, s_next, x0, x1, x2, x3)
        a_next = pending & action_mask
        if not terminal[s]:
            s_out[t] = s
            a_out[t] = a
            s_next_out[t] = s_next
            a_next_out[t] = a_next
            t += 1
        s, a, s_next = s_next, a_next, pending >> action_bits
    stream[0], stream[1], stream[2], stream[3] = x0, x1, x2, x3
    position[0], position[1], position[2] = s, a, s_next


@compiled
def _skip(columns: Words, column_bits: Word, action_bits: Word, stream: Words, position: Ints, n: int) -> None:
    x0, x1, x2, x3 = stream
    action_mask = (U64(1) << action_bits) - U64(1)
    s, a, s_next = U64(position[0]), U64(position[1]), U64(position[2])
    for _ in range(n):
        pending, x0, x1, x2, x3 = next_outcome(columns, column_bits, s_next, x0, x1, x2, x3)
        s, a, s_next = s_next, pending & action_mask, pending >> action_bits
    stream[0], stream[1], stream[2], stream[3] = x0, x1, x2, x3
    position[0], position[1], position[2] = s, a, s_next


def skip(walk: "Walk", n: int) -> None:
    """Advance a walk by n draws."""
    table = walk.table
    _skip(table.columns, U64(table.column_bits), U64(table.action_bits), walk.stream, walk.position, n)


def record(walk: "Walk", n: int) -> "Recording":
    """The next n transitions of a walk as arrays."""
    from robust_core.trajectory import Recording

    s, a, s_next, a_next = (np.empty(n, dtype=np.int64) for _ in range(4))
    table = walk.table
    _record(
        table.columns, U64(table.column_bits), U64(table.action_bits), walk.stream, walk.position, walk.terminal,
        s, a, s_next, a_next,
    )  # fmt: skip
    return Recording(s, a, walk.mdp.cost[s, a], s_next, a_next, walk.terminal[s_next])
