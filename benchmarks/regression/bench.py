"""The grid of the benchmark: which cells there are, which units of work fill them, and the result as one table."""

import math
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.regression import exact, linear, ratios, tabular
from benchmarks.regression.compare import PROCESSOR
from benchmarks.regression.settings import SETTINGS
from benchmarks.runner.identity import libraries, processor
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit, run
from robust_core.streams import key

PINNED = "pinned"
"""The seeds of the committed baseline."""
SEEDS, BLOCK = 96, 12
"""Replicates per cell, and how many of them are one unit of work."""
TABLE, PARAMETERS = "table", "parameters"
"""The metrics that are hashes of what is learned."""
Name = tuple[str, str, str]


@dataclass(frozen=True)
class Job:
    """A unit and the cells (metric, variant, problem) it contributes to."""

    unit: Unit
    cells: tuple[Name, ...]


def _runs() -> list[tuple[str, str]]:
    """(variant, problem) of all learners."""
    vanilla = ("two states, per visit", "garnet, per visit")
    evaluated = ("machine, per visit", "garnet, constant step")
    evaluations = ("robust SARSA", "robust expected SARSA", "robust TD(0)")
    return [
        *(("robust Q-learning", problem) for problem in SETTINGS),
        *(("vanilla Q-learning", problem) for problem in vanilla),
        *((variant, problem) for variant in evaluations for problem in evaluated),
        ("robust TDC", linear.PROBLEM),
        ("robust GTD2", linear.PROBLEM),
    ]


def jobs(*, seed_set: str = PINNED, seeds: int = SEEDS, only: str = "", injected: str = "") -> list[Job]:
    """The work of all cells whose "metric / variant / problem" contains `only`."""
    found = [*_learning(seed_set, seeds, injected), *_planning(), *_racing(seed_set, injected)]
    return [job for job in found if any(only in " / ".join(cell) for cell in job.cells)]


def _learning(seed_set: str, seeds: int, injected: str) -> Iterable[Job]:
    for variant, problem in _runs():
        module, names = (
            ("linear", (*linear.MEASURES, PARAMETERS))
            if problem == linear.PROBLEM
            else ("tabular", (*tabular.measures(variant, problem), TABLE))
        )
        for start in range(0, seeds, BLOCK):
            arguments = {"variant": variant, "problem": problem, "seed_set": seed_set, "start": start}
            arguments |= {"stop": min(start + BLOCK, seeds), "injected": injected}
            unit = Unit(f"benchmarks.regression.{module}:measured", arguments)
            yield Job(unit, tuple((name, variant, problem) for name in names))


def _planning() -> Iterable[Job]:
    for problem in exact.problems():
        unit = Unit("benchmarks.regression.exact:walked", {"problem": problem})
        yield Job(unit, tuple((name, "uniform policy", problem) for name in exact.CHAIN))
        for variant in exact.SETS:
            unit = Unit("benchmarks.regression.exact:planned", {"problem": problem, "variant": variant})
            yield Job(unit, tuple((name, variant, problem) for name in exact.PLANS))


def _racing(seed_set: str, injected: str) -> Iterable[Job]:
    for metric, variant, problem in ratios.contests():
        arguments = {
            "metric": metric,
            "variant": variant,
            "problem": problem,
            "seed_set": seed_set,
            "injected": injected,
        }
        unit = Unit("benchmarks.regression.ratios:measured", arguments, repeatable=False)
        yield Job(unit, ((metric, variant, problem),))


def bench(
    *,
    store: Store,
    seed_set: str = PINNED,
    seeds: int = SEEDS,
    only: str = "",
    injected: str = "",
    workers: int = 1,
    cluster: str | None = None,
    budget_seconds: float = math.inf,
    show: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Measure what the store does not have, and give all cells: the shape of a baseline, and what is pending."""
    wanted = jobs(seed_set=seed_set, seeds=seeds, only=only, injected=injected)
    units = [job.unit for job in wanted]
    values = run(units, store=store, workers=workers, cluster=cluster, show=show, budget_seconds=budget_seconds)
    cells, pending = collected(wanted, values, only=only)
    return {"seed_set": seed_set, "versions": versions(), "cells": cells, "pending": pending}


def versions() -> dict[str, str]:
    """What can change the last bits of a result."""
    return {"python": platform.python_version(), **libraries(), PROCESSOR: processor()}


def collected(
    wanted: Iterable[Job], values: Mapping[bytes, Any], *, only: str = ""
) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """The finished cells, sorted, and the names of those that lack a unit."""
    parts: dict[Name, list[Any]] = {}
    for job in wanted:
        value = values.get(job.unit.key)
        for cell in job.cells:
            if only in " / ".join(cell):
                parts.setdefault(cell, []).append(value)
    finished = {cell: found for cell, found in parts.items() if all(value is not None for value in found)}
    cells = [_cell(cell, found) for cell, found in sorted(finished.items())]
    return cells, [list(cell) for cell in sorted(parts.keys() - finished.keys())]


def _cell(name: Name, found: list[Any]) -> dict[str, Any]:
    """One cell out of the units that make it up."""
    metric = name[0]
    described: dict[str, Any] = dict(zip(("metric", "variant", "problem"), name, strict=True))
    if metric in (TABLE, PARAMETERS):
        return described | {"value": key("tables", [part["digest"] for part in found]).hex()}
    if "values" not in found[0]:
        return described | {"value": found[0][metric]}
    if "impossible" not in found[0]:
        return described | {"values": found[0]["values"], "impossible": 0}
    return described | {
        "values": [value for part in found for value in part["values"][metric]],
        "impossible": sum(part["impossible"][metric] for part in found),
    }
