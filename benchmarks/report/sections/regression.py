"""The present code against the committed baseline; ratios of times apart, for they differ from run to run."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from typing import Any

from benchmarks.regression.measures import Measurements
from benchmarks.report.layout import Cell, chapter, commands, table
from benchmarks.report.markup import Html, isolate, tag
from benchmarks.report.scales import number, percent, with_interval, with_sign
from benchmarks.report.section import Content, Line, Section, Work
from benchmarks.report.words import badge
from benchmarks.runner.store import Store

COMMANDS = ("robust-core bench", "robust-core compare --all")
INTRODUCTION = (
    "Deterministic quantities are compared exactly, statistical ones seed by seed with an interval; equivalent is a "
    "positive finding: the whole interval lies within the margin. Each statistical measure has an equal share of α. "
    "Worse and changed measures come first. Baseline and today are medians over the seeds; effects and margins with % "
    "are shares of the baseline, the others differences in the unit that is named. Ratios of times are in the last "
    "section: they differ from run to run and do not decide."
)
ABSENT = "No baseline was found, so nothing is compared."
BETTER = {"lower": "lower is better", "higher": "higher is better"}
URGENCY = ("worse", "changed", "undecided", "better", "equivalent")
"""Verdicts in the order in which somebody must look at them."""


@dataclass(frozen=True)
class Measure:
    """One measure of one variant on one problem, compared; open ends of the interval are None."""

    metric: str
    variant: str
    problem: str
    verdict: str
    unit: str
    direction: str
    kind: str
    scale: str
    margin: float
    baseline: Any
    today: Any
    effect: float | None
    lower: float | None
    upper: float | None
    n: int
    note: str

    @property
    def urgency(self) -> int:
        """The place of its verdict in URGENCY; an unknown one comes first."""
        return URGENCY.index(self.verdict) if self.verdict in URGENCY else 0

    def effect_in_words(self) -> str:
        """The effect with its unit, and with its interval where there is one."""
        if self.effect is None:
            return ""
        if self.kind == "deterministic":
            shown = with_sign(self._amount(self.effect))
        else:
            shown = with_interval(self.effect, self.lower, self.upper, self._amount)
        return shown if self.scale == "relative" else f"{shown} {self.unit}"

    def margin_in_words(self) -> str:
        """The margin in the same form."""
        if not self.margin:
            return "exact"
        shown = self._amount(self.margin)
        return shown if self.scale == "relative" else f"{shown} {self.unit}"

    def _amount(self, x: float) -> str:
        return percent(x) if self.scale == "relative" else number(x, 3)


@dataclass(frozen=True)
class Comparison:
    """The measures that are functions of their seeds, under one error budget."""

    verdict: str
    alpha: float
    paired: bool
    reason: str
    measures: tuple[Measure, ...]


def collect(work: Work) -> Comparison | None:
    """The comparison with the baseline; None where there is no baseline."""
    return work.result(compare)[0]


def compare(work: Work) -> tuple[Comparison | None, tuple[Measure, ...]]:
    """The comparison, and the ratios of times."""
    from benchmarks.regression.baseline import COMMITTED, load
    from benchmarks.regression.bench import bench

    path = COMMITTED if work.baseline is None else work.baseline
    if not path.is_file():
        return None, ()
    # The store of `robust-core bench`: what it measured is not measured again.
    with closing(Store(work.stores / "regression.jsonl")) as store:
        today = bench(store=store, workers=work.workers, show=work.show)
    return split(load(str(path)), today)


def split(baseline: Measurements, today: Measurements) -> tuple[Comparison, tuple[Measure, ...]]:
    """One comparison under one error budget, in two parts: what is a function of its seeds, and ratios of times."""
    from benchmarks.regression.compare import compare, worst

    found = compare(baseline, today)
    names = [field.name for field in fields(Measure)]
    measures = [Measure(**{name: getattr(row, name) for name in names}) for row in found.rows]
    decisive = tuple(measure for measure in measures if measure.kind != "ratio")
    verdict = worst([row for row in found.rows if row.kind != "ratio"])
    comparison = Comparison(verdict, found.alpha, found.paired, found.baseline.reason, decisive)
    return comparison, tuple(measure for measure in measures if measure.kind == "ratio")


def render(comparison: Comparison | None) -> Content:
    """The table of measures with effects and intervals."""
    if comparison is None:
        return Content(tag("p", ABSENT))
    counts = Counter(measure.verdict for measure in sorted(comparison.measures, key=lambda measure: measure.urgency))
    tally = tag("p", *(part for word, count in counts.items() for part in (_count(word, count), " ")))
    seeds = "the same seeds" if comparison.paired else "different seeds"
    facts = f"On {seeds}; α {number(comparison.alpha)} for all measures together. Baseline: {comparison.reason}"
    listed = tables("Measures", comparison.measures)
    return Content(
        Html(tag("p", INTRODUCTION) + tally + listed + tag("p", facts, class_="quiet") + commands(*COMMANDS))
    )


def _count(word: str, n: int) -> Html:
    return badge(word, f"{n} {word}")


HEAD = (
    "metric", "verdict", "variant", "problem", "effect and interval", "margin", "direction", "baseline", "today", "n",
    "note",
)  # fmt: skip


def tables(caption: str, measures: Sequence[Measure]) -> Html:
    """Measures as tables: what somebody must look at, the most urgent first; the equivalent ones folded away."""
    ordered = sorted(measures, key=lambda measure: measure.urgency)
    moved = [measure for measure in ordered if measure.verdict != "equivalent"]
    quiet = [measure for measure in ordered if measure.verdict == "equivalent"]
    parts = [_table(caption, moved)] if moved else []
    if quiet:
        title = f"{caption}: {len(quiet)} equivalent"
        parts.append(chapter([f"{caption}: ", _count("equivalent", len(quiet))], _table(title, quiet)))
    return Html("".join(parts))


def _table(caption: str, measures: list[Measure]) -> Html:
    return table(caption, HEAD, map(_row, measures), numeric=[4, 5, 7, 8, 9], class_="compare")


def _row(measure: Measure) -> list[Any]:
    return [
        Cell([measure.metric, tag("span", f" ({measure.unit})", class_="quiet")], measure.metric),
        Cell(badge(measure.verdict), measure.urgency),
        isolate(measure.variant),
        isolate(measure.problem),
        Cell(measure.effect_in_words(), _key(measure.effect), "num effect"),
        Cell(measure.margin_in_words(), _key(measure.margin)),
        BETTER.get(measure.direction, "must not change"),
        Cell(_side(measure.baseline), _key(measure.baseline)),
        Cell(_side(measure.today), _key(measure.today)),
        measure.n,
        Cell(measure.note, class_="remark"),
    ]


def _side(value: Any) -> Any:
    """A number, or the beginning of what is longer (a policy, a hash)."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    text = "" if value is None else str(value)
    return tag("span", text[:8] + "…", title=text[:2000]) if len(text) > 12 else text


def _key(value: Any) -> Any:
    return value if isinstance(value, (int, float)) else ""


def counts(measures: Sequence[Measure]) -> str:
    """How many measures have which verdict."""
    found = Counter(measure.verdict for measure in measures)
    return ", ".join(f"{count} {word}" for word, count in sorted(found.items()))


def judge(comparison: Comparison | None) -> list[Line]:
    """Whether anything is worse or changed."""
    if comparison is None:
        return []
    outcomes = {"worse": "violated", "changed": "violated", "undecided": "undecided"}
    short = f"against the baseline: {counts(comparison.measures)}"
    outcome = outcomes.get(comparison.verdict, "holds")
    return [Line("regression", "Against the baseline", outcome, short, "nothing is worse")]


SECTION = Section("regression", "Against the baseline", collect, render, judge)
