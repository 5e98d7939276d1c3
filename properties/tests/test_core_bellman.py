"""The robust Bellman operators: equal to exact ones, contracting, safe from overflow; policies.

T and T_pi are compared on *coarse* problems, where float arithmetic is exact: p in multiples of 2^-20, V, R and
gamma in sixteenths, costs and pi in quarters; a backup then has at most 20 + 4·3 + 2·2 fractional bits.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.planning import rational
from properties.profiles import examples
from properties.strategies import mdps, q_tables, uncertainty_sets
from robust_core import models
from robust_core.mdp import MDP
from robust_core.operators import bellman, bellman_policy, smoothed_bellman_policy
from robust_core.policy import deterministic, greedy, uniform
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.smoothing import LogSumExp
from robust_core.validate import EPS, Floats

U = EPS / 2
SIXTEENTHS = tuple(k / 16 for k in range(17))


@st.composite
def coarse(draw: st.DrawFn) -> tuple[MDP, UncertaintySet]:
    gammas = st.sampled_from(SIXTEENTHS[:16])
    mdp = draw(mdps(gammas=gammas, cost_range=(-4.0, 4.0), storage="either"))
    cost = np.round(mdp.cost * 4) / 4
    return MDP(mdp.kernel, cost, mdp.gamma), draw(uncertainty_sets(radii=st.sampled_from(SIXTEENTHS)))


def sixteenths(*shape: int) -> st.SearchStrategy[Floats]:
    size = int(np.prod(shape))
    return st.lists(st.integers(-256, 256), min_size=size, max_size=size).map(lambda k: np.array(k).reshape(shape) / 16)


def quarter_policies(mdp: MDP) -> st.SearchStrategy[Floats]:
    """pi[s,a] in quarters: four draws of an action per state."""
    S, A = mdp.n_states, mdp.n_actions
    actions = st.lists(st.integers(0, A - 1), min_size=4 * S, max_size=4 * S)
    return actions.map(lambda drawn: np.eye(A)[np.array(drawn).reshape(S, 4)].mean(axis=1))


def exact_policy_backup(mdp: MDP, uncertainty_set: UncertaintySet, pi: Floats, V: Floats) -> list[Fraction]:
    """T_pi V from its definition, in rationals."""
    gamma, v = Fraction(mdp.gamma), V.tolist()
    return [
        sum(
            (
                Fraction(float(pi[s, a]))
                * (Fraction(float(mdp.cost[s, a])) + gamma * rational.sigma(uncertainty_set, mdp.P[s, a].tolist(), v))
                for a in range(mdp.n_actions)
            ),
            Fraction(0),
        )
        for s in range(mdp.n_states)
    ]


def fractions(table: Floats) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in np.atleast_2d(table).tolist()]


@given(coarse(), st.data())
@examples(60)
def test_T_is_the_exact_backup(case: tuple[MDP, UncertaintySet], data: st.DataObject) -> None:
    mdp, uncertainty_set = case
    Q = data.draw(sixteenths(mdp.n_states, mdp.n_actions))
    kept = Q.copy()
    wanted = [list(row) for row in rational.backup(mdp, uncertainty_set, Q)]
    assert fractions(bellman(mdp, uncertainty_set, Q)) == wanted
    assert Q.tobytes() == kept.tobytes()


@given(coarse(), st.data())
@examples(60)
def test_T_pi_is_the_exact_backup(case: tuple[MDP, UncertaintySet], data: st.DataObject) -> None:
    mdp, uncertainty_set = case
    V, pi = data.draw(sixteenths(mdp.n_states)), data.draw(quarter_policies(mdp))
    assert fractions(bellman_policy(mdp, uncertainty_set, pi, V)) == [exact_policy_backup(mdp, uncertainty_set, pi, V)]


def with_maximum(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """V = max_a Q: rewards taken for costs."""
    return bellman(mdp, uncertainty_set, np.repeat(Q.max(axis=1, keepdims=True), mdp.n_actions, axis=1))


def undiscounted_cost(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """gamma (c + sigma) instead of c + gamma sigma."""
    return mdp.cost * (mdp.gamma - 1.0) + bellman(mdp, uncertainty_set, Q)


@pytest.mark.parametrize("wrong", [with_maximum, undiscounted_cost])
def test_wrong_backups_are_noticed(wrong: Callable[[MDP, UncertaintySet, Floats], Floats]) -> None:
    mdp, uncertainty_set = models.two_states(), Contamination(0.25)
    Q = np.array([[1.0, 2.0], [0.0, -1.0]])
    wanted = [list(row) for row in rational.backup(mdp, uncertainty_set, Q)]
    assert fractions(bellman(mdp, uncertainty_set, Q)) == wanted
    assert fractions(wrong(mdp, uncertainty_set, Q)) != wanted


@given(coarse(), st.data())
@examples(60)
def test_T_contracts_and_is_monotone(case: tuple[MDP, UncertaintySet], data: st.DataObject) -> None:
    """Floats are exact here, so ‖TQ − TQ'‖ <= gamma ‖Q − Q'‖ and Q <= Q' ⟹ TQ <= TQ' hold without a tolerance."""
    mdp, uncertainty_set = case
    Q, other = (data.draw(sixteenths(mdp.n_states, mdp.n_actions)) for _ in range(2))
    image, other_image = bellman(mdp, uncertainty_set, Q), bellman(mdp, uncertainty_set, other)
    assert np.abs(image - other_image).max() <= mdp.gamma * np.abs(Q - other).max()
    assert (bellman(mdp, uncertainty_set, np.maximum(Q, other)) >= np.maximum(image, other_image)).all()


def test_the_contraction_bites() -> None:
    """The best possible rate is gamma: a shift is discounted by exactly gamma, so a smaller modulus fails."""
    mdp, uncertainty_set = models.two_states(), TotalVariation(0.25)
    Q = np.zeros((2, 2))
    assert (bellman(mdp, uncertainty_set, Q + 1.0) - bellman(mdp, uncertainty_set, Q) == mdp.gamma).all()


def test_overflow_is_an_error() -> None:
    mdp = MDP(models.two_states().P, [[1e308, 1e308], [-1e308, 1e308]], 0.99)
    huge = np.full(2, 1.7e308)
    pi = uniform(2, 2)
    calls: list[Callable[[], object]] = [
        lambda: bellman(mdp, Contamination(0.5), np.full((2, 2), 1.7e308)),
        lambda: bellman_policy(mdp, Contamination(0.5), pi, huge),
        lambda: bellman_policy(mdp, TotalVariation(0.5), pi, np.array([-1.7e308, 1.7e308])),
        lambda: smoothed_bellman_policy(mdp, 0.5, LogSumExp(1.0), pi, huge),
        lambda: smoothed_bellman_policy(mdp, 0.5, LogSumExp(5e-324), pi, np.zeros(2)),
    ]
    for call in calls:
        with pytest.raises(OverflowError, match="leaves the range of float64"):
            call()


def test_extreme_legal_values_stay_correct() -> None:
    """Costs of ±1e300 and gamma = 1 − 1e-9: one backup, against the rationals, within twelve roundings.

    Of two states sigma takes ten, then there are a product and a sum; no number is above 2e300.
    """
    gamma = 1.0 - 1e-9
    mdp = MDP(models.two_states().P, [[1e300, -1e300], [1e-300, 0.0]], gamma)
    Q = np.array([[1e300, 2e300], [-1e300, 5.0]])
    for uncertainty_set in (Contamination(0.25), TotalVariation(0.25)):
        got = bellman(mdp, uncertainty_set, Q)
        for (s, a), x in np.ndenumerate(got):
            wanted = rational.backup(mdp, uncertainty_set, Q)[s][a]
            assert abs(Fraction(float(x)) - wanted) <= Fraction(12 * U) * Fraction(2e300)
            assert math.isfinite(x)


# ---- policies


@given(st.integers(1, 4).flatmap(lambda A: q_tables((3, A))))
@examples(50)
def test_greedy_takes_the_first_cheapest_action(Q: Floats) -> None:
    assert greedy(Q).tolist() == [row.index(min(row)) for row in Q.tolist()]
    assert deterministic(greedy(Q), Q.shape[1]).sum(axis=1).tolist() == [1.0] * len(Q)
    assert (uniform(*Q.shape) == 1.0 / Q.shape[1]).all()
