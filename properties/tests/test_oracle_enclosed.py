"""Truth as an enclosure: two formulas in many digits, backups and solutions from enclosures, cases set aside."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any, ClassVar

import numpy as np
import pytest

from oracles.arithmetic import exact
from oracles.arithmetic.digits import Digits, array, precision
from oracles.planning import enclosed, rational, truth
from oracles.sets import Multiplier, SetOracle, oracle_of, register
from properties.cases.hard_models import ladders, late, relay
from properties.judging.search import search
from properties.laws.catalogue import LAWS
from robust_core import MDP, Contamination, TotalVariation, UncertaintySet, Variant, bellman, sigma
from robust_core.sets import base
from robust_core.validate import EPS


@pytest.fixture(autouse=True)
def own_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sets of these tests are nobody else's."""
    monkeypatch.setattr(base, "_BY_KIND", dict(base._BY_KIND))


@dataclass(frozen=True)
class Tilted(UncertaintySet):
    """{q : KL(q‖p) <= r}, in the plainest words."""

    kind: ClassVar[str] = "a ball of relative entropy"
    radii: ClassVar[Any] = (0.0, 1.0, 0.5, 0.1, 1e-8, 10.0)
    radius: float


def tilted_bound(ball: Any, p: Any, v: Any, s: Any) -> Any:
    return s * (ball.radius + np.log((p * np.exp(v / s)).sum()))


def tilted_distance(ball: Any, p: Any, q: Any) -> Any:
    return sum((y * np.log(y / x) for x, y in zip(p, q, strict=True) if y > 0), Digits(0))


TILTED = Multiplier(tilted_bound, tilted_distance)
register(Tilted, SetOracle(multiplier=TILTED))


@dataclass(frozen=True)
class Ball(UncertaintySet):
    """The total-variation ball, for which only an enclosure is registered."""

    kind: ClassVar[str] = "a ball by its enclosure"
    radius: float


def by_rationals(uncertainty_set: Ball, p: Any, v: Any) -> tuple[Fraction, Fraction]:
    value = rational.sigma(TotalVariation(uncertainty_set.radius), p, v)
    return value, value


def proposal(uncertainty_set: Ball, p: Any, v: Any) -> Any:
    q = rational.worst_distribution(TotalVariation(uncertainty_set.radius), p.tolist(), v.tolist())
    return np.array([float(x) for x in q])


register(Ball, SetOracle(enclose=by_rationals, propose=proposal))


def test_many_digits_follow_the_formulas_of_arrays() -> None:
    with precision(50):
        x = array([0.5, 2.0, 3.0])
        unit = 10.0 ** (2 - 50)  # a few roundings of numbers up to exp(3), which have two digits before the point
        assert abs(float((np.exp(np.log(x)) - x).max())) < unit
        assert abs(float((np.sqrt(x) ** 2 - x).sum())) < unit
        assert abs(float((np.log1p(np.expm1(x)) - x).sum())) < unit
        assert float((1.0 - x / 4 + 2 * x @ x).max()) == 27.375
        assert not Digits(1) / Digits(0) < 10**400  # infinite, as in arrays of floats


