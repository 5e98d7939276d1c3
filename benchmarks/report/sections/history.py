"""Trends over revisions: the effect of every measure of a user's variant against its reference, with change points."""

import math
from collections.abc import Sequence

from benchmarks.regression.compare import margin_ends
from benchmarks.regression.history import RECORDS, Trend, read_any, trends
from benchmarks.regression.variants import OWN_METRICS
from benchmarks.report.layout import chapter, commands, figure
from benchmarks.report.markup import Html, isolate, tag
from benchmarks.report.plots import Plot, Series
from benchmarks.report.scales import number
from benchmarks.report.section import Content, Line, Section, Work
from benchmarks.report.words import badge
from robust_core.text import plural

BEGIN = "robust-core compare OLD.py NEW.py --history .robust-core/history"
ABSENT = "There is no history yet. Each comparison with this option adds a record; the report then draws the trends."
INTRODUCTION = (
    "The effect of every measure against a fixed reference, record by record, with its interval. A change point is an "
    f"alarm of an e-detector: a false one among n records of a variant has a probability of at most n/{RECORDS:.0f}. "
    "Among accepted baselines it is a version that differs from the one before. Measures with a change come first."
)
SHOWN = 6
"""Trends in sight; the others are folded."""
SHORT = 7
"""Digits of a revision on an axis."""


def collect(work: Work) -> tuple[Trend, ...]:
    """The trends of the history that was named, or of the one in the stores."""
    folder = work.stores / "history" if work.history is None else work.history
    return tuple(trend for trend in trends(read_any(folder)) if any(x is not None for x in trend.effects))


def render(found: Sequence[Trend]) -> Content:
    """One plot per measure, those with a change point first."""
    if not found:
        return Content(Html(tag("p", ABSENT) + commands(BEGIN, lead="Begin one")))
    plots = [_plot(trend, place) for place, trend in enumerate(found)]
    figures = [figure(plot, _caption(trend)) for plot, trend in zip(plots, found, strict=True)]
    changed = sum(trend.alarm is not None for trend in found)
    shown = max(SHOWN, changed)
    parts = [tag("p", INTRODUCTION), tag("div", *figures[:shown], class_="grid")]
    if figures[shown:]:
        title = f"{plural(len(figures) - shown, 'more measure')} without a change point"
        parts.append(chapter(title, tag("div", *figures[shown:], class_="grid")))
    parts.append(commands("robust-core history", BEGIN))
    return Content(Html("".join(parts)), tuple(plots))


def _plot(trend: Trend, place: int) -> Plot:
    metric = OWN_METRICS.get(trend.metric)
    relative = metric is not None and metric.scale == "relative"
    size = 100.0 if relative else 1.0
    places = [i for i, effect in enumerate(trend.effects) if effect is not None]
    series = Series(
        "effect",
        places,
        [size * _finite(trend.effects[i], 0.0) for i in places],
        [size * _finite(trend.lower[i], -math.inf) for i in places],
        [size * _finite(trend.upper[i], math.inf) for i in places],
        band="simultaneous interval",
    )
    rules = [("no change", 0.0)]
    if metric is not None and metric.margin:
        low, high = margin_ends(metric.scale, metric.margin)
        rules += [("margin", size * low), ("margin", size * high)]
    return Plot(
        id=f"trend-{place}",
        title=f"{trend.metric} of {trend.variant} on {trend.problem}",
        x_label="revision",
        y_label="effect, %" if relative else f"effect, {metric.unit}" if metric else "effect",
        series=[series],
        rules=rules,
        marks=_marks(trend),
        names=[revision[:SHORT] or "none" for revision in trend.revisions],
    )


def _finite(x: float | None, otherwise: float) -> float:
    return otherwise if x is None else x


def _marks(trend: Trend) -> list[tuple[str, float]]:
    if trend.alarm is None:
        return []
    return [(f"change since {_short(trend.alarm.since)}", float(trend.alarm.since_at))]


def _short(label: str) -> str:
    """The first digits of a revision; a time stays whole."""
    return label if ":" in label else label[:SHORT]


def _caption(trend: Trend) -> list[object]:
    parts = [tag("strong", trend.metric), " ", isolate(trend.variant), ", ", isolate(trend.problem), " "]
    if trend.alarm is None:
        return [*parts, badge("no change point"), f" against {trend.reference}"]
    alarm = trend.alarm
    seen = f"since {_short(alarm.since)}, seen at {_short(alarm.alarm)}"
    level = "" if trend.level is None else f"; log R {number(trend.level, 3)}"
    return [*parts, badge("change point"), f" {seen}: ", isolate(alarm.message or "no message"), level]


def judge(found: Sequence[Trend]) -> list[Line]:
    """How many measures have a change point: a finding, for a change may be intended."""
    if not found:
        return []
    changed = sum(trend.alarm is not None for trend in found)
    short = f"{plural(len(found), 'trend')}, {plural(changed, 'change point')}"
    return [Line("history", "Trends over revisions", "change point" if changed else "finding", short, decides=False)]


SECTION = Section("history", "Trends over revisions", collect, render, judge)
