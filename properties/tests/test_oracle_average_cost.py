"""The average cost and the policy gradient: two methods each, and wrong variants that they catch."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.planning import average_cost, rational
from oracles.planning.policy_gradient import policy_gradient
from properties.profiles import examples
from properties.strategies import mdps, uncertainty_sets
from robust_core.mdp import MDP
from robust_core.sets import Contamination, TotalVariation

TWO_ENDS = MDP([[[1.0, 0.0]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
"""Two absorbing states: without restarts the average cost depends on the start."""
KINDS = (Contamination, TotalVariation)


@given(
    mdps(max_states=4, max_actions=2), uncertainty_sets(kinds=KINDS, radii=st.sampled_from((0.5, 0.25, 1.0, 0.0625)))
)
@examples(60)
def test_both_methods_agree_and_are_the_limit_of_discounted_values(mdp: MDP, uncertainty_set: Contamination) -> None:
    exact = average_cost.solve(mdp, uncertainty_set)
    enclosed = average_cost.enclose(mdp, uncertainty_set, width=1e-9)
    assert abs(Fraction(float(enclosed.value)) - exact.gain) <= Fraction(enclosed.error_bound)
    # (1−gamma)V* = (1−gamma)W' + gamma R max W' with W' at gamma(1−R): off by (1−gamma) times 4 max|c|/R².
    gamma = 1.0 - 2.0**-20
    V = rational.solve(MDP(mdp.P, mdp.cost, gamma), uncertainty_set).V
    room = Fraction(2) ** -20 * 4 * Fraction(float(np.abs(mdp.cost).max())) / Fraction(uncertainty_set.radius) ** 2
    assert all(abs((1 - Fraction(gamma)) * v - exact.gain) <= room for v in V)


def test_restarts_make_the_gain_one_number() -> None:
    assert average_cost.solve(TWO_ENDS, Contamination(0.25)).gain == 1
    assert average_cost.solve(TWO_ENDS, TotalVariation(0.25)).gain == 1


@pytest.mark.parametrize("method", ["solve", "enclose"])
def test_a_radius_of_zero_is_refused(method: str) -> None:
    options = {} if method == "solve" else {"width": 1e-6}
    with pytest.raises(ValueError, match="radius must be above 0"):
        getattr(average_cost, method)(TWO_ENDS, Contamination(0.0), **options)


def test_a_gradient_needs_a_direction_that_keeps_the_policy_a_policy() -> None:
    found = policy_gradient(TWO_ENDS, 0.5, [[1.0], [1.0]], [0.5, 0.5])
    assert found.maximisers == (0,)
    with pytest.raises(ValueError, match="rows that sum to 0"):
        found.derivative([[1.0], [0.0]])


def test_at_a_kink_every_maximiser_gives_a_gradient() -> None:
    mdp = MDP([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]], [[1.0, 0.0], [1.0, 0.0]], 0.5)
    found = policy_gradient(mdp, 0.5, [[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0])
    assert found.maximisers == (0, 1)
    up, down = [[0.0, 0.0], [1.0, -1.0]], [[0.0, 0.0], [-1.0, 1.0]]
    assert found.derivative(up) > 0 == found.derivative(down)
