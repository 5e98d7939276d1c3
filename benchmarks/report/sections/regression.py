"""The present code against the committed baseline; ratios of times apart, for they differ from run to run."""

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.regression import compare as regression
from benchmarks.regression.baseline import COMMITTED
from benchmarks.regression.compare import Row, margin_ends
from benchmarks.regression.measures import Measurements
from benchmarks.report.forest import Axis, Effect, forest
from benchmarks.report.layout import Cell, chapter, commands, table
from benchmarks.report.markup import Html, isolate, tag
from benchmarks.report.scales import number, percent, with_interval, with_sign
from benchmarks.report.section import Content, Line, Section, Work
from benchmarks.report.words import badge
from benchmarks.runner.store import Store

COMMANDS = ("robust-core bench", "robust-core compare --all")
INTRODUCTION = (
    "Deterministic quantities are compared exactly, statistical ones seed by seed with an interval. Equivalent is a "
    "positive finding: the whole interval lies within the margin. Each statistical measure has an equal share of α. "
    "Ratios of times are in the section on this run: they differ from run to run and do not affect the verdict."
)
TERMS = (
    "Baseline and today are medians over the seeds. Effects and margins with % are shares of the baseline; the others "
    "are differences in the unit that is named."
)
DRAWN = 12
"""Measures that the forest shows, if no more are worse or changed."""
MARGINS = 2.0
"""The ends of the axis of the forest, in margins."""
AXIS = Axis(
    -MARGINS, MARGINS, ((-2, "−2"), (-1, "−1"), (0, "0"), (1, "+1"), (2, "+2")),
    "effect in margins (right: worse)", (-1.0, 1.0),
)  # fmt: skip
ABSENT = "No baseline was found, so nothing is compared."
BETTER = {"lower": "lower is better", "higher": "higher is better"}


@dataclass(frozen=True)
class Comparison:
    """The measures that are functions of their seeds, under one error budget."""

    verdict: str
    alpha: float
    paired: bool
    reason: str
    rows: tuple[Row, ...]


def collect(work: Work) -> Comparison | None:
    """The comparison with the baseline; None where there is no baseline."""
    return work.result(compare)[0]


def compare(work: Work) -> tuple[Comparison | None, tuple[Row, ...]]:
    """The comparison, and the ratios of times."""
    from benchmarks.regression.baseline import load
    from benchmarks.regression.bench import bench

    path = baseline_file(work)
    if not path.is_file():
        return None, ()
    # The store of `robust-core bench`: what it measured is not measured again.
    with closing(Store(work.stores / "regression.jsonl")) as store:
        today = bench(store=store, workers=work.workers, show=work.show)
    return split(load(str(path)), today)


def baseline_file(work: Work) -> Path:
    """The file to compare with."""
    return COMMITTED if work.baseline is None else work.baseline


def split(baseline: Measurements, today: Measurements) -> tuple[Comparison, tuple[Row, ...]]:
    """One comparison under one error budget, in two parts: what is a function of its seeds, and ratios of times."""
    found = regression.compare(baseline, today)
    rows = tuple(row for row in found.rows if row.kind != "ratio")
    comparison = Comparison(regression.worst(rows), found.alpha, found.paired, found.baseline.reason, rows)
    return comparison, tuple(row for row in found.rows if row.kind == "ratio")


def urgency(row: Row) -> int:
    """The place of its verdict among those that somebody must look at first."""
    return regression.SEVERITY.index(row.verdict)


def effect(row: Row) -> str:
    """The effect with its unit, and with its interval where there is one."""
    if row.effect is None:
        return ""
    show = partial(_amount, row)
    exact = row.kind == "deterministic"
    shown = with_sign(show(row.effect)) if exact else with_interval(row.effect, row.lower, row.upper, show)
    return shown if row.scale == "relative" else f"{shown} {row.unit}"


def margin(row: Row) -> str:
    """Both ends of the margin: of a share they differ, for a ratio and its inverse count alike."""
    if not row.margin:
        return "exact"
    low, high = margin_ends(row.scale, row.margin)
    shown = f"{with_sign(_amount(row, low))} … {with_sign(_amount(row, high))}"
    return shown if row.scale == "relative" else f"{shown} {row.unit}"


def in_margins(row: Row, x: float | None) -> float | None:
    """An effect in margins, positive if it is worse: its logarithm over that of the margin for shares."""
    if x is None or not row.margin:
        return None
    size = math.log1p(max(x, -ALMOST)) / math.log1p(row.margin) if row.scale == "relative" else x / row.margin
    return -size if row.direction == "higher" else size


ALMOST = 1.0 - 1e-12
"""A share of minus one has no logarithm; it is drawn at the end of the axis."""


def _amount(row: Row, x: float) -> str:
    return percent(x) if row.scale == "relative" else number(x, 3)


