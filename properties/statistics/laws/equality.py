"""Fast equals reference in distribution, where the streams differ (other kernels, other machines).

Where the streams are the same, the exact laws demand the same bits; this law needs no common stream. Two
independent runs, one through `update_many`, one through the loop over `update`; the difference of a projection is
symmetric if the two have the same law. The null is that symmetry, nothing about means.

A difference of centres is one way to differ, a difference of spread another, which the first cells do not see: for two
runs of each path the logarithms of the distances within the pairs are compared, whose difference is symmetric too.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from properties.cases.benchmark_problems import BenchmarkProblem, models_for, problems_for
from properties.statistics import design, intervals
from properties.statistics.law import Cell, Size, StatisticalLaw, once
from properties.statistics.laws import tabular
from properties.statistics.laws.finite_time import deviation
from properties.statistics.laws.tabular import advance, make_learner
from properties.statistics.records import Interval
from properties.statistics.sequential import Plan
from robust_core import Q_LEARNING, Contamination, TabularLearner, constant
from robust_core.problem import Problem, Variant
from robust_core.trajectory import Recording
from robust_core.validate import Floats

STEPS = 256
ALPHA = 0.125
EFFECT = {"quick": 1.0, "full": 0.25}
"""The shift that is seen, in standard deviations of the difference."""
LOG_DEVIATION = math.pi / 2.0
"""The deviation of log|X| − log|Y| for normal X, Y: each logarithm has the variance π²/8."""


def _projection(variant: Variant, benchmark: BenchmarkProblem, direction: Floats) -> Callable[[bytes, bool], float]:
    """A projection of the error after a run on one of the two paths."""
    problem = benchmark.problem(constant(ALPHA))

    def projection(seed: bytes, fast: bool) -> float:
        learner = make_learner(variant, problem, seed)
        advance(learner, benchmark.record(seed, STEPS), fast=fast)
        return float((direction * (np.asarray(learner.estimate()) - benchmark.truth.table)).sum())

    return projection


def _sampler(variant: Variant, benchmark: BenchmarkProblem, direction: Floats) -> Callable[[bytes], Floats]:
    projection = _projection(variant, benchmark, direction)
    # The difference of two independent runs, in units of its deviation by the scalar recursion. That of R = 0, for all
    # radii: near R = 1 the noise vanishes, and what is left of the start differs from run to run by no less.
    unit = deviation(replace(benchmark, set_kind=Contamination, radius=0.0), ALPHA)
    scale = np.sqrt(2.0) * unit * np.linalg.norm(direction)
    return lambda seed: np.array([(projection(seed + b"f", True) - projection(seed + b"r", False)) / scale])


def _spreads(variant: Variant, benchmark: BenchmarkProblem, direction: Floats) -> Callable[[bytes], Floats]:
    """The distance of two runs on the fast path, and that of two runs on the reference."""
    projection = _projection(variant, benchmark, direction)

    def sample(seed: bytes) -> Floats:
        runs = [[projection(seed + word + bytes([i]), word == b"f") for i in range(2)] for word in (b"f", b"r")]
        return np.array([abs(first - second) for first, second in runs])

    return sample


def _lost(x: Floats) -> Floats:
    """NaN or infinity counts as far off."""
    return np.where(np.isnan(x), np.inf, x)


def _log_ratio(rows: Floats) -> Floats:
    """log of the first column over the second, in deviations; 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(rows[:, 0]) - np.log(rows[:, 1])
    return _lost(np.where((rows == 0.0).all(axis=1), 0.0, ratio)) / LOG_DEVIATION


def _shift(rows: Floats) -> Mapping[str, Interval]:
    return {"median shift": intervals.median(rows)}


def _factor(rows: Floats) -> Mapping[str, Interval]:
    shift = intervals.median(_log_ratio(rows))
    ends = (float(np.exp(LOG_DEVIATION * x)) for x in (shift.lower, shift.estimate, shift.upper))
    return {"median ratio of spreads": Interval(*ends)}


