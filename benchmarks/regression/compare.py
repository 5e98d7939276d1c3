"""Today against the baseline, cell by cell: the definitions are in docs/regression.md.

Both sides are plain data as `baseline.parsed` gives it: {"seed_set", "reason", "versions", "cells"}, where a cell is
{"metric", "variant", "problem"} with a "value" (deterministic) or with "values" by seed or repeat (null: no number)
and the number of "impossible" ones among them.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from benchmarks.regression.metric import METRICS, Metric
from benchmarks.regression.paired import Centre, centre, detectable
from properties.statistics.budget import RUN_BUDGET
from robust_core.validate import Floats

Verdict = Literal["better", "worse", "equivalent", "undecided", "changed"]
SEVERITY: tuple[Verdict, ...] = ("worse", "changed", "undecided", "better", "equivalent")
"""The verdict of a comparison is the first of these that some cell has."""
POWER = 0.9
PROCESSOR = "processor"
"""Under this name the versions of a side say for which kind of processor its code was compiled."""
Cell = dict[str, Any]
Name = tuple[str, str, str]


def compared(baseline: Mapping[str, Any], today: Mapping[str, Any], *, alpha: float = RUN_BUDGET) -> dict[str, Any]:
    """Every cell with its verdict, and the verdict of the whole.

    The probability that any cell is called better, worse or changed although nothing differs (the pairs are
    exchangeable) is at most `alpha`; each cell that is no deterministic one has an equal share of it.
    """
    before, now = _by_name(baseline), _by_name(today)
    pending = {tuple(name) for name in today.get("pending", ())}
    names = sorted(before.keys() | now.keys() | pending)
    tested = sum(METRICS[name[0]].kind != "deterministic" for name in names if name[0] in METRICS)
    share = alpha / max(tested, 1)
    paired = baseline["seed_set"] == today["seed_set"]
    same = baseline["versions"].get(PROCESSOR) == today["versions"].get(PROCESSOR)
    cells = [_cell(name, before.get(name), now.get(name), share, paired, name in pending, same) for name in names]
    found = {cell["verdict"] for cell in cells}
    return {
        "verdict": next((word for word in SEVERITY if word in found), "equivalent"),
        "alpha": alpha,
        "alpha per cell": share,
        "power": POWER,
        "paired": paired,
        "reason": baseline.get("reason", ""),
        "seed_sets": {"baseline": baseline["seed_set"], "today": today["seed_set"]},
        "versions": {"baseline": dict(baseline["versions"]), "today": dict(today["versions"])},
        "counts": {word: sum(cell["verdict"] == word for cell in cells) for word in SEVERITY},
        "suspicious": sum(cell["suspicious"] for cell in cells),
        "cells": cells,
    }


def _by_name(side: Mapping[str, Any]) -> dict[Name, Cell]:
    return {(cell["metric"], cell["variant"], cell["problem"]): cell for cell in side["cells"]}


def _cell(
    name: Name, before: Cell | None, now: Cell | None, share: float, paired: bool, pending: bool, same_processor: bool
) -> Cell:
    metric = METRICS.get(name[0])
    described: Cell = {
        "metric": name[0], "variant": name[1], "problem": name[2],
        "unit": metric.unit if metric else "", "direction": metric.direction if metric else "exact",
        "kind": metric.kind if metric else "deterministic", "scale": metric.scale if metric else "absolute",
        "margin": metric.margin if metric else 0.0, "baseline": _typical(before), "today": _typical(now),
        "effect": None, "lower": None, "upper": None, "detects": None, "n": 0, "paired": False, "suspicious": False,
    }  # fmt: skip
    if metric is None or before is None or now is None:
        return described | _absent(metric, before, pending)
    if any(("value" in cell) != (metric.kind == "deterministic") for cell in (before, now)):
        return described | {"verdict": "changed", "note": "its form is not that of its metric", "suspicious": True}
    if metric.kind == "deterministic":
        return described | _exactly(before, now, decides=metric.portable or same_processor)
    found = described | _statistically(metric, before, now, share, paired and metric.kind == "statistical")
    if metric.kind == "ratio" and not same_processor and found["verdict"] in ("better", "worse"):
        return found | {"verdict": "undecided", "note": f"{found['verdict']} on another processor: it may be its doing"}
    return found


def _typical(cell: Cell | None) -> Any:
    """The deterministic value, or the median over seeds or repeats (null counts as infinite)."""
    if cell is None or "value" in cell:
        return None if cell is None else cell["value"]
    return _number(float(np.median(_array(cell["values"]))))


def _array(values: Sequence[float | None]) -> Floats:
    return np.array([math.inf if value is None else value for value in values], dtype=np.float64)


def _number(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _absent(metric: Metric | None, before: Cell | None, pending: bool) -> Cell:
    """A cell that one side lacks: what is no longer measured cannot get worse, so dropping it is a change."""
    if pending:
        return {"verdict": "undecided", "note": "pending: the budget was over before it was measured"}
    if before is None:
        return {"verdict": "undecided", "note": "new: the baseline does not have it"}
    gone = "the metric is no longer known" if metric is None else "it is no longer measured"
    return {"verdict": "changed", "note": gone, "suspicious": True}


def _exactly(before: Cell, now: Cell, *, decides: bool) -> Cell:
    """The same value or another one; where that does not decide, other bits may be the processor's."""
    old, new = before["value"], now["value"]
    if old == new and type(old) is type(new):
        return {"verdict": "equivalent", "note": "", "n": 1}
    if not decides:
        return {"verdict": "undecided", "note": "other processor: its sums may have another order", "n": 1}
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (old, new))
    return {
        "verdict": "changed",
        "note": "must not change without a reason",
        "n": 1,
        "effect": new - old if numbers else None,
        "suspicious": True,
    }


