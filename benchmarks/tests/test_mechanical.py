"""Mutants of a user's own file: the engine finds them, the laws kill them, survivors are shown with a reason."""

from pathlib import Path

import pytest

from benchmarks.cli.conventions import HOLDS, USAGE, VIOLATED
from benchmarks.cli.main import main
from benchmarks.mutants.mutation import mutations

OPERATOR = """
from robust_core import Contamination, Variant, support


def backup(mdp, uncertainty_set, Q):
    shift = Q.sum() * 0  # equivalent mutant (arithmetic): the sum of a finite table times 0 or over 1 is not used
    V = Q.min(axis=1)
    if len(V) > 100000:
        V = V + 1.0
    return mdp.cost + mdp.gamma * support(mdp, uncertainty_set, V)


MINE = Variant("my operator", "operator", backup, (Contamination,), ("bellman",))
"""


def test_every_operator_changes_the_source_and_only_the_algorithm() -> None:
    found = list(mutations(OPERATOR))
    assert len({each.source for each in found}) == len(found)
    assert {each.operator for each in found} >= {"name", "dropped term", "constant", "condition", "comparison"}
    assert all('Variant("my operator"' in each.source.replace("'", '"') for each in found)
    assert all(0 < each.line <= 11 for each in found)


@pytest.mark.robust_core_slow
def test_survivors_are_shown_and_reasons_are_respected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OPERATOR, encoding="utf-8")
    assert main(["mutants", "--of", str(file), "--examples", "15"]) == VIOLATED
    shown = capsys.readouterr().out
    assert "alive: " in shown
    assert "+        V = V + 0.0" in shown  # the branch for large tables is not reached by small problems
    assert "reason: the sum of a finite table" in shown
    assert "+    V = Q.max(axis=1)" not in shown  # killed
    assert "killed by bellman backup" in shown


def test_a_clean_variant_has_no_survivor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = OPERATOR.splitlines()
    file = tmp_path / "mine.py"
    file.write_text(
        "\n".join(line for line in lines if "shift" not in line and "100000" not in line and "1.0" not in line)
    )
    assert main(["mutants", "--of", str(file), "--examples", "15"]) == HOLDS
    assert "(100.0 %)" in capsys.readouterr().out


def test_a_variant_that_is_violated_is_not_mutated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OPERATOR.replace("mdp.gamma * support", "support"), encoding="utf-8")
    assert main(["mutants", "--of", str(file), "--examples", "15"]) == USAGE
    assert "violates 'bellman backup' before any mutation" in capsys.readouterr().err