def rows(n: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    for _ in range(n):
        size = int(rng.integers(2, 6))
        p = rng.dirichlet(np.full(size, rng.choice([0.1, 1.0])))
        if rng.random() < 0.5:
            p[rng.integers(size)] = 0.0
        v = rng.normal(size=size) if rng.random() < 0.5 else rng.integers(0, 3, size).astype(float)
        yield p / p.sum(), v * rng.choice([1.0, 1e-200, 1e200, 1e-13])


@pytest.mark.parametrize("radius", [0.0, 1e-300, 1e-8, 0.1, 1.0, 10.0])
def test_definition_and_bound_enclose_sigma_narrowly(radius: float) -> None:
    """The members prove the lower bound, the dual the upper one; they meet, so both are sigma."""
    for p, v in rows(4 if radius == 1e-300 else 10, seed=1):
        found = truth.sigma(Tilted(radius), p.tolist(), v.tolist())
        assert found.radius <= Fraction(1e-14) * Fraction(float(np.abs(v).max()))
        mean, top = exact.distribution(p.tolist()).dot(exact.Rational.of(v.tolist())), v[p > 0.0].max()
        slack = Fraction(1e-14) * Fraction(float(np.abs(v).max()))
        assert mean - slack <= found.lower <= found.upper <= Fraction(float(top)) + slack


def test_two_states_are_solved_by_hand() -> None:
    """Around (½, ½) KL(q‖p) = log 2 − H(q); at q = (¼, ¾) it is log 2 − H(¼), and sigma of (0, 1) is ¾."""
    radius = float(np.log(2.0) + 0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    found = truth.sigma(Tilted(radius), [0.5, 0.5], [0.0, 1.0])
    assert abs(float(found.middle) - 0.75) <= 4 * EPS


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_bound_of_another_set_is_found_out(factor: float) -> None:
    """Too small, the bounds cross; too large, they stay apart."""

    def bound(ball: Any, p: Any, v: Any, s: Any) -> Any:
        return s * (factor * ball.radius + np.log((p * np.exp(v / s)).sum()))

    register(Tilted, SetOracle(multiplier=Multiplier(bound, tilted_distance)))
    try:
        with pytest.raises(rational.NoExactSupport if factor < 1.0 else truth.TooWide):
            truth.sigma(Tilted(0.1), [0.25, 0.5, 0.25], [0.0, 1.0, 3.0])
    finally:
        register(Tilted, SetOracle(multiplier=TILTED))


def test_solutions_from_enclosures_contain_the_rational_ones() -> None:
    rng = np.random.default_rng(3)
    for _ in range(12):
        P = rng.dirichlet(np.full(3, 0.5), (3, 2))
        mdp = MDP(P, rng.integers(0, 4, (3, 2)).astype(float), float(rng.choice([0.0, 0.5, 0.9, 0.99])))
        ball, same = Ball(float(rng.choice([0.0, 0.25, 1.0]))), TotalVariation
        policy = rng.dirichlet(np.ones(2), 3)
        found = [enclosed.solve(mdp, ball), *enclosed.evaluate(mdp, ball, policy)]
        exactly = rational.evaluate(mdp, same(ball.radius), policy)
        truths: list[Any] = [rational.solve(mdp, same(ball.radius)).Q, exactly.V, exactly.Q]
        for certified, wanted in zip(found, truths, strict=True):
            off = np.abs(np.vectorize(Fraction, otypes=[object])(certified.value) - np.array(wanted, dtype=object))
            assert off.max() <= Fraction(certified.error_bound)
            assert certified.error_bound <= 1e-13 * max(1.0, float(np.abs(certified.value).max())) / (1.0 - mdp.gamma)


def test_pairs_have_sets_of_their_own() -> None:
    radii = np.array([[0.0, 0.5], [1.0, 0.25]])
    mdp = MDP(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [2.0, 0.5]], 0.5)
    kinds: tuple[Any, ...] = (Contamination, TotalVariation, Ball)
    for kind in kinds:
        made = kind(radii)
        backed_up = enclosed.backup(mdp, made, [[0.0, 1.0], [1.0, 3.0]])
        each = [[float(truth.sigma(kind(r), [0.5, 0.5], [0.0, 1.0]).middle) for r in row] for row in radii.tolist()]
        assert np.array_equal(backed_up.value, mdp.cost + 0.5 * np.array(each))
        if kind is not Ball:
            assert np.array_equal(bellman(mdp, made, [[0.0, 1.0], [1.0, 3.0]]), backed_up.value)
        Q = enclosed.solve(mdp, made)
        image = enclosed.backup(mdp, made, Q.value)
        assert np.abs(image.value - Q.value).max() <= 2 * (Q.error_bound + image.error_bound) + 8 * EPS


VALUE = next(law for law in LAWS if law.name == "support value")


def wide_in(share: float) -> Any:
    """An enclosure that is too wide in this share of the cases."""
    calls = count(1)

    def enclose(uncertainty_set: Ball, p: Any, v: Any) -> tuple[Fraction, Fraction]:
        value, _ = by_rationals(uncertainty_set, p, v)
        wide = share > 0.0 and next(calls) % round(1.0 / share) == 0
        return (value - 1, value + 1) if wide else (value, value)

    return enclose


@pytest.mark.parametrize(("share", "outcome"), [(0.0, "holds"), (0.005, "holds"), (0.2, "undecided")])
def test_cases_with_a_wide_enclosure_are_set_aside_and_counted(share: float, outcome: str) -> None:
    def right(uncertainty_set: Ball, p: Any, v: Any) -> Any:
        return sigma(TotalVariation(uncertainty_set.radius), p, v)

    variant = Variant("ball", "support", right, (Ball,), ("support function",))
    before = oracle_of(Ball)
    register(Ball, replace(before, enclose=wide_in(share)))
    try:
        verdict = search(VALUE, variant, examples=200, master_seed=0)
        wrong = search(VALUE, replace(variant, make=lambda u, p, v: p @ v), examples=200, master_seed=0)
    finally:
        register(Ball, before)
    assert verdict.outcome == outcome
    assert ("set aside: enclosure too wide" in verdict.evidence) == (share > 0.0)
    assert wrong.outcome == "violated"


NARROW = 1e-9
"""A width that does not hide an error of 1e-6."""


@pytest.mark.parametrize("mdp", [relay(), late(0, 0.99), ladders()], ids=["relay", "late", "ladders"])
def test_models_whose_best_policy_shows_late_are_enclosed(mdp: MDP) -> None:
    found, wanted = enclosed.solve(mdp, Tilted(0.0)), rational.solve(mdp, Contamination(0.0))
    off = np.abs(np.vectorize(Fraction, otypes=[object])(found.value) - np.array(wanted.Q, dtype=object))
    assert off.max() <= Fraction(found.error_bound)
    assert found.error_bound <= NARROW
