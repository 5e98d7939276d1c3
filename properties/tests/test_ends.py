"""Ends of episodes: the oracle against the definition of each set, and learners that are right under each meaning."""

from dataclasses import replace
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.planning import ends as ending
from oracles.planning import rational
from properties.judging.search import search
from properties.judging.verification import applicable
from properties.process.serving import limits
from properties.variants.gallery import PATHWISE
from properties.variants.mutants.ends import NatureEndsQ
from properties.variants.mutants.plain import PlainExpectedSarsa, PlainQ, PlainTD, PlainTDC
from robust_core import MDP, Contamination, TotalVariation, UncertaintySet, Variant
from robust_core.ends import ENDS

COSTS = st.integers(-4, 4).map(float)
QUARTERS = st.integers(0, 4).map(lambda k: k / 4.0)


@st.composite
def ending_models(draw: st.DrawFn) -> tuple[MDP, np.ndarray, UncertaintySet, bool]:
    S, A = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    weights = np.array(draw(st.lists(st.integers(0, 3), min_size=S * A * S, max_size=S * A * S))).reshape(S, A, S)
    weights[..., 0] += weights.sum(axis=2) == 0
    cost = np.array(draw(st.lists(COSTS, min_size=S * A, max_size=S * A))).reshape(S, A)
    ends = np.array(draw(st.lists(QUARTERS, min_size=S * A * S, max_size=S * A * S))).reshape(S, A, S)
    mdp = MDP(weights / weights.sum(axis=2, keepdims=True), cost, 0.75)
    kind = draw(st.sampled_from((Contamination, TotalVariation)))
    return mdp, ends, kind(draw(QUARTERS)), draw(st.booleans())


def largest_mean(
    uncertainty_set: UncertaintySet, p: list[Fraction], ends: list[Fraction], V: list[Fraction], *, nature_ends: bool
) -> Fraction:
    """By the definition: the formula of contamination, a linear program for what is moved under total variation.

    Nature takes t <= row, Σt <= R, and gives g <= 1 to the outcomes that she may reach, Σg = Σt. By duality the largest
    gain is the least of λR + Σ row·max(0, μ − v − λ) + Σ max(0, v − μ) over λ >= 0 and μ. That is piecewise linear and
    convex, so it is least where two of the lines μ = v, λ = 0, λ = μ − v meet.
    """
    row = [x * (1 - e) for x, e in zip(p, ends, strict=True)] + [sum(map(mul, p, ends), Fraction(0))]
    v, reached, R = [*V, Fraction(0)], [*V, Fraction(0)] if nature_ends else V, Fraction(uncertainty_set.radius)  # type: ignore[attr-defined]
    mean = sum(map(mul, row, v), Fraction(0))
    if isinstance(uncertainty_set, Contamination):
        return (1 - R) * mean + R * max(reached)
    prices = [(max(top - low, Fraction(0)), top) for top in v for low in [*v, top]]
    return mean + min(
        rate * R
        + sum(x * max(Fraction(0), top - low - rate) for x, low in zip(row, v, strict=True))
        + sum(max(Fraction(0), high - top) for high in reached)
        for rate, top in prices
    )


@settings(max_examples=25)
@given(ending_models())
def test_the_solution_with_ends_is_a_fixed_point_of_the_definition(
    problem: tuple[MDP, np.ndarray, UncertaintySet, bool],
) -> None:
    mdp, ends, uncertainty_set, nature_ends = problem
    policy = np.full(mdp.cost.shape, 1.0 / mdp.n_actions)
    optimum = ending.solve(mdp, uncertainty_set, ends, nature_ends=nature_ends)
    evaluation = ending.evaluate(mdp, uncertainty_set, policy, ends, nature_ends=nature_ends)
    for found, minimise in ((optimum, True), (evaluation, False)):
        V = list(map(Fraction, found.V))
        for s in range(mdp.n_states):
            image = [
                Fraction(mdp.cost[s, a])
                + Fraction(mdp.gamma)
                * largest_mean(
                    uncertainty_set,
                    list(exact.distribution(mdp.P[s, a].tolist()).fractions()),
                    list(map(Fraction, ends[s, a].tolist())),
                    V,
                    nature_ends=nature_ends,
                )
                for a in range(mdp.n_actions)
            ]
            assert list(found.Q[s]) == image
            assert V[s] == (min(image) if minimise else sum(image) / mdp.n_actions)


