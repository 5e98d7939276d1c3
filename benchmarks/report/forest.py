"""Forest plots: one row per effect, drawn with its interval against a margin, next to its words.

A forest is a table with a picture in each row, so it sorts, filters, wraps on a phone and can be read aloud.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report.layout import Cell, table
from benchmarks.report.markup import Html, tag
from benchmarks.report.scales import Scale, scale_of
from benchmarks.report.words import badge, look

WIDTH, HEIGHT, AXIS = 320, 22, 34
"""The size of the picture of a row, and the height of the axis above them."""
EDGE = 16
"""Room at both ends, for the texts of the outermost ticks."""
POINT = 4.0


@dataclass(frozen=True)
class Axis:
    """The common axis of a forest; what lies beyond its ends is drawn at them as an arrow.

    `margin` is the interval that is shaded, within which an effect does not matter.
    """

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    label: str
    margin: tuple[float, float] | None = None

    def at(self, x: float) -> float:
        """The place of an effect, at most at the ends of the axis."""
        return Scale(self.low, self.high, EDGE, WIDTH - EDGE).at(min(max(x, self.low), self.high))


@dataclass(frozen=True)
class Effect:
    """An effect with its interval (an end that is None is infinite), its verdict and its words."""

    name: Any
    verdict: str
    at: float | None
    low: float | None
    high: float | None
    words: str
    key: str = ""
    asked: float | None = None
    """The size that a claim asks for, drawn as a dashed line."""
    hollow: bool = False
    """For an effect that stands beside the one that is claimed."""


def axis_of(effects: Sequence[Effect], label: str) -> Axis:
    """An axis that shows zero, every finite interval and every size that is asked for."""
    ends = [x for one in effects for x in (one.at, one.low, one.high, one.asked) if x is not None]
    scale = scale_of([0.0, *ends], 0.0, 1.0)
    return Axis(scale.low, scale.high, scale.labels(), label)


def forest(caption: str, axis: Axis, effects: Sequence[Effect], *, name: str, what: str = "measure") -> Html:
    """The effects in their order, drawn on one axis."""
    head = [what, "verdict", tag("div", axis.label, _axis(axis), class_="axis-head"), "effect and interval"]
    rows = [
        [Cell(one.name, one.key or None), badge(one.verdict), Cell(_picture(axis, one), _key(one.at), "drawn"),
         Cell(one.words, _key(one.at), "effect")]
        for one in effects
    ]  # fmt: skip
    return table(caption, head, rows, class_="forest", name=name)


def _key(x: float | None) -> Any:
    return "" if x is None else x


def _axis(axis: Axis) -> Html:
    texts = [tag("text", text, x=axis.at(x), y=AXIS - 12, text_anchor="middle") for x, text in axis.ticks] + [
        tag("line", class_="axis", x1=axis.at(x), x2=axis.at(x), y1=AXIS - 7, y2=AXIS) for x, _ in axis.ticks
    ]
    return tag("svg", *texts, class_="forest-row", viewBox=f"0 0 {WIDTH} {AXIS}", width=WIDTH, aria_hidden="true")


def _picture(axis: Axis, one: Effect) -> Html:
    """The shaded margin, a line at every tick, the interval and the effect; arrows where it goes on."""
    parts = []
    if axis.margin is not None:
        low, high = (axis.at(x) for x in axis.margin)
        parts.append(tag("rect", class_="margin", x=low, y=0, width=round(high - low, 2), height=HEIGHT))
    parts += [
        tag("line", class_="axis" if x == 0 else "grid", x1=axis.at(x), x2=axis.at(x), y1=0, y2=HEIGHT)
        for x, _ in axis.ticks
    ]
    if one.asked is not None:
        at = axis.at(one.asked)
        parts.append(tag("line", tag("title", "asked for"), class_="asked", x1=at, x2=at, y1=0, y2=HEIGHT))
    if one.at is not None:
        parts += _interval(axis, one)
    kind = look(one.verdict)[0]
    return tag(
        "svg", tag("g", *parts, class_=f"effect-{kind}"), class_="forest-row", viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH, role="img", aria_label=one.words,
    )  # fmt: skip


def _interval(axis: Axis, one: Effect) -> list[Html]:
    assert one.at is not None
    middle = HEIGHT / 2
    low, high = (end if one_end is None else one_end for end, one_end in ((axis.low, one.low), (axis.high, one.high)))
    ends = axis.at(low), axis.at(high)
    parts = [tag("line", class_="whisker", x1=ends[0], x2=ends[1], y1=middle, y2=middle)]
    if low <= axis.low:
        parts.append(_arrow(ends[0], middle, -6))
    if high >= axis.high:
        parts.append(_arrow(ends[1], middle, 6))
    return [
        *parts,
        tag("circle", class_="point hollow" if one.hollow else "point", cx=axis.at(one.at), cy=middle, r=POINT),
    ]


def _arrow(x: float, y: float, length: float) -> Html:
    return tag("path", class_="tip-head", d=f"M{x + length:g},{y:g}L{x:g},{y - 5:g}L{x:g},{y + 5:g}Z")
