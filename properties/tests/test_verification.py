"""The verifier itself: right variants pass, wrong ones are caught with a counterexample that replays."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import properties
from properties.cases import law_schema
from properties.checks import checks
from properties.judging.counterexample import Counterexample
from properties.judging.deviation import Deviation, SideBySide
from properties.judging.verdict import Record
from properties.judging.verdict_table import row_lines
from properties.judging.verification import applicable, on_untested, promises_of, require_promises, verify
from properties.laws.catalogue import LAWS
from properties.laws.law import PROMISES, Law
from properties.process.loading import gallery_variants, load, target_of
from properties.statistics.law import PROMISES as STATISTICAL
from properties.statistics.suite import allot_cells
from properties.variants.examples.linear_evaluation import VARIANT as TDC
from properties.variants.mutants import control
from robust_core import Contamination, TotalVariation, Variant
from robust_core.problem import KINDS

GALLERY = gallery_variants()
MUTANTS = {
    key: variant
    for name in ("operator:NO_DISCOUNT", "operator:L1_RADIUS", "control:LOST_GAMMA", "bookkeeping:WHOLE_ROW")
    for key, variant in load(f"properties.variants.mutants.{name}").items()
}
EXAMPLES = 50


def law_named(name: str) -> Law:
    return next(law for law in LAWS if law.name == name)


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught_and_their_counterexamples_replay(name: str, tmp_path: Path) -> None:
    records = list(verify(MUTANTS[name], name=name, examples=EXAMPLES, keep=tmp_path))
    violated = [record for record in records if record.outcome == "violated"]
    assert violated, records
    for record in violated:
        assert record.counterexample is not None
        example = Counterexample.load(Path(record.counterexample))
        assert example.replay(MUTANTS[example.variant]) is not None


def test_a_repaired_variant_passes_the_replay(tmp_path: Path) -> None:
    name = "properties.variants.mutants.operator:NO_DISCOUNT"
    record = next(r for r in verify(MUTANTS[name], name=name, examples=EXAMPLES, keep=tmp_path) if r.counterexample)
    assert record.counterexample is not None
    example = Counterexample.load(Path(record.counterexample))
    assert example.replay(GALLERY["properties.variants.gallery.bellman:VARIANT"]) is None


def test_same_seed_same_records() -> None:
    def outcome(seed: int) -> list[tuple[str, int]]:
        return [(r.evidence, r.cases) for r in verify(control.LOST_GAMMA, examples=EXAMPLES, seed=seed)]

    assert outcome(3) == outcome(3)


WRONG, RIGHT = "properties.variants.mutants.operator:NO_DISCOUNT", "properties.variants.gallery.bellman:VARIANT"


def test_a_violation_carries_its_counterexample(tmp_path: Path) -> None:
    verdicts = properties.verify(MUTANTS[WRONG], examples=EXAMPLES, statistics=False)
    (violated,) = verdicts.violated
    example = violated.counterexample
    assert example.variant == WRONG
    assert "mdp" in example.case
    assert example.replay() is not None
    assert example.replay(GALLERY[RIGHT]) is None, "a repaired one passes"
    assert Counterexample.load(example.save(tmp_path)).finding == example.finding
    assert json.loads(violated.to_json())["counterexample"]["law"] == violated.law
    assert {record.counterexample for record in verdicts if record.outcome != "violated"} == {None}


def test_a_variant_may_be_named() -> None:
    named = properties.verify(RIGHT, examples=3, statistics=False)
    assert [record.outcome for record in named] == ["holds"] * len(named)
    with pytest.raises(
        ValueError, match=r"several variants: name one, e\.g\. properties\.variants\.mutants\.operator:"
    ):
        properties.verify("properties.variants.mutants.operator")


@pytest.mark.parametrize(
    ("variant", "options", "error", "message"),
    [
        (None, {}, TypeError, "verify takes one Variant, or one as text .*, got None"),
        ([GALLERY[RIGHT]], {}, TypeError, r"verify takes one Variant, or one as text .*, got \[Variant"),
        ("x.py", {}, ValueError, r"x\.py: no such file"),
        (GALLERY[RIGHT], {"examples": 2.5}, TypeError, "examples must be a whole number, got 2.5"),
        (GALLERY[RIGHT], {"examples": 0}, ValueError, "examples must be at least 1, got 0"),
        (GALLERY[RIGHT], {"seed": "x"}, TypeError, "seed must be a whole number, got 'x'"),
        (GALLERY[RIGHT], {"size": "huge"}, ValueError, "size must be one of quick, full, got 'huge'"),
    ],
)
def test_a_wrong_argument_is_refused(
    variant: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        properties.verify(variant, **options)


@pytest.mark.parametrize(
    ("promises", "message"),
    [
        (
            ("bellmann",),
            "promises: no such promise 'bellmann'; .* can promise 'bellman', 'radii per pair'; did you mean 'bellman'?",
        ),
        (
            ("bellman", "TDC"),
            "promises: 'TDC' is for kind 'linear evaluation'; .* can promise 'bellman', 'radii per pair'$",
        ),
        (
            ("converges",),
            "promises: 'converges' is for kind 'control' or 'evaluation'; .* can promise 'bellman', 'radii per pair'$",
        ),
        (("",), "promises: no such promise ''; .* can promise 'bellman', 'radii per pair'$"),
    ],
)
def test_a_promise_that_the_kind_does_not_have_is_refused(promises: tuple[str, ...], message: str) -> None:
    variant = replace(GALLERY[RIGHT], promises=promises, make=lambda *_: pytest.fail("work has begun"))
    for refuse in (lambda: properties.verify(variant), lambda: checks([variant])):
        with pytest.raises(ValueError, match=f"^variant {variant.name!r}: {message}"):
            refuse()


def test_an_object_that_hides_its_promises_is_refused_in_this_process_too() -> None:
    class Hides(Variant):
        def __getattribute__(self, name: str) -> Any:
            return () if name == "promises" else super().__getattribute__(name)

    hides = Hides("hides", "operator", lambda mdp, uncertainty_set, Q: Q, (Contamination,), ("bellman",))
    for refuse in (lambda: properties.verify(hides), lambda: checks([hides])):
        with pytest.raises(ValueError, match="a variant must be a Variant itself"):
            refuse()


def test_no_check_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to check: no law belongs to the kinds and promises"):
        checks([replace(GALLERY[RIGHT], promises=())])


def test_every_promise_belongs_to_a_kind_and_the_built_in_variants_make_such_promises() -> None:
    assert {promise for kind in KINDS for promise in promises_of(kind)} == PROMISES.keys() | STATISTICAL.keys()
    for variant in GALLERY.values():
        require_promises(variant)


def test_contamination_tdc_sold_for_total_variation_is_not_certified() -> None:
    sold = replace(TDC, sets=(TotalVariation,))
    verdicts = properties.verify(sold, examples=5)
    untested = {record.law for record in verdicts if record.evidence.startswith("untested")}
    assert untested == {"promise 'TDC'", "promise 'scale'"}
    assert not [record for record in verdicts if record.law.startswith(("TDC", "linear scale"))]


def test_the_numbers_of_a_violation_are_data() -> None:
    """Not numbers within text: another program reads them without parsing a message."""
    (record,) = [record for record in verify(MUTANTS[WRONG], examples=50) if record.outcome == "violated"][:1]
    read = json.loads(record.to_json())["deviation"]
    assert f"{read['what']}: got {read['got']}, wanted {read['wanted']}" in record.evidence
    wrong = [entry for entry in read["results"]["entries"] if entry["wrong"]]
    assert len(wrong) == read["results"]["wrong"] > 0
    assert all(abs(entry["got"] - entry["wanted"]) > read["allowed"] for entry in wrong)


def test_how_a_variant_is_loaded_again() -> None:
    assert target_of(MUTANTS[WRONG]) == WRONG
    assert target_of(replace(MUTANTS[WRONG])) is None


def test_notebooks_show_records_and_counterexamples_escaped() -> None:
    record = Record(
        "<b>v</b>",
        "law",
        "violated",
        "<script>",
        1,
        0.1,
        0,
        deviation=Deviation("<i>", results=SideBySide(("<i>", "<u>"), (), 0, 0)),
    )
    example = Counterexample("<b>law", "<i>v", {"x": "<u>"}, "<script>")
    for text in (record._repr_html_(), replace(record, counterexample=example)._repr_html_(), example._repr_html_()):
        assert "&lt;script&gt;" in text
        assert not [tag for tag in ("<script>", "<i>", "<u>", "<b>v", "<b>law") if tag in text]


def test_a_finding_that_would_steer_a_terminal_is_spelled_out(tmp_path: Path) -> None:
    example = Counterexample("law", "v", {}, "raised \x1b[2J")
    assert Counterexample.load(example.save(tmp_path)).finding == "raised \\x1b[2J"


CONTAMINATION_ONLY = {
    "TDC": "properties.variants.gallery.tdc:LOG_SUM_EXP",
    "GTD2": "properties.variants.gallery.gtd2:VARIANT",
    "scale": "properties.variants.gallery.tdc:MELLOWMAX",
    "rotation": "properties.variants.gallery.gtd2:VARIANT",
    "stationary": "properties.variants.gallery.tdc:MELLOWMAX",
    "sample form": "properties.variants.gallery.q_learning:VARIANT",
    "sample form, next action": "properties.variants.gallery.sarsa:VARIANT",
}


def promising(promise: str, *sets: type[Any]) -> Variant:
    return replace(GALLERY[CONTAMINATION_ONLY[promise]], promises=(promise,), sets=sets)


@pytest.mark.parametrize("promise", CONTAMINATION_ONLY)
def test_a_formula_of_the_contamination_set_certifies_nothing_for_another_set(promise: str) -> None:
    """The same algorithm sold for total variation: its promise is untested, neither kept nor broken."""
    variant = promising(promise, TotalVariation)
    assert [law.name for law in applicable(variant) if law.promise is not None] == []
    assert allot_cells(variant, "quick") == []
    (record,) = on_untested(variant)
    assert (record.law, record.outcome) == (f"promise {promise!r}", "untested")
    assert record.evidence.endswith(f"for kind {variant.kind!r} with TotalVariation")
    assert on_untested(promising(promise, Contamination)) == []


@pytest.mark.parametrize("promise", CONTAMINATION_ONLY)
def test_a_promise_for_two_sets_is_tested_for_the_one_and_untested_for_the_other(promise: str) -> None:
    variant = promising(promise, Contamination, TotalVariation)
    (record,) = on_untested(variant)
    assert record.evidence.endswith("with TotalVariation")
    laws = [law for law in applicable(variant) if law.promise == promise]
    assert laws or allot_cells(variant, "quick")
    for law in laws:
        cases: list[Any] = list(islice(law.cases_of(variant), 5))
        assert {type(case.uncertainty_set) for case in cases} == {Contamination}


def test_a_projection_is_tested_for_every_set() -> None:
    variant = replace(GALLERY[CONTAMINATION_ONLY["TDC"]], promises=("projected",), sets=(TotalVariation,))
    assert {"ball", "ball, creeping"} <= {law.name for law in applicable(variant)}
    assert on_untested(variant) == []


def test_a_case_of_a_set_that_the_law_does_not_speak_of_is_refused() -> None:
    law, variant = law_named("TDC step"), promising("TDC", Contamination, TotalVariation)
    case = next(law.cases_of(variant))
    law_schema.read(law, case.entries(), variant)
    with pytest.raises(ValueError, match="uncertainty_set must be one of contamination for"):
        law_schema.read(law, case.entries() | {"uncertainty_set": TotalVariation(0.25)}, variant)


@pytest.mark.parametrize("width", [60, 80, 132])
def test_no_row_of_the_table_is_wider_than_the_terminal(width: int) -> None:
    law, evidence = "a law with a name that is longer than any column", "words and more words " * 20
    for outcome, text in (("holds", "no violation in 200 cases"), ("violated", evidence), ("error", "x" * 500)):
        for name in ("short", law, "n" * 300):
            record = Record("mine", name, outcome, text, 200, 1234.5, 0)  # type: ignore[arg-type]
            lines = row_lines(record, width=width)
            assert max(map(len, lines)) <= width
            assert "".join("".join(lines).split()).count("1234.50") == 1
            assert name.replace(" ", "") in "".join("".join(lines).split())
