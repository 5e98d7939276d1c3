"""Batches: a store that survives kills, results that do not depend on workers, kills or time."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.batch import cells, gate, on_cluster
from benchmarks.runner.store import Store
from benchmarks.runner.units import compute
from benchmarks.studies import calibration
from properties.statistics.laws import laws


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
    return [sys.executable, "-m", "benchmarks.batch.cells", *options, "--store", str(store), "--json", str(output)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    subprocess.run(command(folder / "store", folder / "report", workers=1), check=True, capture_output=True)
    return (folder / "report").read_bytes()


@pytest.fixture(scope="module")
def unbiased(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("unbiased") / "store"
    return cells.run(size="quick", seed_set="pinned", path=path, with_controls=False, only=ONLY)


def test_a_killed_run_resumes_to_the_same_bits(undisturbed: bytes, tmp_path: Path) -> None:
    store, output = tmp_path / "store", tmp_path / "report"
    kills = 0
    for lines in (4, 30):
        child = subprocess.Popen(
            command(store, output, workers=1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while child.poll() is None and not (store.exists() and store.read_bytes().count(b"\n") > 2 * lines):
            time.sleep(0.01)
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


def test_the_comparison_sees_other_seeds(unbiased: dict[str, Any], tmp_path: Path) -> None:
    report = cells.run(size="quick", seed_set="other", path=tmp_path / "store", with_controls=False, only=ONLY)
    assert [cell["log_against"] for cell in report["cells"]] != [cell["log_against"] for cell in unbiased["cells"]]


def test_time_that_runs_out_leaves_cells_pending(tmp_path: Path) -> None:
    report = cells.run(
        size="quick", seed_set="pinned", path=tmp_path / "store", budget_seconds=0.0, with_controls=False
    )
    assert {cell["outcome"] for cell in report["cells"]} == {"pending"}
    assert len(report["summary"]["pending"]) == len(report["cells"])
    assert gate.exit_code(report, strict=False) == 0
    assert gate.exit_code(report, strict=True) == 3


@pytest.mark.parametrize("samples", [20, 99, 100])
def test_samples_that_run_out_leave_cells_pending_and_nothing_is_lost(
    unbiased: dict[str, Any], tmp_path: Path, samples: int
) -> None:
    common: dict[str, Any] = {"size": "quick", "seed_set": "pinned", "path": tmp_path / "s", "with_controls": False}
    report = cells.run(samples=samples, only=ONLY, **common)
    # The pieces end at 16, 20, 25, 32, 40, 49, 62, 77, 96, 120, …
    assert {cell["outcome"] for cell in report["cells"]} == {"pending"}
    assert {cell["n"] for cell in report["cells"]} == {20 if samples == 20 else 96}
    assert cells.run(only=ONLY, **common) == unbiased


def test_a_cell_that_needs_no_more_samples_is_decided(unbiased: dict[str, Any], tmp_path: Path) -> None:
    needed = max(cell["n"] for cell in unbiased["cells"])
    common: dict[str, Any] = {"size": "quick", "seed_set": "pinned", "path": tmp_path / "s", "with_controls": False}
    assert cells.run(samples=needed, only=ONLY, **common) == unbiased
    less = cells.run(samples=needed - 1, only=ONLY, **common)
    assert "pending" in {cell["outcome"] for cell in less["cells"]}


def test_rows_are_asked_for_by_the_names_that_cells_give_them(tmp_path: Path) -> None:
    run = cells.Run("quick", "pinned")
    store = Store(tmp_path / "store")
    with pytest.raises(on_cluster.Wanted) as caught:
        cells.record("control", 0, run, lambda where: on_cluster.Asking(store, where))
    wanted = caught.value
    ((name, unit),) = on_cluster.absent(wanted, run, store)
    assert (name, unit.arguments["start"], unit.arguments["stop"]) == (wanted.name, 0, 16)
    store.put(name, compute(unit))
    assert not on_cluster.absent(wanted, run, store)
    misnamed = on_cluster.Wanted(wanted.where, b"another name", 0)
    with pytest.raises(AssertionError, match="not named as"):
        on_cluster.absent(misnamed, run, store)


def test_red_and_missed_controls_fail() -> None:
    rest: dict[str, Any] = {"missed controls": [], "controls": []}
    green = {"summary": {"outcome": "holds", "undecided": [], "pending": []}, **rest}
    red = {"summary": {"outcome": "violated", "undecided": [], "pending": []}, **rest}
    assert gate.exit_code(green, strict=True) == 0
    assert gate.exit_code(red, strict=False) == 1
    assert gate.exit_code({**green, "missed controls": ["x"]}, strict=False) == 1


def test_calibration_counts() -> None:
    right = [{"red": False, "log_product": -1.0, "cells": {"c": ["holds", 16, -2.0]}}] * 3
    right.append({"red": True, "log_product": 20.0, "cells": {"c": ["violated", 40, 19.0]}})
    found = calibration.summary(right, [{"k": 16}, {"k": None}])
    assert (found["seeds"], found["red"]) == (4, 1)
    assert found["cells"]["c"]["violated"] == 1
    assert found["evidence against right algorithms"]["P(E >= 10)"] == 0.25
    assert found["controls"]["k"] == {"caught": 1, "of": 2, "mean n": 16.0}


def test_calibration_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "measured", lambda seed, size: {"red": False, "log_product": seed, "cells": {}})
    first = calibration.run(2, 0, path=tmp_path / "c")
    calls: list[int] = []

    def counted(seed: int, size: str) -> dict[str, object]:
        calls.append(seed)
        return {"red": False, "log_product": seed, "cells": {}}

    monkeypatch.setattr(calibration, "measured", counted)
    assert calibration.run(3, 0, path=tmp_path / "c")["seeds"] == 3
    assert calls == [2]
    assert first["seeds"] == 2


def pytest_run(tmp_path: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    suite = [str(Path(cells.__file__).parent / "suite.py"), "-k", "speed and test_claim"]
    common = ["-p", "benchmarks.batch.plugin", "-p", "no:cacheprovider", "-p", "no:xdist", "--size", "quick"]
    command = [sys.executable, "-m", "pytest", *suite, *common, "--store", str(tmp_path / "store"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_suite_under_pytest_shows_progress_and_the_gate(tmp_path: Path) -> None:
    shown = pytest_run(tmp_path)
    assert shown.returncode == 0, shown.stdout
    assert "[1/1, about 0.0 min left]" in shown.stdout
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

    report = calibration.summary(
        [{"red": False, "log_product": -1.0, "cells": {"c": ["holds", 16, -2.0]}}], [{"k": 16}]
    )
    assert "**0 red**" in calibration_report.calibrated(report)
