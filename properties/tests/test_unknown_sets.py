"""A set without an exact support function is judged by its convex program, or not at all: nobody is blamed."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import pytest

from oracles.planning import rational, truth
from oracles.sets import SetOracle, oracle_of, register, vertices
from properties.checks import checks
from properties.judging.search import search
from properties.judging.verification import applicable, verify
from properties.laws.catalogue import LAWS
from properties.statistics.budget import RUN_BUDGET
from properties.statistics.judging import judge
from properties.statistics.law import PROMISES
from properties.statistics.laws import laws
from properties.statistics.laws.tabular import RIGHT
from properties.statistics.suite import Planned, allot_cells, weight
from properties.variants.gallery.support import VARIANT
from properties.variants.mutants import support as wrong
from robust_core import MDP, Contamination, TotalVariation, UncertaintySet, Variant, bellman, plan, sigma, validate
from robust_core.validate import EPS

VALUE = next(law for law in LAWS if law.name == "support value")


@dataclass(frozen=True)
class Unheard(UncertaintySet):
    """A set that no oracle knows."""

    kind: ClassVar[str] = "unheard of"
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", validate.unit_interval("radius", self.radius))


def nominal(uncertainty_set: UncertaintySet, p: Any, v: Any) -> Any:
    return p @ v


def test_a_set_that_no_oracle_knows_is_an_error_of_the_judge() -> None:
    variant = Variant("nominal", "support", nominal, (Unheard,), ("support function", "rows"))
    verdicts = [search(law, variant, examples=5, master_seed=0) for law in applicable(variant)]
    assert {verdict.outcome for verdict in verdicts if "cannot be judged" in verdict.evidence} == {"error"}
    assert not [verdict for verdict in verdicts if verdict.outcome == "violated"]


def test_planning_without_certified_rows_says_how_to_plan() -> None:
    with pytest.raises(TypeError, match=r"Unheard defines no certified rows for planning .*: iterate bellman"):
        plan(MDP([[[1.0]]], [[1.0]], 0.5), Unheard(0.5))


def test_statistical_laws_blame_nobody_either() -> None:
    cell = allot_cells(replace(RIGHT, sets=(Unheard,), promises=("unbiased",)), "quick")[0]
    verdict = judge(cell)
    assert (verdict.outcome, "cannot be judged" in verdict.evidence) == ("error", True)


BY_PROMISE = {law.promise: law for law in laws()}


def of_an_unheard_set(promise: str) -> Variant:
    return replace(BY_PROMISE[promise].right, name=promise, sets=(Unheard,), promises=(promise,))


def test_every_statistical_promise_is_tried() -> None:
    assert BY_PROMISE.keys() == PROMISES.keys()


@pytest.mark.parametrize("promise", PROMISES)
def test_no_statistical_promise_takes_the_others_down(promise: str) -> None:
    """Either the law needs no set, or does not speak of this one, or has one error; a variant beside it goes on."""
    variant, beside = of_an_unheard_set(promise), replace(RIGHT, promises=("converges",))
    total = weight([variant, beside], "quick")
    found = list(verify(variant, laws=[], cells=allot_cells(variant, "quick", total=total)))
    errors = [record for record in found if record.outcome == "error"]
    if BY_PROMISE[promise].sets or promise in ("samples the model", "stationary"):
        assert not errors
    else:
        assert len(errors) == 1
        assert "cannot be judged: no exact support function is registered for Unheard" in errors[0].evidence
        assert {record.blocked_by for record in found if record is not errors[0]} <= {errors[0].law}
    assert not [record for record in found if record.outcome == "violated"]
    assert 0.0 < sum(cell.alpha for cell in allot_cells(beside, "quick", total=total)) <= RUN_BUDGET * (1.0 + EPS)


@pytest.mark.parametrize("promise", ["converges", "unbiased", "fast path"])
def test_as_a_test_it_fails_without_blame(promise: str) -> None:
    found = checks([of_an_unheard_set(promise), RIGHT])
    mine = [check for check in found if check.variant.name == promise and isinstance(check.law, Planned)]
    with pytest.raises(pytest.fail.Exception, match="cannot be judged: no exact support function"):
        mine[0]()
    assert any(check.variant is RIGHT for check in found)


@pytest.fixture
def without_rationals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truth, "oracle_of", lambda kind: SetOracle(program=oracle_of(kind).program))


@pytest.mark.usefixtures("without_rationals")
def test_the_convex_program_judges_where_there_are_no_rationals() -> None:
    right = search(VALUE, VARIANT, examples=10, master_seed=0)
    # A solver's bounds are too wide for one case in twenty, which is then set aside: undecided, and not an accusation.
    assert right.evidence.startswith("no violation"), right.evidence
    mutants = [mutant for mutant in vars(wrong).values() if isinstance(mutant, Variant)]
    assert any(
        search(VALUE, mutant, examples=10, master_seed=0, shrink=False).outcome == "violated" for mutant in mutants
    )


def test_a_support_function_may_promise_less_than_rounding() -> None:
    def rough(uncertainty_set: UncertaintySet, p: Any, v: Any) -> Any:
        return sigma(uncertainty_set, p, v) + 1e-10 * abs(v).max()

    promises = ("support function", "rows")
    promised = Variant("rough", "support", rough, (Contamination,), promises, {"accuracy": 1e-9})
    silent = Variant("rough", "support", rough, (Contamination,), promises)
    assert search(VALUE, promised, examples=50, master_seed=0).outcome == "holds"
    assert search(VALUE, silent, examples=50, master_seed=0).outcome == "violated"


@dataclass(frozen=True)
class ChiSquare(Unheard):
    """{q : Σ(q−p)²/p <= R}: its largest mass is a concave function of p(J), yet it is no base polytope."""

    kind: ClassVar[str] = "a chi-square ball"


@dataclass(frozen=True)
class Halved(Unheard):
    """A total-variation ball whose largest mass is registered as that of half its radius."""

    kind: ClassVar[str] = "a ball taken for a smaller one"


def _chi_square_mass(uncertainty_set: ChiSquare, mass: int, whole: int) -> int:
    """x + √(R x(1−x)), rounded down in units of 1/(whole · 2^20)."""
    units = 1 << 20
    x, radius = Fraction(mass, whole), Fraction(uncertainty_set.radius)
    reach = float(radius * x * (1 - x)) ** 0.5
    return min(units * whole, int(units * whole * (x + Fraction(reach))))


def _in_chi_square(uncertainty_set: ChiSquare, p: Any, q: Any) -> bool:
    pairs = [(x, y) for x, y in zip(p, q, strict=True) if x or y]
    return all(x for x, _ in pairs) and sum((y - x) ** 2 / x for x, y in pairs) <= Fraction(uncertainty_set.radius)


def _half_the_mass(uncertainty_set: Halved, mass: int, whole: int) -> int:
    return rational.largest_mass(TotalVariation(uncertainty_set.radius / 2), mass, whole)


def _in_the_ball(uncertainty_set: Halved, p: Any, q: Any) -> bool:
    return vertices.contains(TotalVariation(uncertainty_set.radius), p, q)


register(ChiSquare, SetOracle(contains=_in_chi_square, largest_mass=_chi_square_mass))
register(Halved, SetOracle(contains=_in_the_ball, largest_mass=_half_the_mass))


THIRD = Fraction(1, 3)


def test_a_largest_mass_that_does_not_make_the_set_is_found_out() -> None:
    """The counterexample of `oracles.sets.base_polytope`; with two states the rule is right."""
    with pytest.raises(rational.NoExactSupport, match=r"gives .* around \(1/3, 1/3, 1/3\), which is not in ChiSquare"):
        rational.sigma(ChiSquare(0.25), [THIRD] * 3, [0, 1, 2])
    # 1/2 + √(R/4) in floats and in units of 2^-20: nothing is rounded.
    assert rational.sigma(ChiSquare(0.25), [0.5, 0.5], [0, 1]) == Fraction(3, 4)


def test_a_largest_mass_that_is_too_small_is_found_out() -> None:
    with pytest.raises(rational.NoExactSupport, match=r"\(3/8, 5/8\) around .*, but \(1/4, 3/4\) is in Halved"):
        rational.sigma(Halved(0.25), [0.5, 0.5], [0, 1])


def test_a_largest_mass_needs_a_definition_beside_it() -> None:
    with pytest.raises(ValueError, match="give `contains` beside"):
        SetOracle(largest_mass=_half_the_mass)


def test_no_variant_is_blamed_for_a_wrong_largest_mass() -> None:
    def right(mdp: MDP, uncertainty_set: Unheard, Q: Any) -> Any:
        return bellman(mdp, TotalVariation(uncertainty_set.radius), Q)

    law = next(law for law in LAWS if law.name == "bellman backup")
    verdict = search(law, Variant("T", "operator", right, (Halved,), ("bellman",)), examples=30, master_seed=0)
    assert (verdict.outcome, "cannot be judged" in verdict.evidence) == ("error", True)
