"""The law of the mean update: E[estimate_{t+1} | past] is what the variant says it is, in every entry.

Both sides are rational numbers. The left one enumerates every next transition, whether it ends the episode, and every
draw of the learner (`coins`), each on a copy of the learner; the right one is the promised step as a function of what
is known (`view`). Two laws speak of the promise alone: it is about the robust problem, and it is not empty.
"""

import copy
from collections.abc import Iterator, Set
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from properties.cases import runs
from properties.cases.choices import Choices, Seeded
from properties.cases.runs import Run, ends_of, estimates, policy_of, table_count
from properties.cases.sources import Generated
from properties.judging.blame import SetAside
from properties.judging.verdict import Finding
from properties.laws.coins import Coins, Tape, leaves
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.learning import TABULAR, advance, ill_formed, problem
from properties.laws.rounding import UNIT, mean_bound
from properties.laws.sampled_mean import sampled_mean
from properties.laws.tabular_path import solution_of
from properties.laws.view import View, promised_step, to_rationals
from robust_core.problem import Variant

STEPS = 7
"""The longest path: a history of six steps, and the step whose mean is taken."""
ENDS = (0.0, 0.25, 0.0, 0.5, 1.0, 0.0)
"""Probabilities that the next step ends the episode."""
STREAMS = 32
"""Streams of draws during the history."""
LATE_PLACES = frozenset(n - j for n in (32, 50, 64, 100, 256, 1000) for j in (0, 1))
"""Steps of a long path whose means are taken, beside the last: where people refresh, restart or forget something."""
LATE_COUNT = 3
"""The last steps: what happens every second or third step."""
LATE_DRAWS = 16
"""Outcomes of the draws of one step on a long path: a walk along it is worth a second, not a minute."""
LAST_EPISODE = 60
"""Steps of a long path that no end precedes: an end makes a learner forget what it keeps."""
LATE_END = 48
"""The step of a shorter path that ends an episode of many states: the next means are taken just after it."""
PROMISES_TRIED = 24
MOST_FUTURES = 4000
"""Of several steps together; a case with more is set aside."""


class _TooManyDraws(Exception):
    """The draws of one step have more outcomes than a law walks through."""


def as_array(estimate: Any) -> Any:
    """An estimate as one array of floats: a table, or tables along the first axis."""
    return np.array(estimate, dtype=np.float64)


def _rational(estimate: Any) -> Any:
    """A fresh copy of an estimate in rationals, a tuple if it was one."""
    return tuple(map(to_rationals, estimate)) if isinstance(estimate, tuple) else to_rationals(estimate)


def _mean_update(variant: Variant, case: Run, ends: float, coins: int) -> Finding | None:
    """Walk all but the last step of the path, then take the mean over what can follow its last pair."""
    return _means(variant, case, ends, coins, places={len(case.path) - 1}, most=None)


def late_mean_update(variant: Variant, case: Run, ends: float, coins: int) -> Finding | None:
    """The same before some steps of a long path, where the draws of the learner are few."""
    last = range(len(case.path) - LATE_COUNT, len(case.path))
    return _means(variant, case, ends, coins, places=LATE_PLACES.union(last), most=LATE_DRAWS)


def _means(
    variant: Variant, case: Run, ends: float, coins: int, *, places: Set[int], most: int | None
) -> Finding | None:
    """The finding after one of these numbers of steps; the draws of a step have at most `most` outcomes, or it is left
    out. `NotEnumerable` if all are.
    """
    tape, left_out = Tape(), 0
    learner = variant.make(problem(case, Coins(tape, coins)))
    past: list[Any] = []
    largest = 0.0
    for number, (s, a, *_) in enumerate(case.path):
        estimate = learner.estimate()
        finding = ill_formed(case.initial, as_array(estimate), f" after {number} steps")
        if finding is not None:
            return finding
        largest = max(largest, float(np.abs(as_array(estimate)).max()))
        past.append(_rational(estimate))
        if number in places:
            view = View(variant, case, past=past, steps=case.path[:number], s=s, a=a, ends=ends)
            try:
                finding = _mean_of_next(variant, case, learner, view, tape, estimate, largest, most)
            except _TooManyDraws:
                left_out += 1
            if finding is not None:
                return finding
        if number < len(case.path) - 1:
            advance(learner, [case.path[number]])
    if left_out and left_out == sum(place < len(case.path) for place in places):
        raise tape.refuse("the draws of one step", f"more than {most} outcomes after a long history")
    return None


