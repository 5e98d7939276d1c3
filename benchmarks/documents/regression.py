"""docs/regression.md: written by hand, except for the tables of the metrics and of the power of comparisons."""

from collections.abc import Iterable, Sequence

from benchmarks.documents.markdown import head, table
from benchmarks.documents.write import read
from benchmarks.regression.injections import INJECTIONS, SLOWDOWN
from benchmarks.regression.metric import METRICS, Metric
from benchmarks.studies import power
from robust_core.problem import KINDS

COLUMNS = ("metric", "what", "kind", "better", "unit", "margin", "why this margin")
POWER = ("kind", *INJECTIONS, "alarms of equal code", "time of equal code")


def document() -> str:
    """The document with the tables as they are."""
    text = _with_table(read("regression") or "", COLUMNS, map(_row, METRICS.values()))
    return _with_table(text, POWER, _powers(power.load()))


def _with_table(text: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    before, found, after = text.partition(head(columns))
    if not found:
        raise ValueError(f"docs/regression.md must have a table with the columns {', '.join(columns)}")
    rest = after.partition("\n\n")[2]
    return f"{before}{table(columns, rows)}\n\n{rest}"


def _powers(found: power.Powers) -> Iterable[Sequence[object]]:
    """A line for each kind: the share of comparisons that find each regression, and by what most of them do."""
    cells = {(one.kind, one.injection): f"{one.found}/{one.comparisons} {one.metric}" for one in found.powers}
    nulls = {one.kind: f"{one.alarms}/{one.comparisons}" for one in found.nulls}
    times = {one.kind: one for one in found.timed}
    for kind in KINDS:
        slower = times.get(kind)
        clock = "not measured" if slower is None else f"{slower.verdict}{_interval(slower)}, {slower.turns} turns"
        same = "not measured" if slower is None else slower.same
        values = [cells.get((kind, name), "not measured") for name in INJECTIONS if name != SLOWDOWN]
        yield [kind, *values, clock, nulls.get(kind, "not measured"), same]


def _interval(one: power.Timed) -> str:
    ends = ["?" if x is None else f"{100.0 * x:.0f} %" for x in (one.lower, one.upper)]
    return f" [{ends[0]}, {ends[1]}]"


def _row(metric: Metric) -> list[str]:
    better = "must not change" if metric.direction == "exact" else metric.direction
    margin = f"{100.0 * metric.margin:g} %" if metric.scale == "relative" else f"{metric.margin:g}"
    shown = "none" if metric.kind == "deterministic" else margin
    return [metric.name, metric.text, metric.kind, better, metric.unit, shown, metric.why or "exact"]
