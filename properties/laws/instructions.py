"""Laws of what every learner is told: how large its steps are, and that an episode has ended."""

import copy
from collections.abc import Iterator

import numpy as np

from properties.cases.case import Path
from properties.cases.runs import Run
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds import kind_of
from properties.laws.comparison import compare
from properties.laws.every_learner import RUNS, with_steps
from properties.laws.law import Law
from properties.laws.learning import LEARNERS, advance, arrays, follows_schedule, new_learner
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


def _agree(variant: Variant, case: Run, path: Path, others: Iterator[StepSize]) -> Finding | None:
    """Whether the estimates after the path are those of the constant schedule, with each of the others."""

    def after(step: StepSize) -> tuple[np.ndarray, ...]:
        return arrays(advance(new_learner(variant, with_steps(case, step)), path).estimate())

    left = after(constant(case.step_size.scale))
    axes = None if len(left) == 1 else ()
    for other in others:
        when = f" after {len(path)} steps with {other}"
        for x, y in zip(left, after(other), strict=True):
            finding = compare(y, x, 0.0, "estimate", after=when, columns=(other.clock, "constant"), axes=axes)
            if finding is not None:
                return finding
    return None


def _schedule(variant: Variant, case: Run) -> Finding | None:
    visits = kind_of(variant.kind).visits and variant.options.get("schedule") != "steps"
    alpha = case.step_size.scale
    found = _agree(variant, case, case.path, _spellings(alpha, visits=visits))
    return found or _agree(variant, case, case.path[:1], _beginnings(alpha, visits=visits))


def _ending(variant: Variant, case: Run, s: int, a: int) -> Finding | None:
    """After the path, one terminal step from (s,a) to every state: the estimates are the same."""
    mdp = case.mdp
    learner = advance(new_learner(variant, case), case.path)
    first = None
    for s_next in range(mdp.n_states):
        step = Transition(s, a, float(mdp.cost[s, a]), s_next, s_next % mdp.n_actions, True)
        after = arrays(advance(copy.deepcopy(learner), [step]).estimate())
        first = after if first is None else first
        axes = None if len(after) == 1 else ()
        for x, y in zip(after, first, strict=True):
            when = f" after a terminal step from (s={s}, a={a}) to {s_next}"
            finding = compare(x, y, 0.0, "estimate", after=when, columns=(f"to {s_next}", "to 0"), axes=axes)
            if finding is not None:
                return finding
    return None


SCHEDULE = Law(
    "schedule",
    LEARNERS,
    None,
    "a schedule that does not fall equals the constant step, and the first step of any schedule has α = scale",
    RUNS,
    _schedule,
    after=("start", "run purity"),
    only=follows_schedule,
)
ENDING = Law(
    "ending",
    LEARNERS,
    None,
    "an episode ends at a terminal step: the update does not depend on s_next and a_next",
    Generated(read_step),
    _ending,
    after=("start", "run purity"),
    ends=("nature stays", "nature ends"),
)
LAWS = (SCHEDULE, ENDING)
