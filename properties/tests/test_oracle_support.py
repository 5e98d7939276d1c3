"""The support function by four methods that share no algorithm: they agree within their certified bounds."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.planning import rational
from oracles.sets import programs, vertices
from properties.strategies import mdps, q_tables, radii, uncertainty_sets
from properties.tests import dual_support
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import EPS, Floats

ROWS = 4
STATES = (1, 2, 3, 5, 6, 12, 40)
SMALL = 6
EXPONENTS = (0, -1, 10, 300, -300, -1060, 1000)
"""Powers of two that scale a row of values: common, huge, tiny, subnormal, near overflow."""

SEARCH = settings(phases=(Phase.generate,), max_examples=200, deadline=None, derandomize=True, database=None)
"""For finding where a broken oracle fails; the smallest such case is of no interest."""

Enclosures = Callable[[UncertaintySet, Floats, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Case:
    """A set and a batch of rows with their values."""

    uncertainty_set: UncertaintySet
    p: Floats
    v: Floats


@st.composite
def structured_batches(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Dirac, sparse, dyadic and rounded rows; values with ties and constants."""
    n_states = draw(st.sampled_from(STATES))
    dyadic = draw(st.booleans())
    rows = draw(mdps(min_states=n_states, max_states=n_states, max_actions=1, dyadic=dyadic)).P[:, 0]
    v = draw(q_tables((ROWS, n_states))) + draw(st.sampled_from((0.0, 1.0, -1.0 / 3.0, 1e6)))
    return np.resize(rows, (ROWS, n_states)), v


