"""robust-core bench, compare and baseline accept, with real kills; the cells and what they are made of."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.cli.conventions import KEPT
from benchmarks.cli.main import main, parser
from benchmarks.regression import baseline, bench, exact, linear, tabular
from benchmarks.regression.measures import Exact, Measure, Measurements, Name, Part, Sample
from benchmarks.regression.metric import METRICS
from benchmarks.regression.problems import PROBLEMS
from benchmarks.runner.store import BEGIN, write_whole
from benchmarks.tests.processes import LONGEST_WAIT, ends_when_asked, interruptible
from robust_core.json import from_data

ONLY = "robust TD(0) / machine, per visit"
UNITS = bench.SEEDS // bench.BLOCK


# It computes so many units and is then busy for ever: it cannot end before it is stopped.
PROGRAM = """
import sys, time
from benchmarks.runner import schedule
from benchmarks.cli.main import main

left, compute = int(sys.argv.pop(1)), schedule.compute

def held(unit):
    global left
    if left == 0:
        time.sleep(3600.0)
    left -= 1
    return compute(unit)

schedule.compute = held
raise SystemExit(main())
"""


def command(folder: Path, *options: str, workers: int = 1) -> list[str]:
    files = ["--store", str(folder / "store"), "--output", str(folder / "cells")]
    return ["bench", "--only", ONLY, "--workers", str(workers), *files, *options]


def records(folder: Path) -> int:
    return (folder / "store").read_bytes().count(BEGIN) if (folder / "store").exists() else 0


def stopped(folder: Path, how: int, after: int) -> "subprocess.CompletedProcess[str]":
    """A run in a process of its own that gets a signal after so many further records."""
    program, wanted = [sys.executable, "-c", PROGRAM, str(after)], records(folder) + after
    child = interruptible([*program, *command(folder)])
    deadline = time.monotonic() + LONGEST_WAIT
    while child.poll() is None and records(folder) < wanted:
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.002)
    assert child.poll() is None, "the run ended before it could be stopped"
    os.kill(child.pid, how)
    output, errors = child.communicate(timeout=LONGEST_WAIT)
    return subprocess.CompletedProcess(child.args, child.returncode, output.decode(), errors.decode())


def test_kills_and_interrupts_lose_nothing_and_change_nothing(tmp_path: Path, capsys: Any) -> None:
    killed = stopped(tmp_path, signal.SIGKILL, 2)
    assert killed.returncode == -signal.SIGKILL
    interrupted = stopped(tmp_path, signal.SIGINT, 1)
    assert interrupted.returncode == 130
    first, *rest = interrupted.stderr.strip().splitlines()
    assert first == "robust-core: interrupted; the output above is complete. To continue:"
    assert [shlex.split(rest[0])[1:], *rest[1:]] == [command(tmp_path), KEPT], "nothing else when nobody watches"
    before = (tmp_path / "store").read_bytes()
    assert main(command(tmp_path, "--json")) == 0
    assert (tmp_path / "store").read_bytes().startswith(before), "records were rewritten"
    summary = json.loads(capsys.readouterr().out)
    assert summary["pending"] == []
    assert {measure["n"] for measure in summary["measures"] if measure["value"] is None} == {bench.SEEDS}
    assert main(command(tmp_path)) == 0
    assert capsys.readouterr().err == ""
    assert records(tmp_path) == UNITS
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    assert main(command(undisturbed, workers=2)) == 0
    assert (tmp_path / "cells").read_bytes() == (undisturbed / "cells").read_bytes()


def test_a_budget_leaves_measures_pending(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--store", str(tmp_path / "s"), "--only", ONLY, "--budget", "0s", "--workers", "1"]
    assert main(["bench", *options, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["pending"]) == len(tabular.EVALUATION) + 1
    assert main(["bench", *options, "--output", str(tmp_path / "cells")]) == 2
    assert "must be complete" in capsys.readouterr().err
    assert main(["bench", *options[:2], "--only", "no such measure"]) == 2
    assert "no measure contains 'no such measure'" in capsys.readouterr().err


def test_accept_then_compare_then_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """On the deterministic measures, which take no time."""
    exact_only = [job for job in bench.jobs() if job.unit.function.startswith("benchmarks.regression.exact")]
    monkeypatch.setattr(bench, "jobs", lambda **options: exact_only)
    options = ["--store", str(tmp_path / "s"), "--workers", "1"]
    accept = ["baseline", "accept", "--file", str(tmp_path / "b"), *options, "--reason"]
    assert main([*accept, "the first"]) == 0
    assert main(["compare", "--baseline", str(tmp_path / "b"), *options, "--strict"]) == 0
    assert "baseline: the first" in capsys.readouterr().out
    assert main([*accept, " "]) == 2
    (tmp_path / "b").write_text((tmp_path / "b").read_text().replace('"value": 14}', '"value": 15}'))
    assert main(["compare", "--baseline", str(tmp_path / "b"), *options]) == 1
    assert "changed    value iteration / contamination / garnet: 15 -> 14" in capsys.readouterr().out
    assert main([*accept, "fewer sweeps"]) == 0
    capsys.readouterr()
    (tmp_path / "b").write_text("".join((tmp_path / "b").read_text().splitlines(keepends=True)[:-1]))
    assert main(["compare", "--baseline", str(tmp_path / "b"), *options]) == 2
    assert "the file was cut short" in capsys.readouterr().err
    assert main([*accept, "it was cut short"]) == 0
    assert "nothing to compare with" in capsys.readouterr().err
    assert main(["compare", "--baseline", str(tmp_path / "b"), *options]) == 0


def measured(monkeypatch: pytest.MonkeyPatch, *measures: Measure, pending: tuple[Name, ...] = ()) -> None:
    """Let the benchmark find these measures."""
    found = Measurements("pinned", {}, measures, pending=pending)
    monkeypatch.setattr(bench, "bench", lambda **options: found)


def sweeps(count: int) -> Exact:
    return Exact("value iteration", "v", "p", count)


def nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "bench", lambda **options: pytest.fail("work was begun"))


@pytest.mark.parametrize("start", [["bench", "--output"], ["baseline", "accept", "--reason", "why", "--file"]])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    start: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing_is_measured(monkeypatch)
    refused = {
        tmp_path: "a folder, not a file",
        tmp_path / "no" / "cells": f"the folder {tmp_path / 'no'} does not exist",
    }
    refused |= {Path(os.devnull): "not a file that could be replaced"}
    for path, reason in refused.items():
        assert main([*start, str(path), "--store", str(tmp_path / "s")]) == 2
        assert f"{start[-1]} {path}: {reason}" in capsys.readouterr().err
    (tmp_path / "cells").write_text("kept")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    assert main([*start, str(tmp_path / "cells")]) == 2
    assert "nothing may be written to the folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["cells"]


def test_a_baseline_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_whole(tmp_path / "folder", "content")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_file_that_is_no_store_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing_is_measured(monkeypatch)
    (tmp_path / "notes").write_text("mine")
    for start in (["bench"], ["panels", "--panel", "taxi-a"]):
        assert main([*start, "--store", str(tmp_path / "notes")]) == 2
        assert "holds something else than results" in capsys.readouterr().err
        assert (tmp_path / "notes").read_text() == "mine"


def test_the_committed_baseline_is_written_in_a_clone_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    committed = tmp_path / "benchmarks" / "baselines" / "regression.jsonl"
    committed.parent.mkdir(parents=True)
    monkeypatch.setattr(baseline, "COMMITTED", committed)
    accept = ["baseline", "accept", "--store", str(tmp_path / "s"), "--reason", "why"]
    with monkeypatch.context() as patched:
        nothing_is_measured(patched)
        assert main(accept) == 2
        assert "a clone that is installed with `pip install -e .`, or give the file with --file" in (
            capsys.readouterr().err
        )
    measured(monkeypatch, Sample("area", "v", "p", (1.0,), 0))
    assert main([*accept, "--file", str(tmp_path / "b"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    (tmp_path / ".git").mkdir()
    assert main(accept) == 0
    assert capsys.readouterr().out == f"{committed}: 1 measures, {committed.stat().st_size} bytes: why\n"


def test_accept_as_json_says_what_moves_and_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    accept = ["baseline", "accept", "--store", str(tmp_path / "s"), "--file", str(tmp_path / "b"), "--json"]
    for value, verdict in ((14, None), (15, "changed")):
        measured(monkeypatch, sweeps(value))
        assert main([*accept, "--reason", f"it is {value} §"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["comparison"] and told["comparison"]["verdict"]) == verdict
        size = (tmp_path / "b").stat().st_size
        assert (told["file"], told["measures"], told["bytes"]) == (str(tmp_path / "b"), 1, size)
        assert told["reason"] == f"it is {value} §"


@pytest.mark.skipif(not Path("/proc").exists(), reason="no list of children")
@pytest.mark.parametrize("words", [("bench",), ("compare",), ("panels", "--interpretation", "all")])
def test_a_run_that_is_asked_to_end_leaves_no_complaint_and_no_worker(words: tuple[str, ...], tmp_path: Path) -> None:
    if words[0] == "panels":
        pytest.importorskip("gymnasium")
    command = [sys.executable, "-m", "robust_core", *words, "--workers", "2", "--store", str(tmp_path / "s")]
    ends_when_asked(interruptible(command))


def test_quiet_leaves_out_what_is_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(monkeypatch, sweeps(14))
    store = ["--store", str(tmp_path / "s"), "--quiet"]
    assert main(["bench", *store, "--output", str(tmp_path / "b")]) == 0
    assert main(["compare", *store, "--baseline", str(tmp_path / "b")]) == 0
    assert capsys.readouterr().out == ""
    measured(monkeypatch, sweeps(15))
    assert main(["compare", *store, "--baseline", str(tmp_path / "b")]) == 1
    assert "changed    value iteration / v / p: 14 -> 15" in capsys.readouterr().out
    measured(monkeypatch, sweeps(15), pending=(("area", "v", "p"),))
    assert main(["bench", *store]) == 0
    assert "1 pending" in capsys.readouterr().out


def test_the_help_of_baseline_has_a_description_and_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        parser().parse_args(["baseline", "--help"])
    shown = capsys.readouterr().out
    assert "committed with the code" in shown
    assert "\nexample: robust-core baseline accept --reason " in shown


def test_impossible_values_are_never_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    measured(monkeypatch, Sample("area", "v", "p", (1.0,), 1))
    accept = ["baseline", "accept", "--file", str(tmp_path / "b"), "--store", str(tmp_path / "s"), "--reason", "why"]
    assert main(accept) == 2
    assert "better than the truth allows cannot be a baseline: area / v / p" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()


def test_every_measure_has_a_metric_and_every_metric_a_measure() -> None:
    names = [name for job in bench.jobs() for name in job.measures]
    assert {metric for metric, _, _ in names} == METRICS.keys()
    assert all(job.unit.repeatable == (METRICS[job.measures[0][0]].kind != "ratio") for job in bench.jobs())


def test_the_committed_baseline_is_of_this_grid() -> None:
    committed = baseline.load(str(baseline.COMMITTED))
    assert {measure.name for measure in committed.measures} == {name for job in bench.jobs() for name in job.measures}
    assert committed.seed_set == bench.PINNED
    assert baseline.COMMITTED.stat().st_size <= 200_000


def test_seeds_do_not_depend_on_the_variant_or_the_block() -> None:
    def part(seed_set: str, start: int, stop: int) -> Part:
        return from_data(Part, tabular.measure("robust TD(0)", "machine, per visit", seed_set, start, stop))

    whole, first, rest = part("pinned", 0, 4), part("pinned", 0, 1), part("pinned", 1, 4)
    for name, values in whole.samples.items():
        assert values == first.samples[name] + rest.samples[name]
    assert not set(part("another seed set", 0, 4).samples["area"]) & set(whole.samples["area"])


def test_the_episodic_truth_agrees_with_the_planner_of_the_experiments() -> None:
    from benchmarks.experiments.evaluation import limit_table

    benchmark = PROBLEMS["river, episodic"]
    ours, (theirs, error) = benchmark.truth, limit_table(benchmark.mdp, benchmark.radius, benchmark.mask)
    alive = ~benchmark.mask
    assert abs(ours.table - theirs)[alive].max() <= ours.error + error


def test_the_planted_zero_of_J_is_one() -> None:
    model = linear.planted_problem()
    # Costs are rounded by at most half the grid, and J is at most the mean square of that.
    assert float(model.oracle.J(model.theta_star).value) <= (linear.COST_GRID / 2.0) ** 2


def test_sweeps_are_those_of_the_span_rate() -> None:
    benchmark = PROBLEMS["two states, per visit"]
    from robust_core import Contamination

    rate = benchmark.mdp.gamma * (1.0 - benchmark.radius)
    first = float(np.ptp(benchmark.mdp.cost))
    allowed = 1 + np.ceil(np.log(exact.WIDTH * (1 - benchmark.mdp.gamma) / benchmark.mdp.gamma / first) / np.log(rate))
    assert exact.sweeps(benchmark, Contamination(benchmark.radius)) <= allowed
