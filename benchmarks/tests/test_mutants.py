"""The zoo: what is right passes, every mutant dies, and the matrix says who killed it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.cli.conventions import HOLDS, VIOLATED
from benchmarks.cli.main import main
from benchmarks.mutants import isolated
from benchmarks.mutants.matrix import Kill, all_mutants, idle, kill_matrix, needed_laws, summary, survivors
from properties.judging.search import judge_case
from properties.judging.verification import applicable, verify
from properties.laws.catalogue import LAWS
from properties.process.session import Session
from properties.variants.gallery import PATHWISE
from properties.variants.mutants import horizon, plain, s_rectangular, sampler
from robust_core import Contamination, Variant

MUTANTS = all_mutants()
OPERATOR = "properties.variants.mutants.operator:NO_DISCOUNT"
EXAMPLES = 60
# The laws that most mutants die of come first: who is dead is not asked again.
DEADLY = (
    "mean update",
    "mean iteration",
    "expected draws of levels",
    "levels",
    "expected draws",
    "variance of an iteration",
    "mean update, linear",
    "batch mean",
    "batch variance",
    "projection onto two balls",
    "semi-gradient",
    "objective",
    "objective gradient",
    "relative update",
    "sample step",
    "TDC step",
    "batch",
    "sample step, large",
    "TDC step, large",
)
LEAST_MUTANTS = 80

_FORM, _NEXT = "sample form", "sample form, next action"
RIGHT = [
    Variant("plain Q", "control", plain.PlainQ, (Contamination,), ("unbiased", _FORM, "monotone in R", *PATHWISE)),
    Variant(
        "plain expected SARSA",
        "evaluation",
        plain.PlainExpectedSarsa,
        (Contamination,),
        ("unbiased", _FORM, *PATHWISE),
        {"estimates": "Q"},
    ),
    Variant(
        "plain SARSA",
        "evaluation",
        plain.PlainSarsa,
        (Contamination,),
        ("unbiased", _NEXT, *PATHWISE),
        {"estimates": "Q"},
    ),
    Variant("plain TD", "evaluation", plain.PlainTD, (Contamination,), ("unbiased", _FORM, *PATHWISE)),
    Variant(
        "plain TDC", "linear evaluation", plain.PlainTDC, (Contamination,), ("TDC", "projected", "scale", "rotation")
    ),
    Variant(
        "plain GTD2", "linear evaluation", plain.PlainGTD2, (Contamination,), ("GTD2", "projected", "scale", "rotation")
    ),
    Variant("plain sampler", "sampler", sampler._Plain(), (), ("trajectory",)),
]


def test_the_zoo_is_large_and_its_names_are_distinct() -> None:
    assert len(MUTANTS) >= LEAST_MUTANTS
    assert len({variant.name for variant in MUTANTS.values()}) == len(MUTANTS)


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("variant", RIGHT, ids=lambda variant: variant.name)
def test_what_the_mutants_are_made_of_is_right(variant: Variant) -> None:
    assert survivors(kill_matrix({"right": variant}, examples=EXAMPLES)) == ["right"]


QUICK = ("average cost planner", "operator", "smoothed operator", "support", "value planner")
"""Kinds whose mutants take a few seconds: the others die in the slow tests."""


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.robust_core_slow] * (kind not in QUICK))
        for kind in sorted({variant.kind for variant in MUTANTS.values()})
    ],
)
def test_every_mutant_dies(kind: str) -> None:
    """The first kill is enough."""
    # Those that need a long run, and those of s-rectangular sets, have tests of their own.
    elsewhere = (horizon.__name__, s_rectangular.__name__)
    mutants = {key: v for key, v in MUTANTS.items() if v.kind == kind and not key.startswith(elsewhere)}
    for law in sorted(LAWS, key=lambda law: law.name not in DEADLY):
        kills = list(kill_matrix(mutants, [law], examples=EXAMPLES))
        dead = {kill.mutant for kill in kills} - set(survivors(kills))
        mutants = {key: variant for key, variant in mutants.items() if key not in dead}
    assert not mutants


@pytest.mark.parametrize("name", ["control:LOST_GAMMA", "support:L1_RADIUS", "linear:CORRECTION_SIGN"])
def test_one_defect_has_one_first_cause(name: str) -> None:
    records = list(verify(MUTANTS[f"properties.variants.mutants.{name}"], examples=EXAMPLES))
    violated = [record for record in records if record.outcome == "violated"]
    blocked = [record for record in records if record.outcome == "blocked"]
    assert len(violated) == 1, records
    assert blocked
    assert {record.blocked_by for record in blocked} == {violated[0].law}


def test_a_kill_repeats() -> None:
    mutant = {"m": MUTANTS["properties.variants.mutants.support:L1_RADIUS"]}
    assert [k.cases for k in kill_matrix(mutant, examples=5)] == [k.cases for k in kill_matrix(mutant, examples=5)]


def test_the_matrix_names_survivors_idle_laws_and_needed_laws() -> None:
    kills = [
        Kill("m:A", "a", "control", "one", 3, 0.1, "wrong"),
        Kill("m:A", "a", "control", "two", None, 0.1, ""),
        Kill("m:B", "b", "control", "one", None, 0.1, ""),
        Kill("m:B", "b", "control", "two", None, 0.1, ""),
    ]
    assert survivors(kills) == ["m:B"]
    assert idle(kills) == ["two"]
    assert needed_laws(kills) == {"one": ["m:A"]}
    text = summary(kills)
    assert "1 of 2 mutants caught" in text
    assert "alive: m:B" in text
    assert json.loads(kills[0].to_json())["law"] == "one"


def test_laws_do_not_know_a_variant_by_name() -> None:
    """A renamed mutant dies of the same law on the same case."""
    original = MUTANTS[OPERATOR]
    renamed = Variant("robust Bellman operator", original.kind, original.make, original.sets, original.promises)
    law = applicable(original)[1]
    from benchmarks.mutants.matrix import problems

    cases = problems(law, original, examples=20, seed=0)
    assert [judge_case(law, original, c) is None for c in cases] == [judge_case(law, renamed, c) is None for c in cases]


def test_quiet_tells_of_the_living_and_a_variant_without_laws_is_alive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.py"
    file.write_text(
        "from dataclasses import replace\n"
        "from properties.variants.gallery.bellman import VARIANT as RIGHT\n"
        "from properties.variants.mutants.operator import NO_DISCOUNT\n"
        "MUTE = replace(RIGHT, promises=())\n"
    )
    assert main(["mutants", str(file), "--examples", "20", "--quiet"]) == VIOLATED
    assert capsys.readouterr().out == f"alive: {file}:RIGHT\nalive: {file}:MUTE: no law applies to it\n"
    assert main(["mutants", f"{file}:NO_DISCOUNT", "--examples", "20", "--quiet"]) == HOLDS
    assert capsys.readouterr().out == ""


def test_a_mutant_that_ends_its_process_is_caught_by_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "dies.py"
    file.write_text(
        "import os\n"
        "from dataclasses import replace\n"
        "from properties.variants.gallery.bellman import VARIANT as RIGHT\n"
        "DIES = replace(RIGHT, name='dies', make=lambda *case: os._exit(0), promises=('bellman',))\n"
        "del RIGHT\n"
    )
    assert main(["mutants", str(file), "--examples", "2", "--json"]) == HOLDS
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["law"] for row in rows] == [law.name for law in applicable(MUTANTS[OPERATOR])]
    assert {row["finding"] for row in rows} == {"misbehaviour: its process ended with exit code 0"}


def test_a_process_of_its_own_changes_no_row() -> None:
    mutant = MUTANTS[OPERATOR]
    with Session([OPERATOR], serve=isolated.SERVE) as session:
        described = session.variants[OPERATOR]
        alone = list(isolated.kills(session, described, examples=5, seed=0, tick=lambda mutant, law: None))
    together = kill_matrix({OPERATOR: mutant}, examples=5)
    assert [replace(kill, seconds=0.0) for kill in alone] == [replace(kill, seconds=0.0) for kill in together]
