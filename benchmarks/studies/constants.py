"""Theorem 3 says "there exist c_0 and c_1": the smallest c_0 that holds on a named family, for several c_1.

A pair (c_0, c_1) is tested with the T and alpha that the theorem prints, by the sequential test of the claim
P(‖Q_T − Q*‖ > 3 epsilon) <= 6 delta = ½. The family is part of the answer: no finite test finds universal constants.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from oracles.bounds.q_learning import theorem3_alpha, theorem3_T
from oracles.chains.chain import pair_chain
from oracles.chains.mixing import t_mix
from properties.cases.benchmark_problems import BenchmarkProblem
from properties.statistics.law import Cell, above, bernoulli_plan, decide, once
from properties.statistics.laws.finite_time import final_error
from properties.statistics.laws.tabular import RIGHT
from robust_core import models
from robust_core.streams import key

EPSILON = 0.1
DELTA = 1.0 / 12.0
LEVEL = 1e-3
"""The error probability of each single test; the search makes a few dozen."""
STEP_CONSTANTS = (8.0, 64.0, 512.0, 4096.0)
LARGEST, SMALLEST = 2.0**-2, 2.0**-16
MOST_STEPS = 2_000_000
"""Pairs whose T is beyond this are not run: the answer is then "not above", not a number."""


@cache
def family() -> tuple[BenchmarkProblem, ...]:
    """Costs in [0, 1], as the theorem assumes; every start Q_0 = 0 is farther than 3 epsilon from Q*."""
    return (
        BenchmarkProblem("machine, gamma=1/2", models.machine_replacement(3, gamma=0.5), 0.125),
        BenchmarkProblem(
            "garnet, gamma=1/2", models.garnet(4, 2, 2, gamma=0.5, seed=key("statistics", "garnet")), 0.25
        ),
        BenchmarkProblem(
            "garnet, gamma=3/4", models.garnet(3, 2, 2, gamma=0.75, seed=key("statistics", "constants")), 0.25
        ),
    )


@dataclass(frozen=True)
class Found:
    """The smallest c_0 (a power of two) that held on the whole family, and the T it means for each member."""

    c_1: float
    c_0: float | None
    horizons: dict[str, int]


def plan(benchmark: BenchmarkProblem, c_0: float, c_1: float) -> tuple[int, float]:
    """T and alpha as Theorem 3 prints them."""
    mixing = float(max(1, t_mix(pair_chain(benchmark.mdp, benchmark.policy))))
    common = {"epsilon": EPSILON, "gamma": benchmark.mdp.gamma, "delta": DELTA, "t_mix": mixing}
    pairs = benchmark.truth.table.size
    T = theorem3_T(mu_min=benchmark.mu_min, n_pairs=pairs, c_0=c_0, **common)
    alpha = theorem3_alpha(n_pairs=pairs, T=T, c_1=c_1, **common)
    return int(np.ceil(T)), min(1.0, alpha)


def holds(benchmark: BenchmarkProblem, c_0: float, c_1: float) -> bool:
    """Whether the coverage of the theorem holds with these constants."""
    T, alpha = plan(benchmark, c_0, c_1)
    cell = Cell(
        f"constants/{benchmark.name}/c_0={c_0:g}/c_1={c_1:g}",
        bernoulli_plan(0.5, 0.8),
        once(lambda: final_error(RIGHT, benchmark, alpha, T)),
        above(0, 3.0 * EPSILON),
        (*benchmark.content, T, alpha),
    )
    return decide(cell, alpha=LEVEL).outcome == "holds"


def smallest(c_1: float) -> Found:
    """Halve c_0 while the whole family holds."""
    best: float | None = None
    c_0 = LARGEST
    while c_0 >= SMALLEST:
        if max(plan(benchmark, c_0, c_1)[0] for benchmark in family()) <= MOST_STEPS:
            if not all(holds(benchmark, c_0, c_1) for benchmark in family()):
                break
            best = c_0
        c_0 /= 2.0
    horizons = {} if best is None else {benchmark.name: plan(benchmark, best, c_1)[0] for benchmark in family()}
    return Found(c_1, best, horizons)


def measure() -> list[Found]:
    """The smallest c_0 for every c_1."""
    return [smallest(c_1) for c_1 in STEP_CONSTANTS]
