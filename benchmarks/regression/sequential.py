"""Old against new code of a variant: pieces of seeds until every measure is decided or the time is over.

The interval of a measure is valid whenever one looks (`benchmarks.regression.paired`: the evidence at a stopping time
has mean at most 1), so a problem whose measures are all decided takes no further seeds. The share of the error budget
is that of all measures, whatever is measured in the end.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.regression import compare as regression
from benchmarks.regression import remote
from benchmarks.regression.bench import versions
from benchmarks.regression.compare import Comparison
from benchmarks.regression.functions import PLAN_ERROR
from benchmarks.regression.isolated import CannotMeasure, Side, identify, measure_piece
from benchmarks.regression.measures import MOST_VALUES, Exact, Measure, Measurements, Model, Name, Part, Sample
from benchmarks.regression.variants import BAD_RUNS, MISBEHAVIOUR, OWN_METRICS, RATIO, WORST_RUNS
from benchmarks.runner.store import Store
from properties.statistics.budget import RUN_BUDGET
from robust_core.text import shorten
from robust_core.validate import Floats

FIRST, GROWTH = 32, 1.5
"""Seeds of the first look (with fewer no evidence reaches the level), and by how much their number grows."""
SEEN, LATE_SECONDS = 4, 30.0
"""Finished seeds that tell how long others take, and by how much too long is said."""
TURN, TURNS, MOST_TURNS = 2, 8, 128
"""Turns of the clock of one side before the other side's, between two looks, and in all."""
CLOCK_SHARE = 0.25
"""The share of the time that is left for the clock."""


@dataclass
class Task:
    """A problem under measurement: the pieces so far on each side."""

    problem: str
    model: Model | None
    metrics: tuple[str, ...]
    values: list[list[Part]]
    reached: int = 0
    open: bool = True
    seconds_each: float = 0.0

    def names(self, variant: str) -> list[Name]:
        """The measures."""
        return [(metric, variant, self.problem) for metric in self.metrics]

    def measures(self, variant: str, side: int) -> list[Measure]:
        """The measures of a side, so far."""
        parts = self.values[side]
        return [
            Sample(
                *name,
                tuple(value for part in parts for value in part.samples[name[0]]),
                sum(part.impossible.get(name[0], 0) for part in parts),
            )
            for name in self.names(variant)
            if parts
        ]


@dataclass(frozen=True)
class Effort:
    """How long and how precisely; `most` seeds per problem."""

    budget_seconds: float = 60.0
    most: int = MOST_VALUES
    clock: bool = True
    alpha: float = RUN_BUDGET
    show: Callable[[str], None] = lambda line: None
    say: Callable[[list[str]], None] = lambda lines: None
    """For lines that stay: which problems the options leave out."""
    cluster: str | None = None
    """The address of a scheduler where seeds are measured, if not here."""


def looks(most: int) -> Iterator[tuple[int, int]]:
    """The pieces of seeds between two looks.

    >>> list(looks(100))
    [(0, 32), (32, 48), (48, 72), (72, 100)]
    """
    start, stop = 0, min(FIRST, most)
    while start < most:
        yield start, stop
        start, stop = stop, min(max(math.ceil(GROWTH * stop), stop + 1), most)


def run(
    sides: Sequence[Side],
    problems: Sequence[tuple[str, Model | None, tuple[str, ...]]],
    *,
    store: Store,
    effort: Effort,
    decided: Callable[[Task], bool],
) -> tuple[list[Task], str]:
    """Measure until `decided` says of every problem that it has enough, or the time or the seeds are over.

    Also the misbehaviour of the last side, if it showed any: then there are no more values.
    """
    deadline = time.monotonic() + effort.budget_seconds
    values_until = deadline - (CLOCK_SHARE * effort.budget_seconds if effort.clock else 0.0)
    tasks = [Task(problem, model, metrics, [[] for _ in sides]) for problem, model, metrics in problems]
    pieces = {task.problem: looks(effort.most) for task in tasks}
    try:
        while True:
            wanted = [task for task in tasks if task.open]
            if not wanted:
                break
            # The least measured first, so that every problem has its first look.
            task = min(wanted, key=lambda task: task.reached)
            piece = next(pieces[task.problem], None)
            # However little time there is: one look at one problem. A new one is expected to take as long as others.
            each = task.seconds_each or max(other.seconds_each for other in tasks)
            if piece is None or (each and time.monotonic() + each * (piece[1] - piece[0]) > values_until):
                task.open = False
                continue
            if not task.reached:
                effort.show(f"{task.problem}: which code is it")
                identify(sides, task.problem, task.model)
            effort.show(f"{task.problem}: seeds {piece[0]} to {piece[1]}")
            started = time.monotonic()
            if effort.cluster is None:
                told = _progress(task.problem, piece, effort, deadline)
                parts = measure_piece(sides, task.problem, task.model, *piece, store=store, progressed=told)
            else:
                parts = remote.measure_piece(
                    sides, task.problem, task.model, *piece, store=store, cluster=effort.cluster
                )
            for found, part in zip(task.values, parts, strict=True):
                found.append(part)
            task.reached = piece[1]
            task.seconds_each = max((time.monotonic() - started) / (piece[1] - piece[0]), 1e-6)
            task.open = not decided(task)
        if effort.clock:
            tasks.append(time_sides(sides, tasks[0], store, deadline, effort, decided))
    except CannotMeasure as error:
        if error.misbehaved and str(error).startswith(f"{sides[-1].label}:") and len(sides) > 1:
            return tasks, str(error)
        raise
    return tasks, ""


