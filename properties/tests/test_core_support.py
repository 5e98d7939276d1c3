"""sigma, its attaining distribution and the compiled form over all rows, against exact rationals.

Two kinds of problem. On *coarse* ones (p in multiples of 2^-20, v and R in sixteenths, |v| <= 16) every
intermediate result has at most 20 + 4 + 4 fractional and 5 + log2(2n) integer bits, so float arithmetic is exact
and results must be equal, not close. On *rounded* ones the bound below holds.

Rounding, with u = 2^-53, n states, M = max|v|, to first order in u:
- The row p stands for p/Σp. It was accepted because its float sum is within (n+1)·2u of 1; adding up cost at most
  n·u more, so its exact sum is within d = (3n+2)u of 1.
- Contamination (1−R)(p·v) + R max v: the product p·v is off by n·u·M (any order of summation), dividing by the
  sum moves it by d·M, four more operations by u·M each: (4n+6)uM.
- Total variation p·v + Σ t_i (max v − v_i), or Σ k_i v_i + (1 − Σ k_i) max v with k = p − t. A running remainder
  (or cumulated sum) is off by at most e = (n+2)u, which misplaces the point where R is used up: intervals of mass
  that meet [R−e, R+e] are taken wrongly by 2e in their midst and by e at either end, 4e in all, each worth at most
  the span 2M: 8(n+2)uM. Products and sums cost 3M·n·u for partial sums of at most 3M, the gains 4uM, and dividing by
  the sum moves the two terms by 3d·M: together at most (20n+26)uM.
The factors below are these with room for second-order terms; each product may also lose half of the smallest float.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.planning import rational
from properties.profiles import examples
from properties.strategies import mdps, radii, uncertainty_sets, values
from robust_core import models
from robust_core.mdp import MDP
from robust_core.sets import Contamination, TotalVariation, UncertaintySet, base
from robust_core.streams import key
from robust_core.support_functions import sigma, support, worst_case
from robust_core.validate import EPS, Floats

UNIT_ROUNDOFF = EPS / 2
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
FACTOR = {Contamination: 5, TotalVariation: 21}
SIXTEENTHS = tuple(k / 16 for k in range(17))


def rounding(uncertainty_set: UncertaintySet, v: Floats) -> Fraction:
    """The bound of the module's docstring."""
    n = len(v)
    relative = FACTOR[type(uncertainty_set)] * (n + 2) * UNIT_ROUNDOFF
    return Fraction(relative) * Fraction(float(np.abs(v).max())) + Fraction((3 * n + 4) * SMALLEST)


@st.composite
def coarse(draw: st.DrawFn) -> tuple[MDP, UncertaintySet, Floats]:
    mdp = draw(mdps(max_states=8, storage="either"))
    uncertainty_set = draw(uncertainty_sets(radii=st.sampled_from(SIXTEENTHS)))
    v = st.lists(st.integers(-256, 256), min_size=mdp.n_states, max_size=mdp.n_states)
    return mdp, uncertainty_set, np.array(draw(v)) / 16


@st.composite
def rounded(draw: st.DrawFn) -> tuple[MDP, UncertaintySet, Floats]:
    mdp = draw(mdps(max_states=8, dyadic=False, storage="either"))
    uncertainty_set = draw(uncertainty_sets(radii=radii(dyadic=False)))
    scale = draw(st.sampled_from((1.0, 1 / 3, 1e300, 1e-300, 2.0**-1060)))
    return mdp, uncertainty_set, draw(values(mdp.n_states, value_range=(-100.0, 100.0))) * scale


Form = Callable[[MDP, UncertaintySet, Floats], Floats]


def by_rows(mdp: MDP, uncertainty_set: UncertaintySet, v: Floats) -> Floats:
    return sigma(uncertainty_set, mdp.P, v)


def one_by_one(mdp: MDP, uncertainty_set: UncertaintySet, v: Floats) -> Floats:
    return np.array([[sigma(uncertainty_set, row, v) for row in rows] for rows in mdp.P])


FORMS: dict[str, Form] = {"all rows": support, "rows": by_rows, "one by one": one_by_one}


