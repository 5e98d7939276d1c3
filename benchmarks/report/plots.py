"""Line plots with envelopes as SVG: written here, byte for byte the same for the same data, with values on hover.

Lines differ by dash as well as by colour. The page's script shows the values at the nearest point for the pointer and
for the arrow keys; `points` is what it needs. Without a script every line still has its title.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report.markup import Html, tag
from benchmarks.report.scales import Scale, compact, number, scale_of

WIDTH, HEIGHT = 360, 230
TOP, BOTTOM = 10, 40
NARROWEST = 10
"""The least margin on the right."""
TURNED, GAP = 18, 6
"""What the turned label of the ordinate takes from the left, and the distance of numbers from their axis."""
GLYPH, MINUS = 7.1, 2.2
"""The width of a digit of a tick in the widest of the page's fonts, and by how much a minus is wider."""
NOTE = 12
"""The height of the name of a rule, with the distance from its line."""
DASHES = (None, "7 3", "2 3", "9 3 2 3")


@dataclass(frozen=True)
class Series:
    """A line, with an envelope where there is one."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True)
class Plot:
    """Lines over a common axis; `rules` are horizontal lines with a name."""

    id: str
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    rules: Sequence[tuple[str, float]] = ()
    log_x: bool = False
    log_y: bool = False

    def scales(self) -> tuple[Scale, Scale]:
        """The two axes; on the left there is room for the numbers of the ordinate, on the right for half a number."""
        xs = [x for line in self.series for x in line.x]
        ys = [y for line in self.series for column in (line.y, line.low, line.high) for y in column or ()]
        ys += [y for _, y in self.rules]
        y = scale_of(ys, HEIGHT - BOTTOM, TOP, logarithmic=self.log_y)
        left = TURNED + GAP + _widest(y)
        right = max(NARROWEST, _widest(scale_of(xs, 0.0, 1.0, logarithmic=self.log_x)) // 2)
        return scale_of(xs, left, WIDTH - right, logarithmic=self.log_x), y


def _widest(scale: Scale) -> int:
    return max(map(_width, scale.ticks()), default=0)


def _width(tick: float) -> int:
    """How wide the number of a tick is at most."""
    text = compact(tick)
    return math.ceil(GLYPH * len(text) + MINUS * text.count("−"))


def draw(plot: Plot) -> Html:
    """The plot as an SVG element that can be focused, with its legend below."""
    x, y = plot.scales()
    parts = [tag("title", plot.title), _axes(plot, x, y)]
    for place, line in enumerate(plot.series):
        if line.low is not None and line.high is not None:
            parts.append(_band(line, place, x, y))
    parts += _rules(plot.rules, x, y)
    parts += [_line(line, place, x, y) for place, line in enumerate(plot.series)]
    parts.append(tag("line", class_="cursor", x1=0, x2=0, y1=TOP, y2=HEIGHT - BOTTOM, visibility="hidden"))
    picture = tag(
        "svg",
        *parts,
        class_="plot",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        tabindex="0",
        aria_label=f"{plot.title}. {plot.x_label} against {plot.y_label}. Left and right arrow keys read the values.",
        data_plot=plot.id,
    )
    return Html(picture + _legend(plot))


def points(plot: Plot) -> list[list[Any]]:
    """What a hover shows: at each abscissa the place on the page and one line of text per series."""
    x_scale, _ = plot.scales()
    by_x: dict[float, list[str]] = {}
    for line in plot.series:
        for i, x in enumerate(line.x):
            text = f"{line.name}: {number(line.y[i])}"
            if line.low is not None and line.high is not None:
                text += f" ({number(line.low[i])} … {number(line.high[i])})"
            by_x.setdefault(x, []).append(text)
    return [[x_scale.at(x), f"{plot.x_label} {number(x)}", *by_x[x]] for x in sorted(by_x)]


def _axes(plot: Plot, x: Scale, y: Scale) -> Html:
    bottom = HEIGHT - BOTTOM
    parts = []
    for tick in y.ticks():
        at = y.at(tick)
        parts.append(tag("line", class_="grid", x1=x.start, x2=x.stop, y1=at, y2=at))
        parts.append(tag("text", compact(tick), x=x.start - GAP, y=f"{at + 3.5:g}", text_anchor="end"))
    free = 0.0
    for tick in x.ticks():
        at = x.at(tick)
        parts.append(tag("line", class_="axis", x1=at, x2=at, y1=bottom, y2=bottom + 4))
        # A number that would lie on the one before is left out; its tick stays.
        if at - _width(tick) / 2 >= free:
            parts.append(tag("text", compact(tick), x=at, y=bottom + 16, text_anchor="middle"))
            free = at + _width(tick) / 2 + GAP / 2
    parts.append(tag("line", class_="axis", x1=x.start, x2=x.stop, y1=bottom, y2=bottom))
    middle, height = (x.start + x.stop) / 2, (TOP + bottom) / 2
    parts.append(tag("text", plot.x_label, class_="label", x=f"{middle:g}", y=HEIGHT - 6, text_anchor="middle"))
    turned = f"rotate(-90 11 {height:g})"
    parts.append(tag("text", plot.y_label, class_="label", x=11, y=height, text_anchor="middle", transform=turned))
    return tag("g", *parts, aria_hidden="true")


def _path(pairs: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g},{y:g}" for x, y in pairs)


def _band(line: Series, place: int, x: Scale, y: Scale) -> Html:
    assert line.low is not None
    assert line.high is not None
    top = [(x.at(t), y.at(v)) for t, v in zip(line.x, line.high, strict=True)]
    low = [(x.at(t), y.at(v)) for t, v in zip(line.x, line.low, strict=True)]
    return tag("path", class_=f"band s{place}", d=_path(top + low[::-1]) + "Z")


def _line(line: Series, place: int, x: Scale, y: Scale) -> Html:
    d = _path([(x.at(t), y.at(v)) for t, v in zip(line.x, line.y, strict=True)])
    title = f"{line.name}: from {number(line.y[0])} to {number(line.y[-1])}"
    dash = DASHES[place % len(DASHES)]
    return tag("path", tag("title", title), class_=f"line s{place}", d=d, stroke_dasharray=dash)


def _rules(rules: Sequence[tuple[str, float]], x: Scale, y: Scale) -> list[Html]:
    """Horizontal lines, each with its name above it, or below it where another name or the edge is in the way."""
    parts, free = [], float(TOP)
    for name, level in sorted(rules, key=lambda rule: y.at(rule[1])):
        at = y.at(level)
        place = at - 4 if at - 4 >= free else max(at + NOTE - 2, free)
        free = place + NOTE
        parts.append(
            tag("line", tag("title", f"{name}: {number(level)}"), class_="rule", x1=x.start, x2=x.stop, y1=at, y2=at)
        )
        parts.append(tag("text", name, class_="note halo", x=x.start + 4, y=f"{place:g}"))
    return parts


def _legend(plot: Plot) -> Html:
    entries = []
    for place, line in enumerate(plot.series):
        dash = DASHES[place % len(DASHES)]
        stroke = tag("line", class_=f"line s{place}", x1=1, x2=27, y1=5, y2=5, stroke_dasharray=dash)
        sample = tag("svg", stroke, class_="sample", viewBox="0 0 28 10", aria_hidden="true")
        entries.append(tag("li", sample, line.name))
    return tag("ul", *entries, class_="legend")
