"""Which injected regressions a comparison finds in a variant of each kind, how surely, and false alarms.

    robust-core study power --budget 30min

The variant is the example of its kind (`robust-core new` writes it) on the first default problem, with the share of the
error budget that a comparison on all default problems has. Values: both sides are measured on common seeds; the power
is the share of RESAMPLES samples of as many seeds, drawn from these with replacement, in which some measure is worse,
better or changed. There are SEEDS[0] seeds, and SEEDS[1] where the power of fewer is below ENOUGH. Equal code: disjoint
pairs of blocks of other seeds. Times: contests of three workers that take turns, two with the same
code and one whose code is 10 % slower; contests of the same code are added to those that are committed. Every kind is a
unit of work; the result is committed as `baselines/power.json`.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.regression import compare as regression
from benchmarks.regression import sequential, targets, variants
from benchmarks.regression.injections import INJECTIONS, SLOWDOWN, inject
from benchmarks.regression.isolated import identify
from benchmarks.regression.measures import Measurements, Part, Sample
from benchmarks.regression.paired import EXPONENTS, log_evidence
from benchmarks.regression.variants import OWN_METRICS, RATIO
from benchmarks.runner import identity
from benchmarks.runner.progress import Show
from benchmarks.runner.schedule import run as run_units
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit
from properties.kinds import module_name
from properties.statistics.budget import RUN_BUDGET
from robust_core import json
from robust_core.json import from_data, to_data
from robust_core.problem import KINDS, Kind, Variant
from robust_core.streams import key, numpy_generator

BASELINE = Path(__file__).parents[1] / "baselines" / "power.json"
SEEDS, RESAMPLES, ENOUGH = (64, 256), 100, 0.95
BLOCKS, BLOCK = 12, sequential.FIRST
TIMED_SECONDS = 20.0
"""At most so long for the clock of a kind."""


@dataclass(frozen=True)
class Power:
    """The share of comparisons that find an injected regression, and the metric that sees it most often."""

    kind: str
    injection: str
    problem: str
    seeds: int
    found: int
    comparisons: int
    metric: str
    verdict: str
    """Of that metric, from all seeds."""


@dataclass(frozen=True)
class Null:
    """Comparisons of equal code under other seeds, and the alarms among them."""

    kind: str
    comparisons: int
    alarms: int


@dataclass(frozen=True)
class Timed:
    """A contest of times: the verdict and the interval of the slower code, and the verdict of the same code."""

    kind: str
    turns: int
    verdict: str
    lower: float | None
    upper: float | None
    same: str
    load: float
    """The load average of the machine at the end."""
    code: str
    """That was measured."""


@dataclass(frozen=True)
class Powers:
    """The committed result."""

    powers: tuple[Power, ...] = ()
    nulls: tuple[Null, ...] = ()
    timed: tuple[Timed, ...] = ()
    made_by: dict[str, str] = field(default_factory=dict)

    def renew(self, today: "Powers") -> "Powers":
        """This result with the kinds of another in place of its own."""

        def joined(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
            measured = {one.kind: getattr(one, "code", "") for one in new}
            kept = (one for one in old if one.kind not in measured or measured[one.kind] == getattr(one, "code", None))
            return tuple(sorted((*kept, *new), key=_place))

        return Powers(
            joined(self.powers, today.powers),
            joined(self.nulls, today.nulls),
            joined(self.timed, today.timed),
            dict(sorted((self.made_by | today.made_by).items())),
        )


def _place(one: Any) -> tuple[int, int]:
    return KINDS.index(one.kind), list(INJECTIONS).index(getattr(one, "injection", SLOWDOWN))


def load(path: Path = BASELINE) -> Powers:
    """A committed result; none is empty."""
    return from_data(Powers, json.load(path), str(path)) if path.exists() else Powers()


def example(kind: str) -> Variant:
    """The example of a kind."""
    found: Variant = import_module(_module(kind)).VARIANT
    return found


def _module(kind: str) -> str:
    return f"properties.variants.examples.{module_name(kind)}"


def run(
    kinds: Sequence[str],
    *,
    store: Store,
    workers: int,
    budget_seconds: float,
    part: str = "all",
    show: Show = lambda text: None,
) -> Powers:
    """The powers of some kinds, as far as the budget goes; times are measured one kind after the other at the end."""
    deadline = time.monotonic() + budget_seconds
    units = {
        kind: Unit(f"{__name__}:measure_kind", {"kind": kind, "code": identity.of(_module(kind))})
        for kind in kinds
        if part != "times"
    }
    values = run_units(list(units.values()), store=store, workers=workers, budget_seconds=budget_seconds, show=show)
    done = {kind: from_data(_Found, values[unit.key]) for kind, unit in units.items() if unit.key in values}
    timed = []
    for kind in kinds if part != "values" else ():
        if time.monotonic() < deadline:
            show(f"{kind}: time")
            timed.append(time_kind(kind, store))
    return Powers(
        tuple(one for found in done.values() for one in found.powers),
        tuple(found.null for found in done.values()),
        tuple(timed),
        {kind: identity.code(_module(kind)) for kind in done},
    )


@dataclass(frozen=True)
class _Found:
    """What is measured of the values of a kind."""

    powers: tuple[Power, ...]
    null: Null


# Values


def measure_kind(kind: Kind, code: str) -> Any:
    """The data of the values of a kind: a unit of work; `code` is part of what the result is kept under."""
    problem = variants.default_problems(kind)[0]
    right = _measure(example(kind), problem, BLOCKS * BLOCK)
    found = []
    for name in INJECTIONS:
        if name != SLOWDOWN:
            for seeds in SEEDS:
                one = _power(kind, name, problem, right, _measure(inject(name, example(kind)), problem, seeds))
                if one.found >= ENOUGH * one.comparisons:
                    break
            found.append(one)
    return to_data(_Found(tuple(found), _null(kind, problem, right)))


def _measure(variant: Variant, problem: str, seeds: int) -> Part:
    with np.errstate(all="ignore"):
        return variants.measure(variant, problem, None, "power", 0, seeds)


@cache
def _share(kind: Kind | str) -> float:
    """The share of a measure in a comparison on all default problems, with its clock."""
    metrics = [variants.metrics_of(kind, name) for name in variants.default_problems(kind)]
    return RUN_BUDGET / (1 + sum(len(names) + len(sequential.TAILS) for names in metrics))


def _samples(problem: str, part: Part) -> dict[str, Sample]:
    return {
        name: Sample(name, "", problem, values, part.impossible.get(name, 0)) for name, values in part.samples.items()
    }


def _power(kind: Kind, name: str, problem: str, right: Part, wrong: Part) -> Power:
    rng = numpy_generator(key("power", kind, name))
    seeds = len(next(iter(wrong.samples.values())))
    drawn = rng.integers(seeds, size=(RESAMPLES, seeds))
    before, after = _samples(problem, right), _samples(problem, wrong)
    seen: dict[str, np.ndarray] = {}
    for metric, old in before.items():
        d = regression.differences(OWN_METRICS[metric], old, after[metric])
        margin = regression.inner_margin(OWN_METRICS[metric])
        bad = bool(after[metric].impossible)
        seen[metric] = np.array([bad or is_found(d[places], margin, _share(kind)) for places in drawn])
    best = max(seen, key=lambda metric: int(seen[metric].sum()))
    verdict = regression.decide(OWN_METRICS[best], before[best], after[best], _share(kind))
    found = int(np.any(list(seen.values()), axis=0).sum())
    return Power(kind, name, problem, seeds, found, RESAMPLES, best, verdict)


def is_found(d: np.ndarray, margin: float, share: float) -> bool:
    """Whether the interval of the differences lies on one side of 0 and not within the margin: without its ends.

    >>> is_found(np.full(64, 0.5), 1.0, 1e-6), is_found(np.full(64, 2.0), 1.0, 1e-6), is_found(np.zeros(64), 1.0, 1e-6)
    (False, True, False)
    """
    if not d.any():
        return False
    lambdas, level = EXPONENTS / margin, -np.log(share / 2.0)
    for side in (d, -d):
        if log_evidence(side, 0.0, lambdas) >= level:
            return bool(log_evidence(-side, -margin, lambdas) < level)
    return False


def _null(kind: Kind, problem: str, part: Part) -> Null:
    """Every second block of seeds against the next one."""
    alarms, pairs = 0, [(k, k + 1) for k in range(0, BLOCKS, 2)]
    for pair in pairs:
        old, new = (_measurements(problem, part, k * BLOCK) for k in pair)
        judged = regression.compare(*sequential.with_bad_runs((old, new)), metrics=OWN_METRICS)
        alarms += any(row.verdict not in ("equivalent", "undecided") for row in judged.rows)
    return Null(kind, len(pairs), alarms + sum(part.impossible.values()))


def _measurements(problem: str, part: Part, start: int) -> Measurements:
    samples = tuple(
        Sample(name, "", problem, values[start : start + BLOCK], 0) for name, values in part.samples.items()
    )
    return Measurements(f"seeds from {start}", {}, samples)


# Times

SOURCE = """import {module} as example
from benchmarks.regression.injections import inject

