"""A new file of every kind is a variant that can be loaded, with the promises that its kind allows."""

from pathlib import Path

import pytest

from benchmarks.cli.conventions import HOLDS, USAGE
from benchmarks.cli.main import main
from benchmarks.cli.new import skeleton
from properties.judging.verification import promises_of, require_promises
from properties.process.loading import load
from robust_core.problem import KINDS, Kind


@pytest.mark.parametrize("kind", KINDS)
def test_the_skeleton_of_a_kind_loads(kind: Kind, tmp_path: Path) -> None:
    text = skeleton(kind, "mine.py")
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    (variant,) = load(str(tmp_path / "mine.py")).values()
    assert variant.kind == kind
    require_promises(variant)
    assert all(f" {promise}: " in text for promise in promises_of(kind))


def test_a_file_that_is_there_is_not_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    assert main(["new", str(file), "--kind", "value-planner"]) == HOLDS
    assert main(["verify", str(file), "--examples", "3", "--no-statistics"]) == HOLDS
    before = file.read_text(encoding="utf-8")
    assert main(["new", str(file)]) == USAGE
    assert "exists already" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == before


def test_a_misspelt_kind_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", str(tmp_path / "mine.py"), "--kind", "plannner"]) == USAGE
    assert "did you mean 'planner'" in capsys.readouterr().err
