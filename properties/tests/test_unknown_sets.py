"""A set without an exact support function is judged by its convex program, or not at all: nobody is blamed."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from oracles import rational
from properties.gallery.support import VARIANT
from properties.laws import LAWS
from properties.mutants import support as wrong
from properties.search import search
from properties.statistics.judging import judged
from properties.statistics.laws.tabular import RIGHT
from properties.statistics.suite import allotted
from properties.verification import applicable
from robust_core import Contamination, UncertaintySet, Variant, sigma, validate

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


def test_statistical_laws_blame_nobody_either() -> None:
    from dataclasses import replace

    cell = allotted(replace(RIGHT, sets=(Unheard,), claims=("unbiased",)), "quick")[0]
    verdict = judged(cell)
    assert (verdict.outcome, "cannot be judged" in verdict.evidence) == ("error", True)


@pytest.fixture
def without_rationals(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(uset: UncertaintySet, p: Any, v: Any) -> Any:
        raise rational.NoExactSupport("no exact support function is registered for this one")

    monkeypatch.setattr(rational, "sigma", unknown)


@pytest.mark.usefixtures("without_rationals")
def test_the_convex_program_judges_where_there_are_no_rationals() -> None:
    assert search(VALUE, VARIANT, examples=10, master_seed=0).outcome == "holds"
    mutants = [mutant for mutant in vars(wrong).values() if isinstance(mutant, Variant)]
    assert any(
        search(VALUE, mutant, examples=10, master_seed=0, shrink=False).outcome == "violated" for mutant in mutants
    )


def test_a_support_function_may_promise_less_than_rounding() -> None:
    def rough(uncertainty_set: UncertaintySet, p: Any, v: Any) -> Any:
        return sigma(uncertainty_set, p, v) + 1e-10 * abs(v).max()

    claims = ("support function", "rows")
    promised = Variant("rough", "support", rough, (Contamination,), claims, {"accuracy": 1e-9})
    silent = Variant("rough", "support", rough, (Contamination,), claims)
    assert search(VALUE, promised, examples=50, master_seed=0).outcome == "holds"
    assert search(VALUE, silent, examples=50, master_seed=0).outcome == "violated"
