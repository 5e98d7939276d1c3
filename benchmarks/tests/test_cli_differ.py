"""`robust-core differ` and models of the user's, as commands."""

import inspect
import json
from pathlib import Path

import pytest

from benchmarks.cli.main import main
from properties.kinds import kind_of
from properties.variants import examples
from robust_core import models

MODEL = models.garnet(7, 2, 3, gamma=0.9)
TARGET = "properties.variants.examples.operator"


@pytest.mark.robust_core_slow
def test_the_command_runs_both_in_workers_and_exits_by_the_level(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = Path(inspect.getfile(examples)).with_name("operator.py").read_text(encoding="utf-8")
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(source, encoding="utf-8")
    example = kind_of("operator").example
    wrong.write_text(source.replace(example.right, example.wrong), encoding="utf-8")
    assert main(["differ", str(right), str(wrong), "--examples", "20", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert (record["verdict"], record["oracle"]["side"]) == ("different", "first")
    assert main(["differ", str(right), str(right)]) == 2


@pytest.mark.parametrize(
    ("content", "more", "words"),
    [
        (None, (), "o such file"),
        ("{", (), "not JSON"),
        (json.dumps({"P": 3}), (), "model.json"),
        (models.garnet(40, 30, 2, gamma=0.9).to_json(), (), "at most 1024 pairs"),
        (MODEL.to_json(), ("--gamma", "2"), "gamma"),
    ],
)
def test_a_bad_model_is_refused_before_any_work(
    content: str | None, more: tuple[str, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    assert main(["verify", TARGET, "--model", str(file), *more]) == 2
    out, err = capsys.readouterr()
    assert (words in err, out) == (True, "")


def test_the_command_says_which_models_it_tries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.json").write_text(MODEL.to_json(), encoding="utf-8")
    arguments = ["verify", TARGET, "--model", str(tmp_path), "--law", "bellman backup", "--examples", "3"]
    assert main([*arguments, "--no-statistics", "--law-budget", "60s"]) == 0
    out = capsys.readouterr().out
    assert "one.json (S=7, A=2, gamma=0.9)" in out
    assert "8 cases on your models" in out
