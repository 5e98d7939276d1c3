"""Public libraries under the suite: adapters, findings, the page."""

import datetime
from importlib import import_module

import pytest

from benchmarks.cli.main import main
from benchmarks.field import LIBRARIES, Library
from benchmarks.studies import field
from properties.judging.verdict import Record
from robust_core.problem import Variant


def variants(library: Library) -> list[Variant]:
    return [value for value in vars(import_module(library.module)).values() if isinstance(value, Variant)]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.distribution)
def test_adapters_load_without_their_library(library: Library) -> None:
    assert variants(library)


def test_a_violation_and_a_verdict_that_holds_are_on_the_page() -> None:
    library = LIBRARIES[0]
    variant = variants(library)[0]
    good = field.finding(library, "1", variant, 9, [Record("v", "optimal value", "holds", "", 1, 0.1, 0)])
    wrong = Record("v", "optimal value", "violated", "V*(s=0): got 1", 1, 0.1, 0, counterexample="P = [[[1]]]")
    bad = field.finding(library, "1", variant, 9, [wrong])
    text = field.page([good, bad], datetime.date(2026, 1, 2), 200)
    assert "| holds |" in text
    assert "| **violated** |" in text
    assert "P = [[[1]]]" in text
    assert "1 of 2 algorithms hold" in text


def test_without_a_library_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(field, "library_version", lambda library: None)
    assert main(["study", "field"]) == 2
    assert "robust-core[field,field-jax]" in capsys.readouterr().err


FAULTS = {
    ("pymdptoolbox", "4.0b3"): {
        "pymdptoolbox ValueIteration, values": "cannot convert float infinity to integer",
        "pymdptoolbox PolicyIterationModified, values": "V*",
    },
    ("mdptoolbox-hiive", "4.0.3.1"): {
        "mdptoolbox-hiive ValueIteration, values": "cannot convert float infinity to integer",
        "mdptoolbox-hiive PolicyIterationModified, values": "V*",
    },
    ("mdpsolver", "0.10.2"): {"mdpsolver modified policy iteration": "NOT CONVERGED"},
    ("mushroom-rl", "1.10.2"): {"mushroom-rl RQLearning, delta = 1": "Q(s=0, a=0) after step 2"},
}


@pytest.mark.parametrize(("library", "version"), FAULTS)
def test_known_faults_of_pinned_versions_are_found_and_a_right_algorithm_holds(library: str, version: str) -> None:
    adapter = next(each for each in LIBRARIES if each.distribution == library)
    if field.library_version(adapter) != version:
        pytest.skip(f"{library} {version} is not installed")
    found = {each.variant: each for each in field.findings(adapter, version, examples=100)}
    for name, evidence in FAULTS[library, version].items():
        assert evidence in found[name].evidence
    assert any(each.outcome == "holds" for each in found.values())
