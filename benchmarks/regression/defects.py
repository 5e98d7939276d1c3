"""Injected defects, which a comparison must find. Each replaces the factory of some learners.

Bigger defects than these are easy; these are chosen near what the benchmark can see (docs/regression.md has the sizes).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from properties.cases.benchmark_problems import BenchmarkProblem
from robust_core import Contamination, constant, key
from robust_core.learners.schedules import StepSize
from robust_core.problem import Problem
from robust_core.streams import numpy_generator
from robust_core.trajectory import Recording
from robust_core.validate import Floats

Factory = Callable[[Problem], Any]
Make = Callable[[Factory, Any, Problem], Any]
Q, TD, TDC = "robust Q-learning", "robust TD(0)", "robust TDC"
NOISE_SHARE = 0.5
"""The variance that is added to the target, in units of the largest it has anyway."""


@dataclass(frozen=True)
class Defect:
    """A defect: the learners it is in, what it does, and how it is made."""

    text: str
    variants: tuple[str, ...]
    make: Make


def _on_problem(change: Callable[[BenchmarkProblem | None, Problem], Problem]) -> Make:
    """The right learner on a problem that was changed on its way."""
    return lambda make, benchmark, problem: make(change(benchmark, problem))


def _slower(benchmark: BenchmarkProblem | None, problem: Problem) -> Problem:
    """1/(1+n) instead of 1/(1 + (1−gamma)n): the error falls like n^-(1−gamma); constant steps are halved."""
    step = problem.step_size
    slower = replace(step, rate=1.0) if step.clock == "visits" else constant(step.scale / 2.0)
    return replace(problem, step_size=slower)


def _radius(factor: float) -> Callable[[BenchmarkProblem | None, Problem], Problem]:
    def change(benchmark: BenchmarkProblem | None, problem: Problem) -> Problem:
        given = problem.uncertainty_set
        assert isinstance(given, Contamination)
        return replace(problem, uncertainty_set=Contamination(factor * given.radius))

    return change


def _from_the_truth(benchmark: BenchmarkProblem | None, problem: Problem) -> Problem:
    """Starts near what it should learn: nine tenths of the way from its own start to Q*."""
    assert benchmark is not None
    truth = benchmark.truth.table
    return replace(problem, initial=problem.initial + 0.9 * (truth - problem.initial))


def _decreasing(benchmark: BenchmarkProblem | None, problem: Problem) -> Problem:
    """An honest improvement: a constant step is replaced by one that falls with the visits."""
    if problem.step_size.clock == "visits":
        return problem
    return replace(problem, step_size=StepSize(1.0, 1.0 - problem.gamma, 1.0, "visits"))


class _OtherCosts:
    """A learner that is given other costs than were paid."""

    def __init__(
        self, change: Callable[[Recording], Floats], make: Factory, benchmark: BenchmarkProblem, problem: Problem
    ) -> None:
        self.learner, self.change = make(problem), change

    def update_many(self, recording: Recording) -> None:
        """Learn from a recording with other costs."""
        self.learner.update_many(replace(recording, cost=self.change(recording)))

    def estimate(self) -> Floats:
        """The learner's table."""
        table: Floats = self.learner.estimate()
        return table


def _dearer(percent: float) -> Make:
    """Every cost is too high by so much, hence every target, and the limit."""
    return partial(_OtherCosts, lambda recording: (1.0 + percent / 100.0) * recording.cost)


def _noisy(make: Factory, benchmark: BenchmarkProblem, problem: Problem) -> Any:
    """The target is right on average and noisier."""
    V = benchmark.truth.table.min(axis=1)
    spread = benchmark.mdp.expectation(V**2) - benchmark.mdp.expectation(V) ** 2
    size = benchmark.mdp.gamma * (1.0 - benchmark.radius) * np.sqrt(NOISE_SHARE * spread.max())

    def change(recording: Recording) -> Floats:
        rng = numpy_generator(key("noise", recording.s.tobytes(), recording.s_next.tobytes()))
        noise: Floats = np.where(rng.random(len(recording)) < 0.5, -size, size)
        return recording.cost + noise

    return _OtherCosts(change, make, benchmark, problem)


class _HalfTheTruth:
    """The answer is mixed into the estimate: every error is half of what was learned."""

    def __init__(self, make: Factory, benchmark: BenchmarkProblem, problem: Problem) -> None:
        self.learner, self.truth = make(problem), benchmark.truth.table

    def update_many(self, recording: Recording) -> None:
        """Learn as it should be."""
        self.learner.update_many(recording)

    def estimate(self) -> Floats:
        """Half way between what was learned and what is true."""
        table: Floats = (self.learner.estimate() + self.truth) / 2.0
        return table


DEFECTS = {
    "slower rate": Defect("steps 1/(1+n): the exponent is 1−gamma, not 1/2", (Q, TD, TDC), _on_problem(_slower)),
    **{f"bias {p:g} %": Defect(f"targets {p:g} % too high", (Q,), _dearer(p)) for p in (0.125, 0.25, 0.5, 1.0, 2.0)},
    "larger variance": Defect("target with half as much variance again, mean right", (Q,), _noisy),
    "start near the answer": Defect("nine tenths of Q* leak into the first table", (Q,), _on_problem(_from_the_truth)),
    "answer in the estimate": Defect("half of Q* leaks into what is reported", (Q,), _HalfTheTruth),
    "no contamination": Defect("the learner ignores the radius", (Q,), _on_problem(_radius(0.0))),
    "radius 10 % off": Defect("the radius is a tenth too large", (Q, TDC), _on_problem(_radius(1.1))),
    "honest improvement": Defect("a falling step instead of a constant one", (Q,), _on_problem(_decreasing)),
    "slower code": Defect("everything is computed twice", (), _on_problem(lambda benchmark, problem: problem)),
}  # fmt: skip
