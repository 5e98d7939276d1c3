"""Plain and compiled forms of every set, and the worst case, against the oracle, on rows where forms go wrong."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from oracles.arithmetic.exact import distribution
from oracles.sets import oracle_of, programs
from properties.laws.rounding import support_bound
from properties.tests import nasty_rows
from properties.tests.nasty_rows import KINDS
from robust_core import (
    L1,
    L2,
    MDP,
    BoundedDensity,
    ChiSquare,
    Interval,
    KullbackLeibler,
    LInfinity,
    LocalAdversary,
    Restart,
    ReverseKullbackLeibler,
    UncertaintySet,
    Wasserstein,
    sigma,
    support,
    worst_case,
)
from robust_core.sets import SETS
from robust_core.validate import Floats

MODELS = 16
"""Of up to 6 states and 2 actions: about 100 rows a set, each in four forms."""
DISCRETE = 1.0 - np.eye(3)
NARROW = 2.0**-20
"""The width that is asked of a program, of max|v|: a thousandth of what it refuses (`programs.WIDEST`)."""


def enclosure(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> tuple[Fraction, Fraction]:
    """Exact bounds on sigma."""
    enclose = oracle_of(type(uncertainty_set)).enclose
    assert enclose is not None
    lower, upper = enclose(uncertainty_set, distribution(p.tolist()).fractions(), tuple(map(Fraction, v.tolist())))
    assert lower <= upper
    return lower, upper


def distance(uncertainty_set: UncertaintySet, p: Floats, v: Floats, got: float) -> float:
    """How far a value is from the enclosure of sigma."""
    lower, upper = enclosure(uncertainty_set, p, v)
    return float(max(lower - Fraction(got), Fraction(got) - upper, Fraction(0)))


def check(kind: type[UncertaintySet], models: int, seed: int) -> None:
    rng = np.random.default_rng([seed, *kind.kind.encode()])
    for _ in range(models):
        n = int(rng.integers(1, 7))
        P = np.array([[nasty_rows.row(rng, n) for _ in range(2)] for _ in range(n)])
        v = nasty_rows.values(rng, n)
        uncertainty_set = nasty_rows.choose(rng, kind, P[0, 0], v)
        dense = MDP(P, np.zeros((n, 2)), 0.5)
        sparse = MDP(dense.rows, dense.cost, 0.5)
        worst = worst_case(uncertainty_set, P, v)
        assert worst.min() >= 0.0
        assert np.abs(worst.sum(axis=-1) - 1.0).max() <= support_bound(P[0, 0], np.ones(n))
        forms = {
            "plain": sigma(uncertainty_set, P, v),
            "compiled": support(dense, uncertainty_set, v),
            "compiled, sparse": support(sparse, uncertainty_set, v),
            "worst case": (worst / worst.sum(axis=-1, keepdims=True)) @ v,
        }
        for s, a in np.ndindex(n, 2):
            allowed = support_bound(P[s, a], v)
            for form, got in forms.items():
                off = distance(uncertainty_set, P[s, a], v, float(got[s, a]))
                assert off <= allowed, (form, uncertainty_set, P[s, a].tolist(), v.tolist(), off, allowed)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_all_forms_agree_with_the_truth(kind: type[UncertaintySet]) -> None:
    check(kind, MODELS, seed=0)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_the_program_and_the_exact_oracle_agree_on_ordinary_rows(kind: type[UncertaintySet]) -> None:
    """Two certified enclosures that share no algorithm meet, and the solver's is narrow."""
    rng = np.random.default_rng(2)
    for _ in range(2):
        p, v = rng.dirichlet(np.ones(4), 8), rng.normal(size=(8, 4))
        made = kind.choose(
            lambda levels: levels[int(rng.integers(len(levels)))], float(rng.uniform(0.05, 0.5)), p, v[0]
        )
        lower, upper = programs.enclosures(made, p, v)
        assert ((upper - lower) <= NARROW * np.abs(v).max(axis=1)).all()
        for row, values, low, high in zip(p, v, lower, upper, strict=True):
            least, most = enclosure(made, row, values)
            assert Fraction(float(low)) <= most
            assert least <= Fraction(float(high))


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_all_forms_agree_with_the_truth_on_many_rows(kind: type[UncertaintySet]) -> None:
    check(kind, 120, seed=1)


@pytest.mark.parametrize(
    "kind", [KullbackLeibler, ChiSquare, L1, L2, LInfinity, ReverseKullbackLeibler, BoundedDensity]
)
def test_edges_are_exact(kind: type[UncertaintySet]) -> None:
    """A constant is a constant, radius 0 gives the mean, and the maximum over the allowed states is reached exactly."""
    make: Any = kind
    p, v = np.array([0.25, 0.25, 0.5, 0.0]), np.array([1.0, 3.0, 3.0, 7.0])
    assert sigma(make(0.0), p, v) == 2.5
    assert sigma(make(0.5), p, np.full(4, 0.1)) == 0.1
    if kind is not BoundedDensity:
        wanted = {KullbackLeibler: 3.0, ChiSquare: 3.0}.get(kind, 7.0)
        assert abs(float(sigma(make(1000.0), p, v)) - wanted) <= support_bound(p, v)
    if kind in (L1, L2, LInfinity, ReverseKullbackLeibler):
        within = partial(make, within_support=True)
        assert abs(float(sigma(within(1000.0), p, v)) - 3.0) <= support_bound(p, v)


