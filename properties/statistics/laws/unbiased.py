"""noise-mean: E[update | s, a] = (1−alpha)Q + alpha TQ, by sampling: the twin of the exact law.

The exact law enumerates s'; this one draws it.

The null has a range: the new entry is (1−alpha)Q(s,a) + alpha(c + gamma v) with v between min V and max V, whatever the
set and the radius. A row has the places of v in that range, 0 at min V and 1 at max V; an update that leaves it is red
by itself, and nothing is cut. In a range of length 1 no deviation exceeds ½ (Popoviciu), so the power is stated for
every law. A learner that draws has the range in the mean over its own draws only (its step size may be random), so they
are enumerated; where they cannot be, an update that leaves the range says nothing, and the cell is untested.
"""

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from oracles.planning import enclosed
from properties.cases.benchmark_problems import BenchmarkProblem, models_for, problems_for
from properties.laws.coins import Coins, NotEnumerable, Tape, leaves
from properties.statistics import design, intervals
from properties.statistics.law import Cell, Size, StatisticalLaw, once
from properties.statistics.laws import tabular
from properties.statistics.records import Interval
from properties.statistics.sequential import Plan
from robust_core import constant
from robust_core.problem import Problem, Variant
from robust_core.streams import key, numpy_generator
from robust_core.trajectory import Transition
from robust_core.validate import EPS, Floats

EFFECT = {"quick": 0.03, "full": 0.003}
"""The bias that is seen, in units of the range gamma span(V)."""
ROUNDINGS = 64.0
"""Operations of an update and of its place in the range, with room for other orders of them."""
DRAWS = 16
"""Updates per replicate."""
ALPHA = 0.5


def _table(benchmark: BenchmarkProblem) -> Floats:
    """A table away from the fixed point, spread over the box."""
    shape = benchmark.truth.table.shape
    return np.asarray(
        benchmark.ceiling * (np.arange(benchmark.truth.table.size).reshape(shape) % 5) / 4.0, dtype=np.float64
    )


def _range(benchmark: BenchmarkProblem, s: int, a: int) -> tuple[float, float]:
    """The new entry for v = min V, and its distance to that for v = max V."""
    mdp, Q = benchmark.mdp, _table(benchmark)
    V = Q.min(axis=1)
    lowest = (1.0 - ALPHA) * Q[s, a] + ALPHA * (mdp.cost[s, a] + mdp.gamma * V.min())
    return float(lowest), float(ALPHA * mdp.gamma * (V.max() - V.min()))


def place(benchmark: BenchmarkProblem, s: int, a: int) -> tuple[float, float]:
    """The place of the mean that is claimed, and how far it may be off.

    Off by the error of the backup and by the rounding of some operations on entries of the box, both over the length of
    the range.
    """
    Q, (lowest, reach) = _table(benchmark), _range(benchmark, s, a)
    backup = enclosed.backup(benchmark.mdp, benchmark.uncertainty_set, Q)
    claimed = ((1.0 - ALPHA) * Q[s, a] + ALPHA * float(backup.value[s, a]) - lowest) / reach
    rounding = ROUNDINGS * EPS * (benchmark.ceiling + abs(benchmark.mdp.cost).max())
    slack = (ALPHA * float(np.max(backup.error_bound)) + rounding) / reach
    return min(max(claimed, 0.0), 1.0), slack


def _sampler(variant: Variant, benchmark: BenchmarkProblem, s: int, a: int) -> Callable[[bytes], Floats]:
    mdp = benchmark.mdp
    problem = replace(benchmark.problem(constant(ALPHA)), initial=_table(benchmark))
    lowest, reach = _range(benchmark, s, a)
    slack = place(benchmark, s, a)[1]
    edges = np.cumsum(mdp.P[s, a])[:-1]

    def sample(seed: bytes) -> Floats:
        successors = np.searchsorted(edges, numpy_generator(seed).random(DRAWS), side="right")
        tape = Tape(seconds=math.inf)  # a cell is a function of its seed
        told = replace(problem, rng=Coins(tape, numpy_generator(key("learner", seed)).bit_generator))
        places = np.empty(DRAWS)
        for i, s_next in enumerate(successors.tolist()):
            step = Transition(s, a, float(mdp.cost[s, a]), s_next, 0, False)
            places[i] = (_entry(variant, told, tape, step) - lowest) / reach
            if tape.refusal is not None and not -slack <= places[i] <= 1.0 + slack:
                raise NotEnumerable(tape.refusal)
        return places

    return sample


def _entry(variant: Variant, told: Problem, tape: Tape, step: Transition) -> float:
    """The entry after a step: the mean over the draws of the learner, or one of them if they cannot be enumerated."""

    def after() -> float:
        learner = variant.make(told)
        learner.update(step)
        return float(learner.estimate()[step.s, step.a])

    if tape.refusal is None:
        with contextlib.suppress(NotEnumerable):
            found = list(leaves(tape, after))
            if len(found) == 1 or not all(np.isfinite(x) for _, x in found):
                return found[-1][1]
            return float(sum(p * Fraction(x) for p, x in found))
    return after()


def _plan(benchmark: BenchmarkProblem, s: int, a: int, effect: float, alpha: float) -> Plan:
    claimed, slack = place(benchmark, s, a)
    whole = design.two_sided_mean(claimed, effect, low=0.0, high=1.0, slack=slack, alpha=alpha)
    return design.per_replicate(whole, DRAWS)


def _measured(benchmark: BenchmarkProblem, s: int, a: int, rows: Floats) -> Mapping[str, Interval]:
    claimed, slack = place(benchmark, s, a)
    if not ((rows >= -slack) & (rows <= 1.0 + slack)).all():
        return {}
    found = intervals.mean(rows, low=-slack, high=1.0 + slack)
    return {"bias": Interval(found.lower - claimed, found.estimate - claimed, found.upper - claimed, found.alpha)}


def cells(variant: Variant, size: Size) -> list[Cell]:
    """One cell per pair of the two-state model."""
    benchmark = problems_for(variant)["two states"]
    effect = EFFECT[size]
    pairs = [(s, a) for s in range(2) for a in range(2)][: 4 if size == "full" else 2]
    return [
        Cell(
            f"unbiased/two states/({s},{a})/effect={effect:g}",
            partial(_plan, benchmark, s, a, effect),
            once(partial(_sampler, variant, benchmark, s, a)),
            np.ravel,
            (*benchmark.content, s, a),
            measure=partial(_measured, benchmark, s, a),
            kind="mean",
            variant=variant.name,
            stream=f"unbiased/two states/({s},{a})",
        )
        for s, a in pairs
    ]


LAW = StatisticalLaw(
    "unbiased update",
    ("control",),
    "unbiased",
    "E[update | s, a] = (1−α)Q(s,a) + α TQ(s,a) (eq:exp=0), with s' drawn from the model",
    "the place of the update in its range, of length γ span(V), has the claimed mean and does not leave [0, 1]",
    cells,
    tabular.RIGHT,
    (tabular.WRONG_RADIUS, tabular.VERY_DEAR),
    ("noise-mean",),
    fine_controls=(tabular.DEAR,),
    purposes={
        "mean": "one pair each: a defect may be small at one pair and large at another",
    },
    models=lambda variant: models_for(variant, "two states"),
)
