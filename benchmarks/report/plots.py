"""Line plots with envelopes as SVG: written here, byte for byte the same for the same data, with values on hover.

Lines differ by dash as well as by colour. The page's script shows the values at the nearest point for the pointer and
for the arrow keys, and a larger view on a click; `points` is what it needs. Without a script every line still has its
title.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.report.markup import Html, tag
from benchmarks.report.scales import Scale, number, scale_of

WIDTH, HEIGHT = 320, 230
"""The page shows a plot at least this wide, so a text of 12.5 units has at least 12 pixels."""
TOP, BOTTOM = 12, 44
NARROWEST = 10
"""The least margin on the right."""
TURNED, GAP = 18, 6
"""What the turned label of the ordinate takes from the left, and the distance of numbers from their axis."""
GLYPH, MINUS = 8.1, 2.5
"""The width of a digit of a tick in the widest of the page's fonts, and by how much a minus is wider."""
NOTE = 14
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
    band: str = "interval"
    """What the envelope is, for the legend."""


@dataclass(frozen=True)
class Plot:
    """Lines over a common axis.

    `rules` are horizontal lines with a name, `marks` vertical ones, which the legend names. With `names` the abscissas
    are the places 0, 1, … of these names. The axes also show `shown_x` and `shown_y`: see `share_axes`.
    """

    id: str
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    rules: Sequence[tuple[str, float]] = ()
    log_x: bool = False
    log_y: bool = False
    marks: Sequence[tuple[str, float]] = ()
    names: Sequence[str] = ()
    shown_x: Sequence[float] = ()
    shown_y: Sequence[float] = ()

    def values(self) -> tuple[list[float], list[float]]:
        """All abscissas and all ordinates, those of rules included."""
        xs = [x for line in self.series for x in line.x]
        ys = [y for line in self.series for column in (line.y, line.low, line.high) for y in column or ()]
        return xs, ys + [y for _, y in self.rules]

    def scales(self) -> tuple[Scale, Scale]:
        """The two axes; on the left there is room for the numbers of the ordinate, on the right for half a number."""
        xs, ys = self.values()
        xs, ys = [*xs, *self.shown_x], [*ys, *self.shown_y]
        y = scale_of(ys, HEIGHT - BOTTOM, TOP, logarithmic=self.log_y)
        left = TURNED + GAP + max((_width(text) for _, text in y.labels()), default=0)
        rough = scale_of(xs, 0.0, 1.0, logarithmic=self.log_x)
        right = max(NARROWEST, *(_width(text) // 2 for _, text in self.x_labels(rough)), 0)
        return scale_of(xs, left, WIDTH - right, logarithmic=self.log_x), y

    def x_labels(self, scale: Scale) -> list[tuple[float, str]]:
        """The ticks of the abscissa with their texts."""
        return [(float(place), name) for place, name in enumerate(self.names)] if self.names else scale.labels()


def share_axes(plots: Sequence[Plot]) -> list[Plot]:
    """The plots of one figure, all with the same axes."""
    found = [plot.values() for plot in plots]
    xs, ys = ([x for pair in found for x in pair[axis]] for axis in (0, 1))
    return [replace(plot, shown_x=tuple(xs), shown_y=tuple(ys)) for plot in plots]


def _width(text: str) -> int:
    """How wide the text of a tick is at most."""
    return math.ceil(GLYPH * len(text) + MINUS * text.count("−"))


def draw(plot: Plot) -> Html:
    """The plot as an SVG element that can be focused, with its legend below."""
    x, y = plot.scales()
    parts = [tag("title", plot.title), _axes(plot, x, y)]
    for place, line in enumerate(plot.series):
        if line.low is not None and line.high is not None:
            parts.append(_band(line, place, x, y))
    lines, names = _rules(plot.rules, x, y)
    parts += lines
    parts += [_mark(name, x.at(at)) for name, at in plot.marks]
    parts += [_line(line, place, x, y) for place, line in enumerate(plot.series)]
    parts += names
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
    return [[x_scale.at(x), f"{plot.x_label} {_abscissa(plot, x)}", *by_x[x]] for x in sorted(by_x)]


def _abscissa(plot: Plot, x: float) -> str:
    return plot.names[int(x)] if plot.names else number(x)


def _axes(plot: Plot, x: Scale, y: Scale) -> Html:
    bottom = HEIGHT - BOTTOM
    parts = []
    for tick, text in y.labels():
        at = y.at(tick)
        parts.append(tag("line", class_="grid", x1=x.start, x2=x.stop, y1=at, y2=at))
        parts.append(tag("text", text, x=x.start - GAP, y=f"{at + 4:g}", text_anchor="end"))
    free = 0.0
    for tick, text in plot.x_labels(x):
        at, half = x.at(tick), _width(text) / 2
        parts.append(tag("line", class_="axis", x1=at, x2=at, y1=bottom, y2=bottom + 4))
        # A text that would lie on the one before is left out; its tick stays.
        if at - half >= free:
            parts.append(tag("text", text, x=at, y=bottom + 17, text_anchor="middle"))
            free = at + half + GAP / 2
    parts.append(tag("line", class_="axis", x1=x.start, x2=x.stop, y1=bottom, y2=bottom))
    middle, height = (x.start + x.stop) / 2, (TOP + bottom) / 2
    parts.append(tag("text", plot.x_label, class_="label", x=f"{middle:g}", y=HEIGHT - 6, text_anchor="middle"))
    turned = f"rotate(-90 12 {height:g})"
    parts.append(tag("text", plot.y_label, class_="label", x=12, y=height, text_anchor="middle", transform=turned))
    return tag("g", *parts, aria_hidden="true")


def _path(pairs: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g},{y:g}" for x, y in pairs)


def _height(y: Scale, value: float) -> float:
    """The place of an ordinate within the frame: what is infinite is drawn at its edge."""
    return min(max(y.at(value), TOP), HEIGHT - BOTTOM)


def _band(line: Series, place: int, x: Scale, y: Scale) -> Html:
    assert line.low is not None
    assert line.high is not None
    top = [(x.at(t), _height(y, v)) for t, v in zip(line.x, line.high, strict=True)]
    low = [(x.at(t), _height(y, v)) for t, v in zip(line.x, line.low, strict=True)]
    return tag("path", class_=f"band s{place}", d=_path(top + low[::-1]) + "Z")


def _line(line: Series, place: int, x: Scale, y: Scale) -> Html:
    d = _path([(x.at(t), _height(y, v)) for t, v in zip(line.x, line.y, strict=True)])
    title = f"{line.name}: from {number(line.y[0])} to {number(line.y[-1])}"
    dash = DASHES[place % len(DASHES)]
    return tag("path", tag("title", title), class_=f"line s{place}", d=d, stroke_dasharray=dash)


def _rules(rules: Sequence[tuple[str, float]], x: Scale, y: Scale) -> tuple[list[Html], list[Html]]:
    """Horizontal lines, and their names: above them, or below where another name or the edge is in the way."""
    parts, names, free = [], [], float(TOP)
    for name, level in sorted(rules, key=lambda rule: y.at(rule[1])):
        at = y.at(level)
        place = at - 4 if at - 4 >= free else max(at + NOTE - 2, free)
        free = place + NOTE
        parts.append(
            tag("line", tag("title", f"{name}: {number(level)}"), class_="rule", x1=x.start, x2=x.stop, y1=at, y2=at)
        )
        names.append(tag("text", name, class_="note halo", x=x.start + 4, y=f"{place:g}"))
    return parts, names


def _mark(name: str, at: float) -> Html:
    return tag("line", tag("title", name), class_="mark-line", x1=at, x2=at, y1=TOP, y2=HEIGHT - BOTTOM)


def _legend(plot: Plot) -> Html:
    """The lines, then their bands, then the vertical marks."""
    entries, bands = [], dict[str, Html]()
    for place, line in enumerate(plot.series):
        dash = DASHES[place % len(DASHES)]
        stroke = tag("line", class_=f"line s{place}", x1=1, x2=27, y1=5, y2=5, stroke_dasharray=dash)
        entries.append((stroke, line.name))
        if line.low is not None:
            bands.setdefault(line.band, tag("rect", class_=f"band s{place}", x=1, y=0, width=26, height=10))
    entries += [(swatch, name) for name, swatch in bands.items()]
    entries += [(tag("line", class_="mark-line", x1=14, x2=14, y1=0, y2=10), name) for name, _ in plot.marks]
    return tag("ul", *(tag("li", _sample(drawn), name) for drawn, name in entries), class_="legend")


def _sample(drawn: Html) -> Html:
    return tag("svg", drawn, class_="sample", viewBox="0 0 28 10", aria_hidden="true")
