"""What a violation shows, as plain data: the value, the true value, and two whole results side by side."""

from contextlib import suppress
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

    def shown(self) -> tuple[str, str]:
        """The two numbers in few digits; those of a wrong entry show that it is wrong."""
        return in_few_digits(self.got, self.wanted) if self.wrong else (_few(self.got), _few(self.wanted))


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
        rows += [(each.name, *each.shown(), "<-" if each.wrong else "") for each in self.entries]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in rows]
        if len(self.entries) < self.size:
            lines.append(f"({self.wrong} of {self.size} entries are wrong, {len(self.entries)} shown)")
        return "\n".join(lines)


ENOUGH = (6, 9, 12)
"""Digits of a number that is shown, unless more are needed to see a difference."""
BLUR = 0.01
"""The share of a difference by which rounding the two numbers that are shown may change it."""
BOUNDS = ("at most ", "at least ")
"""What the text of a bound begins with."""


def _few(value: float, digits: int = ENOUGH[0]) -> str:
    """A number in so many digits, if it has many more."""
    full, short = repr(value), f"{value:.{digits}g}"
    return short if len(short) + 2 < len(full) else full


def in_few_digits(got: object, wanted: object, allowed: float = 0.0) -> tuple[str, str]:
    """Two values in as few digits as show that they differ by more than is allowed, and by how much.

    A bound is shortened like a number; any other text stays as it is.

    >>> in_few_digits(1 / 3, 1 / 7), in_few_digits(2 / 3, f"at most {1 / 3}"), in_few_digits(1 / 3, 1 / 3 + 1e-12)
    (('0.333333', '0.142857'), ('0.666667', 'at most 0.333333'), ('0.3333333333333333', '0.3333333333343333'))
    """
    begin, right = _bound(wanted)
    if isinstance(got, float) and right is not None:
        for digits in ENOUGH:
            texts = _few(got, digits), _few(right, digits)
            shown = tuple(map(float, texts))
            is_seen = abs(shown[0] - shown[1]) > float(in_digits(allowed, got, right))
            if is_seen and abs(shown[0] - got) + abs(shown[1] - right) <= BLUR * abs(got - right):
                return texts[0], begin + texts[1]
    return as_text(got), as_text(wanted)


def _bound(wanted: object) -> tuple[str, float | None]:
    """The words before a number, and the number; None if there is none."""
    if isinstance(wanted, float):
        return "", wanted
    for begin in BOUNDS:
        if isinstance(wanted, str) and wanted.startswith(begin):
            with suppress(ValueError):
                return begin, float(wanted.removeprefix(begin))
    return "", None


def as_text(value: object) -> str:
    """Words and fractions as they are, unless they are blank or cannot be printed."""
    return value if isinstance(value, str) and value.strip() and value.isprintable() else repr(value)


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
