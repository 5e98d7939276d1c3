"""The part of docs/regression.md that is generated: the table of the metrics."""

from benchmarks.documents.markdown import table
from benchmarks.regression.metric import METRICS, Metric


def metrics() -> str:
    """All metrics with direction, unit and margin."""
    return table(["metric", "what", "kind", "better", "unit", "margin", "why this margin"], map(_row, METRICS.values()))


def _row(metric: Metric) -> list[str]:
    better = "must not change" if metric.direction == "exact" else metric.direction
    margin = f"{100.0 * metric.margin:g} %" if metric.scale == "relative" else f"{metric.margin:g}"
    shown = "none" if metric.kind == "deterministic" else margin
    return [metric.name, metric.text, metric.kind, better, metric.unit, shown, metric.why or "exact"]
