"""Comparison, measurement and ranking of users' variants: which problems, which metrics, which sides."""

import contextlib
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.regression import baseline, courses, functions, sequential, targets
from benchmarks.regression import compare as regression
from benchmarks.regression.bench import versions
from benchmarks.regression.compare import Comparison
from benchmarks.regression.isolated import CannotMeasure, Side
from benchmarks.regression.measures import Measurements, Model, Sample
from benchmarks.regression.sequential import Effort, Task
from benchmarks.regression.variants import (
    OWN_METRICS,
    RATIO,
    default_problems,
    metrics_of,
    problem_names,
    sizes_of,
)
from benchmarks.runner.store import Store
from properties.cases.scope import ANY, OutOfScope
from properties.process.session import Description
from robust_core.json import LARGEST_FILE, blame_on, text_of
from robust_core.mdp import MDP
from robust_core.text import one_line, suggestion

SECONDS = 60.0
"""The default time of a comparison."""
SEEDS = 96
"""The default number of seeds of a measurement that is not compared."""
RANK_ALPHA = 0.01
"""The probability that any rank of a ranking is wrong."""
Problems = list[tuple[str, Model | None, tuple[str, ...]]]


@dataclass(frozen=True)
class Choice:
    """What the user chose: problems by name, a model in a file with its radius, and the seeds."""

    problems: tuple[str, ...] = ()
    model: Path | None = None
    radius: float = functions.RADIUS
    seed_set: str = "pinned"


def names_of(sides: Sequence[Side]) -> list[str]:
    """The names of the variants in one line each; those of one name are told apart by their targets."""
    names = [one_line(side.variant.name) for side in sides]
    found = [
        f"{name} ({side.label})" if names.count(name) > 1 else name for name, side in zip(names, sides, strict=True)
    ]
    for name in found:
        if found.count(name) > 1:
            raise ValueError(f"{name} is there twice: name every variant once")
    return found


def _shares(effort: Effort, parts: int) -> Iterator[Effort]:
    """The effort of each of some parts, which share the time from now on: what one leaves is for those after it."""
    deadline = time.monotonic() + effort.budget_seconds
    for left in range(parts, 0, -1):
        yield replace(effort, budget_seconds=max(deadline - time.monotonic(), 0.0) / left)


def _since(effort: Effort, started: float) -> Effort:
    """What is left of the time: the start of the workers is part of it."""
    return replace(effort, budget_seconds=max(effort.budget_seconds - (time.monotonic() - started), 0.0))


def problems_of(sides: Sequence[Side], choice: Choice, effort: Effort) -> Problems:
    """The problems that are inside the options of all sides, with their metrics.

    Wrong names, and problems that the options leave out, are refused before any work. What the options leave is said.
    """
    variant, scope = sides[-1].variant, ANY
    kind, known = variant.kind, problem_names(variant.kind)
    try:
        for side in sides:
            scope = scope.common(side.variant.scope)
    except OutOfScope as error:
        raise ValueError(f"{' and '.join(side.label for side in sides)}: {error}") from None
    for side in sides:
        side.scope = scope
    names = ", ".join(dict.fromkeys(one_line(side.variant.name) for side in sides))
    effort.say([f"{names}: {words}" for words in scope.in_words()])
    for name in choice.problems:
        if name not in known:
            there = "; ".join(known)
            raise ValueError(f"problem {name!r} is unknown to {kind}; there are {there}{suggestion(name, known)}")
        states, actions, _ = sizes_of(name, scope)
        if not scope.has_sizes(states, actions):
            raise ValueError(
                f"problem {name!r} has {states} states and {actions} actions, and {variant.name} is "
                f"{' and '.join(scope.in_words())}: {', '.join(default_problems(kind, scope))} can be measured"
            )
    own_schedule = any("not told any step size" in side.variant.limits for side in sides)
    found: Problems = []
    if choice.model is not None:
        if kind in ("linear evaluation", *courses.FEATURES):
            raise ValueError(f"a model file has no features, so {kind} cannot be measured on it")
        with blame_on(choice.model):
            mdp = MDP.from_json(text_of(choice.model, largest=LARGEST_FILE))
            try:
                scope.require_model(mdp)
            except OutOfScope as error:
                raise ValueError(f"the options of {variant.name} leave this model out ({error})") from None
        users = Model(mdp.to_dict(), choice.radius)
        found.append((users.name, users, metrics_of(kind, users.name, own_schedule=own_schedule)))
    wanted = choice.problems or (() if found else default_problems(kind, scope))
    return found + [(name, None, metrics_of(kind, name, own_schedule=own_schedule)) for name in wanted]


