"""The Markdown that all documents share: tables, and figures that are rounded to the safe side."""

import math
import re
from collections.abc import Iterable, Sequence

_BAR = re.compile(r"(?<!\\)\|")


def row(cells: Iterable[object]) -> str:
    """One line of a table; a bar inside a cell would end it, so it is escaped.

    >>> print(row(["|x|", 1]))
    | \\|x\\| | 1 |
    """
    return "| " + " | ".join(_BAR.sub(r"\\|", str(cell)) for cell in cells) + " |"


def head(names: Sequence[str]) -> str:
    """The head of a table: the names of the columns and the line below."""
    return f"{row(names)}\n|{'---|' * len(names)}"


def table(names: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table with the names of its columns.

    >>> print(table(["a"], [[1]]))
    | a |
    |---|
    | 1 |
    """
    return "\n".join([head(names), *map(row, rows)])


def with_table(text: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The text with these rows in place of its table with these columns."""
    before, found, after = text.partition(head(columns))
    if not found:
        raise ValueError(f"the document must have a table with the columns {', '.join(columns)}")
    rest = after.partition("\n\n")[2]
    return f"{before}{table(columns, rows)}\n\n{rest}"


def floor(value: float) -> str:
    """Three decimals, rounded down.

    >>> floor(0.96271)
    '0.962'
    """
    return f"{math.floor(1000.0 * value) / 1000.0:g}"


def ceiling(value: float) -> str:
    """Three decimals, rounded up."""
    return f"{math.ceil(1000.0 * value) / 1000.0:g}"
