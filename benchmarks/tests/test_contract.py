"""The contract of a variant: an example of every kind that holds, a bug that is found, and the page with both."""

from typing import Any, get_args

import pytest

from benchmarks.documents import write
from benchmarks.documents.variants import first_violated, source, source_with_bug, variant_of
from properties.cases.entry_rules import RULES
from properties.judging.verification import promises_of, verify
from properties.kinds import Example, kind_of
from properties.laws.catalogue import LAWS
from properties.laws.law import PROMISES
from robust_core import Contamination
from robust_core.problem import KINDS, OPTIONS, Kind, Promise, Variant

PAGE = write.read("variants")


QUICK = ("control", "operator", "value planner", "objective", "batch", "policy gradient")
"""Kinds whose examples are verified in the default run: the others are in the slow one."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.robust_core_slow] * (kind not in QUICK)) for kind in KINDS]
)
def test_the_example_of_a_kind_is_of_it_and_holds(kind: Kind) -> None:
    variant = variant_of(source(kind))
    assert variant.kind == kind
    outcomes = {record.law: record.outcome for record in verify(variant, examples=10)}
    assert set(outcomes.values()) == {"holds"}, outcomes


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_of_a_case_has_a_rule(kind: Kind) -> None:
    """What a file may hold is checked when it is read."""
    beside = {name for law in LAWS if kind in law.kinds for name in law.beside}
    assert {*kind_of(kind).case.names(), *beside} <= {*RULES, *kind_of(kind).rules}


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"kind must be one of control, .*, got 'controls'"):
        kind_of("controls")


def test_editors_know_every_promise() -> None:
    allowed = {promise for kind in KINDS for promise in promises_of(kind)}
    assert set(get_args(Promise)) == allowed, "add the name to `Promise` in robust_core/problem.py"


@pytest.mark.skipif(PAGE is None, reason="the documentation is not part of an installed package")
def test_the_page_has_every_promise() -> None:
    missing = [promise for promise in PROMISES if f"| `{promise}` |" not in str(PAGE)]
    assert missing == [], "run: robust-core documents variants"


def test_a_bug_in_no_line_is_refused() -> None:
    with pytest.raises(ValueError, match="must have 'no such text' once, it has it 0 times"):
        source_with_bug("control", Example("", "no such text", ""))


def test_an_example_without_its_bug_violates_nothing() -> None:
    assert first_violated(variant_of(source("operator"))) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": ""}, "name must be text that is not empty, got ''"),
        ({"name": None}, "name must be text that is not empty, got None"),
        ({"kind": "controls"}, "kind must be one of .*, got 'controls'; did you mean 'control'"),
        (
            {"promises": "unbiased"},
            r"promises must be names of promises in a tuple, e\.g\. \('unbiased',\), got 'unbiased'",
        ),
        ({"promises": (3,)}, "promises must be names of promises in a tuple.*, got 3"),
        (
            {"sets": Contamination},
            r"sets must be types of uncertainty sets in a tuple, e\.g\. \(Contamination,\), got <",
        ),
        ({"sets": ()}, "a variant of kind 'control' needs at least one"),
        ({"options": {"radi": (0.5,)}}, r"options\['radi'\]: no such option; there are .*; did you mean 'radii'\?"),
        ({"options": {"radii": 0.5}}, r"options\['radii'\] must be a tuple of at least one radius.*, got 0.5"),
        ({"options": {"radii": (-0.5,)}}, "a radius must not be negative, got -0.5"),
        ({"options": {"estimates": "q"}}, r"options\['estimates'\] must be one of 'Q', 'V', got 'q'"),
        ({"options": {"smoothing": "soft"}}, "must be one of 'lse', 'mellowmax', got 'soft'"),
        ({"options": {"accuracy": "high"}}, r"options\['accuracy'\] must be a number, got 'high'"),
        ({"options": [1]}, r"options must be a mapping, got \[1\]"),
    ],
)
def test_a_wrong_description_is_refused_with_argument_value_and_rule(changed: dict[str, Any], message: str) -> None:
    right: dict[str, Any] = {
        "name": "mine",
        "kind": "control",
        "make": print,
        "sets": (Contamination,),
        "promises": ("unbiased",),
    }
    Variant(**right)
    with pytest.raises((TypeError, ValueError), match=message):
        Variant(**right | changed)


def test_a_sampler_needs_no_set_and_every_option_is_documented() -> None:
    assert Variant("mine", "sampler", print, (), ()).sets == ()
    if PAGE is not None:
        written = " ".join(PAGE.split())
        assert [name for name in OPTIONS if f"| `{name}` |" not in written] == []