@dataclass(frozen=True)
class Found:
    """A comparison of one variant, and the measurements of both sides."""

    variant: Description
    comparison: Comparison
    before: Measurements
    today: Measurements
    reference: str
    """The digest of the old code; of a file of measurements its reason."""

    def with_misbehaviour(self, reason: str) -> "Found":
        """The same, changed by what the new code did beside; without a reason as it is."""
        if not reason:
            return self
        before, today = (
            replace(side, measures=(*side.measures, sequential.conduct(one_line(self.variant.name), text)))
            for side, text in ((self.before, ""), (self.today, reason))
        )
        comparison = regression.compare(before, today, alpha=self.comparison.alpha, metrics=OWN_METRICS)
        return replace(self, comparison=comparison, before=before, today=today)


def compare(
    old: str, new: str, choice: Choice, *, store: Store, effort: Effort, target_only: bool = False
) -> list[Found]:
    """Compare the code of two targets; unless `target_only`, old may be a file of measurements or a git revision.

    The start of the workers is part of the time.
    """
    started = time.monotonic()
    path = Path(old.partition(":")[0])
    if path.is_file() and path.suffix != ".py":
        return _with_file(baseline.load(old), new, choice, store=store, effort=effort)
    with contextlib.ExitStack() as stack:
        target, label = old, old
        if not target_only and path.suffix != ".py":
            target, label = stack.enter_context(targets.at_revision(new, old)), f"{old}:{new}"
        named = [(target, f"old {label}"), (new, f"new {new}")]
        before, now = stack.enter_context(targets.sides(named, choice.seed_set, store))
        found = []
        pairs = targets.pair(before, now)
        effort.say(targets.unpaired(before, now, pairs))
        for sides, part in zip(pairs, _shares(_since(effort, started), len(pairs)), strict=True):
            share = replace(part, alpha=effort.alpha / len(pairs))
            variant = sides[1].variant
            wanted = problems_of(sides, choice, effort)
            comparison, measured = sequential.compare(sides, one_line(variant.name), wanted, store=store, effort=share)
            reference = sides[0].digests.get(wanted[0][0], "")
            found.append(Found(variant, comparison, *measured, reference))
        if reason := before[0].session.end():
            effort.say([f"{before[0].label}: {reason}"])
        reason = now[0].session.end()
        return [each.with_misbehaviour(reason) for each in found]