@pytest.mark.parametrize("kind", [KullbackLeibler, ChiSquare, L1, L2, LInfinity, ReverseKullbackLeibler])
def test_every_pair_may_have_its_radius(kind: type[UncertaintySet]) -> None:
    make: Any = kind
    rng = np.random.default_rng(0)
    P, v, radii = rng.dirichlet(np.ones(3), (3, 2)), rng.normal(size=3), rng.random((3, 2))
    made = make(radii)
    wanted = np.array([[float(sigma(make(float(radii[s, a])), P[s, a], v)) for a in range(2)] for s in range(3)])
    for got in (sigma(made, P, v), support(MDP(P, np.zeros((3, 2)), 0.5), made, v)):
        assert np.abs(got - wanted).max() <= 2 * support_bound(P[0, 0], v)


def _loose(kind: Any) -> Any:
    """The class, to be called with what its annotations rule out."""
    return kind


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(KullbackLeibler, -0.5), "radius must not be negative, got -0.5"),
        (partial(L1, float("nan")), "radius must be finite, got nan"),
        (partial(_loose(L1), 0.5, within_support=1), "within_support must be True or False, got 1"),
        (partial(BoundedDensity, 1.0), r"radius must lie in \[0, 1\), got 1.0"),
        (partial(BoundedDensity, 1.5), r"radius must lie in \[0, 1\), got 1.5"),
        (partial(_loose(Interval), [0.75, 0.5], [1.0, 1.0]), "low must sum to at most 1"),
        (partial(_loose(Interval), [0.0, 0.0], [0.25, 0.5]), "high must sum to at least 1"),
        (partial(_loose(Interval), [0.5, 0.25], [0.25, 1.0]), "must not be below low"),
        (partial(_loose(Wasserstein), 0.5, [[0.0, 1.0], [2.0, 0.0]]), "metric"),
        (partial(_loose(Wasserstein), 0.5, [[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]]), "triangle inequality"),
        (partial(LocalAdversary, -1.0, DISCRETE), "radius must not be negative, got -1.0"),
        (partial(_loose(Restart), 0.5, [0.0, 0.5]), "states must be 0 or 1"),
        (partial(sigma, LocalAdversary(0.5, DISCRETE), [0.5, 0.5], [0.0, 1.0]), "metric of LocalAdversary"),
    ],
)
def test_a_bad_field_is_named_with_its_rule(make: partial[object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


BAD_RADII = (
    (-0.5, r"radius must .*got -0\.5"),
    (float("nan"), r"radius must be finite|radius must .*got nan"),
    (float("inf"), r"radius must be finite|radius must .*got inf"),
    ("0.5", "radius must"),
    ([0.1, 0.2], r"radius must .*\(2,\)|radius must .*\[0\.1, 0\.2\]"),
    ([[0.1, -0.2]], r"radius must .*-0\.2|radius\[0, 1\] must .*-0\.2|radius .*-0\.2"),
)


@pytest.mark.parametrize("kind", [kind for kind in SETS if kind is not Interval], ids=lambda kind: kind.kind)
def test_a_bad_radius_of_every_set_is_named_with_its_value(kind: type[UncertaintySet]) -> None:
    rest: Any = {Restart: [[1.0, 0.0]], Wasserstein: [DISCRETE], LocalAdversary: [DISCRETE]}.get(kind, [])
    for radius, message in BAD_RADII:
        with pytest.raises((TypeError, ValueError), match=message):
            _loose(kind)(radius, *rest)
    two = MDP(np.full((2, 1, 2), 0.5), np.zeros((2, 1)), 0.5)
    wrong = _loose(kind)([[0.1, 0.2, 0.3]], *rest)
    with pytest.raises(ValueError, match=rf"radius of {kind.__name__} must .*2 states.*got shape \(1, 3\)"):
        support(two, wrong, [0.0, 1.0])


def test_a_kept_multiplier_gives_an_upper_bound_that_closes() -> None:
    """One pass per backup: above sigma by the square of the change of v, and the multipliers follow."""
    from robust_core.kernels import kullback_leibler

    rng = np.random.default_rng(1)
    P, v = rng.dirichlet(np.ones(8), (8, 2)), rng.normal(size=8)
    mdp, kept = MDP(P, np.zeros((8, 2)), 0.9), np.zeros(16)
    rounding = support_bound(P[0, 0], v)
    for gap in (np.inf, 0.1, 1e-3, 1e-6, rounding):
        bound = kullback_leibler.refine(mdp, 0.1, v, kept)
        above = bound - sigma(KullbackLeibler(0.1), P, v)
        assert above.min() >= -rounding
        assert above.max() <= gap