def cells(variant: Variant, size: Size) -> list[Cell]:
    """The sum of all entries and its spread, and at full size a contrast of the actions (of the states, for a V)."""
    benchmark, effect = problems_for(variant)["two states"], EFFECT[size]
    shape = benchmark.truth.table.shape
    directions = {"sum": np.ones(shape), "contrast": np.broadcast_to([1.0, -1.0], shape)}
    chosen = ("sum",) if size == "quick" else tuple(directions)

    def plan(alpha: float) -> Plan:
        return design.paired_plan(effect, alpha=alpha, two_sided=True)

    centres = [
        Cell(
            f"fast path/two states/{word}/effect={effect:g}",
            plan,
            once(partial(_sampler, variant, benchmark, directions[word])),
            lambda rows: _lost(np.ravel(rows)),
            (*benchmark.content, word),
            measure=_shift,
            kind=word,
            variant=variant.name,
            stream=f"fast path/two states/{word}",
        )
        for word in chosen
    ]
    spread = Cell(
        f"fast path/two states/spread/effect={effect:g}",
        plan,
        once(partial(_spreads, variant, benchmark, directions["sum"])),
        _log_ratio,
        (*benchmark.content, "spread"),
        measure=_factor,
        kind="spread",
        variant=variant.name,
        stream="fast path/two states/spread",
    )
    return [*centres, spread]


class _OtherFast(TabularLearner):
    """The fast path forgets the contamination."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update_many(self, recording: Recording) -> None:
        discounts = self.discounts
        self.discounts = (0.0, discounts[1])
        super().update_many(recording)
        self.discounts = discounts


class _NoisyFast(TabularLearner):
    """The fast path reads every cost with an error of mean 0, eight times the range of the costs."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update_many(self, recording: Recording) -> None:
        assert self.problem.rng is not None
        errors = 8.0 * np.ptp(recording.cost) * self.problem.rng.choice([-1.0, 1.0], recording.cost.size)
        super().update_many(replace(recording, cost=recording.cost + errors))


class _LargerFast(TabularLearner):
    """The fast path takes twice the step."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update_many(self, recording: Recording) -> None:
        told = self.problem
        self.problem = replace(told, step_size=constant(2.0 * told.step_size.scale))
        super().update_many(recording)
        self.problem = told


class _SwappedFast(TabularLearner):
    """The fast path takes one of two actions for the other.

    Under the uniform policy that is a right run with the columns of its table swapped, so no sum over the actions shows
    it. A contrast changes its sign, and so moves by twice its size.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def update_many(self, recording: Recording) -> None:
        last = self.problem.n_actions - 1
        super().update_many(replace(recording, a=last - recording.a, a_next=last - recording.a_next))


_kind = partial(Variant, kind="control", sets=(Contamination,), promises=tabular.PROMISES)
LAW = StatisticalLaw(
    "fast path equals reference in law",
    ("control", "evaluation"),
    "fast path",
    "the estimates after update_many and after the loop over update have the same distribution, with independent "
    "samples",
    "the difference of projections of two independent runs is symmetric about 0, and so is that of the logarithms of "
    "the distances within two pairs of runs",
    cells,
    tabular.RIGHT,
    (
        _kind(name="Q-learning with another fast path", make=_OtherFast),
        _kind(name="Q-learning with a noisy fast path", make=_NoisyFast),
    ),
    fine_controls=(
        _kind(name="Q-learning with larger steps on the fast path", make=_LargerFast),
        _kind(name="Q-learning with swapped actions on the fast path", make=_SwappedFast),
    ),
    purposes={
        "sum": "a shift of the whole table; noise of mean 0 and swapped entries do not shift it",
        "contrast": "a shift that a sum over actions does not show",
        "spread": "more or less noise with the same centre; a shift leaves it as it is",
    },
    models=lambda variant: models_for(variant, "two states"),
)