def without_the_rest(mdp: MDP, uncertainty_set: UncertaintySet, v: Floats) -> Floats:
    """Nature removes mass and forgets to place it (wrong by R max v)."""
    return (1.0 - uncertainty_set.radius) * mdp.expectation(v)  # type: ignore[attr-defined]


def other_convention(mdp: MDP, uncertainty_set: UncertaintySet, v: Floats) -> Floats:
    """‖q − p‖₁ <= R instead of ½‖q − p‖₁ <= R."""
    return support(mdp, type(uncertainty_set)(uncertainty_set.radius / 2), v)  # type: ignore[attr-defined, call-arg]


def best_successor(mdp: MDP, uncertainty_set: UncertaintySet, v: Floats) -> Floats:
    """Nature may only choose among possible successors."""
    worst = np.where(mdp.P > 0, v, -np.inf).max(axis=-1)
    return (1.0 - uncertainty_set.radius) * mdp.expectation(v) + uncertainty_set.radius * worst  # type: ignore[attr-defined]


def first_value(mdp: MDP, uncertainty_set: UncertaintySet, v: Floats) -> Floats:
    """The maximum starts at 0, as in a cache that was never filled: wrong for negative v."""
    result = support(mdp, uncertainty_set, v)
    return result + uncertainty_set.radius * (max(0.0, v.max()) - v.max())  # type: ignore[attr-defined]


MUTANTS: dict[str, Form] = {f.__name__: f for f in (without_the_rest, other_convention, best_successor, first_value)}


def truth(mdp: MDP, uncertainty_set: UncertaintySet, v: Floats) -> list[list[Fraction]]:
    return [[rational.sigma(uncertainty_set, row.tolist(), v.tolist()) for row in rows] for rows in mdp.P]


def worst_error(form: Form, mdp: MDP, uncertainty_set: UncertaintySet, v: Floats) -> Fraction:
    """The largest |form − exact| over all pairs."""
    got, wanted = form(mdp, uncertainty_set, v), truth(mdp, uncertainty_set, v)
    assert got.shape == (mdp.n_states, mdp.n_actions)
    return max(abs(Fraction(float(got[s, a])) - w) for s, row in enumerate(wanted) for a, w in enumerate(row))


@pytest.mark.parametrize("name", FORMS)
@given(coarse())
@examples(60)
def test_exact_where_floats_are_exact(name: str, case: tuple[MDP, UncertaintySet, Floats]) -> None:
    assert worst_error(FORMS[name], *case) == 0


@pytest.mark.parametrize("name", FORMS)
@given(rounded())
@examples(40)
def test_within_rounding_elsewhere(name: str, case: tuple[MDP, UncertaintySet, Floats]) -> None:
    assert worst_error(FORMS[name], *case) <= rounding(case[1], case[2])


HAND_PICKED = [
    (mdp, kind(radius), np.array(v[: mdp.n_states]))
    for mdp in (models.two_states(), models.ring(3), models.river_swim())
    for kind in (Contamination, TotalVariation)
    for radius in (0.25, 1.0)
    for v in ([-1.0, -2.0, -3.0, -5.0, -4.0, -2.0], [0.0, 4.0, 1.0, 0.0, 4.0, 2.0])
]


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_forms_are_noticed(name: str) -> None:
    assert any(worst_error(MUTANTS[name], *case) > rounding(case[1], case[2]) for case in HAND_PICKED)
    assert all(worst_error(support, *case) <= rounding(case[1], case[2]) for case in HAND_PICKED)


