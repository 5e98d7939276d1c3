"""docs/regression.md: written by hand, except for the tables of the metrics and of the power of comparisons."""

from collections.abc import Iterable, Sequence

from benchmarks.documents.markdown import with_table
from benchmarks.documents.write import read
from benchmarks.regression.injections import INJECTIONS, SLOWDOWN
from benchmarks.regression.metric import METRICS, Metric
from benchmarks.studies import power
from robust_core.problem import KINDS

COLUMNS = ("metric", "what", "kind", "better", "unit", "margin", "why this margin")
VALUES = tuple(name for name in INJECTIONS if name != SLOWDOWN)
POWER = ("kind", *VALUES, "alarms of equal code", SLOWDOWN, "alarms of its time")


def document() -> str:
    """The document with the tables as they are."""
    text = with_table(read("regression") or "", COLUMNS, map(_row, METRICS.values()))
    return with_table(text, POWER, _powers(power.load()))


def _powers(found: power.Powers) -> Iterable[Sequence[object]]:
    """A line for each kind: the share of comparisons that find each regression, and by what most of them do."""
    fewest = min((one.seeds for one in found.powers), default=0)
    cells = {
        (one.kind, one.injection): f"{one.found}/{one.comparisons} {one.metric}"
        + (f", {one.seeds} seeds" if one.seeds != fewest else "")
        for one in found.powers
    }
    nulls = {one.kind: f"{one.alarms}/{one.comparisons}" for one in found.nulls}
    for kind in KINDS:
        values = [kind, *(cells.get((kind, name), "not measured") for name in VALUES), nulls.get(kind, "not measured")]
        yield [*values, *_clock([one for one in found.timed if one.kind == kind])]


def _clock(contests: Sequence[power.Timed]) -> list[str]:
    """The two columns of times: how many contests find the slowdown, and alarms of equal code."""
    if not contests:
        return ["not measured", "not measured"]
    found = sum(one.verdict == "worse" for one in contests)
    alarms = sum(one.same in ("worse", "better") for one in contests)
    turns, loads = _range([one.turns for one in contests]), _range([one.load for one in contests])
    return [f"{found}/{len(contests)}, {turns} turns, load {loads}", f"{alarms}/{len(contests)}"]


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):g}", f"{max(values):g}"
    return low if low == high else f"{low} to {high}"


def _row(metric: Metric) -> list[str]:
    better = "must not change" if metric.direction == "exact" else metric.direction
    margin = f"{100.0 * metric.margin:g} %" if metric.scale == "relative" else f"{metric.margin:g}"
    shown = "none" if metric.kind == "deterministic" else margin
    return [metric.name, metric.text, metric.kind, better, metric.unit, shown, metric.why or "exact"]
