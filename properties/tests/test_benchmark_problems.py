"""Benchmark problems: the two ways to their truth agree, and a question that has no answer is refused."""

from dataclasses import replace

import numpy as np
import pytest

from oracles.planning.bounds import evaluate, solve
from properties.cases.benchmark_problems import BenchmarkProblem, problems_for, small_problems
from properties.statistics.laws.tabular import RIGHT
from properties.strategies.sets import KINDS
from robust_core import constant, models

NAMES = tuple(small_problems())
LEARNED = ("Q*", "Q", "V")


@pytest.mark.parametrize("learns", LEARNED)
@pytest.mark.parametrize("name", NAMES)
def test_the_float_truth_lies_within_its_error_of_the_exact_one(name: str, learns: str) -> None:
    floats = replace(small_problems()[name], learns=learns)  # type: ignore[arg-type]
    exact = replace(floats, exact=True)
    assert np.abs(floats.truth.table - exact.truth.table).max() <= floats.truth.error + exact.truth.error
    assert floats.content == exact.content


@pytest.mark.parametrize("set_kind", KINDS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize("name", NAMES)
def test_the_truth_is_that_of_certified_planning(name: str, set_kind: type) -> None:
    width = 1e-9
    problem = replace(small_problems()[name], set_kind=set_kind)
    optimum = solve(problem.mdp, problem.uncertainty_set, width=width).Q
    assert (np.abs(problem.truth.table - optimum.value) <= width + problem.truth.error).all()
    values = evaluate(problem.mdp, problem.uncertainty_set, problem.policy, width=width).V
    evaluated = replace(problem, learns="V").truth
    assert (np.abs(evaluated.table - values.value) <= width + evaluated.error).all()


def test_a_variant_meets_its_own_set_and_radius() -> None:
    narrowed = replace(RIGHT, options={"radii": (0.5,)})
    assert {problem.radius for problem in problems_for(narrowed).values()} == {0.5}
    assert problems_for(RIGHT)["machine"] == small_problems()["machine"]


def test_a_learner_of_V_is_told_a_vector_and_the_policy() -> None:
    problem = replace(small_problems()["machine"], learns="V").problem(constant(0.5), initial=2.0)
    assert problem.initial.tolist() == [2.0, 2.0, 2.0]
    assert problem.policy is not None
    assert small_problems()["machine"].problem(constant(0.5)).policy is None


def test_a_benchmark_problem_without_a_step_size_asks_for_one() -> None:
    with pytest.raises(ValueError, match="'machine' names no step size"):
        small_problems()["machine"].problem()


def test_only_Q_star_is_known_with_terminal_states() -> None:
    ending = BenchmarkProblem("ending", models.two_states(gamma=0.5), 0.25, terminal=(1,))
    assert (ending.truth.table[1] == 0.0).all()
    with pytest.raises(ValueError, match="only Q\\* of contamination"):
        _ = replace(ending, learns="V").truth
