"""docs/regression.md: written by hand, except for the table of the metrics."""

from benchmarks.documents.markdown import head, table
from benchmarks.documents.write import read
from benchmarks.regression.metric import METRICS, Metric

COLUMNS = ("metric", "what", "kind", "better", "unit", "margin", "why this margin")


def document() -> str:
    """The document with the table of the metrics as they are."""
    text = read("regression") or ""
    before, found, after = text.partition(head(COLUMNS))
    if not found:
        raise ValueError(f"docs/regression.md must have a table with the columns {', '.join(COLUMNS)}")
    rest = after.partition("\n\n")[2]
    return f"{before}{table(COLUMNS, map(_row, METRICS.values()))}\n\n{rest}"


def _row(metric: Metric) -> list[str]:
    better = "must not change" if metric.direction == "exact" else metric.direction
    margin = f"{100.0 * metric.margin:g} %" if metric.scale == "relative" else f"{metric.margin:g}"
    shown = "none" if metric.kind == "deterministic" else margin
    return [metric.name, metric.text, metric.kind, better, metric.unit, shown, metric.why or "exact"]
