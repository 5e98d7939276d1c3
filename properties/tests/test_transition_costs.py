"""Learners that are told one sample of the cost, c(s,a,s'): right ones hold, those that use another cost are caught."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from properties.cases import runs
from properties.cases.choices import Seeded
from properties.cases.transition_costs import cost_of, costs_of
from properties.judging.verification import applicable, verify
from properties.statistics.law import decide
from properties.statistics.laws import convergence
from properties.tests.test_scope import example
from robust_core import Q_LEARNING, Contamination, TabularLearner, Transition, models
from robust_core.problem import Problem, Variant
from robust_core.trajectory import Recording

PROMISES = ("unbiased", "mean update", "fixed point in the mean", "sample form", "asynchronous", "fast path")
PAID = {"cost per": "transition"}


class Right(TabularLearner):
    """Algorithm 1, which pays what it is told."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)
        self.seen: dict[tuple[int, int], list[float]] = {}

    def cost(self, step: Transition) -> float:
        return step.cost

    def update(self, transition: Transition) -> None:
        self.seen.setdefault((transition.s, transition.a), []).append(transition.cost)
        super().update(transition._replace(cost=self.cost(transition)))

    def update_many(self, recording: Recording) -> None:
        for step in recording:
            self.update(step)


class First(Right):
    """The cost of the first visit of the pair, for ever."""

    def cost(self, step: Transition) -> float:
        return self.seen[step.s, step.a][0]


class Mean(Right):
    """The mean of all costs of the pair so far."""

    def cost(self, step: Transition) -> float:
        return float(np.mean(self.seen[step.s, step.a]))


class Last(Right):
    """The cost of the visit before, as if the next state did not matter."""

    def cost(self, step: Transition) -> float:
        return self.seen[step.s, step.a][-2:][0]


class Clipped(Right):
    """Costs are cut at 1."""

    def cost(self, step: Transition) -> float:
        return min(max(step.cost, -1.0), 1.0)


def learner(make: Callable[[Problem], Any], *, costs: tuple[float, float] | None = None) -> Variant:
    narrow = {} if costs is None else {"costs": costs}
    return Variant("mine", "control", make, (Contamination,), PROMISES, {**PAID, **narrow})


def violated(variant: Variant, seed: int, examples: int = 40) -> list[str]:
    laws = [law for law in applicable(variant) if law.promise is not None and not law.large]
    records = verify(variant, examples=examples, seed=seed, shrink=False, laws=laws)
    return [each.law for each in records if each.outcome != "holds"]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.robust_core_slow) for seed in range(1, 5))])
@pytest.mark.parametrize("kind", ["control", "evaluation"])
def test_right_learners_hold(kind: str, seed: int) -> None:
    right = learner(Right) if kind == "control" else replace(example(kind), options={**example(kind).options, **PAID})
    assert violated(right, seed) == []


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.robust_core_slow) for seed in range(1, 5))])
@pytest.mark.parametrize("make", [First, Mean, Last, Clipped])
def test_another_cost_than_the_one_paid_is_caught(make: Any, seed: int) -> None:
    # What follows the sample form is judged first; here the mean alone must see it.
    wrong = replace(learner(make), promises=("mean update",))
    assert violated(wrong, seed) == ["mean update"]
    assert "unbiased step" in violated(replace(wrong, promises=("unbiased",)), seed)


def test_with_costs_of_pairs_the_same_learners_hold() -> None:
    """So it is the costs of transitions that show them."""
    for make in (First, Mean, Last):
        assert violated(replace(learner(make), promises=("mean update",), options={}), 0, examples=20) == []


def test_the_mean_is_the_cost_of_the_pair_and_the_range_is_kept() -> None:
    moved = 0
    for costs in (None, (0.25, 1.0)):
        variant = learner(Right, costs=costs)
        for seed in range(60):
            case = runs.run(Seeded(seed), variant)
            for s, a in np.ndindex(case.mdp.cost.shape):
                row = [Fraction(p) for p in case.mdp.P[s, a].tolist()]
                paid = [cost_of(case.mdp, case.swing, s, a, s_next) for s_next in range(len(row))]
                mean = sum((p * Fraction(c) for p, c in zip(row, paid, strict=True)), Fraction(0))
                assert mean == Fraction(float(case.mdp.cost[s, a]))
                moved += len(set(paid)) > 1
                if costs is not None:
                    assert costs[0] <= min(paid)
                    assert max(paid) <= costs[1]
            for s, a, cost, s_next, *_ in case.path:
                assert cost == cost_of(case.mdp, case.swing, s, a, s_next)
    assert moved > 200


@pytest.mark.robust_core_slow
@pytest.mark.parametrize(("make", "outcome"), [(Right, "holds"), (First, "violated")])
def test_convergence_is_that_to_the_problem_of_the_mean_cost(make: Any, outcome: str) -> None:
    cell = next(cell for cell in convergence.cells(learner(make), "quick") if cell.kind == "limit")
    assert decide(cell, alpha=1e-6).outcome == outcome


def test_the_option_is_for_learners_of_tables() -> None:
    assert costs_of(models.two_states(gamma=0.5), 1.0)[0, 1].tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="is for learners of tables, got kind 'batch'"):
        replace(example("batch"), options=PAID)