def _statistically(metric: Metric, before: Cell, now: Cell, share: float, paired: bool) -> Cell:
    n = min(len(before["values"]), len(now["values"]))
    old, new = (_transformed(metric, cell["values"][:n]) for cell in (before, now))
    # Equal values differ by 0 even where both are infinite.
    d = np.where(old == new, 0.0, np.subtract(new, old, where=old != new, out=np.zeros(n)))
    margin = _inner(metric, metric.margin)
    interval = centre(d, margin=margin, alpha=share)
    impossible: int = now.get("impossible", 0)
    known = old[np.isfinite(old)]
    spread = math.sqrt(2.0) * float(known.std()) if known.size else math.inf
    seen = detectable(spread, n, margin=margin, alpha=share, power=POWER) if n else math.inf
    verdict: Verdict = "changed" if impossible else judged(metric, interval)
    return {
        "n": n,
        "paired": paired,
        "verdict": verdict,
        "suspicious": verdict == "changed",
        "note": _note(verdict, impossible, n),
        "effect": _outer(metric, interval.estimate),
        "lower": _outer(metric, interval.lower),
        "upper": _outer(metric, interval.upper),
        "detects": _outer(metric, seen + (margin if metric.kind == "ratio" else 0.0)),
    }


def _note(verdict: Verdict, impossible: int, n: int) -> str:
    if impossible:
        return f"{impossible} of {n} values are better than the truth allows"
    if verdict == "better":
        return "review: is it a bug that improves the metric? then accept it as the new baseline"
    return "must not change without a reason" if verdict == "changed" else ""


def _transformed(metric: Metric, values: Sequence[float | None]) -> Floats:
    """Logarithms for a relative scale; what is no number counts as the worst."""
    worst = -math.inf if metric.direction == "higher" else math.inf
    x = np.array([worst if value is None else value for value in values], dtype=np.float64)
    if metric.scale == "absolute":
        return x
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(x, 0.0))


def _inner(metric: Metric, margin: float) -> float:
    return math.log1p(margin) if metric.scale == "relative" else margin


def _outer(metric: Metric, d: float) -> float | None:
    """A difference in the scale of the report: relative ones as today/baseline − 1."""
    if metric.scale == "absolute" or math.isinf(d):
        return _number(d) if d != -math.inf or metric.scale == "absolute" else -1.0
    return _number(math.expm1(d)) if d < 700.0 else None


def judged(metric: Metric, interval: Centre) -> Verdict:
    """The verdict of an interval for (transformed) today − baseline.

    >>> judged(METRICS["bias"], Centre(0.001, 0.002, 0.003)), judged(METRICS["bias"], Centre(0.001, 0.005, 0.009))
    ('equivalent', 'changed')
    """
    margin = _inner(metric, metric.margin)
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
