"""Tables and cautious figures for the documents that are written from results."""

import math
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table.

    >>> print(table(["a"], [[1]]))
    | a |
    |---|
    | 1 |
    """
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(str(value) for value in row)} |" for row in rows)])


def floor(value: float) -> str:
    """Three digits that do not promise more than there is.

    >>> floor(0.96271)
    '0.962'
    """
    return f"{math.floor(1000.0 * value) / 1000.0:g}"


def ceiling(value: float) -> str:
    """Three digits that do not hide anything."""
    return f"{math.ceil(1000.0 * value) / 1000.0:g}"