def _with_file(before: Measurements, new: str, choice: Choice, *, store: Store, effort: Effort) -> list[Found]:
    """Compare with measurements of old: the seeds are those of the file."""
    started = time.monotonic()
    measured = [m for m in before.measures if isinstance(m, Sample) and m.metric != RATIO]
    with targets.sides([(new, f"new {new}")], before.seed_set, store) as ((*sides,),):
        names = list(dict.fromkeys(measure.variant for measure in measured))
        if len(sides) == len(names) == 1:
            # As of two files: the only one of each, whatever their names are.
            names = [one_line(sides[0].variant.name)]
            measured = [replace(measure, variant=names[0]) for measure in measured]
        common = [side for side in sides if one_line(side.variant.name) in names]
        if not common:
            wanted_names = ", ".join(names_of(sides))
            raise ValueError(
                f"the baseline has measures of {', '.join(names) or 'nothing'}, not of {wanted_names}: write it with "
                "robust-core bench"
            )
        effort.say([f"not compared: {side.variant.name}, which is not in the baseline" for side in sides
                    if side not in common])  # fmt: skip
        effort.say([f"not compared: {name}, which is not in the new code" for name in names
                    if all(name != one_line(side.variant.name) for side in common)])  # fmt: skip
        found = []
        for side, part in zip(common, _shares(_since(effort, started), len(common)), strict=True):
            share = replace(part, alpha=effort.alpha / len(common))
            name = one_line(side.variant.name)
            mine = [measure for measure in measured if measure.variant == name]
            named = dict.fromkeys(measure.problem for measure in mine)
            known = tuple(name for name in problem_names(side.variant.kind) if name in named)
            chosen = choice if choice.problems or choice.model else replace(choice, problems=known)
            wanted = problems_of([side], chosen, effort)
            if any(name not in named for name, _, _ in wanted):
                raise ValueError(
                    f"the baseline has measures of {side.variant.name!r} on {'; '.join(named)} only: measure the other "
                    "problems with robust-core bench"
                )
            most = max(len(measure.values) for measure in mine)
            limited = replace(share, most=most, clock=False)
            tasks, _ = sequential.run([side], wanted, store=store, effort=limited, decided=lambda task: False)
            today = _measurements(side, name, tasks)
            kept = tuple(m for m in mine if m.problem in {task.problem for task in tasks})
            both = sequential.with_bad_runs((replace(before, measures=kept), today))
            comparison = regression.compare(both[0], both[1], alpha=share.alpha, metrics=OWN_METRICS)
            found.append(Found(side.variant, comparison, both[0], both[1], before.reason))
        reason = sides[0].session.end()
        return [each.with_misbehaviour(reason) for each in found]


def _require_good_end(groups: Sequence[Sequence[Side]]) -> None:
    """Let the workers exit; a module that leaves processes behind has misbehaved, as one that raises."""
    for first, *_ in groups:
        if reason := first.session.end():
            raise CannotMeasure(f"{first.label}: {reason}", misbehaved=True)


def _measurements(side: Side, name: str, tasks: Sequence[Task]) -> Measurements:
    measures = tuple(measure for task in tasks for measure in task.measures(name, 0))
    pending = tuple(measure for task in tasks if not task.values[0] for measure in task.names(name))
    return Measurements(side.seed_set, versions(), measures, side.label, pending)


def bench(new: Sequence[str], choice: Choice, *, seeds: int, store: Store, effort: Effort) -> Measurements:
    """Measure the variants of some targets on so many seeds."""
    started = time.monotonic()
    parts = []
    with targets.sides([(target, target) for target in new], choice.seed_set, store) as groups:
        sides = [side for group in groups for side in group]
        shares = _shares(_since(replace(effort, most=seeds), started), len(sides))
        for side, name, share in zip(sides, names_of(sides), shares, strict=True):
            wanted = problems_of([side], choice, effort)
            tasks, _ = sequential.run([side], wanted, store=store, effort=share, decided=lambda task: False)
            parts.append(_measurements(side, name, tasks))
        _require_good_end(groups)
    measures = tuple(sorted((m for part in parts for m in part.measures), key=lambda measure: measure.name))
    return Measurements(choice.seed_set, versions(), measures, "", tuple(n for part in parts for n in part.pending))


@dataclass(frozen=True)
class Summary:
    """The runs of a measure: the median, the 90 % quantile and the worst."""

    metric: str
    variant: str
    problem: str
    n: int
    median: float | None
    quantile: float | None
    worst: float | None
    impossible: int


def summarize(found: Measurements) -> list[Summary]:
    """Every sample in short; NaN and infinity count as worst, and a quantile that is not finite is none."""
    rows = []
    for measure in found.measures:
        if isinstance(measure, Sample):
            bad_low = OWN_METRICS[measure.metric].direction == "higher"
            values = sorted((math.inf if v is None else v for v in measure.values), reverse=bad_low)
            at = statistics.median(values), values[math.ceil(0.9 * len(values)) - 1], values[-1]
            median, quantile, worst = (x if math.isfinite(x) else None for x in at)
            name = measure.metric, measure.variant, measure.problem
            rows.append(Summary(*name, len(values), median, quantile, worst, measure.impossible))
    return rows


