"""Variants that are verified at the same time have the records, in the order, that they have one after the other."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.tests.processes import LONGEST_WAIT, alive, await_true
from properties.judging.verdict import Record
from properties.process.lanes import run_lanes
from properties.process.session import PROCESSES, Effort, Judged, LawBegun, Session, verify_isolated
from properties.process.session import records as records_of

SOURCE = """
import os, subprocess, time
from dataclasses import replace
from properties.variants.gallery.bellman import VARIANT as _RIGHT
from robust_core import bellman

def backup(mdp, uncertainty_set, Q):
    {act}
    return {factor} * bellman(mdp, uncertainty_set, Q)

ONE = replace(_RIGHT, name="one of {name}", make=backup)
TWO = replace(_RIGHT, name="two of {name}", make=backup)
"""
BELLMAN = "properties.variants.gallery.bellman:VARIANT"
SUPPORT = "properties.variants.gallery.support:VARIANT"


def write(name: str, act: str = "pass", factor: float = 1.0) -> str:
    Path(f"{name}.py").write_text(SOURCE.format(name=name, act=act, factor=factor))
    return f"{name}.py"


def lane(*events: tuple[str, int | None], started: threading.Event | None = None) -> Iterator[tuple[str, int | None]]:
    if started is not None:
        started.wait()
    yield from events


def test_events_have_the_order_of_the_keys_whichever_lane_is_first() -> None:
    late = threading.Event()
    lanes = [lane(("a", 1), ("a", None), started=late), lane(("b", 2), ("b", None), ("c", 3), ("c", None))]
    with run_lanes(lanes, ["a", "b", "c"], lambda: None) as events:
        late.set()
        assert [event for key in "abc" for event in events(key)] == [1, 2, 3]


def test_a_lane_that_fails_is_heard_and_the_others_are_ended() -> None:
    waits = threading.Event()

    def failing() -> Iterator[tuple[str, int | None]]:
        yield "a", 1
        raise OSError("no process")

    before = threading.active_count()
    with (
        pytest.raises(OSError, match="no process"),
        run_lanes([failing(), lane(("b", None), started=waits)], ["a", "b"], waits.set) as events,
    ):
        assert list(events("b")) == []
    assert waits.is_set()
    assert threading.active_count() == before


def without_times(targets: list[str], workers: int, **options: object) -> list[Record]:
    effort = replace(Effort(examples=2), **options)  # type: ignore[arg-type]
    found = records_of(verify_isolated(*targets, effort=effort, workers=workers))
    return [replace(record, seconds=0.0) for record in found]


def test_records_of_two_workers_have_the_order_of_the_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that leaves a process and another one, named in turns."""
    monkeypatch.chdir(tmp_path)
    leaves = write("leaves", "os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '1000')")
    targets = [f"{leaves}:ONE", f"{write('right')}:ONE", f"{leaves}:TWO"]
    found = without_times(targets, 2, laws=("contraction",))
    assert [(record.law, record.target, record.outcome) for record in found] == [
        *(("contraction", target, "holds") for target in targets),
        (PROCESSES, targets[-1], "violated"),
    ]


@pytest.mark.robust_core_slow
def test_records_do_not_depend_on_the_number_of_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dies = write("dies", "os._exit(7)")
    sleeps = write("sleeps", "time.sleep(1000.0)")
    targets = [BELLMAN, f"{dies}:ONE", SUPPORT, sleeps, f"{dies}:TWO", write("wrong", factor=0.0)]
    one, two = (without_times(targets, workers, law_seconds=5.0) for workers in (1, 3))
    assert one == two
    assert {"holds", "violated", "blocked"} <= {record.outcome for record in one}
    first, *_ = (place for place, record in enumerate(one) if record.outcome == "violated")
    assert without_times(targets, 2, law_seconds=5.0, fail_fast=True) == one[: first + 1]


@pytest.mark.robust_core_slow
def test_who_leaves_ends_all_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ctrl-C does: an exception where the events are heard."""
    monkeypatch.chdir(tmp_path)
    act = "open(f'{os.getpid()}.pid', 'w').close(); time.sleep(1000.0)"
    with Session([write("a", act), write("b", act)]) as session:
        # Who waits for the laws waits an hour.
        events = session.verify(Effort(examples=1, law_seconds=3600.0), workers=2)
        while not isinstance(event := next(events), LawBegun):
            assert not isinstance(event, Judged)
        await_true(lambda: len(list(Path().glob("*.pid"))) == 2)
        started = time.monotonic()
        events.close()  # type: ignore[attr-defined]
        assert time.monotonic() - started < LONGEST_WAIT
    assert not any(alive(int(file.stem)) for file in Path().glob("*.pid"))