def _mean_of_next(
    variant: Variant,
    case: Run,
    learner: Any,
    view: View,
    tape: Tape,
    last: Any,
    size: float,
    most: int | None,
) -> Finding | None:
    """Whether the mean of the next estimate is the promised one; no estimate so far is larger than `size`."""
    wanted, finding = _promised(variant, view, last)
    if finding is not None:
        return finding
    mean, largest = ZEROS, 0.0
    for probability, estimate in _successors(learner, view, tape):
        finding = ill_formed(case.initial, as_array(estimate), f" after {view.t + 1} steps")
        if finding is not None:
            return finding
        if most is not None and prod(outcomes for _, outcomes in tape.trail) > most:
            raise _TooManyDraws
        after = as_array(estimate)
        largest = max(largest, float(np.abs(after).max()))
        mean = mean + probability * to_rationals(after)
    size = max(largest, size) + case.largest_cost
    allowed = mean_bound(case.mdp, view.t + 1, size) + UNIT * size + float(tape.cut) * largest
    # A promise weighs each of its backups by at most 1.
    allowed += float(view.width)
    what = f"expected {estimates(variant)}"
    s, a = case.path[view.t][:2]
    when = f" after update {view.t + 1}, a visit of (s={s}, a={a})"
    finding = compare(mean.astype(np.float64), wanted.astype(np.float64), allowed, what, after=when)
    if finding is not None:
        tape.require_draws()
    return finding


ZEROS: Any = Fraction(0)


def _successors(learner: Any, view: View, tape: Tape) -> Iterator[tuple[Fraction, Any]]:
    """Every next estimate with its probability."""
    for chance, step in view.float_outcomes():
        for share, estimate in leaves(tape, lambda step=step: advance(copy.deepcopy(learner), [step]).estimate()):  # type: ignore[misc]
            yield chance * share, estimate


def _promised(variant: Variant, view: View, like: Any) -> tuple[Any, Finding | None]:
    """What the variant promises, as one array of rationals; a finding if it has another shape than an estimate."""
    said = promised_step(variant)(view)
    wanted = to_rationals(np.array([np.asarray(x) for x in said]) if isinstance(said, tuple) else said)
    if wanted.shape != as_array(like).shape:
        return None, Finding("shape of the promised mean update", wanted.shape, as_array(like).shape)
    return wanted, None


def _about_the_problem(variant: Variant, case: Run) -> Finding | None:
    """With all estimates at the solution, the promised mean is the solution.

    After a history that is so on deterministic models only: steps that were seen elsewhere are not at their means.
    """
    if not case.path:
        return None
    history = case.path[:-1] if bool(np.isin(case.mdp.P, (0.0, 1.0)).all()) and _is_deterministic(case) else []
    s, a = case.path[len(history)][:2]
    return _stays(variant, case, history, s, a)


def _is_deterministic(case: Run) -> bool:
    policy = policy_of(case)
    return policy is None or bool(np.isin(policy, (0.0, 1.0)).all())


def _stays(variant: Variant, case: Run, history: Any, s: int, a: int) -> Finding | None:
    solution, error = solution_of(variant, case, np.zeros(case.mdp.P.shape))
    truth, count = to_rationals(solution), table_count(variant)
    one = truth if count is None else (truth,) * count
    view = View(variant, case, past=[one] * (len(history) + 1), steps=history, s=s, a=a, ends=0.0)
    wanted, finding = _promised(variant, view, one)
    if finding is not None:
        return finding
    size = float(np.abs(solution).max()) + case.largest_cost
    # The solution is rounded, a promise may be written in floats, and both may rest on enclosures.
    allowed = mean_bound(case.mdp, len(history) + 1, size) + 2.0 * error + float(view.width)
    right = np.broadcast_to(solution, wanted.shape)
    what = f"the promised mean update at the solution: {estimates(variant)}"
    return compare(wanted.astype(np.float64), right, allowed, what, columns=("promise", "solution"))


def _mean_stays(variant: Variant, case: Run, coins: int) -> Finding | None:
    """From the solution, the mean of the first estimate that can change is the solution; all that follows is free.

    An n-step learner writes for the first time in step n, whose mean is that over all of the steps before.
    """
    if not case.path:
        return None
    solution, error = solution_of(variant, case, np.zeros(case.mdp.P.shape))
    if case.tables is not None:
        solution = np.stack([solution] * case.tables)
    run = replace(case, initial=solution)
    tape = Tape()
    learner = variant.make(replace(problem(run), rng=Coins(tape, coins)))
    delay = variant.options.get("delay", 1)
    steps = 1 if delay == "visited" else int(delay)
    mean, size = ZEROS, float(np.abs(solution).max()) + case.largest_cost
    s, a = case.path[0][:2]
    for count, (probability, estimate) in enumerate(_futures(variant, run, learner, tape, s, a, steps)):
        finding = ill_formed(run.initial, as_array(estimate), f" after {steps} steps")
        if finding is not None:
            return finding
        if count == MOST_FUTURES:
            raise SetAside(f"more than {MOST_FUTURES} outcomes of {steps} steps")
        mean = mean + probability * to_rationals(as_array(estimate))
    allowed = mean_bound(case.mdp, steps, size) + (steps + 1) * error
    when = f" after {steps} {'step' if steps == 1 else 'steps'} from the solution, begun at (s={s}, a={a})"
    finding = compare(mean.astype(np.float64), solution, allowed, f"expected {estimates(variant)}", after=when)
    if finding is not None:
        tape.require_draws()
    return finding


