"""Exact robust planning: its fixed points, and the certificates that rest on one exact backup."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.arithmetic.exact import Matrix, Rational
from oracles.planning import rational
from oracles.sets import programs, vertices
from properties.strategies import gammas, mdps, policies, q_tables, radii, uncertainty_sets, values
from robust_core.mdp import MDP
from robust_core.sets import Contamination, TotalVariation, UncertaintySet

LONG = gammas(max_gamma=0.9999, dyadic=False)
SEARCH = settings(phases=(Phase.generate,), max_examples=200, deadline=None, derandomize=True, database=None)
"""For finding where a broken oracle fails; the smallest such case is of no interest."""


def models(**sizes: Any) -> st.SearchStrategy[MDP]:
    """Exact and rounded models, discounts up to 0.9999."""
    return st.booleans().flatmap(lambda dyadic: mdps(gammas=LONG, dyadic=dyadic, **sizes))


def sets() -> st.SearchStrategy[UncertaintySet]:
    return uncertainty_sets(radii=radii(dyadic=False))


def fractions(table: ArrayLike) -> np.ndarray[Any, Any]:
    exactly: np.ndarray[Any, Any] = np.vectorize(Fraction, otypes=[object])(np.asarray(table))
    return exactly


def contains(answer: Certified, truth: Matrix | tuple[Fraction, ...]) -> bool:
    """Whether |value − truth| <= error_bound, decided exactly."""
    distance = np.abs(fractions(answer.value) - np.array(truth, dtype=object))
    return bool((distance <= Fraction(answer.error_bound)).all())


@given(models(), sets())
def test_the_optimum_is_the_fixed_point_with_all_its_optimal_actions(mdp: MDP, uncertainty_set: UncertaintySet) -> None:
    optimum = rational.solve(mdp, uncertainty_set)
    assert rational.backup(mdp, uncertainty_set, optimum.Q) == optimum.Q
    assert tuple(min(row) for row in optimum.Q) == optimum.V
    for row, best, actions in zip(optimum.Q, optimum.V, optimum.optimal_actions, strict=True):
        assert actions == tuple(a for a, q in enumerate(row) if q == best)


@given(models(), sets())
def test_the_worst_kernel_is_in_the_set_and_attains_the_optimum(mdp: MDP, uncertainty_set: UncertaintySet) -> None:
    optimum = rational.solve(mdp, uncertainty_set)
    centre = exact.kernel(mdp)
    for s, a in np.ndindex(mdp.cost.shape):
        q = optimum.kernel[s][a]
        assert vertices.contains(uncertainty_set, centre[s][a].fractions(), q)
        future = sum((x * y for x, y in zip(q, optimum.V, strict=True)), Fraction(0))
        assert optimum.Q[s][a] == Fraction(float(mdp.cost[s, a])) + Fraction(mdp.gamma) * future


@given(models(), sets())
def test_the_optimum_satisfies_the_bellman_equation_of_the_convex_programs(
    mdp: MDP, uncertainty_set: UncertaintySet
) -> None:
    optimum = rational.solve(mdp, uncertainty_set)
    V = rational.certified_values(optimum.V, "V*")
    sigma = programs.support(uncertainty_set, mdp.P, V.value)
    # sigma is monotone and sigma(v + k) = sigma(v) + k, so an error of V is at most the same error of sigma.
    allowed = Fraction(mdp.gamma) * (Fraction(sigma.error_bound) + Fraction(V.error_bound))
    backed_up = fractions(mdp.cost) + Fraction(mdp.gamma) * fractions(sigma.value)
    assert (np.abs(backed_up - np.array(optimum.Q, dtype=object)) <= allowed).all()


@given(mdps(), radii())
def test_contamination_has_the_closed_form(mdp: MDP, radius: float) -> None:
    """V* = W + gamma R/(1−gamma) max W with W the ordinary optimum at discount gamma(1−R) (design, 1)."""
    optimum = rational.solve(mdp, Contamination(radius))
    shorter = MDP(mdp.P, mdp.cost, mdp.gamma * (1.0 - radius))
    assert Fraction(shorter.gamma) == Fraction(mdp.gamma) * (1 - Fraction(radius))  # dyadic: nothing rounds
    ordinary = rational.solve(shorter, Contamination(0.0))
    shift = Fraction(mdp.gamma) * Fraction(radius) / (1 - Fraction(mdp.gamma)) * max(ordinary.V)
    assert tuple(w + shift for w in ordinary.V) == optimum.V
    assert tuple(tuple(q + shift for q in row) for row in ordinary.Q) == optimum.Q
    assert optimum.optimal_actions == ordinary.optimal_actions


@given(models(), sets(), st.data())
def test_a_policy_is_evaluated_exactly(mdp: MDP, uncertainty_set: UncertaintySet, data: st.DataObject) -> None:
    policy = data.draw(policies(mdp, dyadic=False), label="policy")
    answer = rational.evaluate(mdp, uncertainty_set, policy)
    optimum = rational.solve(mdp, uncertainty_set)
    weights = [exact.distribution(row) for row in policy.tolist()]
    assert tuple(w.dot(Rational.of(q)) for w, q in zip(weights, answer.Q, strict=True)) == answer.V
    assert all(v >= best for v, best in zip(answer.V, optimum.V, strict=True))
    guess = data.draw(values(mdp.n_states), label="V")
    assert contains(rational.certify_policy(mdp, uncertainty_set, policy, guess), answer.V)


@given(models(), sets(), st.data())
def test_every_choice_of_optimal_actions_is_optimal(
    mdp: MDP, uncertainty_set: UncertaintySet, data: st.DataObject
) -> None:
    optimum = rational.solve(mdp, uncertainty_set)
    policy = [data.draw(st.sampled_from(actions)) for actions in optimum.optimal_actions]
    answer = rational.evaluate(mdp, uncertainty_set, policy)
    assert (answer.V, answer.Q, answer.kernel) == (optimum.V, optimum.Q, optimum.kernel)
    assert answer == rational.evaluate(mdp, uncertainty_set, np.eye(mdp.n_actions)[policy])


Certifier = Callable[[MDP, UncertaintySet, ArrayLike], Certified]


def misses(certify: Certifier, mdp: MDP, uncertainty_set: UncertaintySet, Q: ArrayLike) -> bool:
    """Whether the certificate of Q, or that of the rounded optimum, leaves out the true optimum."""
    truth = rational.solve(mdp, uncertainty_set).Q
    near = np.array(truth, dtype=np.float64)
    return not (
        contains(certify(mdp, uncertainty_set, Q), truth) and contains(certify(mdp, uncertainty_set, near), truth)
    )


@st.composite
def certificates(draw: st.DrawFn) -> tuple[MDP, UncertaintySet, ArrayLike]:
    mdp = draw(models())
    return mdp, draw(sets()), draw(q_tables(mdp))


@given(certificates())
def test_one_exact_backup_encloses_the_optimum(case: tuple[MDP, UncertaintySet, ArrayLike]) -> None:
    assert not misses(rational.certify, *case)


@given(models(), sets())
def test_the_certificate_of_the_rounded_optimum_is_rounding_over_one_minus_gamma(
    mdp: MDP, uncertainty_set: UncertaintySet
) -> None:
    rounded = rational.certified_values(rational.solve(mdp, uncertainty_set).Q, "Q*")
    # |TQ − Q*| <= gamma e and |d| <= (1+gamma) e: half the width is at most 2 gamma e/(1−gamma), and
    # rounding the middle to a float adds at most as much as rounding Q* did, to first order.
    e, gamma = Fraction(rounded.error_bound), Fraction(mdp.gamma)
    allowed = (2 * gamma / (1 - gamma) + 3) * e
    assert Fraction(rational.certify(mdp, uncertainty_set, rounded.value).error_bound) <= allowed


def without_rounding(mdp: MDP, uncertainty_set: UncertaintySet, Q: ArrayLike) -> Certified:
    """The float middle of the enclosure, for the truth."""
    return Certified(rational.certify(mdp, uncertainty_set, Q).value, 0.0, "ignores rounding")


def without_the_horizon(mdp: MDP, uncertainty_set: UncertaintySet, Q: ArrayLike) -> Certified:
    """gamma ‖TQ − Q‖ instead of gamma/(1−gamma) ‖TQ − Q‖."""
    image = np.array(rational.backup(mdp, uncertainty_set, Q), dtype=object)
    change = np.abs(image - fractions(Q)).max()
    rounded = rational.certified_values(image, "rounded")
    return Certified(rounded.value, float(Fraction(mdp.gamma) * change) + rounded.error_bound, "no horizon")


def with_l1_radius(mdp: MDP, uncertainty_set: UncertaintySet, Q: ArrayLike) -> Certified:
    """Total variation misread as ‖q−p‖₁ <= R."""
    halved = (
        TotalVariation(uncertainty_set.radius / 2) if isinstance(uncertainty_set, TotalVariation) else uncertainty_set
    )
    return rational.certify(mdp, halved, Q)


@pytest.mark.parametrize("broken", [without_rounding, without_the_horizon, with_l1_radius])
def test_a_broken_certificate_is_caught(broken: Certifier) -> None:
    find(certificates(), lambda case: misses(broken, *case), settings=SEARCH)


@given(models(max_states=8, max_actions=1))
def test_a_linear_system_is_solved_exactly(mdp: MDP) -> None:
    rows = [row for (row,) in exact.kernel(mdp)]
    cost = [c for (c,) in exact.costs(mdp)]
    V = exact.discounted_values(rows, cost, Fraction(mdp.gamma))
    for v, row, c in zip(V.fractions(), rows, cost, strict=True):
        assert v == c + Fraction(mdp.gamma) * row.dot(V)


def test_ties_are_decided_to_the_last_digit() -> None:
    tie = MDP([[[1.0], [1.0]]], [[1.0, 1.0]], 0.5)
    near = MDP([[[1.0], [1.0]]], [[1.0, np.nextafter(1.0, 2.0)]], 0.5)
    assert rational.solve(tie, TotalVariation(0.5)).optimal_actions == ((0, 1),)
    assert rational.solve(near, TotalVariation(0.5)).optimal_actions == ((0,),)


def test_a_row_stands_for_itself_over_its_exact_sum() -> None:
    row = [0.1] * 10  # as floats these sum to a little more than 1
    assert sum(map(Fraction, row)) != 1
    assert rational.sigma(Contamination(0.0), row, [1.0] * 10) == 1
    mdp = MDP([[row]] * 10, [[1.0]] * 10, 0.5)
    assert set(rational.solve(mdp, TotalVariation(0.25)).V) == {Fraction(2)}


@pytest.mark.parametrize("uncertainty_set", [Contamination(0.2), TotalVariation(0.2)])
def test_ten_states_are_solved(uncertainty_set: UncertaintySet) -> None:
    rng = np.random.default_rng(7)
    mdp = MDP(rng.dirichlet(np.ones(10), (10, 3)), rng.random((10, 3)), 0.99)
    optimum = rational.solve(mdp, uncertainty_set)
    assert rational.backup(mdp, uncertainty_set, optimum.Q) == optimum.Q


ONE = MDP([[[1.0]]], [[1.0]], 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rational.certify(ONE, Contamination(0.5), [[1.0, 2.0]]), r"Q must have shape \(1, 1\)"),
        (lambda: rational.certify(ONE, Contamination(0.5), [[np.inf]]), r"Q\[0, 0\] must be finite"),
        (lambda: rational.certify_policy(ONE, Contamination(0.5), [0], [1.0, 2.0]), r"V must have shape \(1,\)"),
        (lambda: rational.evaluate(ONE, Contamination(0.5), [0, 0]), "policy must name 1 actions"),
        (lambda: rational.evaluate(ONE, Contamination(0.5), [3]), r"policy\[0\] must lie in 0 … 0, got 3"),
        (lambda: rational.evaluate(ONE, Contamination(0.5), [[0.5]]), "policy row .* sums to 0.5"),
        (lambda: rational.sigma(Contamination(0.5), [1.0], [1.0, 2.0]), "v must have 1 entries"),
        (lambda: rational.sigma(Contamination(0.5), [0.0, 0.0], [1.0, 2.0]), "not all zero"),
        (lambda: rational.certified_values((Fraction(10) ** 400,), "huge"), "1e400 is beyond the float range"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()
