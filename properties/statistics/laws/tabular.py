"""What the laws of tabular learners share: the two speeds of a learner, and wrong learners."""

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from properties.cases.benchmark_problems import BenchmarkProblem
from properties.judging.observation import call_learner
from robust_core import Q_LEARNING, Contamination, TabularLearner, constant, per_visit
from robust_core.learners.schedules import StepSize
from robust_core.problem import Problem, Variant
from robust_core.streams import key, numpy_generator
from robust_core.trajectory import Recording, Transition
from robust_core.validate import EPS

AGREEMENT = 64
"""Transitions on which update_many must equal the loop over update before it is used."""


def rounding(benchmark: BenchmarkProblem, alpha: float) -> float:
    """How far the roundings of updates add up: some EPS each, of which alpha(1−gamma) is forgotten at every step."""
    return 4.0 * EPS * benchmark.ceiling / (alpha * (1.0 - benchmark.mdp.gamma))


def make_learner(variant: Variant, problem: Problem, seed: bytes) -> Any:
    """A learner with an rng of its own, keyed by the replicate.

    One of several tables (options['tables']) starts with the same in each; of (theta, omega) omega starts at 0.
    """
    count = variant.options.get("tables")
    if count is not None:
        assert not isinstance(problem.initial, tuple)
        other = problem.initial if problem.features is None else np.zeros_like(problem.initial)
        problem = replace(problem, initial=(problem.initial, *[other] * (count - 1)))
    return variant.make(replace(problem, rng=numpy_generator(key("learner", seed))))


def stretch(recording: Recording, start: int, stop: int) -> Recording:
    """A part of a recording."""
    part = slice(start, stop)
    places = (recording.s[part], recording.a[part], recording.cost[part], recording.s_next[part])
    return Recording(*places, recording.a_next[part], recording.terminal[part])


def advance(learner: Any, recording: Recording, *, fast: bool) -> None:
    """Feed a recorded trajectory to a learner."""
    if fast:
        learner.update_many(recording)
    else:
        call_learner(_advance, learner, recording)


def _advance(learner: Any, recording: Recording) -> None:
    for transition in recording:
        learner.update(transition)


def is_fast(variant: Variant, problem: Problem, recording: Recording) -> bool:
    """Whether the variant has an update_many that equals its update on a short stretch."""
    learner = make_learner(variant, problem, b"agreement")
    if not hasattr(learner, "update_many"):
        return False
    start = stretch(recording, 0, AGREEMENT)
    twin = copy.deepcopy(learner)
    advance(learner, start, fast=False)
    advance(twin, start, fast=True)
    return bool(np.array_equal(learner.estimate(), twin.estimate()))


def _retold(change: Callable[[Problem], Problem]) -> Callable[[Problem], TabularLearner]:
    """Q-learning on a problem that was changed on its way."""
    return lambda problem: TabularLearner(Q_LEARNING, change(problem))


class _Dear(TabularLearner):
    """Every cost is one percent too high: a target biased by one percent."""

    factor = 1.01

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update(self, transition: Transition) -> None:
        super().update(transition._replace(cost=self.factor * transition.cost))

    def update_many(self, recording: Recording) -> None:
        super().update_many(replace(recording, cost=self.factor * recording.cost))


PROMISES = ("unbiased", "asynchronous", "converges", "finite time", "as fast as vanilla", "fast path")
_kind = partial(Variant, kind="control", sets=(Contamination,), promises=PROMISES)


def _radius(factor: float) -> Callable[[Problem], Problem]:
    def change(problem: Problem) -> Problem:
        told = problem.uncertainty_set
        assert isinstance(told, Contamination)
        return replace(problem, uncertainty_set=Contamination(factor * told.radius))

    return change


def _step(step_size: StepSize) -> Callable[[Problem], Problem]:
    return lambda problem: replace(problem, step_size=step_size)


RIGHT = _kind(name="robust Q-learning", make=partial(TabularLearner, Q_LEARNING))
NOISY = _kind(name="Q-learning with a constant step", make=_retold(_step(constant(0.5))))
STUCK = _kind(name="Q-learning with a summable step", make=_retold(_step(per_visit(1.0, rate=1.0, power=2.0))))
SLOW = _kind(name="Q-learning with a twentieth of the step", make=_retold(_step(per_visit(0.05, rate=0.5, power=1.0))))
WRONG_RADIUS = _kind(name="Q-learning with half the radius", make=_retold(_radius(0.5)))
DEAR = _kind(name="Q-learning with costs 1 % too high", make=_Dear)


class _VeryDear(_Dear):
    """Costs are ten percent too high."""

    factor = 1.1


VERY_DEAR = _kind(name="Q-learning with costs 10 % too high", make=_VeryDear)


class _Doubled(_Dear):
    """Costs are counted twice.

    Started at 0 the table is twice that of the right learner, so its error is at least ‖Q*‖ − 2‖Q_T − Q*‖. Wherever the
    right learner keeps the sharpened bound of the finite-time law, which is in all but a quarter of its runs, this
    exceeds epsilon: on every named problem ‖Q*‖ is more than 2 epsilon, and that bound less than epsilon/2.
    """

    factor = 2.0


DOUBLED = _kind(name="Q-learning with costs counted twice", make=_Doubled)


class _Endless(TabularLearner):
    """The ends of episodes are ignored."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update(self, transition: Transition) -> None:
        super().update(transition._replace(terminal=False))

    def update_many(self, recording: Recording) -> None:
        super().update_many(replace(recording, terminal=np.zeros_like(recording.terminal)))


ENDLESS = _kind(name="Q-learning that ignores the ends of episodes", make=_Endless)
