"""Laws of what every learner is told: how large its steps are, and that an episode has ended."""

import copy
from collections.abc import Iterator
from typing import Any

from properties.cases.tape import decoded
from properties.judging.verdict import Finding
from properties.laws.comparison import compared
from properties.laws.conduct import STEPS
from properties.laws.law import Case, Law
from properties.laws.learning import LEARNERS, Path, advance, arrays, made, read_run
from properties.laws.tabular_step import read_step
from robust_core import StepSize, Transition, constant, per_visit, polynomial
from robust_core.problem import Variant


def _spellings(alpha: float, *, visits: bool) -> Iterator[StepSize]:
    """Schedules that are alpha for ever: nothing is counted, or to the power 0."""
    yield polynomial(alpha, rate=0.0, power=1.0)
    yield polynomial(alpha, rate=2.0, power=0.0)
    if visits:
        yield per_visit(alpha, rate=0.0, power=0.75)
        yield per_visit(alpha, rate=2.0, power=0.0)


def _beginnings(alpha: float, *, visits: bool) -> Iterator[StepSize]:
    """Schedules whose first step is alpha: n counts what has been before."""
    yield polynomial(alpha, rate=3.0, power=1.0)
    if visits:
        yield per_visit(alpha, rate=3.0, power=0.75)


def _with(case: Case, step: StepSize) -> Case:
    return case | {name: step for name in STEPS if name in case}


def _agree(variant: Variant, path: Path, case: Case, alpha: float, other: StepSize) -> Finding | None:
    left, right = (
        arrays(advance(made(variant, _with(case, step)), path).estimate()) for step in (constant(alpha), other)
    )
    axes = None if len(left) == 1 else ()
    for x, y in zip(left, right, strict=True):
        when = f" after {len(path)} steps with {other}"
        finding = compared(y, x, 0.0, "estimate", after=when, columns=(other.clock, "constant"), axes=axes)
        if finding is not None:
            return finding
    return None


def _schedule(variant: Variant, path: Path, **case: Any) -> Finding | None:
    visits = variant.kind != "linear evaluation"
    alpha = case["step_size"].scale
    for other in _spellings(alpha, visits=visits):
        finding = _agree(variant, path, case, alpha, other)
        if finding is not None:
            return finding
    for other in _beginnings(alpha, visits=visits):
        finding = _agree(variant, path[:1], case, alpha, other)
        if finding is not None:
            return finding
    return None


def _ending(variant: Variant, path: Path, s: int, a: int, **case: Any) -> Finding | None:
    """After the path, one terminal step from (s,a) to every state: the estimates are the same."""
    mdp = case["mdp"]
    learner = advance(made(variant, case), path)
    first = None
    for s_next in range(mdp.n_states):
        step = Transition(s, a, float(mdp.cost[s, a]), s_next, s_next % mdp.n_actions, True)
        after = arrays(advance(copy.deepcopy(learner), [step]).estimate())
        first = after if first is None else first
        axes = None if len(after) == 1 else ()
        for x, y in zip(after, first, strict=True):
            when = f" after a terminal step from (s={s}, a={a}) to {s_next}"
            finding = compared(x, y, 0.0, "estimate", after=when, columns=(f"to {s_next}", "to 0"), axes=axes)
            if finding is not None:
                return finding
    return None


SCHEDULE = Law(
    "schedule",
    LEARNERS,
    None,
    "a schedule that does not fall equals the constant step, and the first step of any schedule has α = scale",
    lambda variant: decoded(lambda tape: read_run(tape, variant, ends=True)),
    _schedule,
    after=("start", "conduct"),
)
ENDING = Law(
    "ending",
    LEARNERS,
    None,
    "after the end of an episode nothing follows: a terminal step does not depend on s_next and a_next",
    lambda variant: decoded(lambda tape: read_step(tape, variant, ends=True)),
    _ending,
    after=("start", "conduct"),
)
LAWS = (SCHEDULE, ENDING)
