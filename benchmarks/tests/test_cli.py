"""The command line: exit codes, output, and errors that say what is wrong."""

import json
from pathlib import Path

import pytest

from benchmarks.cli import main
from benchmarks.cli_conventions import HOLDS, USAGE, VIOLATED

WRONG = "properties.mutants.operator:NO_DISCOUNT"
RIGHT = "properties.gallery.bellman:VARIANT"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_right_variant_exits_with_0_and_a_wrong_one_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", RIGHT, "--examples", "20"]) == HOLDS
    assert "holds     bellman backup" in capsys.readouterr().out
    assert main(["verify", WRONG, "--examples", "50"]) == VIOLATED
    assert "replay: robust-core replay" in capsys.readouterr().out


def test_the_printed_replay_command_judges_the_counterexample_again(capsys: pytest.CaptureFixture[str]) -> None:
    main(["verify", WRONG, "--examples", "50"])
    command = next(line for line in capsys.readouterr().out.splitlines() if "replay:" in line)
    assert main(command.split("robust-core ")[1].split()) == VIOLATED
    assert "violated: TQ" in capsys.readouterr().out


def test_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", WRONG, "--json", "--examples", "50"]) == VIOLATED
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    outcomes = {record["law"]: record["outcome"] for record in records}
    assert (outcomes["bellman backup"], outcomes["contraction"]) == ("violated", "blocked")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "no_such_module:X"], "no module 'no_such_module'"),
        (["verify", "no_such_file.py"], "no such file"),
        (["verify", "properties.gallery.bellman:NOPE"], "no variant 'NOPE'"),
        (["verify", "json:X"], "no Variant in it"),
        (["replay", "no-such-file.json"], "no-such-file.json"),
    ],
)
def test_usage_errors_say_what_is_wrong(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == USAGE
    assert message in capsys.readouterr().err