# Ranking


@dataclass(frozen=True)
class Rank:
    """The place of a variant in one measure: between `best` and `last`, with simultaneous confidence."""

    metric: str
    problem: str
    variant: str
    best: int
    last: int
    median: float | None
    n: int


@dataclass(frozen=True)
class Ranking:
    """All ranks; the probability that any interval is wrong is at most alpha."""

    alpha: float
    pairs: int
    ranks: tuple[Rank, ...]


def rank(new: Sequence[str], choice: Choice, *, store: Store, effort: Effort) -> Ranking:
    """Rank the variants of some targets, measure by measure, by intervals for all pairs at once.

    A pair is ordered if the interval of its paired differences lies on one side of 0, each at the level alpha/(pairs
    times measures). A variant with b better ones and w worse ones has a rank from 1 + b to K − w. All orders hold at
    once with probability 1 − alpha, so there is no winner's curse: nobody is chosen before the intervals are.
    """
    started = time.monotonic()
    with targets.sides([(target, target) for target in new], choice.seed_set, store) as groups:
        sides = [side for group in groups for side in group]
        kinds = {side.variant.kind for side in sides}
        if len(sides) < 2 or len(kinds) > 1:
            shown = ", ".join(f"{side.variant.name} ({side.variant.kind})" for side in sides)
            raise ValueError(f"a ranking needs at least two variants of one kind, got {shown}")
        names = names_of(sides)
        common = [
            (name, model, tuple(m for m in metrics if _is_ranked(m)))
            for name, model, metrics in problems_of(sides, choice, effort)
        ]
        places = list(combinations(range(len(sides)), 2))
        share = RANK_ALPHA / max(sum(len(metrics) for _, _, metrics in common) * len(places), 1)

        def decided(task: Task) -> bool:
            return all(
                _order(task, metric, i, j, share) != 0 for metric in task.metrics for i, j in places
            )  # fmt: skip

        limited = _since(replace(effort, clock=False), started)
        tasks, misbehaviour = sequential.run(sides, common, store=store, effort=limited, decided=decided)
        if misbehaviour:
            raise ValueError(misbehaviour)
        _require_good_end(groups)
        ranks = tuple(
            each for task in tasks if all(task.values) for metric in task.metrics
            for each in _ranks(task, metric, names, places, share)
        )  # fmt: skip
        return Ranking(RANK_ALPHA, len(places), ranks)


def _is_ranked(metric: str) -> bool:
    return OWN_METRICS[metric].direction != "exact"


def _samples(task: Task, metric: str, place: int) -> Sample:
    found = next(m for m in task.measures("", place) if m.metric == metric)
    assert isinstance(found, Sample)
    return found


def _order(task: Task, metric: str, i: int, j: int, share: float) -> int:
    """1 if j is worse than i, −1 if it is better, 0 if that is not known."""
    interval = regression.interval(OWN_METRICS[metric], _samples(task, metric, i), _samples(task, metric, j), share)
    up = int(interval.lower > 0.0) - int(interval.upper < 0.0)
    return up if OWN_METRICS[metric].direction == "lower" else -up


def _ranks(
    task: Task, metric: str, names: Sequence[str], places: Sequence[tuple[int, int]], share: float
) -> list[Rank]:
    better, worse = [0] * len(names), [0] * len(names)
    for i, j in places:
        order = _order(task, metric, i, j, share)
        first, second = (i, j) if order >= 0 else (j, i)
        worse[first] += order != 0
        better[second] += order != 0
    found = []
    for place, name in enumerate(names):
        values = [math.inf if v is None else v for v in _samples(task, metric, place).values]
        median = float(np.median(values))
        found.append(
            Rank(metric, task.problem, name, 1 + better[place], len(names) - worse[place],
                 median if math.isfinite(median) else None, len(values))
        )  # fmt: skip
    return sorted(found, key=lambda rank: (rank.best, rank.last))
