"""The rows of a statistical cell: the unit of work of a batch. Their identity is that of this module."""

import functools

from properties.statistics import laws
from properties.statistics.law import Cell, Rows, Size, rows_of


def rows(size: Size, seed_set: str, law: str, variant: str, stream: str, start: int, stop: int) -> Rows:
    """The rows of the replicates start … stop−1 of a stream of a law on one of its own variants."""
    return rows_of(cells_by_stream(size, law, variant)[stream], seed_set, start, stop)


@functools.cache
def cells_by_stream(size: Size, law: str, variant: str) -> dict[str, Cell]:
    """A cell for every stream of a law on its right variant or on one of its negative controls."""
    (found,) = (one for one in laws.laws() if one.name == law)
    chosen = next(one for one in (found.right, *found.wrong(size)) if one.name == variant)
    return {cell.stream: cell for cell in found.cells(chosen, size)}
