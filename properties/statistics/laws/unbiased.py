"""noise-mean: E[update | s, a] = (1−alpha)Q + alpha TQ, by sampling: the twin of the exact law.

The exact law enumerates s'; this one draws it, and so sees a learner that adds randomness of its own.

The null has a range: the new entry is (1−alpha)Q(s,a) + alpha(c + gamma v) with v between min V and max V. So is its
mean, and the two differ by at most alpha gamma span(V), whatever the set, the radius and the learner's own randomness.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from oracles.planning import enclosed
from properties.cases.benchmark_problems import BenchmarkProblem, problems_for
from properties.statistics import design, intervals
from properties.statistics.law import Cell, Size, StatisticalLaw, once
from properties.statistics.laws import tabular
from properties.statistics.sequential import Plan
from robust_core import constant
from robust_core.problem import Variant
from robust_core.streams import key, numpy_generator
from robust_core.trajectory import Transition
from robust_core.validate import Floats

EFFECT = {"quick": 0.03, "full": 0.003}
"""The bias that is seen, in units of the range gamma span(V) of the noise."""
DRAWS = 16
"""Updates per replicate."""
ALPHA = 0.5


def _table(benchmark: BenchmarkProblem) -> Floats:
    """A table away from the fixed point, spread over the box."""
    shape = benchmark.truth.table.shape
    return np.asarray(
        benchmark.ceiling * (np.arange(benchmark.truth.table.size).reshape(shape) % 5) / 4.0, dtype=np.float64
    )


def _sampler(variant: Variant, benchmark: BenchmarkProblem, s: int, a: int) -> Callable[[bytes], Floats]:
    mdp, Q = benchmark.mdp, _table(benchmark)
    problem = replace(benchmark.problem(constant(ALPHA)), initial=Q)
    V = Q.min(axis=1)
    backup = float(enclosed.backup(mdp, benchmark.uncertainty_set, Q).value[s, a])
    wanted = (1.0 - ALPHA) * Q[s, a] + ALPHA * backup
    reach = ALPHA * mdp.gamma * (V.max() - V.min())
    edges = np.cumsum(mdp.P[s, a])[:-1]

    def sample(seed: bytes) -> Floats:
        successors = np.searchsorted(edges, numpy_generator(seed).random(DRAWS), side="right")
        told = replace(problem, rng=numpy_generator(key("learner", seed)))
        noise = np.empty(DRAWS)
        for i, s_next in enumerate(successors.tolist()):
            learner = variant.make(told)
            learner.update(Transition(s, a, float(mdp.cost[s, a]), s_next, 0, False))
            noise[i] = (learner.estimate()[s, a] - wanted) / reach
        # Under the null the noise never leaves [−1, 1]; a wrong learner's is cut to where the test can use it.
        return np.clip(np.where(np.isnan(noise), 1.0, noise), -1.0, 1.0)

    return sample


def _plan(effect: float, alpha: float) -> Plan:
    whole = design.two_sided_mean(0.0, effect, sigma=0.5, low=-1.0, high=1.0, alpha=alpha)
    return design.per_replicate(whole, DRAWS)


def cells(variant: Variant, size: Size) -> list[Cell]:
    """One cell per pair of the two-state model."""
    benchmark = problems_for(variant)["two states"]
    effect = EFFECT[size]
    pairs = [(s, a) for s in range(2) for a in range(2)][: 4 if size == "full" else 2]
    return [
        Cell(
            f"unbiased/two states/({s},{a})/effect={effect:g}/{variant.name}",
            partial(_plan, effect),
            once(partial(_sampler, variant, benchmark, s, a)),
            np.ravel,
            (*benchmark.content, s, a),
            measure=lambda rows: {"mean noise": intervals.mean(rows, low=-1.0, high=1.0)},
            kind="mean",
        )
        for s, a in pairs
    ]


LAW = StatisticalLaw(
    "unbiased update",
    ("control",),
    "unbiased",
    "E[update | s, a] = (1−α)Q(s,a) + α TQ(s,a) (eq:exp=0), with s' drawn from the model",
    "the noise of the update, over its range γ span(V), has mean 0 and does not leave the range",
    cells,
    tabular.RIGHT,
    (tabular.WRONG_RADIUS, tabular.VERY_DEAR),
    ("noise-mean",),
    fine_controls=(tabular.DEAR,),
)
