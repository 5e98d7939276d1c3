"""Bounds on what a worker does beside its work, and violations that are judged again in a new one."""

import subprocess
import sys
from pathlib import Path

import pytest

from properties.judging.verdict import Record
from properties.process import confirmation
from properties.process.child import Child, Fault
from properties.process.session import Alive, Effort, records, verify_isolated
from properties.process.supervisor import CUT, LARGEST_OUTPUT, MOST_PROCESSES
from properties.tests import worker_scripts

SCRIPTS = worker_scripts.__name__


def test_standard_error_of_a_worker_is_bounded() -> None:
    program = f"from {SCRIPTS} import follow_script; follow_script()"
    command = [sys.executable, "-c", program, "write_without_end", "60"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == b"Alive()"
    assert done.stderr == b"x" * LARGEST_OUTPUT + CUT


def test_a_worker_that_breaks_shows_a_line_and_nothing_that_controls_a_terminal() -> None:
    program = f"from {SCRIPTS} import follow_script; follow_script()"
    command = [sys.executable, "-c", program, "break_the_pipe", "60"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout == repr(Fault("killed", "the code of the suite in its process could not go on"))
    first, second = done.stderr.splitlines()
    assert first == "\\x1b[2J\ufffd"
    assert second.startswith("the worker ended: BlockingIOError: ")


@pytest.mark.parametrize(
    ("script", "seconds", "fault"),
    [
        ("stop", 1.0, Fault("killed", "its process was stopped for 1 s", stopped=True)),
        ("stop_traced", 1.0, Fault("killed", "its process was stopped for 1 s", stopped=True)),
        (
            "start_many",
            60.0,
            Fault("died", f"it started more than {MOST_PROCESSES} processes, which the suite has ended"),
        ),
        ("end_the_watcher", 60.0, Fault("killed", "the process that watches it ended, and it was ended too")),
    ],
)
def test_a_worker_that_does_something_else_is_ended(script: str, seconds: float, fault: Fault) -> None:
    with Child(f"{SCRIPTS}:{script}") as child:
        assert child.hear(Alive, seconds=seconds) == fault


@pytest.mark.robust_core_slow
def test_a_worker_that_never_stops_writing_is_ended() -> None:
    program = f"from {SCRIPTS} import follow_script; follow_script()"
    command = [sys.executable, "-c", program, "flood", "600"]
    done = subprocess.run(command, capture_output=True, check=True)
    fault = Fault("died", "it wrote more than 1 GiB to standard error, and the suite has ended it")
    assert done.stdout.decode() == repr(fault)
    assert done.stderr == b"x" * LARGEST_OUTPUT + CUT


STOPS = """
import os, signal
from dataclasses import replace
from properties.variants.gallery.bellman import VARIANT

def stop(*case):
    os.kill(os.getpid(), signal.SIGSTOP)

MINE = replace(VARIANT, make=stop)
"""


def test_a_variant_whose_process_is_stopped_is_waited_for_once(tmp_path: Path) -> None:
    """Nobody is blamed for it, so no law is blocked: each would wait as long."""
    file = tmp_path / "mine.py"
    file.write_text(STOPS)
    found = list(records(verify_isolated(f"{file}:MINE", effort=Effort(examples=1, law_seconds=1.0))))
    assert {record.outcome for record in found} == {"error"}
    assert found[0].evidence == "cannot be judged: its process was stopped for 1 s"
    rest = f"cannot be judged: its process was stopped for 1 s at {found[0].law!r}, so no other law is tried"
    assert {record.evidence for record in found[1:]} == {rest}


STATE = """
from robust_core import Q_LEARNING, Contamination, TabularLearner, Variant

made = []

class Tires(TabularLearner):
    def __init__(self, problem):
        super().__init__(Q_LEARNING, problem)
        made.append(None)

    def estimate(self):
        return super().estimate() + (len(made) > 60)

MINE = Variant("tires", "control", Tires, (Contamination,), ("unbiased",))
"""


def test_a_defect_in_the_state_of_a_module_is_not_saved_as_a_case_that_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(STATE)
    effort = Effort(examples=20, seed=3, keep=Path("kept"))
    found = [r for r in records(verify_isolated("mine.py:MINE", effort=effort)) if r.outcome == "violated"]
    assert len(found) == 1
    assert found[0].evidence.startswith("misbehaviour: ")
    command = "robust-core verify mine.py:MINE --seed 3 --examples 20"
    assert found[0].evidence.endswith(f"alone, in a new process, the case holds; seen again by: {command}")
    assert found[0].counterexample is None
    assert not list(tmp_path.glob("kept/*"))


@pytest.mark.parametrize(
    ("answer", "evidence", "kept"),
    [
        (confirmation.JudgedAgain("violated", "wrong"), "wrong (a note)", True),
        (confirmation.JudgedAgain("violated", "wrong by 2"), "wrong by 2", True),
        (confirmation.JudgedAgain("holds"), "misbehaviour: depends on earlier cases: wrong (a note); alone", False),
        (confirmation.JudgedAgain("error", "no oracle"), "not be judged again in a new process: no oracle", True),
        (confirmation.NotLoaded("gone"), "not be judged again in a new process: gone", True),
    ],
)
def test_a_record_says_what_a_replay_says(
    answer: confirmation.JudgedAgain | confirmation.NotLoaded,
    evidence: str,
    kept: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "case.json"
    file.touch()
    monkeypatch.setattr(confirmation, "judge_again", lambda path, **_: (None, answer))
    record = Record("mine", "start", "violated", "wrong (a note)", 1, 0.0, 0, counterexample=str(file))
    found, text = confirmation.confirm(record, None, again="again")
    assert evidence in found.evidence
    assert (found.outcome, text, found.counterexample) == ("violated", None, str(file) if kept else None)
    assert file.exists() == kept
