"""What a violation shows, as plain data: the value, the true value, and two whole results side by side."""

from dataclasses import dataclass

from robust_core.json import Extended

Number = int | Extended


@dataclass(frozen=True)
class Entry:
    """One entry of two results; `wrong` if they differ by more than is allowed."""

    name: str
    got: Extended
    wanted: Extended
    wrong: bool


@dataclass(frozen=True)
class SideBySide:
    """Two results entry by entry; of large ones the wrong entries only, `size` and `wrong` count all.

    >>> print(SideBySide(("variant", "oracle"), (Entry("(s=0)", 1.0, 2.0, True),), size=30, wrong=1))
    entry  variant  oracle
    (s=0)  1.0      2.0     <-
    (1 of 30 entries are wrong, 1 shown)
    """

    columns: tuple[str, str]
    entries: tuple[Entry, ...]
    size: int
    wrong: int

    def __str__(self) -> str:
        rows = [("entry", *self.columns, "")]
        rows += [(each.name, repr(each.got), repr(each.wanted), "<-" if each.wrong else "") for each in self.entries]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in rows]
        if len(self.entries) < self.size:
            lines.append(f"({self.wrong} of {self.size} entries are wrong, {len(self.entries)} shown)")
        return "\n".join(lines)


def in_digits(allowed: float, got: object, wanted: object) -> str:
    """The error allowed in three digits, or in all of them where three would allow what was found.

    >>> in_digits(0.12351, 1.0, 2.0), in_digits(0.12351, 0.0, 0.1238)
    ('0.124', '0.12351')
    """
    short = f"{allowed:.3g}"
    if isinstance(got, float | int) and isinstance(wanted, float | int) and abs(got - wanted) <= float(short) != 0.0:
        return repr(allowed)
    return short


@dataclass(frozen=True)
class Deviation:
    """The quantity, its value, the true value and the allowed error; where nothing was compared, `what` says it all.

    Values that are no numbers are text: shapes, fractions, bounds.
    """

    what: str
    got: Number | str | None = None
    wanted: Number | str | None = None
    allowed: Extended = 0.0
    results: SideBySide | None = None

    @property
    def side_by_side(self) -> str:
        """The two results as text; empty if there are none."""
        return "" if self.results is None else str(self.results)