P, V = [0.25, 0.0, 0.75], [1.0, 4.0, -2.0]
EDGES: dict[str, tuple[UncertaintySet, list[float], list[float], float, list[float] | None]] = {
    "contamination, R = 0": (Contamination(0.0), P, V, -1.25, P),
    "total variation, R = 0": (TotalVariation(0.0), P, V, -1.25, P),
    "contamination, R = 1": (Contamination(1.0), P, V, 4.0, [0.0, 1.0, 0.0]),
    "total variation, R = 1": (TotalVariation(1.0), P, V, 4.0, [0.0, 1.0, 0.0]),
    "Dirac p, contamination": (Contamination(0.25), [0.0, 0.0, 1.0], V, -0.5, [0.0, 0.25, 0.75]),
    "Dirac p, total variation": (TotalVariation(0.25), [0.0, 0.0, 1.0], V, -0.5, [0.0, 0.25, 0.75]),
    "Dirac p at the maximum": (TotalVariation(0.5), [0.0, 1.0, 0.0], V, 4.0, [0.0, 1.0, 0.0]),
    "zero entry is the maximum": (TotalVariation(0.5), P, V, 2.0 - 0.25, [0.25, 0.5, 0.25]),
    "R above the mass below the maximum": (TotalVariation(0.75), [0.25, 0.75], [0.0, 1.0], 1.0, [0.0, 1.0]),
    "constant v": (TotalVariation(0.5), P, [3.0, 3.0, 3.0], 3.0, None),
    "constant v, contamination": (Contamination(0.5), P, [3.0, 3.0, 3.0], 3.0, None),
    "tied maximum": (Contamination(0.5), P, [2.0, 2.0, 0.0], 1.25, None),
    "tied minimum": (TotalVariation(0.5), [0.5, 0.25, 0.25], [0.0, 0.0, 8.0], 6.0, None),
    "one state": (TotalVariation(0.5), [1.0], [-7.0], -7.0, [1.0]),
    "one state, contamination": (Contamination(1.0), [1.0], [-7.0], -7.0, [1.0]),
    "huge": (Contamination(0.5), [0.5, 0.5], [-1e300, 1e300], 0.5e300, [0.25, 0.75]),
    "tiny probability": (TotalVariation(0.5), [1e-300, 1.0], [1.0, 0.0], 0.5, None),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges_by_hand(name: str) -> None:
    uncertainty_set, p, v, value, attaining = EDGES[name]
    assert sigma(uncertainty_set, p, v) == value
    assert Fraction(value) == rational.sigma(uncertainty_set, p, v) or name == "tiny probability"
    if attaining is not None:
        assert worst_case(uncertainty_set, p, v).tolist() == attaining


def membership_excess(uncertainty_set: UncertaintySet, p: Floats, q: Floats) -> Fraction:
    """By how much q leaves the set around p (total mass, sign, distance), exactly."""
    nominal = exact.distribution(p.tolist()).fractions()
    chosen = [Fraction(float(x)) for x in q]
    radius = Fraction(uncertainty_set.radius)  # type: ignore[attr-defined]
    off = [abs(sum(chosen, Fraction(0)) - 1), -min(chosen)]
    if isinstance(uncertainty_set, Contamination):
        off += [(1 - radius) * a - b for a, b in zip(nominal, chosen, strict=True)]
    else:
        off.append(sum((abs(a - b) for a, b in zip(nominal, chosen, strict=True)), Fraction(0)) / 2 - radius)
    return max(off)


def attains(uncertainty_set: UncertaintySet, p: Floats, v: Floats, q: Floats) -> bool:
    """q is in the set and q·v is sigma, both within rounding (the bound for v applies to mass with M = 1)."""
    mass_bound = rounding(uncertainty_set, np.ones(len(v)))
    value = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(q, v, strict=True))
    gap = abs(value - rational.sigma(uncertainty_set, p.tolist(), v.tolist()))
    # q·v costs no rounding here, but its mass is off by the bound, each unit of it worth M.
    return membership_excess(uncertainty_set, p, q) <= mass_bound and gap <= 2 * rounding(uncertainty_set, v)


@given(rounded() | coarse())
@examples(60)
def test_the_worst_case_is_a_member_that_attains_sigma(case: tuple[MDP, UncertaintySet, Floats]) -> None:
    mdp, uncertainty_set, v = case
    chosen = worst_case(uncertainty_set, mdp.P, v)
    assert chosen.shape == mdp.P.shape
    for p, q in zip(mdp.P.reshape(-1, mdp.n_states), chosen.reshape(-1, mdp.n_states), strict=True):
        assert attains(uncertainty_set, p, v, q), (p, q)


