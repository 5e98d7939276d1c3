"""Statistical verdicts: today's quick run, and the committed full run."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

SEED_SET = "pinned"
QUICK_COMMAND = "python -m benchmarks.batch.cells --size quick"
FULL_COMMAND = "python -m benchmarks.batch.cells --size full --json REPORT.json"


def today(store: Path, *, workers: int, show: Callable[[str], None]) -> dict[str, Any]:
    """A quick run of all cells and controls with pinned seeds; what the store has is not computed again."""
    from benchmarks.batch.cells import run

    return run(size="quick", seed_set=SEED_SET, path=store, workers=workers, show=show)


def committed() -> dict[str, Any] | None:
    """The committed full run."""
    from benchmarks.documents.statistics import FULL

    return json.loads(FULL.read_text(encoding="utf-8")) if FULL.exists() else None


def laws() -> list[dict[str, Any]]:
    """Every statistical law: statement, null, and the claims of the paper that it decides."""
    from properties.statistics.laws import laws as all_laws

    return [
        {"name": law.name, "statement": law.statement, "null": law.null, "claims": list(law.claims)}
        for law in all_laws()
    ]


def _finite(value: Any) -> Any:
    """None for numbers that JSON cannot carry: a wrong variant's may be infinite or none."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def plain(run: dict[str, Any], *, source: str, command: str, today: bool) -> dict[str, Any]:
    """A run as the report shows it: finite numbers, the cells with their paths where they have one."""
    run = _finite(run)
    fields = ("cell", "law", "outcome", "n", "n_max", "alpha", "beta", "effect", "log_against", "log_favour")
    cells = [
        {name: cell.get(name) for name in fields} | {"path": cell.get("path") or [], "intervals": cell.get("intervals")}
        for cell in run["cells"]
    ]
    return {
        "source": source,
        "today": today,
        "command": command,
        "size": run["size"],
        "seed_set": run["seed_set"],
        "summary": run["summary"],
        "cells": cells,
        "controls": run["controls"],
        "missed": run["missed controls"],
    }
