"""Laws that every learner obeys, whatever it learns: it starts as told, keeps to itself, and can be copied."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from properties.cases import runs
from properties.cases.case import Path
from properties.cases.choices import radii_of, with_radius
from properties.cases.runs import Run
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.learning import LEARNERS, advance, arrays, follows_schedule, new_learner, problem, same
from properties.laws.rounding import operations_bound
from robust_core import Recording, StepSize, constant
from robust_core.mdp import MDP
from robust_core.problem import Variant

# Estimates of a long run that are kept to be read later.
FEW = 40
PARTS = 32
"""Roundings of an estimate that is put together from parts: a value and advantages, or the mean of an ensemble."""


def _wanted_start(told: Any) -> tuple[np.ndarray, ...]:
    if isinstance(told.initial, tuple):
        return told.initial
    if np.ndim(told.features) != 2:  # tables, or one vector for features of pairs
        return (told.initial,)
    return told.initial, np.zeros_like(told.initial)


def with_steps(case: Run, step: StepSize) -> Run:
    """The case with this step size for each of its schedules."""
    steps: dict[str, Any] = {name: step for name in case.names() if isinstance(getattr(case, name), StepSize)}
    return replace(case, **steps)


def _start(variant: Variant, case: Run) -> Finding | None:
    """The estimate before the first update, its type, and that a step size of 0 leaves it as it is."""
    told = problem(case)
    wanted = _wanted_start(told)
    got = arrays(variant.make(told).estimate())
    if len(got) != len(wanted):
        return Finding("parts of the estimate", len(got), len(wanted))
    for name, part, right in zip(_names(wanted), got, wanted, strict=True):
        if part.shape != right.shape:
            return Finding(f"shape of the {name} before the first update", part.shape, right.shape)
        if part.dtype != np.float64:
            return Finding(f"type of the {name}", str(part.dtype), "float64")
        axes = () if len(got) > 1 else None
        allowed = operations_bound(PARTS, float(np.abs(right).max()))
        finding = compare(part, right, allowed, name, after=" before the first update", axes=axes)
        if finding is not None:
            return finding
    return _still(variant, case, got) or _finite(variant, case, got)


def _names(parts: Sequence[np.ndarray]) -> list[str]:
    """What the parts of an estimate are called."""
    return (
        ["estimate", "omega"] if len(parts) == 2 else [f"estimate {i}" if i else "estimate" for i in range(len(parts))]
    )


def _differing(
    got: Sequence[np.ndarray],
    wanted: Sequence[np.ndarray],
    *,
    when: str = "",
    columns: tuple[str, str] = ("variant", "wanted"),
) -> Finding | None:
    """A finding with the first part of an estimate that has not the same bits, and the entry."""
    for name, x, y in zip(_names(got), got, wanted, strict=False):
        if not same((x,), (y,)):
            axes = () if len(got) > 1 or name == "omega" else None
            return compare(x, y, 0.0, name, after=when, columns=columns, axes=axes)
    return None


def _still(variant: Variant, case: Run, start: tuple[np.ndarray, ...]) -> Finding | None:
    if not follows_schedule(variant):
        return None
    after = arrays(advance(new_learner(variant, with_steps(case, constant(0.0))), case.path).estimate())
    size = max(float(np.abs(part).max()) for part in start)
    # All iterates are the start; what is returned may be a mean of them, whose sum has a rounding for each.
    allowed = operations_bound(len(case.path) + 2, size)
    names = _names(start)
    for name, got, wanted in zip(names, after, start, strict=False):
        axes = () if len(names) > 1 else None
        finding = compare(got, wanted, allowed, name, after=" after a run with step size 0", axes=axes)
        if finding is not None:
            return finding
    return None


def _finite(variant: Variant, case: Run, start: tuple[np.ndarray, ...]) -> Finding | None:
    after = arrays(advance(new_learner(variant, case), case.path).estimate())
    for before, part in zip(start, after, strict=True):
        if part.shape != before.shape or part.dtype != before.dtype:
            return Finding("shape and type after a run", (part.shape, str(part.dtype)), (before.shape, "float64"))
        if not np.isfinite(part).all():
            return Finding("estimate after a run", part.tolist(), "finite numbers")
    return None


def _purity(variant: Variant, case: Run) -> Finding | None:
    """Same problem, same rng, same path: same bits, however the estimate is read and whoever else runs."""
    path = case.path
    result = arrays(advance(new_learner(variant, case), path).estimate())
    for what, other in _OTHER_RUNS.items():
        got = arrays(other(variant, case, path).estimate())
        finding = _differing(got, result, when=f" of {what}", columns=("this run", "the first"))
        if finding is not None:
            return finding
    return _kept(variant, case, path)


def _kept(variant: Variant, case: Run, path: Path) -> Finding | None:
    """What was handed out stays what it was: no window on a table that goes on changing."""
    learner, handed_out = new_learner(variant, case), []
    for step in path[:FEW]:
        parts = arrays(advance(learner, [step]).estimate())
        handed_out.append((parts, tuple(part.copy() for part in parts)))
    for number, (parts, copies) in enumerate(handed_out, start=1):
        finding = _differing(parts, copies, when=f" of step {number}, read later", columns=("later", "when handed out"))
        if finding is not None:
            return finding
    return None


def _disturbed(variant: Variant, case: Run, path: Path) -> Any:
    learner = new_learner(variant, case)
    for step in path:
        advance(learner, [step])
        for part in arrays(learner.estimate()):
            if part.flags.writeable:
                part[...] = np.nan
    return learner


def _beside(variant: Variant, case: Run, path: Path) -> Any:
    """The neighbour has the same problem and its own rng, and walks the path backwards."""
    learner, neighbour = new_learner(variant, case), new_learner(variant, case)
    for step, other in zip(path, reversed(path), strict=True):
        advance(learner, [step])
        advance(neighbour, [other])
    return learner


def _beside_another(variant: Variant, case: Run, path: Path) -> Any:
    """The neighbour has another discount, radius, step size and start; what is kept for all learners alike is lost."""
    learner, neighbour = new_learner(variant, case), new_learner(variant, _another(variant, case))
    for step in path:
        advance(neighbour, [step])
        advance(learner, [step])
    return learner


def _another(variant: Variant, case: Run) -> Run:
    mdp, told = case.mdp, case.uncertainty_set
    radii = [level for level in radii_of(variant, type(told)) if isinstance(level, float)]
    other = next((R for R in radii if getattr(told, "radius", None) != R), radii[0])
    gamma = next((each for each in Scope.of(variant).gammas or (0.5, 0.75) if each != mdp.gamma), mdp.gamma)
    return replace(
        with_steps(case, constant(0.25)),
        mdp=MDP(mdp.P, mdp.cost, gamma),
        uncertainty_set=with_radius(told, other) or told,
        initial=case.initial[::-1] / 2.0,
    )


def _again(variant: Variant, case: Run, path: Path) -> Any:
    return advance(new_learner(variant, case), path)


def _copied(variant: Variant, case: Run, path: Path) -> Any:
    learner = advance(new_learner(variant, case), path[: len(path) // 2])
    return advance(copy.deepcopy(learner), path[len(path) // 2 :])


def _copied_from(variant: Variant, case: Run, path: Path) -> Any:
    half = len(path) // 2
    learner = advance(new_learner(variant, case), path[:half])
    advance(copy.deepcopy(learner), path[half:])
    return advance(learner, path[half:])


_OTHER_RUNS: dict[str, Callable[[Variant, Run, Path], Any]] = {
    "a second run with the same problem, rng and path": _again,
    "a run whose estimates are read and overwritten at every step": _disturbed,
    "a run beside another learner of the same problem": _beside,
    "a run beside a learner of another problem": _beside_another,
    "a run continued by its copy.deepcopy made half way": _copied,
    "a run whose copy.deepcopy made half way was used up first": _copied_from,
}


def _batch(variant: Variant, case: Run) -> Finding | None:
    """update_many, where a learner has it, equals the loop over update."""
    path = case.path
    learner = new_learner(variant, case)
    if not hasattr(learner, "update_many"):
        return None
    # The same arithmetic in another order of loops: the fast path must give the same numbers.
    wanted = arrays(advance(new_learner(variant, case), path).estimate())
    for what, pieces in _IN_TURN.items():
        learner, neighbour = new_learner(variant, case), new_learner(variant, _another(variant, case))
        ends = [len(path) * i // pieces for i in range(pieces + 1)]
        for i, (start, stop) in enumerate(pairwise(ends)):
            if pieces > 1 and i % 2 == 0:
                advance(learner, path[start:stop])
                continue
            # A buffer that all learners share holds the neighbour's table afterwards.
            feed(learner, path[start:stop])
            feed(neighbour, path[start:stop])
        got = arrays(learner.estimate())
        finding = _differing(got, wanted, when=f" after {what}", columns=("update_many", "update"))
        if finding is not None:
            return finding
    return None


# A learner that is fed both ways in turn must keep its books on both.
_IN_TURN = {"update_many": 1, "update, then update_many": 2, "update and update_many in turn": 4}


def feed(learner: Any, path: Path) -> None:
    """Give the learner the path as a recording."""
    columns = list(zip(*path, strict=True)) or [()] * 6
    kinds = (np.int64, np.int64, np.float64, np.int64, np.int64, np.bool_)
    learner.update_many(Recording(*(np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True))))


RUNS = Generated(runs.run)
START = Law(
    "start",
    LEARNERS,
    None,
    "the estimate starts as the problem says, is float64 and finite, and a step size of 0 does not change it",
    RUNS,
    _start,
)
PURITY = Law(
    "run purity",
    LEARNERS,
    None,
    "a run depends on problem, rng and path only: reading an estimate, a copy and other learners do not affect it, and "
    "returned estimates do not change",
    RUNS,
    _purity,
    after=("start",),
)
BATCH = Law(
    "batch",
    LEARNERS,
    None,
    "update_many on a recorded path equals the loop over update, bit for bit, alone, in turn with it and with others",
    RUNS,
    _batch,
    after=("start", "run purity"),
)
LAWS = (START, PURITY)