MINE = inject({name!r}, example.VARIANT)
"""


def time_kind(kind: Kind | str, store: Store) -> Timed:
    """Two files with the same code and one that is 10 % slower, each in a worker of its own, in turns."""
    problem = variants.default_problems(kind)[0]
    share = _share(kind)
    with TemporaryDirectory(prefix="robust-core-") as folder:
        named = []
        for place, name in enumerate(("", "", SLOWDOWN)):
            path = Path(folder) / f"side_{place}.py"
            path.write_text(SOURCE.format(module=_module(kind), name=name) + f"# side {place}\n", encoding="utf-8")
            named.append((str(path), f"side {place}"))
        with targets.sides(named, f"power {time.time_ns()}", store) as groups:
            sides = [side for (side,) in groups]
            identify(sides, problem, None)
            like = sequential.Task(problem, None, (), [[] for _ in sides])
            found = sequential.time_sides(
                sides,
                like,
                store,
                time.monotonic() + TIMED_SECONDS,
                sequential.Effort(),
                lambda task: _known(task, share),
            )
    right, same, slow = (_ratio(found, side) for side in range(3))
    interval = regression.interval(OWN_METRICS[RATIO], right, slow, share)
    lower, upper = (float(np.expm1(x)) if np.isfinite(x) else None for x in (interval.lower, interval.upper))
    verdicts = [regression.decide(OWN_METRICS[RATIO], right, other, share) for other in (slow, same)]
    load_now = round(os.getloadavg()[0], 1)
    code = identity.code(_module(kind))
    return Timed(kind, found.reached, verdicts[0], lower, upper, verdicts[1], load_now, code)


def _ratio(task: sequential.Task, side: int) -> Sample:
    values = tuple(value for part in task.values[side] for value in part.samples[RATIO])
    return Sample(RATIO, "", task.problem, values, 0)


def _known(task: sequential.Task, share: float) -> bool:
    right = _ratio(task, 0)
    return all(
        regression.decide(OWN_METRICS[RATIO], right, _ratio(task, side), share) != "undecided" for side in (1, 2)
    )