def test_wrong_worst_cases_are_noticed() -> None:
    p, v = np.array([0.5, 0.5, 0.0]), np.array([0.0, 2.0, 4.0])
    best = np.array([0.0, 0.0, 1.0])
    for uncertainty_set in (Contamination(0.5), TotalVariation(0.5)):
        assert attains(uncertainty_set, p, v, worst_case(uncertainty_set, p, v))
        assert not attains(uncertainty_set, p, v, p), "the nominal row attains nothing"
        assert not attains(uncertainty_set, p, v, best), "the best state is too far away"
        assert not attains(uncertainty_set, p, v, worst_case(type(uncertainty_set)(0.5 + 1e-12), p, v)), (
            "a radius slightly too large"
        )


@pytest.mark.parametrize("branching", [3, 31, 32, 33, 60])
def test_long_and_short_sparse_rows_agree_with_dense_ones(branching: int) -> None:
    """Sparse rows above 32 entries are sorted, shorter ones searched: both sides of the border, with ties in v."""
    mdp = models.garnet(60, 2, branching, gamma=0.5, seed=key("border", branching))
    dense = MDP(mdp.P, mdp.cost, mdp.gamma)
    v = np.floor(np.random.default_rng(branching).random(60) * 16) / 16
    for radius in (0.0, 0.0625, 0.5, 0.9375, 1.0):
        uncertainty_set = TotalVariation(radius)
        wanted = truth(mdp, uncertainty_set, v)
        assert [[Fraction(x) for x in row] for row in support(mdp, uncertainty_set, v).tolist()] == wanted
        assert support(dense, uncertainty_set, v).tobytes() == support(mdp, uncertainty_set, v).tobytes()


def test_results_are_fresh_and_arguments_stay() -> None:
    p, v = np.array([[0.5, 0.5]]), np.array([0.0, 1.0])
    for uncertainty_set in (Contamination(0.5), TotalVariation(0.5)):
        for function in (sigma, worst_case):
            first = function(uncertainty_set, p, v)
            first[...] = -1.0
            assert (function(uncertainty_set, p, v) != -1.0).all()
        assert (p.tolist(), v.tolist()) == ([[0.5, 0.5]], [0.0, 1.0])


def test_overflow_is_an_error_never_nan() -> None:
    """The gain max v − v_i of the compiled form does not fit; the form by rows needs no such difference."""
    mdp, v = models.two_states(), [-(2.0**1023), 2.0**1023]
    with pytest.raises(OverflowError, match="support function of v"):
        support(mdp, TotalVariation(0.5), v)
    assert np.isfinite(sigma(TotalVariation(0.5), mdp.P, v)).all()
    # Nothing is taken for R = 0, and no gain is needed; the products of quarters and powers of two are exact.
    assert support(mdp, TotalVariation(0.0), v).tolist() == sigma(TotalVariation(0.0), mdp.P, v).tolist()
    assert np.isfinite(support(mdp, Contamination(0.5), v)).all()


def test_a_set_without_a_form_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_BY_KIND", dict(base._BY_KIND))  # the class below is for this test only

    class Unknown(UncertaintySet):
        kind = "unknown to the closed forms"

    calls: list[Callable[[], object]] = [
        lambda: sigma(Unknown(), [1.0], [0.0]),
        lambda: support(models.single_state(), Unknown(), [0.0]),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="Unknown defines no support function in closed form"):
            call()
    with pytest.raises(TypeError, match="uncertainty_set must be of type UncertaintySet"):
        sigma("contamination", np.ones(1), np.ones(1))  # type: ignore[arg-type]


def test_sets_as_data() -> None:
    for uncertainty_set in (Contamination(0.25), TotalVariation(1 / 3), TotalVariation(1)):
        assert UncertaintySet.from_dict(uncertainty_set.to_dict()) == uncertainty_set
    bad: list[object] = [
        None,
        [],
        {},
        {"kind": []},
        {"kind": "contamination"},
        {"kind": "contamination", "radius": 0.5, "x": 1},
    ]
    for data in bad:
        with pytest.raises(ValueError, match=r"uncertainty set|exactly the fields"):
            UncertaintySet.from_dict(data)
    for radius in (-1e-300, 1.0 + EPS, float("nan"), float("inf"), 10**400):
        for kind in (Contamination, TotalVariation):
            with pytest.raises(ValueError, match="radius must"):
                kind(radius)
    with pytest.raises(TypeError, match=r"radius must be a number, got '0\.5'"):
        Contamination("0.5")  # type: ignore[arg-type]
