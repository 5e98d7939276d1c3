"""Theorem 2: Q_t → Q*. Two cells per problem, and a word on how a learner that fails does so.

The same is asked of the learners of a fixed policy, whose limit is its Q or V.

Almost-sure convergence has no finite test; what is tested is the schedule 1/(1 + (1−gamma)n) per visit, under which
Algorithm 1 converges at the rate ½, at two times T and 16T, from two starts on the same trajectory:

* rate: err(16T) <= 16^{−(½ − TOLERANCE)} min(err(T), err(0)) in at least half of the runs: the median ratio, free of
  scale, and a bound on the level, for an error at T beyond that of the start earns nothing;
* limit: err(16T), less what the learner has not forgotten of its start, exceeds `DEVIATIONS` standard deviations of the
  scalar recursion at the noisiest and rarest pair in at most a quarter of the runs. The deviation, sigma/((1−gamma)√n)
  after n visits, is computed from the model. What is not forgotten is the distance of the two starts: the update is
  monotone in the table, so a run that starts at Q* stays between the two, and is off by noise alone.

So "converges" promises a limit and a pace, that of the schedule; the first is judged by the limit cells whatever the
second is.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from properties.cases.benchmark_problems import (
    BenchmarkProblem,
    ending_problem,
    models_for,
    problems_for,
    with_paid_costs,
)
from properties.statistics import intervals
from properties.statistics.law import Cell, Size, StatisticalLaw, above_multiple, bernoulli_plan, once
from properties.statistics.laws import tabular
from properties.statistics.laws.tabular import advance, is_fast, make_learner, rounding, stretch
from properties.statistics.records import Interval
from robust_core import per_visit
from robust_core.learners.schedules import StepSize
from robust_core.problem import Variant
from robust_core.validate import Floats

HORIZON = {"quick": 256, "full": 4096}
FACTOR = 16
TOLERANCE = 0.2
RATE_BOUND = FACTOR ** -(0.5 - TOLERANCE)
DEVIATIONS = 3.0
PROBLEMS = {"quick": ("two states", "garnet"), "full": ("two states", "machine", "garnet")}
SETTLED = 2.0
"""A mean error beyond so many deviations of a single run is a limit; a constant step has a bias below one."""
ERR_T, ERR_END, GAP_T, GAP_END, SIGNED = 0, 1, 2, 3, 4
"""The columns of a row; from SIGNED on, the entries of the estimate less the truth."""


def schedule(benchmark: BenchmarkProblem) -> StepSize:
    """1/(1 + (1−gamma)n) per visit: Σ = ∞, Σ² < ∞, and the rate ½."""
    return per_visit(1.0, rate=1.0 - benchmark.mdp.gamma, power=1.0)


def threshold(benchmark: BenchmarkProblem, steps: int) -> float:
    """`DEVIATIONS` deviations of psi ← psi + alpha_n(−(1−gamma)psi + noise) after steps·mu_min visits, and rounding."""
    visits, c = benchmark.mu_min * steps, 1.0 - benchmark.mdp.gamma
    return float(DEVIATIONS * benchmark.sigma / (c * np.sqrt(visits)) + rounding(benchmark, 1.0 / (1.0 + c * visits)))


def _sampler(variant: Variant, benchmark: BenchmarkProblem, horizon: int) -> Callable[[bytes], Floats]:
    starts = [benchmark.problem(schedule(benchmark), initial=value) for value in (0.0, benchmark.ceiling)]
    fast = is_fast(variant, starts[0], benchmark.record(b"agreement", tabular.AGREEMENT))

    def sample(seed: bytes) -> Floats:
        recording = benchmark.record(seed, FACTOR * horizon)
        parts = stretch(recording, 0, horizon), stretch(recording, horizon, FACTOR * horizon)
        learners = [make_learner(variant, problem, seed) for problem in starts]
        tables = []
        for part in parts:
            for learner in learners:
                advance(learner, part, fast=fast)
            tables.append([np.asarray(learner.estimate()) for learner in learners])
        errors = [abs(low - benchmark.truth.table).max() for low, _ in tables]
        gaps = [abs(low - high).max() for low, high in tables]
        return np.concatenate((errors, gaps, (tables[1][0] - benchmark.truth.table).ravel()))

    return sample


def _beyond(limit: float, rows: Floats) -> Floats:
    """1 where the error exceeds the limit by more than the start explains, or is NaN."""
    return (~(rows[:, ERR_END] - rows[:, GAP_END] <= limit)).astype(float)


def diagnosis(rows: Floats) -> str:
    """Why a learner fails: two starts on one trajectory tell forgetting from learning.

    A stuck learner keeps the distance of its starts, a slow one reduces it slowly; both starts of a learner with a
    wrong limit meet, away from Q* by more than `SETTLED` deviations of a run; with a constant step they meet and the
    error has no constant direction.
    """
    gap, earlier = np.median(rows[:, GAP_END]), np.median(rows[:, GAP_T])
    error = np.median(rows[:, ERR_END])
    if gap > error / 4.0:
        return "stuck" if gap > 0.9 * earlier else "slow"
    signed = rows[:, SIGNED:]
    bias, spread = abs(signed.mean(axis=0)), signed.std(axis=0)
    return "wrong limit" if (bias > SETTLED * spread).any() else "does not settle"


def _measured(rows: Floats) -> Mapping[str, Interval]:
    slope = np.log(rows[:, ERR_T] / rows[:, ERR_END]) / np.log(FACTOR)
    return {"median exponent": intervals.median(slope), "median error": intervals.median(rows[:, ERR_END])}


def cells(variant: Variant, size: Size) -> list[Cell]:
    """Rate and limit on every problem, and the limit on one whose episodes end, if the variant is for such."""
    horizon = HORIZON[size]
    found = []
    for name in PROBLEMS[size]:
        benchmark = with_paid_costs(problems_for(variant)[name], variant)
        sample = once(partial(_sampler, variant, benchmark, horizon))
        limit = threshold(benchmark, FACTOR * horizon)
        content = (*benchmark.content, horizon)
        stream = f"converges/{name}/T={horizon}"
        found += [
            Cell(
                f"converges/rate/{name}/T={horizon}",
                bernoulli_plan(0.5, 0.8),
                sample,
                above_multiple(ERR_END, RATE_BOUND, ERR_T, most=benchmark.truth.size),
                content,
                measure=_measured,
                diagnose=diagnosis,
                kind="rate",
                variant=variant.name,
                stream=stream,
            ),
            Cell(
                f"converges/limit/{name}/T={horizon}",
                bernoulli_plan(0.25, 0.5),
                sample,
                partial(_beyond, limit),
                content,
                diagnose=diagnosis,
                kind="limit",
                variant=variant.name,
                stream=stream,
            ),
        ]
    if (benchmark_with_ends := ending_problem(variant)) is not None:
        found.append(_limit_with_ends(variant, benchmark_with_ends, horizon))
    return found


def _limit_with_ends(variant: Variant, benchmark: BenchmarkProblem, horizon: int) -> Cell:
    """The limit alone: the pace is that of the same problem without ends."""
    name = f"{benchmark.name}/T={horizon}"
    return Cell(
        f"converges/limit/{name}",
        bernoulli_plan(0.25, 0.5),
        once(partial(_sampler, variant, benchmark, horizon)),
        partial(_beyond, threshold(benchmark, FACTOR * horizon)),
        (*benchmark.content, horizon),
        diagnose=diagnosis,
        kind="limit",
        variant=variant.name,
        stream=f"converges/{name}",
    )


LAW = StatisticalLaw(
    "convergence to Q*",
    ("control", "evaluation"),
    "converges",
    "the estimate converges to Q* (an evaluation: to Q or V of its policy) under a schedule with Σα = ∞, "
    "Σα² < ∞ (Theorem 2): the rate ½ − 0.2, and the right limit",
    "P(err(16T) > 16^-0.3 min(err(T), err(0))) ≤ 1/2; "
    "P(err(16T) > distance of two starts + 3 deviations of the scalar recursion) ≤ 1/4",
    cells,
    tabular.RIGHT,
    (tabular.NOISY, tabular.STUCK, tabular.SLOW, tabular.WRONG_RADIUS, tabular.ENDLESS),
    ("conv",),
    fine_controls=(tabular.DEAR,),
    purposes={
        "rate": "the pace of Theorem 2, also below the allowance of the limit cell",
        "limit": "the limit at any pace: it allows noise and a remainder of the start, so slow algorithms pass",
    },
    models=lambda variant: models_for(variant, *PROBLEMS["quick"]),
)