def render(comparison: Comparison | None) -> Content:
    """The table of measures with effects and intervals."""
    if comparison is None:
        return Content(tag("p", ABSENT))
    counts = Counter(row.verdict for row in sorted(comparison.rows, key=urgency))
    tally = tag("p", *(part for word, count in counts.items() for part in (_count(word, count), " ")))
    seeds = "the same seeds" if comparison.paired else "different seeds"
    facts = f"On {seeds}; α {number(comparison.alpha)} for all measures together. Baseline: {comparison.reason}"
    parts = [tag("p", INTRODUCTION), tally, draw_forest(comparison.rows), tables("Measures", comparison.rows)]
    return Content(Html("".join([*parts, tag("p", f"{TERMS} {facts}", class_="quiet"), commands(*COMMANDS)])))


def draw_forest(rows: Sequence[Row]) -> Html:
    """The measures that somebody must look at, and those nearest to their margin, the worst first."""
    ordered = sorted(rows, key=lambda row: (urgency(row), -_reach(row)))
    urgent = sum(row.verdict in ("worse", "changed") for row in ordered)
    with_margin = [row for row in ordered if row.margin or row.verdict in ("worse", "changed")]
    shown = with_margin[: max(DRAWN, urgent)]
    if not shown:
        return Html("")
    caption = f"The {len(shown)} measures nearest to their margins or beyond them, the worst first"
    return forest(caption, AXIS, [_effect(row) for row in shown], name="forest")


def _effect(row: Row) -> Effect:
    low, high = in_margins(row, row.lower), in_margins(row, row.upper)
    ends = (high, low) if row.direction == "higher" else (low, high)
    name = [row.metric, tag("div", isolate(row.variant), ", ", isolate(row.problem), class_="quiet")]
    words = effect(row) or f"{row.baseline} before, {row.today} now"
    return Effect(name, row.verdict, in_margins(row, row.effect), *ends, words, f"{row.metric} {row.variant}")


def _reach(row: Row) -> float:
    """How far the interval goes towards the worse, or both ways where nothing may change, in margins."""
    ends = [in_margins(row, end) for end in (row.lower, row.upper)]
    sizes = [math.inf if end is None else abs(end) if row.direction == "exact" else end for end in ends]
    return max(sizes)


def _count(word: str, n: int) -> Html:
    return badge(word, f"{n} {word}")


HEAD = (
    "metric", "verdict", "variant", "problem", "effect and interval", "margin", "direction", "baseline", "today", "n",
    "note",
)  # fmt: skip


def tables(caption: str, rows: Sequence[Row], name: str = "measures") -> Html:
    """Measures as two folded tables, the most urgent first: those that are not equivalent, and the others."""
    ordered = sorted(rows, key=urgency)
    moved = [row for row in ordered if row.verdict != "equivalent"]
    quiet = [row for row in ordered if row.verdict == "equivalent"]
    parts = []
    if moved:
        words = [part for word, n in Counter(row.verdict for row in moved).items() for part in (_count(word, n), " ")]
        parts.append(chapter([f"{caption}: ", *words], _table(caption, moved, f"{name}-moved")))
    if quiet:
        title = f"{caption}: {len(quiet)} equivalent"
        parts.append(chapter([f"{caption}: ", _count("equivalent", len(quiet))], _table(title, quiet, name)))
    return Html("".join(parts))


def _table(caption: str, rows: list[Row], name: str) -> Html:
    return table(caption, HEAD, map(_cells, rows), numeric=[4, 5, 7, 8, 9], class_="compare", name=name)


def _cells(row: Row) -> list[Any]:
    return [
        Cell([row.metric, tag("span", f" ({row.unit})", class_="quiet")], row.metric),
        Cell(badge(row.verdict), urgency(row)),
        isolate(row.variant),
        isolate(row.problem),
        Cell(effect(row), _key(row.effect), "num effect"),
        Cell(margin(row), _key(row.margin)),
        BETTER.get(row.direction, "must not change"),
        Cell(_side(row.baseline), _key(row.baseline)),
        Cell(_side(row.today), _key(row.today)),
        row.n,
        Cell(row.note, class_="remark"),
    ]


def _side(value: Any) -> Any:
    """A number, or the beginning of what is longer (a policy, a hash)."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    text = "" if value is None else str(value)
    return tag("span", text[:8] + "…", title=text[:2000]) if len(text) > 12 else text


def _key(value: Any) -> Any:
    return value if isinstance(value, (int, float)) else ""


def counts(rows: Sequence[Row]) -> str:
    """How many measures have which verdict."""
    found = Counter(row.verdict for row in rows)
    return ", ".join(f"{count} {word}" for word, count in sorted(found.items()))


def judge(comparison: Comparison | None) -> list[Line]:
    """Whether anything is worse or changed."""
    if comparison is None:
        return []
    outcomes = {"worse": "violated", "changed": "violated", "undecided": "undecided"}
    short = f"against the baseline: {counts(comparison.rows)}"
    outcome = outcomes.get(comparison.verdict, "holds")
    return [Line("regression", "Against the baseline", outcome, short, "nothing is worse")]


SECTION = Section("regression", "Against the baseline", collect, render, judge)
