"""Theorem 1 by enumeration: both orders of play have one value, and stationary play attains it."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from oracles.arithmetic.exact import Vector
from oracles.planning import game, rational
from properties.strategies import mdps, policies, uncertainty_sets
from robust_core.mdp import MDP
from robust_core.sets import Contamination, TotalVariation, UncertaintySet

SEARCH = settings(phases=(Phase.generate,), max_examples=200, deadline=None, derandomize=True, database=None)
"""For finding where a broken oracle fails; the smallest such case is of no interest."""


def tiny() -> st.SearchStrategy[MDP]:
    """Two states and two actions; or three states where nature has fewer rows to choose."""
    return st.booleans().flatmap(
        lambda dyadic: st.one_of(
            mdps(max_states=2, max_actions=2, dyadic=dyadic),
            mdps(min_states=3, max_states=3, max_actions=1, dyadic=dyadic),
        )
    )


@given(tiny(), uncertainty_sets())
def test_both_orders_of_play_have_the_robust_value(mdp: MDP, uncertainty_set: UncertaintySet) -> None:
    played = game.stationary_game(mdp, uncertainty_set)
    assert played.min_max == played.max_min == rational.solve(mdp, uncertainty_set).V


@given(tiny(), uncertainty_sets())
def test_one_policy_and_one_kernel_attain_it_in_all_states_against_all_play(
    mdp: MDP, uncertainty_set: UncertaintySet
) -> None:
    played = game.stationary_game(mdp, uncertainty_set)
    optimum = rational.solve(mdp, uncertainty_set)
    assert played.policy is not None
    assert played.kernel is not None
    assert all(a in best for a, best in zip(played.policy, optimum.optimal_actions, strict=True))
    assert game.saddle_violations(mdp, uncertainty_set, optimum.V, played.policy, optimum.kernel) == []


@given(mdps(max_states=2, max_actions=2), uncertainty_sets())
def test_changing_kernel_and_policy_every_step_gains_nothing(mdp: MDP, uncertainty_set: UncertaintySet) -> None:
    V = rational.solve(mdp, uncertainty_set).V
    assert game.finite_game(mdp, uncertainty_set, V, horizon=2) == (V, V)


@given(mdps(max_states=2, max_actions=1), uncertainty_sets())
def test_the_first_steps_enclose_the_endless_game(mdp: MDP, uncertainty_set: UncertaintySet) -> None:
    V = rational.solve(mdp, uncertainty_set).V
    least, most = game.endless_bounds(mdp)
    lower, _ = game.finite_game(mdp, uncertainty_set, [least] * mdp.n_states, horizon=3)
    upper, _ = game.finite_game(mdp, uncertainty_set, [most] * mdp.n_states, horizon=3)
    assert all(low <= v <= high for low, v, high in zip(lower, V, upper, strict=True))
    width = Fraction(mdp.gamma) ** 3 * (most - least)
    assert all(high - low == width for low, high in zip(lower, upper, strict=True))


@given(mdps(max_states=2, max_actions=2), uncertainty_sets())
def test_randomising_gains_nothing(mdp: MDP, uncertainty_set: UncertaintySet) -> None:
    V = rational.solve(mdp, uncertainty_set).V
    mixed = [
        game.worst_value(mdp, uncertainty_set, policy)
        for policy in game.randomised_policies(mdp.n_states, mdp.n_actions, 2)
    ]
    assert tuple(min(values) for values in zip(*mixed, strict=True)) == V


@given(mdps(max_states=2, max_actions=2), uncertainty_sets(), st.data())
def test_the_value_of_a_randomised_policy_is_its_worst_over_all_kernels(
    mdp: MDP, uncertainty_set: UncertaintySet, data: st.DataObject
) -> None:
    policy = data.draw(policies(mdp), label="policy")
    weights = tuple(tuple(Fraction(x) for x in row) for row in policy.tolist())
    assert game.worst_value(mdp, uncertainty_set, weights) == rational.evaluate(mdp, uncertainty_set, policy).V


Planner = Callable[[MDP, UncertaintySet], Vector]


def with_l1_radius(mdp: MDP, uncertainty_set: UncertaintySet) -> Vector:
    halved = (
        TotalVariation(uncertainty_set.radius / 2) if isinstance(uncertainty_set, TotalVariation) else uncertainty_set
    )
    return rational.solve(mdp, halved).V


def without_nature(mdp: MDP, uncertainty_set: UncertaintySet) -> Vector:
    return rational.solve(mdp, Contamination(0.0)).V


def with_nature_on_the_same_side(mdp: MDP, uncertainty_set: UncertaintySet) -> Vector:
    """min over policies of the *best* kernel: costs negated twice, one sign forgotten."""
    flipped = rational.solve(MDP(mdp.P, -mdp.cost, mdp.gamma), uncertainty_set).V
    return tuple(-v for v in flipped)


@pytest.mark.parametrize("broken", [with_l1_radius, without_nature, with_nature_on_the_same_side])
def test_a_broken_planner_loses_the_game(broken: Planner) -> None:
    problems = st.tuples(tiny(), uncertainty_sets())
    find(problems, lambda case: game.stationary_game(*case).min_max != broken(*case), settings=SEARCH)


def test_the_orders_of_play_differ_where_the_theorem_does_not_hold() -> None:
    """Matching pennies: nature's one number k sends action a to state (k+a) mod 2, so rows are not free.

    The equality of the two orders above is therefore no artefact of the enumeration.
    """
    mdp = MDP([[[0.5, 0.5]] * 2] * 2, [[0.0, 0.0], [1.0, 1.0]], 0.5)
    board = game._Board(mdp, Contamination(1.0))
    values = {
        (policy, k): board.values(policy)[tuple((k + a) % 2 for a in policy)]
        for policy in board.policies()
        for k in (0, 1)
    }
    min_max = min(max(values[policy, k][0] for k in (0, 1)) for policy in board.policies())
    max_min = max(min(values[policy, k][0] for policy in board.policies()) for k in (0, 1))
    assert max_min == 0 < min_max


TWO = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[0.0], [1.0]], 0.5)


def test_a_wrong_saddle_is_refuted() -> None:
    uncertainty_set = Contamination(0.5)
    optimum = rational.solve(TWO, uncertainty_set)
    assert game.saddle_violations(TWO, uncertainty_set, optimum.V, (0, 0), optimum.kernel) == []
    high = [v + 1 for v in optimum.V]
    low = [v - 1 for v in optimum.V]
    outside = (((Fraction(1), Fraction(0)),), optimum.kernel[1])
    assert "less than V" in game.saddle_violations(TWO, uncertainty_set, high, (0, 0), optimum.kernel)[0]
    assert "more than V" in game.saddle_violations(TWO, uncertainty_set, low, (0, 0), optimum.kernel)[0]
    assert "outside the set" in game.saddle_violations(TWO, uncertainty_set, optimum.V, (0, 0), outside)[0]


def test_too_large_a_game_is_refused_with_its_size() -> None:
    mdp = MDP([[[0.25] * 4] * 3] * 4, [[0.0] * 3] * 4, 0.5)
    with pytest.raises(ValueError, match=r"means \d+ combinations, more than the limit"):
        game.stationary_game(mdp, Contamination(0.5))
    with pytest.raises(ValueError, match=r"play of 30 steps means \d+ combinations"):
        game.finite_game(TWO, Contamination(0.5), [Fraction(0)] * 2, horizon=30)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="terminal must have 2 entries, one per state, got 1"):
        game.finite_game(TWO, Contamination(0.5), [Fraction(0)], horizon=1)
    with pytest.raises(ValueError, match="horizon must be at least 1, got 0"):
        game.finite_game(TWO, Contamination(0.5), [Fraction(0)] * 2, horizon=0)
    with pytest.raises(ValueError, match="steps must be at least 1"):
        list(game.randomised_policies(1, 1, 0))
