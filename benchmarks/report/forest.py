"""A forest of effects as SVG: one row per effect with its interval, the line of zero, and the size that was asked for.

Every row is two lines high, name and numbers above, the interval below, so that it can be read on a phone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.report.markup import Html, tag
from benchmarks.report.scales import Scale, compact, scale_of

WIDTH, SIDE = 400, 12
HEAD, ROW, FOOT = 26, 30, 40
"""The heights of the name of a group, of a row, and of the axis."""
TEXT, LINE = 12, 21
"""Where in a row its text and its interval stand."""
DOT = 3.5


@dataclass(frozen=True)
class Row:
    """An effect with its interval, its words, and the class of its outcome; `hollow` for one that stands beside."""

    name: str
    words: str
    effect: float
    low: float
    high: float
    look: str
    hollow: bool = False


@dataclass(frozen=True)
class Group:
    """Rows of one claim; `much` is the size that its words ask for, None if they name none."""

    title: str
    rows: tuple[Row, ...]
    much: float | None = None


@dataclass(frozen=True)
class Forest:
    """Groups over a common axis."""

    title: str
    label: str
    groups: tuple[Group, ...]

    @property
    def height(self) -> int:
        """The height of the picture."""
        return sum(HEAD + ROW * len(group.rows) for group in self.groups) + FOOT

    def scale(self) -> Scale:
        """The axis: it shows zero, every interval and every size that was asked for."""
        ends = [x for group in self.groups for row in group.rows for x in (row.low, row.high)]
        asked = [group.much for group in self.groups if group.much is not None]
        return scale_of([0.0, *ends, *asked], SIDE, WIDTH - SIDE)


def draw(forest: Forest) -> Html:
    """The forest as an SVG element; its label reads all rows."""
    x, y, parts = forest.scale(), 0, [tag("title", forest.title)]
    bottom = forest.height - FOOT
    parts.append(tag("line", class_="axis", x1=x.at(0.0), x2=x.at(0.0), y1=HEAD, y2=bottom))
    for group in forest.groups:
        parts.append(tag("text", group.title, class_="head halo", x=SIDE, y=y + 18))
        y += HEAD
        end = y + ROW * len(group.rows)
        if group.much is not None:
            at = x.at(group.much)
            parts.append(tag("line", class_="rule", x1=at, x2=at, y1=y - 4, y2=end))
            parts.append(tag("text", "much", class_="note", x=at + 3, y=y - 1))
        parts += [part for place, row in enumerate(group.rows) for part in _row(row, x, y + ROW * place)]
        y = end
    return tag(
        "svg", *parts, _axis(forest, x, bottom), class_="forest", viewBox=f"0 0 {WIDTH} {forest.height}", role="img",
        aria_label=f"{forest.title}. {read_aloud(forest)}",
    )  # fmt: skip


def _row(row: Row, x: Scale, y: float) -> list[Html]:
    at = y + LINE
    hollow = " hollow" if row.hollow else ""
    return [
        tag("text", row.name, class_="halo", x=SIDE, y=y + TEXT),
        tag("text", row.words, class_="label halo", x=WIDTH - SIDE, y=y + TEXT, text_anchor="end"),
        tag("line", class_=f"interval {row.look}", x1=x.at(row.low), x2=x.at(row.high), y1=at, y2=at),
        tag("circle", class_=f"effect {row.look}{hollow}", cx=x.at(row.effect), cy=at, r=DOT),
    ]


def _axis(forest: Forest, x: Scale, bottom: float) -> Html:
    parts = [tag("line", class_="axis", x1=SIDE, x2=WIDTH - SIDE, y1=bottom, y2=bottom)]
    for tick in x.ticks():
        at = x.at(tick)
        parts.append(tag("line", class_="axis", x1=at, x2=at, y1=bottom, y2=bottom + 4))
        parts.append(tag("text", compact(tick), x=at, y=bottom + 16, text_anchor="middle"))
    parts.append(tag("text", forest.label, class_="label", x=WIDTH / 2, y=bottom + 33, text_anchor="middle"))
    return tag("g", *parts, aria_hidden="true")


def read_aloud(forest: Forest) -> str:
    """All rows in words."""
    return "; ".join(f"{group.title}: {_aloud(group.rows)}" for group in forest.groups)


def _aloud(rows: Sequence[Row]) -> str:
    return ", ".join(f"{row.name} {row.words}" for row in rows)
