"""Line plots with envelopes as SVG: written here, byte for byte the same for the same data, with values on hover.

Lines differ by dash as well as by colour. The page's script shows the values at the nearest point for the pointer and
for the arrow keys; `points` is what it needs. Without a script every line still has its title.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report.markup import Html, escaped, tag
from benchmarks.report.scales import Scale, compact, number, scale_of

WIDTH, HEIGHT = 360, 230
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 10, 40
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
        """The two axes."""
        xs = [x for line in self.series for x in line.x]
        ys = [y for line in self.series for column in (line.y, line.low, line.high) for y in column or ()]
        ys += [y for _, y in self.rules]
        x_scale = scale_of(xs, LEFT, WIDTH - RIGHT, logarithmic=self.log_x)
        return x_scale, scale_of(ys, HEIGHT - BOTTOM, TOP, logarithmic=self.log_y)


def drawn(plot: Plot) -> Html:
    """The plot as an SVG element that can be focused, with its legend below."""
    x, y = plot.scales()
    parts = [tag("title", plot.title), _axes(plot, x, y)]
    for place, line in enumerate(plot.series):
        if line.low is not None and line.high is not None:
            parts.append(_band(line, place, x, y))
    parts += [_rule(name, level, y) for name, level in plot.rules]
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
        parts.append(tag("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at))
        parts.append(tag("text", compact(tick), x=LEFT - 6, y=at + 3.5, text_anchor="end"))
    for tick in x.ticks():
        at = x.at(tick)
        parts.append(tag("line", class_="axis", x1=at, x2=at, y1=bottom, y2=bottom + 4))
        parts.append(tag("text", compact(tick), x=at, y=bottom + 16, text_anchor="middle"))
    parts.append(tag("line", class_="axis", x1=LEFT, x2=WIDTH - RIGHT, y1=bottom, y2=bottom))
    middle, height = (LEFT + WIDTH - RIGHT) / 2, (TOP + bottom) / 2
    parts.append(tag("text", plot.x_label, class_="label", x=middle, y=HEIGHT - 6, text_anchor="middle"))
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


def _rule(name: str, level: float, y: Scale) -> Html:
    at = y.at(level)
    mark = tag("text", name, class_="note halo", x=LEFT + 4, y=at - 4)
    line = tag("line", tag("title", f"{name}: {number(level)}"), class_="rule", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at)
    return Html(line + mark)


def _legend(plot: Plot) -> Html:
    entries = []
    for place, line in enumerate(plot.series):
        dash = DASHES[place % len(DASHES)]
        stroke = tag("line", class_=f"line s{place}", x1=1, x2=27, y1=5, y2=5, stroke_dasharray=dash)
        sample = tag("svg", stroke, class_="sample", viewBox="0 0 28 10", aria_hidden="true")
        entries.append(tag("li", sample, escaped(line.name)))
    return tag("ul", *entries, class_="legend")
