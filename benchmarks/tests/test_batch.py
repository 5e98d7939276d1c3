"""Batches: a store that survives kills, results that do not depend on workers, kills or time."""

import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.batch import cells, gate
from benchmarks.cli.main import main
from benchmarks.runner.store import Store
from benchmarks.studies import calibration
from benchmarks.tests.processes import await_true, workers_of
from properties.statistics import budget
from properties.statistics.laws import laws
from properties.statistics.records import ControlResult, Gate, RunReport
from robust_core.json import from_data
from robust_core.json import load as load_json


def test_what_was_put_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    store = Store(path)
    values = [[[0.1, math.pi]], [[-0.0, 1e-300, 3.0]], {"n": 7}]
    for place, value in enumerate(values):
        store.put(b"%d" % place, value)
    for reader in (store, Store(path)):
        assert [reader.get(b"%d" % place) for place in range(3)] == values
    assert store.get(b"absent") is None


def test_a_torn_record_is_ignored_wherever_it_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    store = Store(path)
    store.put(b"first", 1)
    whole = path.read_bytes()
    store.put(b"second", 2)
    both = path.read_bytes()
    for cut in range(len(whole), len(both)):
        path.write_bytes(both[:cut])
        resumed = Store(path)
        assert resumed.get(b"first") == 1
        # All but the last newline is a whole record that nobody has confirmed: either answer is right.
        assert resumed.get(b"second") in ((None,) if cut < len(both) - 1 else (None, 2))
        resumed.put(b"third", 3)
        assert (Store(path).get(b"first"), Store(path).get(b"third")) == (1, 3)
        resumed.close()


def test_a_damaged_record_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    Store(path).put(b"key", 12345)
    path.write_bytes(path.read_bytes().replace(b"12345", b"12346"))
    assert Store(path).get(b"key") is None