def _futures(
    variant: Variant, case: Run, learner: Any, tape: Tape, s: int, a: int, steps: int
) -> Iterator[tuple[Fraction, Any]]:
    """Every estimate after so many steps without ends, with its probability."""
    for chance, step in View(variant, case, past=[], steps=[], s=s, a=a, ends=0.0).float_outcomes():
        for share, after in leaves(tape, lambda step=step: advance(copy.deepcopy(learner), [step])):  # type: ignore[misc]
            if steps == 1:
                yield chance * share, after.estimate()
            else:
                for rest, estimate in _futures(variant, case, after, tape, step.s_next, step.a_next, steps - 1):
                    yield chance * share * rest, estimate


def _content(variant: Variant, case: Run) -> Finding | None:
    """Away from the solution, the promised mean moves in at least half of the problems, at one step or another."""
    delay = variant.options.get("delay", 1)
    steps = STEPS if delay == "visited" else max(STEPS, 2 * delay)
    moved = tried = 0
    for seed in range(PROMISES_TRIED):
        run = runs.run(Seeded(seed), variant, steps=steps, ends=False)
        if not run.step_size.scale:
            continue
        start, several = to_rationals(run.initial), table_count(variant) is not None
        one, errors, changes = tuple(start) if several else start, False, False
        for number, (s, a, *_) in enumerate(run.path):
            past, history = [one] * (number + 1), run.path[:number]
            view = View(variant, run, past=past, steps=history, s=s, a=a, ends=0.0)
            errors |= any(view.T(table) != table[view.place] for table in (start if several else [start]))
            wanted, finding = _promised(variant, view, one)
            if finding is not None:
                return finding
            changes |= bool((wanted != start).any())
        tried += errors
        moved += errors and changes
    if 2 * moved >= tried:
        return None
    return Finding("problems in which the promised mean update moves the estimate", moved, f"at least half of {tried}")


def _read(choices: Choices, variant: Variant) -> Run:
    """A run whose last step is the one whose mean is taken, with some chance to end the episode."""
    case = runs.run(choices, variant, steps=STEPS, least=1)
    free = ends_of(variant, type(case.uncertainty_set)) != "none"
    return case.plus(ends=choices.pick(ENDS) if free else 0.0, coins=choices.index(STREAMS))


def read_late(choices: Choices, variant: Variant) -> Run:
    """The same, whose last episode is long; a path that is not longer than that ends one such episode."""
    case = _read(choices, variant)
    first = max(len(case.path) - LAST_EPISODE, 0)
    ends = LATE_END if not first and ends_of(variant, type(case.uncertainty_set)) != "none" else None
    quiet = [(*step[:-1], number == ends) for number, step in enumerate(case.path[first:])]
    return replace(case, path=[*case.path[:first], *quiet])


def _read_solution(choices: Choices, variant: Variant) -> Run:
    deterministic = choices.any_of((True, True, False))
    return runs.run(choices, variant, steps=STEPS, least=1, ends=False, deterministic=deterministic)


def _has_own_step(variant: Variant) -> bool:
    return callable(variant.options.get("expected"))


def _read_nothing(choices: Choices, variant: Variant) -> Run:
    return runs.run(Seeded(0), variant, steps=1, ends=False)


def _read_start(choices: Choices, variant: Variant) -> Run:
    case = runs.run(choices, variant, steps=1, least=1, ends=False)
    return case.plus(coins=choices.index(STREAMS))


PROMISE = "mean update"
AT_SOLUTION, MOVES = "promised mean at the solution", "promised mean moves"
LAWS = (
    Law(
        AT_SOLUTION,
        TABULAR,
        PROMISE,
        "with all estimates at the solution the promised mean update is the solution: on deterministic models after "
        "any history, on others for the first step",
        Generated(_read_solution),
        _about_the_problem,
        endless=True,
        only=_has_own_step,
    ),
    Law(
        MOVES,
        TABULAR,
        PROMISE,
        "away from the solution the promised mean update changes the estimate in at least half of the problems",
        Generated(_read_nothing),
        _content,
        endless=True,
        only=_has_own_step,
    ),
    Law(
        PROMISE,
        TABULAR,
        PROMISE,
        "E[estimate_{t+1} | past] is the promised mean, in every entry, by enumerating transitions, ends and draws",
        Generated(_read),
        _mean_update,
        after=("start", "run purity", AT_SOLUTION, MOVES),
        twin=sampled_mean,
    ),
    Law(
        "fixed point in the mean",
        TABULAR,
        "fixed point in the mean",
        "started at the solution of any model, without ends, the mean of the first estimate that can change is the "
        "solution",
        Generated(_read_start),
        _mean_stays,
        after=("start", "run purity", PROMISE),
        endless=True,
    ),
)
