"""What the laws of linear learners share: the two speeds of a learner, right learners, and wrong ones."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from properties.judging.observation import call_learner
from robust_core import Contamination, LinearLearner, LogSumExp, Mellowmax, constant, polynomial
from robust_core.learners import linear
from robust_core.learners.schedules import StepSize
from robust_core.problem import Problem, Variant
from robust_core.smoothing import Smoothing
from robust_core.trajectory import Walk


def advance(learner: Any, walk: Walk, steps: int) -> None:
    """Compiled for the core's learner, step by step for every other; observed as one call."""
    call_learner(_learn, learner, walk, steps)


def _learn(learner: Any, walk: Walk, steps: int) -> None:
    if type(learner) is LinearLearner:
        linear.learn(learner, walk, steps)
        return
    for transition in walk.steps(steps):
        learner.update(transition)


def smoothing(variant: Variant) -> str:
    """The smoothing of a variant: its option of that name."""
    return str(variant.options.get("smoothing", "lse"))


def _retold(
    change: Callable[[Problem], Problem], rule: linear.LinearRule = "TDC"
) -> Callable[[Problem], LinearLearner]:
    return lambda problem: LinearLearner(rule, change(problem))


def _radius(factor: float) -> Callable[[Problem], Problem]:
    def change(problem: Problem) -> Problem:
        told = problem.uncertainty_set
        assert isinstance(told, Contamination)
        return replace(problem, uncertainty_set=Contamination(min(factor * told.radius, 1.0)))

    return change


def _smoothed(change: Callable[[Smoothing], Smoothing]) -> Callable[[Problem], Problem]:
    def smoothed(problem: Problem) -> Problem:
        assert problem.smoothing is not None
        return replace(problem, smoothing=change(problem.smoothing))

    return smoothed


def _steps(alpha: float, beta: float = 1.0) -> Callable[[Problem], Problem]:
    """Both step sizes times a factor."""

    def times(step: StepSize, factor: float) -> StepSize:
        return replace(step, scale=factor * step.scale)

    def change(problem: Problem) -> Problem:
        assert problem.second_step_size is not None
        return replace(
            problem, step_size=times(problem.step_size, alpha), second_step_size=times(problem.second_step_size, beta)
        )

    return change


_kind = partial(Variant, kind="linear evaluation", sets=(Contamination,), promises=("stationary", "projected"))
RIGHT = _kind(name="robust TDC", make=partial(LinearLearner, "TDC"))
SUMMABLE = polynomial(1.0, rate=1.0, power=2.0)
ALSO_RIGHT = (
    _kind(name="robust GTD2", make=partial(LinearLearner, "GTD2")),
    _kind(name="TDC with half of alpha", make=_retold(_steps(0.5))),
    _kind(name="TDC with a tenth of alpha", make=_retold(_steps(0.1))),
    _kind(name="GTD2 with a tenth of alpha", make=_retold(_steps(0.1), "GTD2")),
    _kind(name="TDC with a tenth of beta", make=_retold(_steps(1.0, 0.1))),
    _kind(
        name="TDC without a projection",
        make=_retold(lambda p: replace(p, projection=np.inf)),
        promises=("stationary",),
    ),
)
"""Others with the right limit; the last one promises no projection, so it is not asked where the ball is active."""
GROSS = (
    _kind(name="TDC with omega = 0 for ever", make=_retold(lambda p: replace(p, second_step_size=constant(0.0)))),
    _kind(name="vanilla TDC (R = 0)", make=_retold(_radius(0.0))),
    _kind(name="TDC with half the radius", make=_retold(_radius(0.5))),
    _kind(name="TDC with 0.8 of the radius", make=_retold(_radius(0.8))),
    _kind(name="TDC with 1.2 times the radius", make=_retold(_radius(1.2))),
    _kind(name="TDC with 0.9 gamma", make=_retold(lambda p: replace(p, gamma=0.9 * p.gamma))),
    _kind(name="TDC with a hard maximum", make=_retold(_smoothed(lambda x: LogSumExp(100.0 * x.varrho)))),
    _kind(name="TDC with mellow-max for LSE", make=_retold(_smoothed(lambda x: Mellowmax(x.varrho)))),
    _kind(name="TDC with half of varrho", make=_retold(_smoothed(lambda x: LogSumExp(x.varrho / 2.0)))),
    _kind(name="TDC with a quarter of K", make=_retold(lambda p: replace(p, projection=p.projection / 4.0))),
    _kind(name="TDC that ignores the ball", make=_retold(lambda p: replace(p, projection=1e6 * p.projection))),
)
"""Learners with a grossly wrong limit, or wrong tracking."""
WRONG = (
    *GROSS,
    _kind(
        name="TDC with constant steps",
        make=_retold(lambda p: replace(p, step_size=constant(0.5), second_step_size=constant(0.5))),
    ),
    _kind(name="TDC with a summable step", make=_retold(lambda p: replace(p, step_size=SUMMABLE))),
    _kind(name="TDC with three times the radius", make=_retold(_radius(3.0))),
    _kind(name="GTD2 with a frozen omega", make=_retold(lambda p: replace(p, second_step_size=constant(0.0)), "GTD2")),
)
"""Every wrong learner of the law: those that do not settle or do not move, and the gross ones."""
