"""Probability rows made by moving shares of a whole: always valid, and exact when the grid is dyadic."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from robust_core.validate import Floats


@dataclass(frozen=True)
class Grid:
    """Probabilities are multiples of 1/total; a move takes one of `shares` (in units), the simplest first.

    `sampled_from` shrinks to the first entry and draws all entries alike, so the end of the list repeats
    the entries that are to be frequent.
    """

    total: int
    shares: tuple[int, ...]

    def floor(self, exponent: int) -> int:
        """About total/2^exponent (exactly so on the dyadic grid), never zero."""
        return max(1, self.total >> exponent)


def _dyadic_grid(bits: int, fine: int) -> Grid:
    """k/2^bits; moves of k/2^fine by rising denominator, then of 2^-bits and 1 - 2^-bits."""
    total = 1 << bits
    by_denominator = [k << (bits - n) for n in range(1, fine + 1) for k in range(1, 1 << n, 2)]
    extreme = [1, total - 1, 2, total - 2]
    plain = [total, total >> 1]
    frequent = plain * 12 + by_denominator[1:7] * 3 + extreme * 3
    return Grid(total, (total, *by_denominator, *extreme, *frequent))


def _decimal_grid() -> Grid:
    """k/total with thirds, sevenths and decimals, hardly any a float: rows sum to 1 within rounding."""
    total = 2**4 * 3**2 * 5**3 * 7 * 11
    simple = [total * k // n for n in (2, 3, 4, 5, 7, 10, 11, 100) for k in range(1, n)]
    extreme = [1, total - 1]
    return Grid(total, (total, *simple, *extreme, *([total, total // 3, total // 10] * 12), *(extreme * 3)))


DYADIC = _dyadic_grid(bits=20, fine=7)
DECIMAL = _decimal_grid()


def grid(*, dyadic: bool, whole: bool) -> Grid:
    """The grid of exact floats or the one whose entries have to be rounded; with `whole`, all or nothing."""
    chosen = DYADIC if dyadic else DECIMAL
    return Grid(chosen.total, (chosen.total,)) if whole else chosen


def moved(reserve: Sequence[int], home: int, moves: Iterable[tuple[int, int]], total: int) -> Floats:
    """The row that keeps `reserve`, sends each (target, units) what is left of it, and the rest home.

    >>> moved([0, 0, 0], 0, [(1, 2), (2, 8)], total=4)
    array([0. , 0.5, 0.5])
    """
    row = list(reserve)
    free = total - sum(row)
    for target, units in moves:
        taken = min(units, free)
        row[target] += taken
        free -= taken
    row[home] += free
    return np.array([units / total for units in row])
