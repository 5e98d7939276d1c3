"""Laws of whole runs of a tabular learner: relations between two runs on one path, and fixed points.

A step of a robust learner is a monotone non-expansion in the sup norm, equivariant under shifts and scales of the
costs. So relations between runs hold at every time up to the rounding of both, `path_bound` each.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.planning import enclosed
from oracles.planning import ends as ending
from oracles.planning.truth import width_of
from properties.cases import runs
from properties.cases.case import Path
from properties.cases.choices import Choices, Reader, widen
from properties.cases.runs import Run, ends_of, estimates, place_of
from properties.cases.sources import Generated
from properties.judging.side_by_side import entry
from properties.judging.verdict import Finding
from properties.kinds.evaluation import EvaluationRun
from properties.laws.coins import Tape
from properties.laws.comparison import RUNS, below, compare
from properties.laws.law import Law
from properties.laws.learning import (
    TABULAR,
    advance,
    branches,
    follows_schedule,
    learner_with_coins,
    new_learner,
    step_size_at,
    table,
)
from properties.laws.rounding import UNIT, path_bound
from robust_core.ends import Ends
from robust_core.mdp import MDP
from robust_core.problem import Variant

SHIFTS = (1.0, -2.0, 0.5, 16.0, 0.1)
Relation = Callable[[np.ndarray, np.ndarray], Finding | None]


def _recosted(path: Path, cost: Callable[[int, int, float], float]) -> list[Any]:
    return [(s, a, cost(s, a, c), s_next, a_next, end) for s, a, c, s_next, a_next, end in path]


def _together(variant: Variant, left: Run, right: Run, related: Relation) -> Finding | None:
    """Run both cases side by side; `related` judges the two tables at every time, the start included."""
    learners = new_learner(variant, left), new_learner(variant, right)
    for time in range(len(left.path) + 1):
        tables = [table(learner) for learner in learners]
        finding = related(tables[0], tables[1])
        if finding is not None:
            return replace(finding, what=f"{finding.what} after {time} steps")
        if time < len(left.path):
            for learner, case in zip(learners, (left, right), strict=True):
                advance(learner, [case.path[time]])
    return None


def _rounding(case: Run) -> float:
    """What rounding does to a run: the largest |cost| is that of the path."""
    costs = [abs(step[2]) for step in case.path] or [0.0]
    return path_bound(case.mdp, len(case.path), max(costs), float(np.abs(case.initial).max()))


def _equal(wanted: np.ndarray, got: np.ndarray, allowed: float, what: str) -> Finding | None:
    return compare(got, wanted, allowed, f"{what}: entry ", columns=RUNS)


def _non_expansive(variant: Variant, case: Run, other: np.ndarray) -> Finding | None:
    right = replace(case, initial=other)
    allowed = _rounding(case) + _rounding(right)
    closest = np.inf

    def related(x: np.ndarray, y: np.ndarray) -> Finding | None:
        nonlocal closest
        distance = float(np.abs(x - y).max())
        if not distance <= closest + allowed:
            return Finding("distance of two estimates", distance, f"at most {closest!r}, as before", allowed)
        closest = min(closest, distance)
        return None

    return _together(variant, case, right, related)


def _monotone(variant: Variant, case: Run, other: np.ndarray, dearer: np.ndarray) -> Finding | None:
    right = replace(
        case,
        initial=case.initial + np.abs(other),
        path=_recosted(case.path, lambda s, a, c: c + float(dearer[s, a])),
    )
    return _ordered(variant, case, right, "with larger start and cost")


def _wider(variant: Variant, case: Run, larger: float) -> Finding | None:
    wider = widen(case.uncertainty_set, larger)
    what = f"with radius {getattr(wider, 'radius', None)}"
    return _ordered(variant, case, replace(case, uncertainty_set=wider), what)


def _ordered(variant: Variant, case: Run, right: Run, what: str) -> Finding | None:
    allowed = _rounding(case) + _rounding(right)

    def related(x: np.ndarray, y: np.ndarray) -> Finding | None:
        return below(x, y, allowed, "entry ", after=f" against a run {what}", columns=("this run", "the other"))

    return _together(variant, case, right, related)


def _shift(variant: Variant, case: Run, shift: float) -> Finding | None:
    gamma = case.mdp.gamma
    right = replace(
        case,
        initial=case.initial + shift,
        path=_recosted(case.path, lambda s, a, c: c + shift * (1.0 - gamma)),
    )
    # The shifted cost is rounded as well: at most two roundings a step, well within another run's rounding.
    allowed = _rounding(case) + 2.0 * _rounding(right) + 4.0 * UNIT * abs(shift)
    return _together(variant, case, right, lambda x, y: _equal(x + shift, y, allowed, f"costs + {shift}(1−gamma)"))


def _scale(variant: Variant, case: Run) -> Finding | None:
    right = replace(case, initial=2.0 * case.initial, path=_recosted(case.path, lambda s, a, c: 2.0 * c))
    allowed = 2.0 * _rounding(right)
    return _together(variant, case, right, lambda x, y: _equal(2.0 * x, y, allowed, "costs times 2"))


def _relabelled(variant: Variant, case: Run) -> Finding | None:
    """States and actions in reverse order."""
    mdp = case.mdp
    S, A = mdp.n_states, mdp.n_actions
    right = replace(
        case,
        mdp=MDP(mdp.P[::-1, ::-1, ::-1], mdp.cost[::-1, ::-1], mdp.gamma),
        uncertainty_set=case.uncertainty_set.select(range(S)[::-1], range(A)[::-1]),
        initial=_reversed(case.initial, estimates(variant)),
        path=[(S - 1 - s, A - 1 - a, c, S - 1 - t, A - 1 - b, end) for s, a, c, t, b, end in case.path],
    )
    if isinstance(right, EvaluationRun):
        right = replace(right, policy=right.policy[::-1, ::-1])
    allowed = _rounding(case) + _rounding(right)
    related = lambda x, y: _equal(x, _reversed(y, estimates(variant)), allowed, "states and actions in reverse order")  # noqa: E731
    return _together(variant, case, right, related)


def _reversed(entries: np.ndarray, what: str) -> np.ndarray:
    return entries[..., ::-1, ::-1] if what == "Q" else entries[..., ::-1]


def _padded(variant: Variant, case: Run) -> Finding | None:
    """A state never visited whose value is below all others and an action never taken above all change nothing.

    A set with fields over the states does not say what it is with one more state; it is left out.
    """
    if any(case.uncertainty_set.axes.values()):
        return None
    mdp = case.mdp
    S, A = mdp.n_states, mdp.n_actions
    costs = [step[2] for step in case.path] or [0.0]
    start = case.initial
    least, largest = _reached(variant, case)
    low = min(0.0, least, float(start.min()), min(costs) / (1.0 - mdp.gamma)) - 1.0
    high = max(0.0, largest, float(start.max()), max(costs) / (1.0 - mdp.gamma)) + 1.0
    P = np.zeros((S + 1, A + 1, S + 1))
    P[:S, :A, :S] = mdp.P
    P[:S, A, 0] = P[S, :, 0] = 1.0
    cost = np.zeros((S + 1, A + 1))
    cost[:S, :A] = mdp.cost
    shape = (S + 1, A + 1) if estimates(variant) == "Q" else (S + 1,)
    wider = np.full((*start.shape[: start.ndim - len(shape)], *shape), high)
    wider[(..., S, slice(None)) if len(shape) == 2 else (..., S)] = low
    wider[tuple(map(slice, start.shape))] = start
    right = replace(case, mdp=MDP(P, cost, mdp.gamma), initial=wider)
    if isinstance(right, EvaluationRun):
        policy = np.zeros((S + 1, A + 1))
        policy[:S, :A], policy[S, 0] = right.policy, 1.0
        right = replace(right, policy=policy)
    allowed = _rounding(case) + _rounding(right)
    within = tuple(map(slice, start.shape))
    what = "with a state never visited (low) and an action never taken (high)"
    return _together(variant, case, right, lambda x, y: _equal(x, y[within], allowed, what))


def _reached(variant: Variant, case: Run) -> tuple[float, float]:
    """The least and the largest estimate of the run: a learner with momentum leaves the box of its targets."""
    learner = new_learner(variant, case)
    estimates = [table(advance(learner, [step])) for step in case.path]
    return (float(np.min(estimates)), float(np.max(estimates))) if estimates else (0.0, 0.0)


def _boxed(variant: Variant, case: Run) -> tuple[Run, float, float, float]:
    """The case started within the box, the ends of the box, and what rounding may do.

    A target is c + gamma x, with x in the box, or between it and 0 where the step or nature ends the episode. The box
    with low = min(min c, min c/(1−gamma)) keeps such targets: where min c < 0, x >= low and c + gamma low >= low; else
    x >= 0 and c >= low. In the same way for high.
    """
    gamma, costs = case.mdp.gamma, np.array([*case.mdp.cost.ravel(), *(step[2] for step in case.path)])
    low, high = float(costs.min()) / (1.0 - gamma), float(costs.max()) / (1.0 - gamma)
    if ends_of(variant, type(case.uncertainty_set)) == "nature ends" or any(step[5] for step in case.path):
        low, high = min(low, float(costs.min())), max(high, float(costs.max()))
    run = replace(case, initial=np.clip(case.initial, low, high))
    return run, low, high, _rounding(run) + UNIT * max(abs(low), abs(high))


def _short(variant: Variant, case: Run) -> Finding | None:
    """Target and entry are both in the box, so a step moves the entry by alpha times its width at most.

    A step size that the learner draws is alpha in the mean, and the length of the step is judged in the mean then. The
    clock of the schedule is taken for that of steps: what a visit is, a learner of two tables may see otherwise.
    """
    told = case.step_size
    schedule = replace(told, clock="steps") if told.clock == "visits" else told
    run, low, high, allowed = _boxed(variant, replace(case, step_size=schedule))
    learner = new_learner(variant, run)
    before = table(learner)
    for time, step in enumerate(case.path):
        after = table(advance(learner, [step]))
        farthest = step_size_at(schedule, time) * (high - low)
        moved = float(np.abs(after - before).max())
        if not moved <= farthest + allowed:
            moved = _mean_length(variant, run, time)
        if not moved <= farthest + allowed:
            return Finding(f"how far step {time + 1} moved an entry", moved, f"at most {farthest!r}", allowed)
        before = after
    return None


def _mean_length(variant: Variant, case: Run, time: int) -> float:
    """The mean over the draws of the learner of how far the step of this number moves an entry."""
    tape = Tape()
    learner = advance(learner_with_coins(variant, case, tape), case.path[:time])
    before = table(learner)
    lengths = [(p, float(np.abs(after - before).max())) for p, after in branches(learner, case.path[time], tape)]
    tape.require_draws()
    if not all(np.isfinite(length) for _, length in lengths):
        return np.inf
    return float(sum((p * Fraction(length) for p, length in lengths), Fraction(0)))


def _steps_alone(variant: Variant) -> bool:
    """Whether what a step changes is the step alone: an average of iterates goes on moving when the steps are small."""
    alone = "asynchronous" in variant.promises and "delay" not in variant.options
    return alone and follows_schedule(variant)


def _bounded(variant: Variant, case: Run) -> Finding | None:
    run, low, high, allowed = _boxed(variant, case)
    learner = new_learner(variant, run)
    for time, step in enumerate(case.path):
        got = table(advance(learner, [step]))
        if not ((got >= low - allowed) & (got <= high + allowed)).all():
            worst = float(got.flat[np.argmax(np.maximum(low - got, got - high))])
            return Finding(f"an entry after {time + 1} steps", worst, f"in [{low}, {high}]", allowed)
    return None


def solution_of(variant: Variant, case: Run, ends: np.ndarray) -> tuple[np.ndarray, float]:
    """Q*, Q^pi or V^pi, and the width of its enclosure where it is no rational.

    `ends` is the probability that a transition is the last one of its episode.
    """
    meaning = ends_of(variant, type(case.uncertainty_set))
    policy = case.policy if isinstance(case, EvaluationRun) else None
    if ends.any() or meaning == "nature ends":
        nature_ends = meaning == "nature ends"
        V, Q = ending.enclose(case.mdp, case.uncertainty_set, policy, ends, nature_ends=nature_ends)
    elif policy is None:
        V, Q = None, enclosed.solve(case.mdp, case.uncertainty_set)
    else:
        V, Q = enclosed.evaluate(case.mdp, case.uncertainty_set, policy)
    found = V if V is not None and estimates(variant) == "V" else Q
    return np.array(found.value), width_of(case.uncertainty_set, found)


def _fixed_point(variant: Variant, case: Run) -> Finding | None:
    ends = np.zeros(case.mdp.P.shape)
    for s, a, _, _, _, last in case.path:
        ends[s, a] = last
    right, error = solution_of(variant, case, ends)
    if case.tables is not None:
        right = np.stack([right] * case.tables)
    run = replace(case, initial=right)
    # The rounding of the start is at most UNIT times its size: less than one step's bound, which _rounding has.
    # Started so far from the true solution, a learner stays as near to it, so within twice the error of its start.
    allowed = _rounding(run) + 2.0 * error
    learner = new_learner(variant, run)
    for time, step in enumerate(case.path):
        got = table(advance(learner, [step]))
        place = entry(place_of(variant, step[0], step[1]))
        when = f" after {time + 1} steps from the solution, the last at {place}"
        finding = compare(got, right, allowed, estimates(variant), after=when)
        if finding is not None:
            return finding
    return None


def _read_pair(choices: Choices, variant: Variant) -> Run:
    case = runs.run(choices, variant)
    return case.plus(other=choices.start(variant, case.mdp.gamma, case.initial.shape))


def _read_dearer(choices: Choices, variant: Variant) -> Run:
    case = _read_pair(choices, variant)
    return case.plus(dearer=np.abs(choices.costs(variant, case.mdp.cost.shape)))


def _read_wider(choices: Choices, variant: Variant) -> Run:
    case = runs.run(choices, variant, ends=False)
    level = choices.level(variant, type(case.uncertainty_set))
    return case.plus(larger=choices.radius(case.uncertainty_set, level, case.mdp.P, case.mdp.cost.min(axis=1)))


def _read_shift(choices: Choices, variant: Variant) -> Run:
    return runs.run(choices, variant, ends=False).plus(shift=choices.pick(SHIFTS))


def _read_deterministic(choices: Choices, variant: Variant) -> Run:
    return runs.run(choices, variant, deterministic=True, steps=30)


_FIRST = ("start", "run purity", "asynchronous update", "sample step", "sample step, next action", "unbiased step")


def _law(
    name: str,
    promise: str,
    statement: str,
    read: Reader,
    judge: Any,
    *,
    endless: bool = False,
    deterministic: bool = False,
    only: Callable[[Variant], bool] = lambda variant: True,
    ends: tuple[Ends, ...] = (),
) -> Law:
    return Law(
        name,
        TABULAR,
        promise,
        statement,
        Generated(read),
        judge,
        after=_FIRST,
        ends=ends,
        endless=endless,
        deterministic=deterministic,
        only=only,
    )


LAWS = (
    _law(
        "fixed point",
        "fixed point",
        "on a deterministic model (and policy), with or without ends, a learner started at the solution stays there",
        _read_deterministic,
        _fixed_point,
        deterministic=True,
    ),
    _law(
        "non-expansion",
        "non-expansive",
        "‖Q_t − Q'_t‖ never rises on a common path",
        _read_pair,
        _non_expansive,
    ),
    _law("monotonicity", "monotone", "a larger Q_0 or cost gives a larger Q_t", _read_dearer, _monotone),
    _law("radius order", "monotone in R", "a larger R gives a larger Q_t", _read_wider, _wider, endless=True),
    _law(
        "cost shift",
        "shift",
        "cost + k(1−γ) and Q_0 + k give Q_t + k",
        _read_shift,
        _shift,
        endless=True,
        ends=("nature stays", "none"),  # the value of the end does not shift
    ),
    _law("cost scale", "scale", "2 cost and 2 Q_0 give 2 Q_t", runs.run, _scale),
    _law("relabelling", "symmetric", "permuted states and actions give the permuted Q_t", runs.run, _relabelled),
    _law(
        "irrelevant entries",
        "symmetric",
        "a state never visited, below all others, and an action never taken, above all others, do not change Q_t",
        runs.run,
        _padded,
    ),
    _law("box", "bounded", "Q_t stays in [min c, max c]/(1−γ), with ends widened to c", runs.run, _bounded),
    _law(
        "step length",
        "bounded",
        "where a step changes the visited entry only, it moves it by at most α_t times the width of the box, in the "
        "mean over the draws of the learner",
        runs.run,
        _short,
        only=_steps_alone,
    ),
)
