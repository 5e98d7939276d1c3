"""Today against the committed baseline; ratios of times apart, for they differ from run to run."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.runner.store import Store

if TYPE_CHECKING:
    from benchmarks.regression.measures import Measurements

STORE = Path(".robust-core") / "regression.jsonl"
"""The store of `robust-core bench`: what it measured is not measured again."""
COMMANDS = ("robust-core bench", "robust-core compare --all")


def collected(
    *, baseline: Path | None = None, store: Path = STORE, workers: int = 1, show: Callable[[str], None]
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The comparison with the baseline (default: the committed one; None if there is none), and the ratios of times."""
    from benchmarks.regression.baseline import COMMITTED, load
    from benchmarks.regression.bench import bench

    path = COMMITTED if baseline is None else baseline
    if not path.is_file():
        return None, []
    kept = Store(store)
    try:
        today = bench(store=kept, workers=workers, show=show)
    finally:
        kept.close()
    return split(load(str(path)), today)


def split(baseline: "Measurements", today: "Measurements") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One comparison under one error budget, in two parts: what is a function of its seeds, and ratios of times."""
    from benchmarks.regression.compare import compare, worst
    from robust_core.json import to_data

    found = compare(baseline, today)
    rows = [row for row in found.rows if row.kind != "ratio"]
    comparison = {
        "verdict": worst(rows),
        "alpha": found.alpha,
        "paired": found.paired,
        "reason": found.baseline.reason,
        "cells": [to_data(row) for row in rows],
        "commands": list(COMMANDS),
    }
    return comparison, [to_data(row) for row in found.rows if row.kind == "ratio"]
