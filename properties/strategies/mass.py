"""Probability rows made by moving shares of a whole: always valid, and exact when the grid is dyadic."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robust_core.validate import Floats


class Share(NamedTuple):
    """What one move takes: `units` for its target and as much for each of the `width` - 1 places before it.

    Before, not after: whatever a wide move to a low place can do, a narrow one can do too, so no wide move
    survives shrinking without need.
    """

    units: int
    width: int = 1


@dataclass(frozen=True)
class Grid:
    """Probabilities are multiples of 1/total; a move takes one of `shares`, the simplest first.

    `sampled_from` shrinks to the first entry and draws all entries alike, so the end of the list repeats
    the entries that are to be frequent.
    """

    total: int
    shares: tuple[Share, ...]

    def floor(self, exponent: int) -> int:
        """About total/2^exponent (exactly so on the dyadic grid), never zero."""
        return max(1, self.total >> exponent)


def _grid(total: int, simple: Sequence[int], common: Sequence[int]) -> Grid:
    """Moves of everything, of `simple` and of a single unit more or less; about half of the draws spread."""
    extreme = [1, total - 1]
    narrow = [Share(units) for units in (total, *simple, *extreme)]
    wide = [Share(units, width) for width in (2, 3, 4) for units in (*common, 1)]
    frequent = [Share(total), Share(common[0]), *map(Share, extreme)]
    weight = len(narrow) // 8
    return Grid(total, (*narrow, *wide, *(frequent * weight), *(wide * (weight // 2))))


def _dyadic_grid(bits: int, fine: int) -> Grid:
    """k/2^bits; moves of k/2^fine by rising denominator."""
    total = 1 << bits
    by_denominator = [k << (bits - n) for n in range(1, fine + 1) for k in range(1, 1 << n, 2)]
    return _grid(total, by_denominator, [total >> 1, total >> 2, total >> 3])


def _decimal_grid() -> Grid:
    """k/total with thirds, sevenths and decimals, hardly any a float: rows sum to 1 within rounding."""
    total = 2**4 * 3**2 * 5**3 * 7 * 11
    fractions = [total * k // n for n in (2, 3, 4, 5, 7, 10, 11, 100) for k in range(1, n)]
    return _grid(total, fractions, [total // 3, total // 5, total // 10])


DYADIC = _dyadic_grid(bits=20, fine=7)
DECIMAL = _decimal_grid()


def grid(*, dyadic: bool, whole: bool) -> Grid:
    """The grid of exact floats or the one whose entries have to be rounded; with `whole`, all or nothing."""
    chosen = DYADIC if dyadic else DECIMAL
    return Grid(chosen.total, (Share(chosen.total),)) if whole else chosen


def move_mass(reserve: Sequence[int], home: int, moves: Iterable[tuple[int, Share]], total: int) -> Floats:
    """The row that keeps `reserve`, sends each (target, share) what is left of it, and the rest home.

    >>> move_mass([0, 0, 0], 0, [(1, Share(2)), (2, Share(8))], total=4)
    array([0. , 0.5, 0.5])
    >>> move_mass([0, 0, 0], 0, [(2, Share(1, 2))], total=4)
    array([0.5 , 0.25, 0.25])
    """
    row = list(reserve)
    free = total - sum(row)
    for target, (units, width) in moves:
        for place in range(target, max(target - width, -1), -1):
            taken = min(units, free)
            row[place] += taken
            free -= taken
    row[home] += free
    return np.array([units / total for units in row])
