"""same-rate: robust Q-learning is as fast as vanilla Q-learning within a constant factor.

Both run on the same trajectory (the behaviour does not depend on Q, so most of the noise is common). Errors are
relative to their starts, ‖Q_T − Q*‖/‖Q_0 − Q*‖, each with its own Q*.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from properties.cases.benchmark_problems import BenchmarkProblem, models_for, problems_for
from properties.statistics import intervals
from properties.statistics.law import Cell, Size, StatisticalLaw, above_multiple, bernoulli_plan, once
from properties.statistics.laws import tabular
from properties.statistics.laws.convergence import schedule
from properties.statistics.laws.tabular import advance, is_fast, make_learner
from properties.statistics.records import Interval
from robust_core import Contamination
from robust_core.problem import Variant
from robust_core.validate import Floats

HORIZON = {"quick": 2048, "full": 65536}
FACTOR = 2.0
"""The constant within which "as fast" is meant."""
PROBLEMS = {"quick": ("two states",), "full": ("two states", "machine", "garnet")}


def _sampler(variant: Variant, benchmark: BenchmarkProblem, steps: int) -> Callable[[bytes], Floats]:
    vanilla = replace(benchmark, set_kind=Contamination, radius=0.0)
    problems = [named.problem(schedule(named)) for named in (benchmark, vanilla)]
    truths = (benchmark.truth.table, vanilla.truth.table)
    fast = is_fast(variant, problems[0], benchmark.record(b"agreement", tabular.AGREEMENT))

    def sample(seed: bytes) -> Floats:
        recording = benchmark.record(seed, steps)
        # The opponent is vanilla Q-learning itself, not what the variant makes of R = 0.
        learners = [make_learner(variant, problems[0], seed), tabular.RIGHT.make(problems[1])]
        advance(learners[0], recording, fast=fast)
        advance(learners[1], recording, fast=True)
        pairs = zip(learners, truths, strict=True)
        return np.array([abs(np.asarray(x.estimate()) - truth).max() / abs(truth).max() for x, truth in pairs])

    return sample


def _ratio(rows: Floats) -> Mapping[str, Interval]:
    return {"median ratio of relative errors": intervals.median(rows[:, 0] / rows[:, 1])}


def cells(variant: Variant, size: Size) -> list[Cell]:
    """One cell per problem."""
    steps = HORIZON[size]
    return [
        Cell(
            f"speed/{name}/T={steps}",
            bernoulli_plan(0.5, 0.8),
            once(partial(_sampler, variant, problems_for(variant)[name], steps)),
            above_multiple(0, FACTOR, 1),
            (*problems_for(variant)[name].content, steps),
            measure=_ratio,
            kind="ratio",
            variant=variant.name,
            stream=f"speed/{name}/T={steps}",
        )
        for name in PROBLEMS[size]
    ]


LAW = StatisticalLaw(
    "as fast as vanilla",
    ("control",),
    "as fast as vanilla",
    "the relative error of robust Q-learning is at most twice that of vanilla Q-learning on the same trajectory",
    "P(relative error > 2 x that of vanilla) ≤ 1/2",
    cells,
    tabular.RIGHT,
    (tabular.SLOW, tabular.STUCK, tabular.WRONG_RADIUS),
    claims=("same-rate",),
    sets=(Contamination,),
    purposes={
        "ratio": "the pace relative to vanilla Q-learning on the same walk; a wrong but fast algorithm passes",
    },
    models=lambda variant: models_for(variant, *PROBLEMS["quick"]),
)