@st.composite
def dense_batches(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Full rows and values with all their digits, in which every operation rounds."""
    n_states = draw(st.sampled_from(STATES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    concentration = draw(st.sampled_from((1.0, 0.05, 20.0)))
    return rng.dirichlet(np.full(n_states, concentration), ROWS), rng.normal(size=(ROWS, n_states))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Either kind of batch, each row of values with a scale of its own."""
    p, v = draw(st.one_of(dense_batches(), structured_batches()))
    scales = draw(st.lists(st.sampled_from(EXPONENTS), min_size=ROWS, max_size=ROWS))
    uncertainty_set = draw(uncertainty_sets(radii=radii(dyadic=False)))
    return Case(uncertainty_set, p, np.ldexp(v, np.array(scales)[:, None]))


def truths(case: Case) -> list[Fraction]:
    pairs = zip(case.p.tolist(), case.v.tolist(), strict=True)
    return [rational.sigma(case.uncertainty_set, p, v) for p, v in pairs]


def one_dimensional(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Row by row, so that a row of huge values does not blur the others."""
    answers = [dual_support.support(uncertainty_set, row, values) for row, values in zip(p, v, strict=True)]
    return np.array([a.lower for a in answers]), np.array([a.upper for a in answers])


def disagreements(case: Case, *methods: Enclosures) -> list[str]:
    """Where an enclosure misses the exact value, or two enclosures do not meet."""
    found = []
    bounds = [method(case.uncertainty_set, case.p, case.v) for method in methods]
    for row, truth in enumerate(truths(case)):
        for lower, upper in bounds:
            if not lower[row] <= truth <= upper[row]:
                found.append(f"row {row}: {float(truth)!r} is outside [{lower[row]!r}, {upper[row]!r}]")
    lowest_upper = np.min([upper for _, upper in bounds], axis=0)
    highest_lower = np.max([lower for lower, _ in bounds], axis=0)
    return found + [f"row {row}: enclosures do not meet" for row in np.flatnonzero(highest_lower > lowest_upper)]


def gap_allowed(case: Case) -> Floats:
    """What the solver's tolerance can make of the gap.

    Up to n entries of q and of y are off by the tolerance, each moves a bound by at most the span of v, which
    is at most 2 max |v|; as much again for normalising. Outward rounding adds a unit on either side.
    """
    tolerance = programs.SOLVER_OPTIONS["HIGHS"]["primal_feasibility_tolerance"]
    units = 2 * np.finfo(np.float64).smallest_subnormal
    return 8 * case.p.shape[1] * tolerance * np.abs(case.v).max(axis=1) + units


@given(cases())
def test_program_and_dual_enclose_the_exact_value_tightly(case: Case) -> None:
    assert disagreements(case, programs.enclosures, one_dimensional) == []
    lower, upper = programs.enclosures(case.uncertainty_set, case.p, case.v)
    assert (upper - lower <= gap_allowed(case)).all(), (upper - lower, gap_allowed(case))


@given(cases())
def test_exact_methods_agree_exactly(case: Case) -> None:
    for p, v in zip(case.p.tolist(), case.v.tolist(), strict=True):
        truth, q = rational.sigma(case.uncertainty_set, p, v), rational.worst_distribution(case.uncertainty_set, p, v)
        assert vertices.contains(case.uncertainty_set, exact.distribution(p).fractions(), q)
        assert sum(x * Fraction(y) for x, y in zip(q, v, strict=True)) == truth
        if len(p) <= SMALL:
            assert vertices.sigma(case.uncertainty_set, p, v) == truth


@given(cases(), st.data())
def test_a_certificate_is_sound_whatever_the_solver_proposes(case: Case, data: st.DataObject) -> None:
    shape = (ROWS, case.p.shape[1])
    v = np.ldexp(case.v, -np.frexp(np.abs(case.v).max(axis=1, keepdims=True))[1])
    q = data.draw(q_tables(shape, value_range=(-1.0, 4.0)), label="q")
    y = data.draw(q_tables(shape), label="y")
    lower, upper = programs.certificate(case.uncertainty_set, case.p, v, q, y)
    for row, truth in enumerate(truths(Case(case.uncertainty_set, case.p, v))):
        assert lower[row] <= truth <= upper[row]


def with_l1_radius(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> tuple[Floats, Floats]:
    """‖q−p‖₁ <= R, the classical misreading of total variation."""
    halved = (
        TotalVariation(uncertainty_set.radius / 2) if isinstance(uncertainty_set, TotalVariation) else uncertainty_set
    )
    return one_dimensional(halved, p, v)


def program_with_l1_radius(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> tuple[Floats, Floats]:
    halved = (
        TotalVariation(uncertainty_set.radius / 2) if isinstance(uncertainty_set, TotalVariation) else uncertainty_set
    )
    return programs.enclosures(halved, p, v)


def without_rounding(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> tuple[Floats, Floats]:
    """The float value taken for the truth."""
    value = np.array([float(dual_support.support(uncertainty_set, *pair).value) for pair in zip(p, v, strict=True)])
    return value, value


def without_normalisation(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Rounding of the row itself covered, the defect of its sum not: one unit in the last place only."""
    value, _ = without_rounding(uncertainty_set, p, v)
    return np.nextafter(value, -np.inf), np.nextafter(value, np.inf)


def with_a_trusting_gap(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> tuple[Floats, Floats]:
    """The middle of the solver's interval taken for the truth."""
    lower, upper = programs.enclosures(uncertainty_set, p, v)
    middle = lower + (upper - lower) / 2
    return middle, middle


def with_nominal_rows(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> tuple[Floats, Floats]:
    """No robustness at all."""
    return one_dimensional(Contamination(0.0), p, v)


@pytest.mark.parametrize(
    "broken",
    [
        with_l1_radius,
        program_with_l1_radius,
        without_rounding,
        without_normalisation,
        with_a_trusting_gap,
        with_nominal_rows,
    ],
)
def test_a_broken_oracle_is_caught(broken: Enclosures) -> None:
    find(cases(), lambda case: disagreements(case, programs.enclosures, broken) != [], settings=SEARCH)


def test_a_certificate_without_allowance_for_rounding_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "EPS", EPS / 1024)

    def is_caught(case: Case) -> bool:
        try:
            return disagreements(case, programs.enclosures) != []
        except programs.SolverFailure as empty:
            return "of one set?" in str(empty)

    find(cases(), is_caught, settings=SEARCH)


@pytest.mark.parametrize("uncertainty_set", [Contamination(0.25), TotalVariation(0.25)])
def test_a_batch_is_its_rows(uncertainty_set: UncertaintySet) -> None:
    rng = np.random.default_rng(3)
    p, v = rng.dirichlet(np.ones(4), 2 * programs.BLOCK + 5), rng.normal(size=4)
    whole = programs.support(uncertainty_set, p, v)
    assert whole.value.shape == (2 * programs.BLOCK + 5,)
    for row in (0, programs.BLOCK, 2 * programs.BLOCK + 4):
        alone = programs.support(uncertainty_set, p[row], v)
        assert alone.value.shape == ()
        assert alone.agrees_with(Certified(whole.value[row], whole.error_bound, whole.method))
    assert programs.support(uncertainty_set, p[:6].reshape(2, 3, 4), v).value.shape == (2, 3)


@dataclass(frozen=True)
class UnknownSet:
    """Registered nowhere."""


@pytest.mark.parametrize("method", [programs.support, vertices.support, rational.sigma])
def test_an_unknown_set_is_refused_by_name(method: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match="registered for UnknownSet"):
        method(UnknownSet(), [0.5, 0.5], [0.0, 1.0])


@pytest.mark.parametrize(
    ("p", "v", "message"),
    [
        ([0.5, 0.6], [0.0, 1.0], "p sums to 1.1, not 1"),
        ([1.5, -0.5], [0.0, 1.0], r"p\[1\] must not be negative"),
        ([0.5, 0.5], [0.0, np.nan], r"v\[1\] must be finite"),
        ([0.5, 0.5], [0.0, 1.0, 2.0], "p has 2 states and v has 3|v must have shape"),
        ([], [0.0], "p must not be empty"),
        ([0.5, 0.5], "high", "v must be an array of numbers"),
    ],
)
@pytest.mark.parametrize("method", [programs.support, dual_support.support, vertices.support])
def test_bad_input_is_named(method: Callable[..., object], p: Any, v: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        method(Contamination(0.5), p, v)


def test_batches_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match="do not broadcast"):
        programs.support(Contamination(0.5), np.full((3, 2), 0.5), np.ones((2, 2)))
    with pytest.raises(ValueError, match="rows of one length"):
        dual_support.support(Contamination(0.5), [[1.0], [0.5, 0.5]], [1.0])


def test_vertices_of_many_states_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 10 states, got 11"):
        vertices.vertices(Contamination(0.5), [1.0] + [0.0] * 10)
