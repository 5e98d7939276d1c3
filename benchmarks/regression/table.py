"""A comparison as text for the terminal: the verdict first, then what differs, the worst on top."""

from collections.abc import Mapping
from typing import Any

from benchmarks.regression.compare import SEVERITY
from benchmarks.regression.metric import METRICS, Metric
from benchmarks.runner.identity import ABSENT


def text(found: Mapping[str, Any], *, everything: bool = False) -> str:
    """The comparison in lines; cells that are equivalent only on request."""
    cells = sorted(found["cells"], key=lambda cell: SEVERITY.index(cell["verdict"]))
    shown = [cell for cell in cells if everything or cell["verdict"] != "equivalent"]
    counts = ", ".join(f"{count} {word}" for word, count in found["counts"].items() if count)
    lines = [f"{found['verdict']}: {counts or 'no cells'}", *map(_line, shown), _statement(found)]
    versions = found["versions"]
    if versions["baseline"] != versions["today"]:
        lines.append(f"versions differ: {moved(versions['baseline'], versions['today'])}")
    return "\n".join(lines)


def _statement(found: Mapping[str, Any]) -> str:
    seeds = "the same seeds" if found["paired"] else "different seeds"
    return (
        f"{seeds}; a false better, worse or changed in any cell has a probability of at most {found['alpha']:.0e}; "
        f"baseline: {found['reason'] or 'no reason given'}"
    )


def _line(cell: Mapping[str, Any]) -> str:
    name = f"{cell['metric']} / {cell['variant']} / {cell['problem']}"
    note = f"  ({cell['note']})" if cell["note"] else ""
    return (
        f"  {cell['verdict']:<10} {name}: {_amount(cell['baseline'])} -> {_amount(cell['today'])}{_change(cell)}{note}"
    )


def _change(cell: Mapping[str, Any]) -> str:
    """The effect with its interval and margin, in the scale of the metric."""
    if cell["kind"] == "deterministic" or cell["effect"] is None:
        return ""
    relative = cell["scale"] == "relative"

    def shown(x: float | None, missing: str) -> str:
        if x is None:
            return missing
        return f"{100.0 * x:+.3g} %" if relative else f"{x:+.3g}"

    interval = f"[{shown(cell['lower'], '-∞')}, {shown(cell['upper'], '∞')}]"
    margin = f"{100.0 * cell['margin']:g} %" if relative else f"{cell['margin']:g}"
    return f" {cell['unit']}, {shown(cell['effect'], '?')} {interval}, margin {margin}, n={cell['n']}"


def _amount(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def moved(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The versions that differ, and no others.

    >>> moved({"numpy": "2.3.0", "gymnasium": "1.2.0"}, {"numpy": "2.3.0"})
    'gymnasium 1.2.0 -> absent'
    """
    pairs = {name: (before.get(name, ABSENT), now.get(name, ABSENT)) for name in {**before, **now}}
    return ", ".join(f"{name} {old} -> {new}" for name, (old, new) in pairs.items() if old != new)


def metrics() -> str:
    """All metrics with direction, unit and margin, as the documentation shows them."""
    head = "| metric | what | kind | better | unit | margin | why this margin |\n|---|---|---|---|---|---|---|\n"
    return head + "".join(f"| {_described(metric)} |\n" for metric in METRICS.values())


def _described(metric: Metric) -> str:
    better = "must not change" if metric.direction == "exact" else metric.direction
    margin = f"{100.0 * metric.margin:g} %" if metric.scale == "relative" else f"{metric.margin:g}"
    shown = "none" if metric.kind == "deterministic" else margin
    fields = (metric.name, metric.text, metric.kind, better, metric.unit, shown, metric.why or "exact")
    return " | ".join(field.replace("|", "\\|") for field in fields)
