"""The grid of the benchmark: which measures there are, which units of work they need, and the result of all of them."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from benchmarks.regression import exact, linear, ratios, tabular
from benchmarks.regression.linear import PARAMETERS
from benchmarks.regression.measures import PROCESSOR, Exact, Measure, Measurements, Name, Part, Sample, title
from benchmarks.regression.problems import PROBLEMS
from benchmarks.regression.tabular import TABLE
from benchmarks.runner.identity import libraries, processor
from benchmarks.runner.schedule import run
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit
from robust_core.json import from_data
from robust_core.streams import key

PINNED = "pinned"
"""The seeds of the committed baseline."""
SEEDS, BLOCK = 96, 12
"""Replicates per measure, and how many of them are one unit of work."""


@dataclass(frozen=True)
class Job:
    """A unit and the measures it contributes to."""

    unit: Unit
    measures: tuple[Name, ...]


def _runs() -> list[tuple[str, str]]:
    """(variant, problem) of all learners."""
    vanilla = ("two states, per visit", "garnet, per visit")
    evaluated = ("machine, per visit", "garnet, constant step")
    evaluations = ("robust SARSA", "robust expected SARSA", "robust TD(0)")
    return [
        *(("robust Q-learning", problem) for problem in PROBLEMS),
        *(("vanilla Q-learning", problem) for problem in vanilla),
        *((variant, problem) for variant in evaluations for problem in evaluated),
        ("robust TDC", linear.PROBLEM),
        ("robust GTD2", linear.PROBLEM),
    ]


def jobs(*, seed_set: str = PINNED, seeds: int = SEEDS, only: str = "", injected: str = "") -> list[Job]:
    """The work of all measures whose "metric / variant / problem" contains `only`."""
    found = [*_learning(seed_set, seeds, injected), *_planning(), *_racing(seed_set, injected)]
    return [job for job in found if any(only in title(name) for name in job.measures)]


def _learning(seed_set: str, seeds: int, injected: str) -> Iterable[Job]:
    for variant, problem in _runs():
        module, names = (
            ("linear", (*linear.METRIC_NAMES, PARAMETERS))
            if problem == linear.PROBLEM
            else ("tabular", (*tabular.metrics_of(variant, problem), TABLE))
        )
        for start in range(0, seeds, BLOCK):
            arguments = {"variant": variant, "problem": problem, "seed_set": seed_set, "start": start}
            arguments |= {"stop": min(start + BLOCK, seeds), "injected": injected}
            unit = Unit(f"benchmarks.regression.{module}:measure", arguments)
            yield Job(unit, tuple((name, variant, problem) for name in names))


def _planning() -> Iterable[Job]:
    for problem in exact.problems():
        unit = Unit("benchmarks.regression.exact:measure_chain", {"problem": problem})
        yield Job(unit, tuple((name, "uniform policy", problem) for name in exact.CHAIN))
        for variant in exact.SETS:
            unit = Unit("benchmarks.regression.exact:measure_plan", {"problem": problem, "variant": variant})
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
        unit = Unit("benchmarks.regression.ratios:measure", arguments, repeatable=False)
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
) -> Measurements:
    """Measure what the store does not have, and give all measures with those that are pending."""
    wanted = jobs(seed_set=seed_set, seeds=seeds, only=only, injected=injected)
    units = [job.unit for job in wanted]
    values = run(units, store=store, workers=workers, cluster=cluster, show=show, budget_seconds=budget_seconds)
    measures, pending = collect(wanted, values, only=only)
    return Measurements(seed_set, versions(), tuple(measures), pending=tuple(pending))


def versions() -> dict[str, str]:
    """The versions and the processor that can change the last bits of a result."""
    return libraries() | {PROCESSOR: processor()}


def collect(wanted: Iterable[Job], values: Mapping[bytes, Any], *, only: str = "") -> tuple[list[Measure], list[Name]]:
    """The finished measures, sorted, and the names of those that lack a unit."""
    parts: dict[Name, list[Part | None]] = {}
    for job in wanted:
        value = values.get(job.unit.key)
        part = None if value is None else from_data(Part, value, str(job.unit))
        for name in job.measures:
            if only in title(name):
                parts.setdefault(name, []).append(part)
    measures, pending = [], []
    for name, found in sorted(parts.items()):
        finished = [part for part in found if part is not None]
        if len(finished) == len(found):
            measures.append(_measure(name, finished))
        else:
            pending.append(name)
    return measures, pending


def _measure(name: Name, parts: list[Part]) -> Measure:
    """One measure out of the units that contribute to it."""
    metric = name[0]
    if metric in (TABLE, PARAMETERS):
        return Exact(*name, key("tables", [part.values[metric] for part in parts]).hex())
    if metric in parts[0].values:
        return Exact(*name, parts[0].values[metric])
    values = chain.from_iterable(part.samples[metric] for part in parts)
    return Sample(*name, tuple(values), sum(part.impossible.get(metric, 0) for part in parts))
