"""No command is green over nothing: a selection, a number or a time that leaves nothing to judge is refused."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.batch import cells, gate
from benchmarks.cli import main as cli
from benchmarks.cli.batch import BASELINE
from benchmarks.cli.conventions import USAGE
from benchmarks.tests.test_batch import pytest_run
from properties.statistics.records import RunReport
from robust_core.json import from_data

Main = Callable[[list[str]], object]


def command(name: str) -> Main:
    """A command of the program, which ends as a process does."""
    return lambda arguments: sys.exit(cli.main([name, *arguments]))


REFUSED: dict[str, tuple[Main, list[str], str]] = {
    "batch, no such name": (
        cli.main,
        ["batch", "run", "--size", "quick", "--only", "no such"],
        "--only 'no such': no cell or control",
    ),
    "batch, a control's name without controls": (
        cli.main,
        ["batch", "run", "--size", "quick", "--no-controls", "--only", "leans to the first action"],
        "no cell at size quick",
    ),
    "batch, a report that cannot be written": (
        cli.main,
        ["batch", "run", "--size", "quick", "--output", "no such folder/report.json"],
        "the folder no such folder does not exist",
    ),
    "nights, no such name": (
        cli.main,
        ["batch", "night", "--size", "quick", "--only", "no such"],
        "--only 'no such': no cell",
    ),
    **{
        f"batch, a stretch of {word}": (
            cli.main,
            ["batch", "run", "--stretch", word],
            f"must be a finite number of at least 1, got {word}",
        )
        for word in ("nan", "0", "0.5", "inf", "-2", "far")
    },
    "calibration, no seeds": (
        cli.main,
        ["study", "calibration"]
        + [word for part in ("", "control-", "verify-", "full-", "dear-") for word in (f"--{part}seeds", "0")],
        "nothing would be measured",
    ),
    "calibration, half a table": (cli.main, ["study", "calibration", "--dear-seeds", "0"], "make one table"),
    "calibration, fewer than none": (
        cli.main,
        ["study", "calibration", "--seeds", "-1"],
        "must be an integer that is not negative, got -1",
    ),
    "injected defects, no seed set": (
        cli.main,
        ["study", "injected", "--seed-sets", "0"],
        "must be a positive integer, got 0",
    ),
    "a search at night without time": (command("search"), ["--budget", "0s"], "in which nothing is searched, got 0s"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_leaves_nothing_to_judge_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any work: nothing is written, not even an empty store."""
    monkeypatch.chdir(tmp_path)
    main, arguments, words = REFUSED[name]
    try:
        code = main(arguments)
    except SystemExit as refused:
        code = refused.code
    assert code == USAGE
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_suite_under_pytest_refuses_them_too(tmp_path: Path) -> None:
    shown = pytest_run(tmp_path, "--stretch", "nan")
    assert shown.returncode == pytest.ExitCode.USAGE_ERROR
    assert "must be a finite number of at least 1, got nan" in shown.stderr
    assert pytest_run(tmp_path, "-k", "nothing_of_this_name").returncode == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.robust_core_slow
def test_controls_that_wait_are_listed_under_pytest(tmp_path: Path) -> None:
    shown = pytest_run(tmp_path, "-k", "test_control and leans", "--budget", "0s")
    assert (
        "warning: pending control: one trajectory of the model: a walk that leans to the first action" in shown.stdout
    )


def test_calibration_without_time_leaves_the_committed_summary(tmp_path: Path) -> None:
    output = tmp_path / "calibration.json"
    output.write_text("{}")
    words = ["study", "calibration", "--budget", "0s", "--store", str(tmp_path / "store"), "--output", str(output)]
    assert cli.main(words) == USAGE
    assert output.read_text() == "{}"


def test_a_variant_that_no_law_speaks_of_is_not_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "silent.py"
    path.write_text(
        "from robust_core.problem import Variant\n"
        "SILENT = Variant(name='silent', kind='sampler', sets=(), promises=(), make=lambda *a: None)\n"
    )
    assert cli.main(["verify", str(path)]) == USAGE
    assert "nothing was verified: no law follows from the kind, sets and promises of silent" in capsys.readouterr().err


def test_a_run_of_controls_alone_decides_no_claim(tmp_path: Path) -> None:
    report = cells.run(size="quick", seed_set="pinned", path=tmp_path / "store", only="leans to the first action")
    assert [control.outcome for control in report.controls] == ["violated"]
    assert report.summary.outcome == "undecided"
    assert gate.exit_code([report.summary], report.controls, strict=False) == 0


def test_a_part_of_a_run_is_no_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    committed = json.loads(BASELINE.read_text())
    gate.require_whole(from_data(RunReport, committed))
    pending = [{**committed["cells"][0], "outcome": "pending"}, *committed["cells"][1:]]
    for wrong, words in (
        ({**committed, "cells": committed["cells"][1:]}, "all cells and controls"),
        ({**committed, "controls": []}, "all cells and controls"),
        ({**committed, "cells": pending}, "must be finished"),
        ([], "must be an object"),
    ):
        path = tmp_path / "report.json"
        path.write_text(json.dumps(wrong))
        assert cli.main(["batch", "accept", str(path)]) == USAGE
        assert words in capsys.readouterr().err
    assert json.loads(BASELINE.read_text()) == committed