def test_two_values_for_a_key_are_an_error(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.jsonl")
    store.put(b"key", 1)
    store.put(b"key", 1)
    store.put(b"nan", [math.nan])
    store.put(b"nan", [math.nan])
    with pytest.raises(ValueError, match="two values"):
        store.put(b"key", 2)


def test_writers_see_each_other(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "s.jsonl"), Store(tmp_path / "s.jsonl")
    first.put(b"key", "value")
    second.refresh()
    assert second.get(b"key") == "value"


# Two cells in about ten pieces each: enough to run out of samples in.
ONLY = "unbiased"


def command(store: Path, output: Path, *, workers: int) -> list[str]:
    """All laws at quick size: about fifty pieces, enough to be killed in."""
    options = ["--size", "quick", "--workers", str(workers), "--no-controls"]
    program = "import sys; from benchmarks.cli.main import main; sys.exit(main())"
    return [sys.executable, "-c", program, "batch", "run", *options, "--store", str(store), "--output", str(output)]


def await_records(run: "subprocess.Popen[Any]", store: Path, count: int) -> None:
    """Until a run has put more than so many lines into the store, or has ended."""
    await_true(lambda: run.poll() is not None or (store.exists() and store.read_bytes().count(b"\n") > count), 600.0)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    subprocess.run(command(folder / "store", folder / "report", workers=1), check=True, capture_output=True)
    return (folder / "report").read_bytes()


@pytest.fixture(scope="module")
def unbiased(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    path = tmp_path_factory.mktemp("unbiased") / "store"
    return cells.run(size="quick", seed_set="pinned", path=path, with_controls=False, only=ONLY)


@pytest.mark.robust_core_slow
def test_a_killed_run_resumes_to_the_same_bits(undisturbed: bytes, tmp_path: Path) -> None:
    store, output = tmp_path / "store", tmp_path / "report"
    kills = 0
    for lines in (4, 30):
        child = subprocess.Popen(
            command(store, output, workers=1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        await_records(child, store, 2 * lines)
        if child.poll() is None:
            os.kill(child.pid, signal.SIGKILL)
            kills += 1
        child.wait()
    assert kills, "the run ended before it could be killed"
    before = store.read_bytes()
    subprocess.run(command(store, output, workers=1), check=True, capture_output=True)
    assert output.read_bytes() == undisturbed
    assert store.read_bytes().startswith(before), "records were rewritten"
    # Every law was there, TDC among them: its steps are taken in compiled loops of their own.
    assert {cell["law"] for cell in json.loads(undisturbed)["cells"]} == {law.name for law in laws()}


def test_the_number_of_workers_does_not_matter(undisturbed: bytes, tmp_path: Path) -> None:
    output = tmp_path / "report"
    subprocess.run(command(tmp_path / "store", output, workers=2), check=True, capture_output=True)
    assert output.read_bytes() == undisturbed


@pytest.mark.robust_core_slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found as Linux shows them")
def test_a_killed_worker_is_an_error_and_loses_nothing(undisturbed: bytes, tmp_path: Path) -> None:
    store, output = tmp_path / "store", tmp_path / "report"
    child = subprocess.Popen(
        command(store, output, workers=2), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    await_records(child, store, 8)
    assert child.poll() is None, "the run ended before a worker could be killed"
    os.kill(workers_of(child.pid)[0], signal.SIGKILL)
    _, shown = child.communicate()
    assert child.returncode == 2, "neither a verdict nor pending"
    assert "robust-core: a worker process died (exit code -9) while it computed rows:rows(" in shown
    assert not output.exists()
    subprocess.run(command(store, output, workers=1), check=True, capture_output=True)
    assert output.read_bytes() == undisturbed


def test_the_comparison_sees_other_seeds(unbiased: RunReport, tmp_path: Path) -> None:
    report = cells.run(size="quick", seed_set="other", path=tmp_path / "store", with_controls=False, only=ONLY)
    assert [cell.log_against for cell in report.cells] != [cell.log_against for cell in unbiased.cells]


def test_time_that_runs_out_leaves_cells_pending(tmp_path: Path) -> None:
    report = cells.run(
        size="quick", seed_set="pinned", path=tmp_path / "store", budget_seconds=0.0, with_controls=False
    )
    assert {cell.outcome for cell in report.cells} == {"pending"}
    assert len(report.summary.pending) == len(report.cells)
    assert gate.exit_code([report.summary], report.controls, strict=False) == 0
    assert gate.exit_code([report.summary], report.controls, strict=True) == 3


@pytest.mark.parametrize("samples", [20, 99, 100])
def test_samples_that_run_out_leave_cells_pending_and_nothing_is_lost(
    unbiased: RunReport, tmp_path: Path, samples: int
) -> None:
    common: dict[str, Any] = {"size": "quick", "seed_set": "pinned", "path": tmp_path / "s", "with_controls": False}
    report = cells.run(samples=samples, only=ONLY, **common)
    # The pieces end at 16, 20, 25, 32, 40, 49, 62, 77, 96, 120, …
    assert {cell.outcome for cell in report.cells} == {"pending"}
    assert {cell.n for cell in report.cells} == {20 if samples == 20 else 96}
    assert cells.run(only=ONLY, **common) == unbiased


def test_a_cell_that_needs_no_more_samples_is_decided(unbiased: RunReport, tmp_path: Path) -> None:
    needed = max(cell.n for cell in unbiased.cells)
    common: dict[str, Any] = {"size": "quick", "seed_set": "pinned", "path": tmp_path / "s", "with_controls": False}
    assert cells.run(samples=needed, only=ONLY, **common) == unbiased
    less = cells.run(samples=needed - 1, only=ONLY, **common)
    assert "pending" in {cell.outcome for cell in less.cells}


def test_a_report_is_read_as_it_was_written(undisturbed: bytes, tmp_path: Path) -> None:
    (tmp_path / "report").write_bytes(undisturbed)
    report = from_data(RunReport, load_json(tmp_path / "report"))
    assert budget.gate(report.cells) == report.summary
    with pytest.raises(ValueError, match=r"cells\[0\] has an unknown field 'm'"):
        from_data(RunReport, json.loads(undisturbed.replace(b'"n": ', b'"m": ')) | {"summary": None})


def test_red_and_missed_controls_fail() -> None:
    common: dict[str, Any] = {"log_product": 0.0, "budget": 1e-6, "spent": 1e-6, "suspects": ()}
    names: dict[str, Any] = {"violated": (), "undecided": (), "pending": ()}
    green, red = Gate(outcome="holds", **names, **common), Gate(outcome="violated", **names, **common)
    missed, pending = ControlResult("x", "missed"), ControlResult("x", "pending")
    assert gate.exit_code([green], [], strict=True) == 0
    assert gate.exit_code([green, red], [], strict=False) == 1
    assert gate.exit_code([green], [missed], strict=False) == 1
    assert [gate.exit_code([green], [pending], strict=strict) for strict in (False, True)] == [0, 3]


def test_json_goes_to_the_output_and_a_report_to_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["batch", "run", "--size", "quick", "--no-controls", "--only", "speed", "--workers", "1"]
    assert main([*words, "--store", str(tmp_path / "s"), "--json", "--output", str(tmp_path / "report")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "report").read_text())
    assert from_data(RunReport, printed).summary.outcome == "holds"
    assert main([*words, "--store", str(tmp_path / "s"), "--output", str(tmp_path / "no" / "report")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert main(["batch", "run", "--only", "no such cell", "--store", str(tmp_path / "s")]) == 2
    assert "no cell or control at size full has this in its name" in capsys.readouterr().err


RIGHT = calibration.RightRun(False, -1.0, {"c": ("holds", 16, -2.0)})


def test_calibration_counts() -> None:
    red = calibration.RightRun(True, 20.0, {"c": ("violated", 40, 19.0)})
    found = calibration.Right.of([RIGHT] * 3 + [red])
    assert (found.seeds, found.red) == (4, 1)
    assert found.cells["c"].violated == 1
    assert found.evidence["P(E >= 10)"] == 0.25
    assert calibration.Wrong.of([{"k": 16}, {"k": None}]).controls["k"] == calibration.ControlCounts(1, 2, 16.0)


def test_calibration_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(seed: int, size: str) -> calibration.RightRun:
        calls.append(seed)
        return RIGHT

    counted.__module__ = calibration.__name__
    monkeypatch.setattr(calibration, "right", counted)
    store = Store(tmp_path / "c")
    seeds = calibration.Seeds(2, 0, 0, 0, 0)
    first, second = (calibration.run(replace(seeds, right=n), store=store).right for n in (2, 3))
    assert first is not None
    assert second is not None
    assert (first.seeds, second.seeds, calls) == (2, 3, [0, 1, 2])


def pytest_run(tmp_path: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    suite = [str(Path(cells.__file__).parent / "suite.py"), "-k", "speed and test_cell"]
    common = ["-p", "benchmarks.batch.plugin", "-p", "no:cacheprovider", "-p", "no:xdist", "--size", "quick"]
    command = [sys.executable, "-m", "pytest", *suite, *common, "--store", str(tmp_path / "store"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_suite_under_pytest_shows_progress_and_the_gate(tmp_path: Path) -> None:
    shown = pytest_run(tmp_path)
    assert shown.returncode == 0, shown.stdout
    assert "[1/1, 100 %] " in shown.stdout
    assert "gate: holds" in shown.stdout


def test_pending_cells_are_listed(tmp_path: Path) -> None:
    shown = pytest_run(tmp_path, "--budget", "0s")
    assert shown.returncode == 0, shown.stdout
    assert "warning: pending: speed/" in shown.stdout


def test_constants_of_theorem_3_can_be_too_small() -> None:
    from benchmarks.studies.constants import family, holds

    garnet = family()[1]
    assert holds(garnet, 2.0**-8, 64.0)
    assert not holds(garnet, 2.0**-11, 64.0)


def test_the_document_is_rendered_from_results() -> None:
    from benchmarks.documents import calibration as calibration_report

    right, wrong = calibration.Right.of([RIGHT]), calibration.Wrong.of([{"k": 16}])
    assert "**0 red**" in calibration_report.calibration_text(calibration.Calibration(right, wrong))
