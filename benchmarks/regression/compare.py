"""Today against the baseline, measure by measure: the definitions are in docs/regression.md."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from benchmarks.regression.measures import PROCESSOR, Exact, Measure, Measurements, Name, Sample
from benchmarks.regression.metric import METRICS, Direction, Kind, Metric, Scale
from benchmarks.regression.paired import Centre, centre, detectable, mean_between
from properties.statistics.budget import RUN_BUDGET
from robust_core.validate import Floats

Verdict = Literal["better", "worse", "equivalent", "undecided", "changed"]
SEVERITY: tuple[Verdict, ...] = ("worse", "changed", "undecided", "better", "equivalent")
"""The verdict of a comparison is the first of these that some measure has."""
POWER = 0.9
UNKNOWN = Metric("", "", "exact", "deterministic", "a metric that is no longer known")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measure on both sides: typical values, the effect with its interval, the verdict.

    `baseline` and `today` are the value of a deterministic measure, or the median. `detects` is the smallest shift that
    is found with probability POWER. `suspicious` marks changes that need an explanation, `waived` the reason
    why it does not count.
    """

    metric: str
    variant: str
    problem: str
    unit: str
    direction: Direction
    kind: Kind
    scale: Scale
    margin: float
    baseline: float | str | None
    today: float | str | None
    verdict: Verdict = "undecided"
    note: str = ""
    effect: float | None = None
    lower: float | None = None
    upper: float | None = None
    detects: float | None = None
    n: int = 0
    paired: bool = False
    suspicious: bool = False
    waived: str = ""

    @property
    def decides(self) -> bool:
        """Whether the verdict is part of that of the whole.

        A waived measure is not, nor one that is `apart`.
        """
        return not self.waived and not self.apart

    @property
    def apart(self) -> bool:
        """An undecided ratio of times, which depends on how busy the machine is, or share, which takes many seeds."""
        return self.kind in ("ratio", "share") and self.verdict == "undecided"

    @property
    def name(self) -> Name:
        """(metric, variant, problem)."""
        return self.metric, self.variant, self.problem


@dataclass(frozen=True)
class Origin:
    """Where the measures of a side come from."""

    seed_set: str
    versions: dict[str, str]
    reason: str


@dataclass(frozen=True)
class Comparison:
    """Every measure with its verdict, and the verdict of the whole; `alpha` is split evenly (`alpha_each`)."""

    verdict: Verdict
    alpha: float
    alpha_each: float
    power: float
    paired: bool
    baseline: Origin
    today: Origin
    rows: tuple[Row, ...]

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many measures that count have each verdict, the most severe first."""
        found = Counter(row.verdict for row in self.rows if row.decides)
        return {word: found[word] for word in SEVERITY}


def compare(
    baseline: Measurements,
    today: Measurements,
    *,
    alpha: float = RUN_BUDGET,
    metrics: Mapping[str, Metric] = METRICS,
) -> Comparison:
    """Compare two sides.

    The probability that any measure is called better, worse or changed although nothing differs (the pairs are
    exchangeable) is at most `alpha`; each measure that is not deterministic has an equal share of it.
    """
    before, now = ({measure.name: measure for measure in side.measures} for side in (baseline, today))
    names = sorted(before.keys() | now.keys() | set(today.pending))
    tested = sum(metrics[name[0]].kind != "deterministic" for name in names if name[0] in metrics)
    rules = _Rules(
        share=alpha / max(tested, 1),
        paired=baseline.seed_set == today.seed_set,
        same_processor=baseline.versions.get(PROCESSOR) == today.versions.get(PROCESSOR),
        metrics=metrics,
    )
    rows = tuple(_row(name, before.get(name), now.get(name), rules, name in today.pending) for name in names)
    origins = [Origin(side.seed_set, dict(side.versions), side.reason) for side in (baseline, today)]
    return Comparison(worst(rows), alpha, rules.share, POWER, rules.paired, origins[0], origins[1], rows)


def worst(rows: Sequence[Row]) -> Verdict:
    """The most severe verdict of some rows."""
    found = {row.verdict for row in rows if row.decides}
    return next((word for word in SEVERITY if word in found), "equivalent")


@dataclass(frozen=True)
class _Rules:
    """What all rows of a comparison share."""

    share: float
    paired: bool
    same_processor: bool
    metrics: Mapping[str, Metric]


def _row(name: Name, before: Measure | None, now: Measure | None, rules: _Rules, pending: bool) -> Row:
    metric = rules.metrics.get(name[0], UNKNOWN)
    row = Row(
        metric=name[0],
        variant=name[1],
        problem=name[2],
        unit=metric.unit,
        direction=metric.direction,
        kind=metric.kind,
        scale=metric.scale,
        margin=metric.margin,
        baseline=_typical(before),
        today=_typical(now),
    )
    if metric is UNKNOWN or before is None or now is None:
        return _absent(row, metric, before, pending)
    if metric.kind == "deterministic" and isinstance(before, Exact) and isinstance(now, Exact):
        return _exactly(row, before, now, decides=metric.portable or rules.same_processor)
    if metric.kind != "deterministic" and isinstance(before, Sample) and isinstance(now, Sample):
        return _statistically(row, metric, before, now, rules)
    return replace(row, verdict="changed", note="its form is not that of its metric", suspicious=True)


def _typical(measure: Measure | None) -> float | str | None:
    """The deterministic value, or the median over seeds or repeats (null counts as infinite)."""
    if measure is None or isinstance(measure, Exact):
        return None if measure is None else measure.value
    return _number(float(np.median([math.inf if value is None else value for value in measure.values])))


def _number(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _absent(row: Row, metric: Metric, before: Measure | None, pending: bool) -> Row:
    """A measure that one side lacks: once it is no longer measured it cannot get worse, so dropping it is a change."""
    if pending:
        return replace(row, note="pending: the budget was over before it was measured")
    if before is None:
        return replace(row, note="new: the baseline does not have it")
    gone = "the metric is no longer known" if metric is UNKNOWN else "it is no longer measured"
    return replace(row, verdict="changed", note=gone, suspicious=True)


def _exactly(row: Row, before: Exact, now: Exact, *, decides: bool) -> Row:
    """The same value or another one; where that does not decide, the processor may have caused other bits."""
    old, new = before.value, now.value
    if old == new and type(old) is type(new):
        return replace(row, verdict="equivalent", n=1)
    if not decides:
        return replace(row, note="other processor: its sums may have another order", n=1)
    effect = None if isinstance(old, str) or isinstance(new, str) else new - old
    return replace(row, verdict="changed", note="must not change without a reason", n=1, effect=effect, suspicious=True)


def _statistically(row: Row, metric: Metric, before: Sample, now: Sample, rules: _Rules) -> Row:
    n = min(len(before.values), len(now.values))
    old, margin = _transform(metric, before.values[:n]), inner_margin(metric)
    found = interval(metric, before, now, rules.share)
    known = old[np.isfinite(old)]
    spread = math.sqrt(2.0) * float(known.std()) if known.size else math.inf
    bare = n == 0 or metric.kind == "share"
    seen = math.inf if bare else detectable(spread, n, margin=margin, alpha=rules.share, power=POWER)
    verdict: Verdict = "changed" if now.impossible else judge(metric, found)
    note = _note(verdict, now.impossible, n)
    suspicious = verdict == "changed"
    if metric.kind == "ratio" and not rules.same_processor and verdict in ("better", "worse"):
        verdict, note = "undecided", f"{verdict} on another processor, which may be the cause"
    return replace(
        row,
        n=n,
        paired=rules.paired and metric.kind != "ratio",
        verdict=verdict,
        suspicious=suspicious,
        note=note,
        effect=_outer(metric, found.estimate),
        lower=_outer(metric, found.lower),
        upper=_outer(metric, found.upper),
        detects=_outer(metric, seen + (margin if metric.kind == "ratio" else 0.0)),
    )


def differences(metric: Metric, before: Sample, now: Sample) -> Floats:
    """Today's transformed values minus those before, seed by seed."""
    n = min(len(before.values), len(now.values))
    old, new = (_transform(metric, measure.values[:n]) for measure in (before, now))
    # Equal values differ by 0 even where both are infinite.
    return np.where(old == new, 0.0, np.subtract(new, old, where=old != new, out=np.zeros(n)))


