"""Do the tests of signals, pipes, clocks and processes ever fail by chance? Each is repeated many times.

A test that passes once may fail in one run out of twenty-five, and then nobody believes the suite. Here tests that work
within one process are repeated 200 times, and tests that start commands 20 times, each under three conditions: on a
machine as it is, beside busy processes, and by a caller that ignores SIGINT (as a shell does for a background job). The
counts are kept as they come, so a study that was stopped goes on where it was.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args
from xml.etree import ElementTree

from benchmarks.runner.store import write_whole
from robust_core import json as strict_json
from robust_core.json import from_data

Condition = Literal["idle", "load", "ignored"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
WORDS: dict[Condition, str] = {
    "idle": "the machine as it is",
    "load": "beside busy processes",
    "ignored": "by a caller that ignores SIGINT",
}
PLUGIN = "benchmarks.studies.repetition"
BUSY = "while True: pass"
BUSY_PER_CORE = 2
PIECES = 5
"""Runs of pytest in which the repetitions of a group are done: what is between two of them is kept."""
BATCH_SECONDS = 1800.0
"""A run of pytest that takes longer hangs."""


@dataclass(frozen=True)
class Group:
    """Tests that are repeated equally often; each is a file, or a test in a file."""

    name: str
    repetitions: int
    tests: tuple[str, ...]


GROUPS = (
    Group(
        "in process",
        200,
        (
            "properties/tests/test_idleness.py",
            "properties/tests/test_blame.py::test_ctrl_c_is_the_variants_only_where_nobody_can_press_it",
            "properties/tests/test_hostile.py::test_a_hanging_variant_is_interrupted_with_its_case",
            "properties/tests/test_hostile.py::test_a_worker_in_which_the_suite_fails_blames_nobody",
            "properties/tests/test_hostile.py::test_a_message_that_takes_too_long_ends_the_case_long_before_its_time",
            "properties/tests/test_blame.py::test_a_message_without_an_end_is_left_out",
            "properties/tests/test_guard.py::test_an_interruption_that_is_swallowed_is_a_finding_all_the_same",
            "properties/tests/test_guard.py::test_a_timer_of_the_caller_goes_on_after_a_case",
            "properties/tests/test_shrinking_laws.py::test_a_variant_that_fails_late_in_every_call_has_its_verdict_in_time",
            "properties/tests/test_statistics_verification.py::test_bad_misbehaviour_in_a_long_run_is_named_and_blocks_the_rest",
            "properties/tests/test_statistics_verification.py::test_a_replicate_that_sleeps_is_undecided",
            "benchmarks/tests/test_cli_conventions.py::test_ctrl_c_waits_for_the_step_and_a_second_one_does_not",
            "benchmarks/tests/test_units.py::test_a_signal_waits_until_a_process_is_started",
            "benchmarks/tests/test_units.py::test_a_signal_between_the_handlers_leaves_none_of_them_deaf",
            "benchmarks/tests/test_units.py::test_all_signals_that_were_held_are_answered",
            "benchmarks/tests/test_units.py::test_a_worker_starts_with_ctrl_c_blocked_and_its_parent_does_not",
        ),
    ),
    Group(
        "commands",
        20,
        (
            "properties/tests/test_workers.py",
            "properties/tests/test_hostile.py::test_a_dying_or_stubborn_variant_does_not_take_the_suite_down",
            "properties/tests/test_hostile.py::test_a_message_that_never_ends_does_not_hang_the_suite",
            "properties/tests/test_hostile.py::test_a_process_that_a_variant_forks_does_not_answer_for_it",
            "properties/tests/test_hostile.py::test_what_is_written_after_the_last_message_is_a_finding",
            "properties/tests/test_hostile.py::test_a_worker_that_dies_at_one_law_is_not_asked_about_the_next",
            "properties/tests/test_probe.py::test_a_module_that_hangs_while_loading_is_given_up",
            "benchmarks/tests/test_batch.py::test_a_killed_run_resumes_to_the_same_bits",
            "benchmarks/tests/test_batch.py::test_a_killed_worker_is_an_error_and_loses_nothing",
            "benchmarks/tests/test_cluster.py",
            "benchmarks/tests/test_containment.py",
            "benchmarks/tests/test_killed_workers.py",
            "benchmarks/tests/test_cli_conventions.py::test_colours_only_on_a_terminal_that_wants_them",
            "benchmarks/tests/test_cli_conventions.py::test_progress_is_for_terminals",
            "benchmarks/tests/test_cli_conventions.py::test_ctrl_c_keeps_what_was_printed_and_says_how_to_go_on",
            "benchmarks/tests/test_cli_conventions.py::test_mutants_are_printed_as_they_come_and_ctrl_c_keeps_them",
            "benchmarks/tests/test_cli_conventions.py::test_an_interrupted_verification_writes_the_verdicts_it_has",
            "benchmarks/tests/test_cli_loading.py",
            "benchmarks/tests/test_cli_replay.py",
            "benchmarks/tests/test_lanes.py",
            "benchmarks/tests/test_regression_bench.py::test_kills_and_interrupts_lose_nothing_and_change_nothing",
            "benchmarks/tests/test_regression_bench.py::test_a_run_that_is_asked_to_end_leaves_no_complaint_and_no_worker",
            "benchmarks/tests/test_report_data.py::test_a_report_that_is_ended_leaves_no_complaint_and_no_worker",
            "benchmarks/tests/test_units.py::test_a_kill_loses_only_what_is_under_way",
            "benchmarks/tests/test_units.py::test_a_pool_that_is_left_by_an_exception_leaves_no_process_behind",
            "benchmarks/tests/test_units.py::test_a_run_that_keeps_its_results_for_the_end_loses_them_all",
            "benchmarks/tests/test_units.py::test_ctrl_c_ends_the_workers_with_what_they_are_at",
        ),
    ),
)


@dataclass(frozen=True)
class Count:
    """How often a test ran under a condition, how often it failed, and the last lines of the last failure."""

    runs: int = 0
    failures: int = 0
    message: str = ""

    def __add__(self, other: "Count") -> "Count":
        return Count(self.runs + other.runs, self.failures + other.failures, other.message or self.message)


@dataclass(frozen=True)
class Progress:
    """What a file of counts holds: repetitions that are done, and counts, both by "condition: name"."""

    done: dict[str, int] = field(default_factory=dict)
    counts: dict[str, Count] = field(default_factory=dict)


def read(path: Path) -> Progress:
    """The counts in a file; none if there is no file."""
    return from_data(Progress, strict_json.load(path), str(path)) if path.exists() else Progress()


def write(progress: Progress, path: Path) -> None:
    """Replace the file of counts, whole or not at all."""
    write_whole(path, strict_json.dumps(progress) + "\n")


def run(
    path: Path,
    *,
    seconds: float = float("inf"),
    share: float = 1.0,
    conditions: tuple[Condition, ...] = CONDITIONS,
    groups: tuple[Group, ...] = GROUPS,
    show: Callable[[str], None] = lambda text: None,
    root: Path | None = None,
) -> Progress:
    """Do what is left of the study within the time; `share` of the repetitions are asked for, at least one."""
    end, progress = time.monotonic() + seconds, read(path)
    for condition in conditions:
        for group in groups:
            wanted, key = max(round(group.repetitions * share), 1), f"{condition}: {group.name}"
            piece = max(wanted // PIECES, 1)
            while (done := progress.done.get(key, 0)) < wanted:
                if time.monotonic() >= end:
                    return progress
                show(f"{key}: {done} of {wanted} repetitions")
                number = min(piece, wanted - done)
                counts = dict(progress.counts)
                for test, count in repeat(group.tests, number, condition, root=root).items():
                    name = f"{condition}: {test}"
                    counts[name] = counts.get(name, Count()) + count
                progress = replace(progress, done={**progress.done, key: done + number}, counts=counts)
                write(progress, path)
    return progress


def repeat(tests: tuple[str, ...], number: int, condition: Condition, *, root: Path | None = None) -> dict[str, Count]:
    """Repeat tests so often in one run of pytest: the count of every test, a parametrised one as one test."""
    root = root or Path(__file__).parent.parent.parent
    with _load() if condition == "load" else contextlib.nullcontext(), _temporary_file() as file:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", PLUGIN]
        command += ["--repetitions", str(number), f"--junit-xml={file}", *tests]
        # The study itself may have been started by a caller that ignores Ctrl-C.
        action = signal.SIG_IGN if condition == "ignored" else signal.SIG_DFL
        ended = subprocess.run(
            command,
            cwd=root,
            capture_output=True,
            text=True,
            timeout=BATCH_SECONDS,
            check=False,
            preexec_fn=partial(signal.signal, signal.SIGINT, action),
        )
        if ended.returncode not in (0, 1):
            raise RuntimeError(f"pytest ended with exit code {ended.returncode}: {ended.stdout[-2000:]}{ended.stderr}")
        return _counts(ElementTree.parse(file).getroot())


@contextlib.contextmanager
def _load() -> Iterator[None]:
    """Processes that compute, two for each core."""
    busy = [
        subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.DEVNULL)
        for _ in range(BUSY_PER_CORE * (os.cpu_count() or 1))
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@contextlib.contextmanager
def _temporary_file() -> Iterator[Path]:
    import tempfile

    # A folder of its own: another process cannot have the name of the file.
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "results.xml"


def _counts(results: ElementTree.Element) -> dict[str, Count]:
    found: dict[str, Count] = {}
    for case in results.iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '').partition('[')[0]}"
        failure = next((element for element in case if element.tag in ("failure", "error")), None)
        if not any(element.tag == "skipped" for element in case):
            message = "" if failure is None else (failure.get("message") or "")[:400]
            found[name] = found.get(name, Count()) + Count(1, int(failure is not None), message)
    return found