@settings(max_examples=15)
@given(ending_models())
def test_without_ends_and_where_nature_stays_it_is_the_ordinary_solution(
    problem: tuple[MDP, np.ndarray, UncertaintySet, bool],
) -> None:
    mdp, ends, uncertainty_set, _ = problem
    found = ending.solve(mdp, uncertainty_set, np.zeros_like(ends), nature_ends=False)
    assert found.Q == rational.solve(mdp, uncertainty_set).Q


@pytest.mark.parametrize("ends", [[2.0, 0.0], [[1.0]], [np.nan, 0.0]])
def test_probabilities_of_ending_are_checked(ends: list[float]) -> None:
    mdp = MDP(np.full((2, 1, 2), 0.5), np.zeros((2, 1)), 0.5)
    with pytest.raises(ValueError, match="ends must be probabilities"):
        ending.solve(mdp, Contamination(0.5), ends, nature_ends=True)


_ALL = ("unbiased", "sample form", *PATHWISE)
RIGHT = [
    Variant("Q where nature stays", "control", PlainQ, (Contamination,), _ALL, {"ends": "nature stays"}),
    Variant(
        "Q where nature ends",
        "control",
        NatureEndsQ,
        (Contamination,),
        tuple(promise for promise in _ALL if promise != "shift"),
        {"ends": "nature ends"},
    ),
    Variant("TD", "evaluation", PlainTD, (Contamination,), _ALL),
    Variant("SARSA", "evaluation", PlainExpectedSarsa, (Contamination,), _ALL, {"estimates": "Q"}),
]


@pytest.mark.parametrize("variant", RIGHT, ids=lambda variant: variant.name)
def test_learners_that_are_right_under_their_meaning_of_an_end_pass(variant: Variant) -> None:
    for law in applicable(variant):
        if not law.large:
            assert search(law, variant, examples=15, master_seed=1).outcome == "holds", law.name


class IgnoresEnds(PlainQ):
    def following(self, step):  # type: ignore[no-untyped-def]
        assert not step.terminal
        return super().following(step)


def test_a_learner_for_problems_without_ends_meets_none() -> None:
    variant = Variant("endless Q", "control", IgnoresEnds, (Contamination,), _ALL, {"ends": "none"})
    laws = applicable(variant)
    assert "ending" not in {law.name for law in laws}
    for law in laws:
        assert search(law, variant, examples=5, master_seed=0).outcome == "holds", law.name
    assert limits(variant) == ("tried without ends of episodes",)
    assert limits(RIGHT[1]) == ("ends of episodes: nature ends",)


def test_a_relation_that_an_end_breaks_is_no_law_where_nature_ends() -> None:
    stays = replace(RIGHT[0], promises=("shift",))
    assert "cost shift" in {law.name for law in applicable(stays)}
    assert "cost shift" not in {law.name for law in applicable(replace(stays, options={"ends": "nature ends"}))}
    linear = Variant("TDC", "linear evaluation", PlainTDC, (Contamination,), ("TDC",), {"ends": "nature ends"})
    names = {law.name for law in applicable(linear)}
    assert "TDC step" in names
    assert "TDC drift" not in names


def test_a_misspelt_meaning_is_refused() -> None:
    with pytest.raises(ValueError, match="must be one of 'nature stays', 'nature ends', 'none', got 'nature'"):
        replace(RIGHT[0], options={"ends": "nature"})
    assert ENDS == ("nature stays", "nature ends", "none")