def inner_margin(metric: Metric) -> float:
    """The margin in the scale of the differences."""
    return math.log1p(metric.margin) if metric.scale == "relative" else metric.margin


def margin_ends(scale: Scale, margin: float) -> tuple[float, float]:
    """Both ends of a margin. That of a ratio is symmetric in the logarithm, so the ends of a share differ.

    >>> margin_ends("relative", 0.25), margin_ends("absolute", 0.25)
    ((-0.2, 0.25), (-0.25, 0.25))
    """
    return (-margin / (1.0 + margin) if scale == "relative" else -margin), margin


def interval(metric: Metric, before: Sample, now: Sample, share: float) -> Centre:
    """The interval for the centre of the (transformed) differences, at the level `share`."""
    d = differences(metric, before, now)
    if metric.kind == "share":
        return mean_between(d, alpha=share)
    return centre(d, margin=inner_margin(metric), alpha=share)


def decide(metric: Metric, before: Sample, now: Sample, share: float) -> Verdict:
    """The verdict of one measure alone, at the level `share`."""
    return "changed" if now.impossible else judge(metric, interval(metric, before, now, share))


def _note(verdict: Verdict, impossible: int, n: int) -> str:
    if impossible:
        return f"{impossible} of {n} values are better than the truth allows"
    if verdict == "better":
        return "review: is it a bug that improves the metric? then accept it as the new baseline"
    return "must not change without a reason" if verdict == "changed" else ""


def _transform(metric: Metric, values: Sequence[float | None]) -> Floats:
    """Logarithms for a relative scale; NaN or infinity counts as the worst value."""
    worst_value = -math.inf if metric.direction == "higher" else math.inf
    x = np.array([worst_value if value is None else value for value in values], dtype=np.float64)
    if metric.scale == "absolute":
        return x
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(x, 0.0))


def _outer(metric: Metric, d: float) -> float | None:
    """A difference in the scale of the report: relative ones as today/baseline − 1."""
    if metric.scale == "absolute" or math.isinf(d):
        return _number(d) if d != -math.inf or metric.scale == "absolute" else -1.0
    return _number(math.expm1(d)) if d < 700.0 else None


def judge(metric: Metric, interval: Centre) -> Verdict:
    """The verdict of an interval for (transformed) today − baseline.

    >>> judge(METRICS["bias"], Centre(0.001, 0.002, 0.003)), judge(METRICS["bias"], Centre(0.001, 0.005, 0.009))
    ('equivalent', 'changed')
    """
    margin = inner_margin(metric)
    if -margin < interval.lower and interval.upper < margin:
        return "equivalent"
    # Two runs on two machines differ in speed for reasons that are not the code's: a ratio must pass the margin.
    edge = margin if metric.kind == "ratio" else 0.0
    up, down = interval.lower > edge, interval.upper < -edge
    if not (up or down):
        return "undecided"
    if metric.direction == "exact":
        return "changed"
    return "worse" if up == (metric.direction == "lower") else "better"
