"""The compiled walk: xoshiro256++ and the alias table, one draw a step (plain forms: `streams`, `sampler`)."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robust_core.kernels.jit import compiled, inlined
from robust_core.validate import Ints

if TYPE_CHECKING:
    from robust_core.trajectory import Recording, Walk

U64 = np.uint64
Words = NDArray[np.uint64]
# Typed as Any: inside a kernel these are unsigned 64-bit words, which mypy cannot see.
Word = np.uint64

_1, _17, _19, _23, _32, _41, _45, _64 = (U64(n) for n in (1, 17, 19, 23, 32, 41, 45, 64))
_LOW = U64(0xFFFFFFFF)


# Where a walk is and what draws its next outcome: s, a, s_next and the four words of the generator.
Walker = tuple[Word, Word, Word, Word, Word, Word, Word]


@inlined
def entered(position: Ints, stream: Words) -> Walker:
    """The walk as a kernel's own numbers, which `left` writes back."""
    s, a, s_next = U64(position[0]), U64(position[1]), U64(position[2])
    return s, a, s_next, stream[0], stream[1], stream[2], stream[3]


@inlined
def left(walker: Walker, position: Ints, stream: Words) -> None:
    """Write the walk back."""
    position[0], position[1], position[2] = walker[0], walker[1], walker[2]
    stream[0], stream[1], stream[2], stream[3] = walker[3], walker[4], walker[5], walker[6]


@inlined
def moved(columns: Words, bits: tuple[Word, Word], walker: Walker) -> Walker:
    """The walk one draw on; the columns come flat (threshold, outcomes, threshold, …), to save a product."""
    column_bits, action_bits = bits
    _, _, s, x0, x1, x2, x3 = walker
    total = x0 + x3
    word = ((total << _23) | (total >> _41)) + x0
    shifted = x1 << _17
    x2 ^= x0
    x3 ^= x1
    x1 ^= x2
    x0 ^= x3
    x2 ^= shifted
    x3 = (x3 << _45) | (x3 >> _19)
    column = ((s << column_bits) + (word >> (_64 - column_bits))) << _1
    packed = columns[column | _1]
    chosen = packed >> _32 if (word << column_bits) < columns[column] else packed & _LOW
    return s, chosen & ((_1 << action_bits) - _1), chosen >> action_bits, x0, x1, x2, x3


@compiled
def _record(
    columns: Words,
    bits: tuple[Word, Word],
    position: Ints,
    stream: Words,
    terminal: NDArray[np.bool_],
    s_out: Ints,
    a_out: Ints,
    s_next_out: Ints,
    a_next_out: Ints,
) -> None:
    walker = entered(position, stream)
    t = 0
    while t < s_out.size:
        s, a = walker[0], walker[1]
        walker = moved(columns, bits, walker)
        if not terminal[s]:
            s_out[t] = s
            a_out[t] = a
            s_next_out[t] = walker[0]
            a_next_out[t] = walker[1]
            t += 1
    left(walker, position, stream)


@compiled
def _skip(columns: Words, bits: tuple[Word, Word], position: Ints, stream: Words, n: int) -> None:
    walker = entered(position, stream)
    for _ in range(n):
        walker = moved(columns, bits, walker)
    left(walker, position, stream)


def arguments(walk: "Walk") -> tuple[Words, tuple[Word, Word], Ints, Words]:
    """What every kernel needs of a walk."""
    table = walk.table
    bits = (U64(table.column_bits), U64(table.action_bits))
    return table.columns.reshape(-1), bits, walk.position, walk.stream


def skip(walk: "Walk", n: int) -> None:
    """Advance a walk by n draws."""
    _skip(*arguments(walk), n)


def record(walk: "Walk", n: int) -> "Recording":
    """The next n transitions of a walk as arrays."""
    from robust_core.trajectory import Recording

    s, a, s_next, a_next = (np.empty(n, dtype=np.int64) for _ in range(4))
    _record(*arguments(walk), walk.terminal, s, a, s_next, a_next)
    return Recording(s, a, walk.mdp.cost[s, a], s_next, a_next, walk.terminal[s_next])