def _progress(problem: str, piece: tuple[int, int], effort: Effort, deadline: float) -> Callable[[int], None]:
    """What is told of the finished seeds of a piece; once, that a first look goes beyond the time."""
    first, (start, stop) = time.monotonic(), piece

    def told(finished: int) -> None:
        nonlocal first
        effort.show(f"{problem}: seed {start + finished} of {stop}")
        now = time.monotonic()
        if finished == 1:
            first = now  # before it, something may have been loaded or compiled
        expected = (now - first) / max(finished - 1, 1) * (stop - start)
        if start == 0 and finished == SEEN and first + expected > deadline + LATE_SECONDS:
            words = f"{problem}: a first look has {stop} seeds, which take about {expected:.0f} s"
            effort.say([f"{words}, more than the time that is left"])

    return told


def time_sides(
    sides: Sequence[Side],
    like: Task,
    store: Store,
    deadline: float,
    effort: Effort,
    decided: Callable[[Task], bool],
) -> Task:
    """Turns of the clock on the first problem, in pieces that alternate between the sides."""
    task = Task(like.problem, like.model, (RATIO,), [[] for _ in sides])
    while task.reached < MOST_TURNS:
        effort.show(f"{task.problem}: time, turn {task.reached}")
        parts = measure_piece(
            sides, task.problem, task.model, task.reached, task.reached + TURN, store=store, clock=True
        )
        for found, part in zip(task.values, parts, strict=True):
            found.append(part)
        task.reached += TURN
        if time.monotonic() > deadline or (task.reached % TURNS == 0 and decided(task)):
            break
    task.open = False
    return task


def conduct(variant: str, misbehaviour: str) -> Exact:
    """What the code did instead of an answer, or beside its answers, as a measure."""
    return Exact(MISBEHAVIOUR, variant, "all", shorten(misbehaviour))


JUDGED = ("last error", PLAN_ERROR)
"""The metrics whose bad runs are counted."""
TAILS = {BAD_RUNS: 0.9, WORST_RUNS: 1.0}


def with_bad_runs(sides: Sequence[Measurements]) -> list[Measurements]:
    """Both sides with the runs that are above a quantile of the better run of each of the first seeds.

    The level is a symmetric function of the values of a seed, and independent of later seeds. So if nothing changed,
    each run that is bad on one side alone is on either side with probability one half. Runs with the same bits on both
    sides are left out: there is nothing to judge.
    """
    known = [{measure.name: measure for measure in side.measures if isinstance(measure, Sample)} for side in sides]
    added: list[list[Measure]] = [[] for _ in sides]
    for name in known[0].keys() & known[1].keys():
        runs = [_errors(side[name]) for side in known]
        if name[0] not in JUDGED or np.array_equal(runs[0], runs[1]):
            continue
        n = min(FIRST, *(run.size for run in runs))
        first = np.sort(np.minimum(runs[0][:n], runs[1][:n]))
        for metric, share in TAILS.items():
            level = first[math.ceil(share * first.size) - 1]
            for place, values in enumerate(runs):
                added[place].append(Sample(metric, *name[1:], tuple((values > level).astype(float).tolist()), 0))
    return [
        replace(side, measures=(*side.measures, *sorted(more, key=lambda measure: measure.name)))
        for side, more in zip(sides, added, strict=True)
    ]


def _errors(sample: Sample) -> Floats:
    return np.array([math.inf if value is None else value for value in sample.values])


def compare(
    sides: tuple[Side, Side],
    name: str,
    problems: Sequence[tuple[str, Model | None, tuple[str, ...]]],
    *,
    store: Store,
    effort: Effort,
) -> tuple[Comparison, tuple[Measurements, Measurements]]:
    """The comparison of two sides, and what was measured."""
    tested = sum(len(metrics) + len(TAILS) for _, _, metrics in problems) + effort.clock
    share = effort.alpha / tested

    def decided(task: Task) -> bool:
        old, new = (task.measures(name, side) for side in (0, 1))
        return all(
            isinstance(before, Sample)
            and isinstance(now, Sample)
            and regression.decide(OWN_METRICS[before.metric], before, now, share) != "undecided"
            for before, now in zip(old, new, strict=True)
        )

    tasks, misbehaviour = run(sides, problems, store=store, effort=effort, decided=decided)
    pending = tuple(
        measure
        for task in tasks
        if not task.values[0] and not misbehaviour
        for measure in task.names(name)
    )  # fmt: skip
    found = []
    for place, side in enumerate(sides):
        measures = [measure for task in tasks for measure in task.measures(name, place) if all(task.values)]
        if misbehaviour:
            measures.append(conduct(name, misbehaviour if place else ""))
        found.append(Measurements(side.seed_set, versions(), tuple(measures), side.label, pending if place else ()))
    before, today = with_bad_runs(found)
    comparison = regression.compare(before, today, alpha=effort.alpha, metrics=OWN_METRICS)
    return comparison, (before, today)
