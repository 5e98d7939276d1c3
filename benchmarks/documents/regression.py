"""docs/regression.md: written by hand, except for the tables of the metrics and of the power of comparisons."""

from collections.abc import Iterable, Sequence

from benchmarks.documents.markdown import head, table
from benchmarks.documents.write import read
from benchmarks.regression.injections import INJECTIONS, SLOWDOWN
from benchmarks.regression.metric import METRICS, Metric
from benchmarks.studies import power
from robust_core.problem import KINDS

COLUMNS = ("metric", "what", "kind", "better", "unit", "margin", "why this margin")
VALUES = tuple(name for name in INJECTIONS if name != SLOWDOWN)
POWER = ("kind", *VALUES, "alarms of equal code")
TIMED = (*POWER, SLOWDOWN, "time of equal code")


def document() -> str:
    """The document with the tables as they are."""
    text = _with_table(read("regression") or "", COLUMNS, map(_row, METRICS.values()))
    found = power.load()
    return _with_table(text, TIMED if found.timed else POWER, _powers(found), instead_of=(TIMED, POWER))


def _with_table(
    text: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    instead_of: Sequence[Sequence[str]] = (),
) -> str:
    """The text with these rows in place of its table with these columns, or with some of those that it may have."""
    present = next((some for some in (instead_of or (columns,)) if head(some) in text), None)
    if present is None:
        raise ValueError(f"docs/regression.md must have a table with the columns {', '.join(columns)}")
    before, _, after = text.partition(head(present))
    rest = after.partition("\n\n")[2]
    return f"{before}{table(columns, rows)}\n\n{rest}"


def _powers(found: power.Powers) -> Iterable[Sequence[object]]:
    """A line for each kind: the share of comparisons that find each regression, and by what most of them do.

    The columns of times are left out where no time was measured.
    """
    cells = {(one.kind, one.injection): f"{one.found}/{one.comparisons} {one.metric}" for one in found.powers}
    nulls = {one.kind: f"{one.alarms}/{one.comparisons}" for one in found.nulls}
    times = {one.kind: one for one in found.timed}
    for kind in KINDS:
        values = [kind, *(cells.get((kind, name), "not measured") for name in VALUES), nulls.get(kind, "not measured")]
        yield [*values, *_clock(times.get(kind))] if times else values


def _clock(one: power.Timed | None) -> list[str]:
    """The two columns of times."""
    if one is None:
        return ["not measured", "not measured"]
    return [f"{one.verdict}{_interval(one)}, {one.turns} turns", one.same]


def _interval(one: power.Timed) -> str:
    ends = ["?" if x is None else f"{100.0 * x:.0f} %" for x in (one.lower, one.upper)]
    return f" [{ends[0]}, {ends[1]}]"


def _row(metric: Metric) -> list[str]:
    better = "must not change" if metric.direction == "exact" else metric.direction
    margin = f"{100.0 * metric.margin:g} %" if metric.scale == "relative" else f"{metric.margin:g}"
    shown = "none" if metric.kind == "deterministic" else margin
    return [metric.name, metric.text, metric.kind, better, metric.unit, shown, metric.why or "exact"]
