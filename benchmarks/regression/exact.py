"""Deterministic quantities of the named problems: they are what they are, to the last bit."""

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.regression.measures import Part
from benchmarks.regression.problems import PROBLEMS
from oracles.bounds.q_learning import explicit_theorem3
from oracles.chains.chain import pair_chain, stationary_exact
from oracles.chains.mixing import t_mix
from oracles.planning import rational
from properties.cases.benchmark_problems import BenchmarkProblem
from robust_core import Contamination, TotalVariation, bellman
from robust_core.json import to_data
from robust_core.sets import UncertaintySet

PLANS = ("Q*", "worst value", "optimal actions", "value iteration")
CHAIN = ("mixing time", "mu_min", "T of Theorem 3", "alpha of Theorem 3")
SETS: dict[str, type[Contamination | TotalVariation]] = {
    "contamination": Contamination,
    "total variation": TotalVariation,
}
WIDTH = 2.0**-20
"""To which value iteration encloses Q*."""
EPSILON, DELTA = 0.5, 0.25
"""The accuracy and the failure probability for which Theorem 3 gives its horizon."""


def problems() -> dict[str, str]:
    """The problems whose model is a plain MDP, each under one name, with the benchmark problem that has it."""
    plain = {name: benchmark for name, benchmark in PROBLEMS.items() if not benchmark.terminal}
    return {name.partition(",")[0]: name for name in reversed(plain)}


def measure_plan(problem: str, variant: str) -> Any:
    """Robust planning in exact arithmetic, and the sweeps that value iteration needs, as the data of a `Part`."""
    benchmark = PROBLEMS[problems()[problem]]
    uncertainty_set = SETS[variant](benchmark.radius)
    optimum = rational.solve(benchmark.mdp, uncertainty_set)
    text = " ".join(str(value) for row in optimum.Q for value in row)
    values: dict[str, int | float | str] = {
        "Q*": hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
        "worst value": float(max(optimum.V)),
        "optimal actions": " ".join("".join(map(str, actions)) for actions in optimum.optimal_actions),
        "value iteration": sweeps(benchmark, uncertainty_set),
    }
    return to_data(Part(values))


def sweeps(benchmark: BenchmarkProblem, uncertainty_set: UncertaintySet) -> int:
    """Sweeps of T from 0 until MacQueen's bounds enclose Q* to WIDTH: gamma/(1−gamma)·span(TQ − Q) <= WIDTH."""
    mdp = benchmark.mdp
    Q, count = np.zeros_like(mdp.cost), 0
    while True:
        image = bellman(mdp, uncertainty_set, Q)
        count += 1
        moved = image - Q
        if mdp.gamma / (1.0 - mdp.gamma) * float(moved.max() - moved.min()) <= WIDTH:
            return count
        Q = image


def measure_chain(problem: str) -> Any:
    """The chain of the uniform policy, and the horizon and step of the explicit Theorem 3, as the data of a `Part`."""
    benchmark = PROBLEMS[problems()[problem]]
    chain = pair_chain(benchmark.mdp, benchmark.policy)
    rarest = min(stationary_exact(chain))
    cost = benchmark.mdp.cost
    plan = explicit_theorem3(
        epsilon=EPSILON,
        delta=DELTA,
        gamma=benchmark.mdp.gamma,
        radius=benchmark.radius,
        n_pairs=benchmark.n_pairs,
        mu_min=float(rarest),
        tau=max(1, t_mix(chain, threshold=Fraction(float(rarest)) / 2)),
        cost_span=float(cost.max() - cost.min()),
    )
    values: dict[str, int | float | str] = {
        "mixing time": t_mix(chain),
        "mu_min": str(rarest),
        "T of Theorem 3": plan.T,
        "alpha of Theorem 3": plan.alpha,
    }
    return to_data(Part(values))
