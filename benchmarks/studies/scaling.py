"""How the error and the horizon of robust Q-learning scale in the other factors of Theorem 3: 1−gamma, mu_min, t_mix.

The theorem prints alpha ∝ min((1−gamma)^4 epsilon², 1/t_mix) and T ∝ 1/(mu_min (1−gamma)^5 epsilon²) +
t_mix/(mu_min (1−gamma)). Each factor is changed alone, by `FACTOR` or about that, on a named family of two-state
chains in which it can be. Measured on independent runs, as median exponents with intervals that hold at every sample
size:

* horizon: the first time at which the error has fallen to `LEVEL` of its start;
* error: the error at a time when the start is forgotten.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from oracles.chains.chain import pair_chain
from oracles.chains.mixing import t_mix
from properties.cases.benchmark_problems import BenchmarkProblem
from properties.statistics import intervals, seed_sets
from properties.statistics.laws.tabular import RIGHT, make_learner, stretch
from properties.statistics.records import Interval
from robust_core import constant
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.validate import Floats

FACTOR = 8.0
LEVEL = 0.25
GRID = 2.0**0.25
"""Ratio of the times at which the error is looked at: a horizon is known to within this factor."""
FORGETTING = 16.0
"""Runs last so many multiples of 1/(alpha mu_min (1−gamma))."""
REPLICATES = 256
RADIUS = 0.25
COST = [[0.0, 0.5], [1.0, 0.75]]


@dataclass(frozen=True)
class Member:
    """A two-state chain: it leaves state 0 with probability `leave` and state 1 with `back`, whatever the action."""

    leave: float
    back: float
    gamma: float
    alpha: float

    def benchmark(self) -> BenchmarkProblem:
        """The model as a benchmark problem."""
        rows = [[[1.0 - self.leave, self.leave]] * 2, [[self.back, 1.0 - self.back]] * 2]
        return BenchmarkProblem(f"chain {self}", MDP(rows, COST, self.gamma), RADIUS)


@dataclass(frozen=True)
class Comparison:
    """Two members that differ in one factor, and what the theorem prints for T and for the error at that alpha."""

    factor: str
    base: Member
    changed: Member
    printed_horizon: str
    printed_error: str
    ratio: Callable[[Member], float]
    """The factor of a member, as the oracles know it."""


def _horizon(member: Member) -> float:
    return 1.0 / (1.0 - member.gamma)


def _rarity(member: Member) -> float:
    return 1.0 / member.benchmark().mu_min


def _mixing(member: Member) -> float:
    benchmark = member.benchmark()
    return float(t_mix(pair_chain(benchmark.mdp, benchmark.policy)))


BASE = Member(leave=0.5, back=0.5, gamma=0.5, alpha=0.125)
SMALL_STEP = replace(BASE, alpha=0.125 / FACTOR)
LONG = 1.0 - 0.5 / FACTOR
COMPARISONS = (
    Comparison("1/(1−gamma), alpha ∝ 1−gamma", BASE, replace(SMALL_STEP, gamma=LONG), "5", "1.5", _horizon),
    Comparison("1/(1−gamma), alpha fixed", SMALL_STEP, replace(SMALL_STEP, gamma=LONG), "1", "2", _horizon),
    Comparison("1/mu_min", BASE, replace(BASE, leave=0.5 / FACTOR, back=1.0 - 0.5 / FACTOR), "1", "0", _rarity),
    Comparison(
        "t_mix",
        replace(BASE, leave=0.125, back=0.125),
        replace(BASE, leave=0.125 / FACTOR, back=0.125 / FACTOR),
        "at most 1",
        "0",
        _mixing,
    ),
)


def times(member: Member) -> list[int]:
    """When the error is looked at: geometric, up to the end of the run."""
    end = FORGETTING / (member.alpha * member.benchmark().mu_min * (1.0 - member.gamma))
    count = int(np.ceil(np.log(end) / np.log(GRID)))
    return sorted({int(np.ceil(GRID**k)) for k in range(count + 1)})


def run(member: Member, seed: bytes, variant: Variant = RIGHT) -> Floats:
    """(horizon, final error) of one run from Q_0 = 0; the horizon is infinite if the run never gets there."""
    benchmark, moments = member.benchmark(), times(member)
    recording = benchmark.record(seed, moments[-1])
    learner = make_learner(variant, benchmark.problem(constant(member.alpha)), seed)
    start = benchmark.truth.size
    horizon, before, last = np.inf, 0, start
    for now in moments:
        learner.update_many(stretch(recording, before, now))
        error = float(abs(np.asarray(learner.estimate()) - benchmark.truth.table).max())
        if error <= LEVEL * start and horizon == np.inf:
            # Between two looks the error is taken to fall like a power of the time.
            share = np.log(last / (LEVEL * start)) / np.log(last / error)
            horizon = max(before, 1) * (now / max(before, 1)) ** share
        before, last = now, error
    return np.array([horizon, last])


@dataclass(frozen=True)
class Exponents:
    """The exponents of a comparison, as the theorem prints them and as measured, for the horizon and the error."""

    factor: str
    ratio: float
    base: Member
    changed: Member
    printed: dict[str, str]
    measured: dict[str, Interval]


def compare(pair: Comparison, *, replicates: int = REPLICATES, variant: Variant = RIGHT) -> Exponents:
    """The exponents of a comparison: log of the ratio of two independent runs over log FACTOR, in the median."""
    rows = [
        [
            run(member, seed_sets.replicate(seed_sets.PINNED, "scaling", pair.factor, i, word), variant)
            for i in range(replicates)
        ]
        for word, member in (("base", pair.base), ("changed", pair.changed))
    ]
    logs = np.log(np.array(rows))
    ratio = pair.ratio(pair.changed) / pair.ratio(pair.base)
    exponents = (logs[1] - logs[0]) / np.log(ratio)
    found: Mapping[str, Floats] = {"horizon": exponents[:, 0], "error": exponents[:, 1]}
    return Exponents(
        factor=pair.factor,
        ratio=ratio,
        base=pair.base,
        changed=pair.changed,
        printed={"horizon": pair.printed_horizon, "error": pair.printed_error},
        measured={name: intervals.median(values) for name, values in found.items()},
    )


def measure() -> list[Exponents]:
    """All comparisons."""
    return [compare(pair) for pair in COMPARISONS]
