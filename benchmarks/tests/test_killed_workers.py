"""Exit code 2 where a worker is killed, whatever the command, and modules that harm commands which measure variants."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.cli.conventions import HOLDS, USAGE, VIOLATED
from benchmarks.cli.main import main
from benchmarks.tests.processes import alive, await_true, workers_of

LEARNER = """
import os, signal, sys, threading, time
from robust_core import Q_LEARNING, Contamination, TabularLearner, Variant

def at_work():
    pass

class Learner(TabularLearner):
    def __init__(self, problem):
        super().__init__(Q_LEARNING, problem)

    def update(self, step):
        at_work()
        super().update(step)

MINE = Variant("mine", "control", Learner, (Contamination,), ("unbiased", "asynchronous"))
"""
KILLS_ITSELF = "def at_work():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
PROBLEM = ("--problem", "two states, per visit")
MEASURING: dict[str, tuple[str, ...]] = {
    "bench": ("bench", "mine.py", "--replicates", "2", *PROBLEM),
    "rank": ("rank", "old.py", "mine.py", "--budget", "5s", *PROBLEM),
    "compare": ("compare", "old.py", "mine.py", "--budget", "5s", "--no-clock", *PROBLEM),
}
JUDGING: dict[str, tuple[str, ...]] = {
    "verify": ("verify", "mine.py", "--examples", "1", "--no-statistics", "--law", "asynchronous update"),
    "mutants": ("mutants", "mine.py", "--examples", "1"),
    "mutants --of": ("mutants", "--of", "mine.py", "--examples", "1"),
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.py").write_text(LEARNER)


def slow_but(quick: str, names: Iterable[str]) -> list[object]:
    """The names, all but one of them with the mark of slow tests."""
    return [pytest.param(name, marks=[pytest.mark.robust_core_slow] * (name != quick)) for name in names]


@pytest.mark.parametrize("command", slow_but("mutants --of", {**MEASURING, **JUDGING}))
def test_a_worker_that_is_killed_decides_nothing(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether its module or the system did it cannot be told."""
    Path("mine.py").write_text(LEARNER + KILLS_ITSELF)
    assert main(list({**MEASURING, **JUDGING}[command])) == USAGE
    shown = "".join(capsys.readouterr())
    assert "its process ended with exit code -9" in shown
    assert "Traceback" not in shown


LEAVES_ONE = "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\n"


@pytest.mark.robust_core_slow
@pytest.mark.parametrize(("command", "code"), [("bench", USAGE), ("rank", USAGE), ("compare", VIOLATED)])
def test_a_process_that_is_left_behind_by_what_is_measured_is_misbehaviour(
    command: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.py").write_text(LEARNER + LEAVES_ONE)
    assert main(list(MEASURING[command])) == code
    shown = "".join(capsys.readouterr())
    assert "misbehaviour: left 1 process running, which the suite has ended: sleep" in shown
    assert "Traceback" not in shown


@pytest.mark.robust_core_slow
def test_what_the_old_code_leaves_behind_is_said_and_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(LEARNER)
    Path("old.py").write_text(LEARNER + LEAVES_ONE)
    assert main(list(MEASURING["compare"])) == HOLDS
    assert "old old.py: misbehaviour: left 1 process running" in capsys.readouterr().err


POOLS: dict[str, tuple[str, ...]] = {
    "bench": ("bench",),
    "compare": ("compare",),
    "panels": ("panels",),
    "batch": ("batch", "run", "--size", "full"),
    "report": ("report", "--output", "page"),
}


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("command", POOLS)
def test_a_worker_of_a_pool_that_is_killed_is_exit_code_2(command: str) -> None:
    words = [sys.executable, "-m", "robust_core", *POOLS[command], "-j", "2"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            await_true(lambda: run.poll() is not None or len(workers_of(run.pid)) >= 2)
            victim, other = workers_of(run.pid)
            os.kill(victim, signal.SIGKILL)
            out, errors = run.communicate(timeout=300)
        finally:
            run.kill()
    assert run.returncode == USAGE, out + errors
    assert "a worker process died (exit code -9)" in errors
    assert "Traceback" not in errors
    await_true(lambda: not alive(other))


# What it does, the exit code of a comparison with itself as it is without that, and words of the output.
HOSTILE: dict[str, tuple[str, int, str]] = {
    "patches the clock": ("import time\ntime.process_time = time.perf_counter = lambda: 0.0\n", HOLDS, ""),
    "keeps a thread": ("threading.Thread(target=time.sleep, args=(1000.0,)).start()\n", HOLDS, ""),
    "leaves its folder": ("os.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')\n", HOLDS, ""),
    "ends with 0": ("def at_work():\n    os._exit(0)\n", VIOLATED, "its process ended with exit code 0"),
    "raises SystemExit": ("def at_work():\n    raise SystemExit(0)\n", VIOLATED, "raised SystemExit: 0"),
    "writes to its pipe": (
        "def at_work():\n    for handle in range(3, 1024):\n        try:\n            os.write(handle, b'garbage!')\n"
        "        except OSError:\n            pass\n",
        VIOLATED,
        "its pipe to the suite had another message",
    ),
    "forks at work": ("def at_work():\n    os.fork()\n", VIOLATED, "misbehaviour: "),
    "patches json": ("import json\njson.dumps = lambda *_, **__: '{}'\n", HOLDS, ""),
    "answers nothing in JSON": (
        "import robust_core.json\nrobust_core.json._dumps = lambda *_, **__: '{}'\n",
        USAGE,
        "another message",
    ),
    "ends its watcher": (
        "def at_work():\n    os.kill(os.getppid(), signal.SIGKILL)\n    time.sleep(1000.0)\n",
        USAGE,
        "was killed",
    ),
}


@pytest.mark.parametrize("name", slow_but("writes to its pipe", HOSTILE))
def test_a_comparison_survives_a_hostile_module(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    act, code, words = HOSTILE[name]
    Path("mine.py").write_text(LEARNER + act)
    assert main(list(MEASURING["compare"])) == code
    shown = "".join(capsys.readouterr())
    assert words in shown
    assert "Traceback" not in shown
