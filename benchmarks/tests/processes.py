"""Processes as tests see them: whether one is alive, and waiting until something has happened."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.cli.conventions import TERMINATED


def alive(pid: int) -> bool:
    """Whether a process runs: one that has ended may be listed until its parent, or what stands for it, takes note."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


LONGEST_WAIT = 120.0
"""Seconds after which, even on a busy machine, what has not happened does not happen."""


def await_true(condition: Callable[[], bool], seconds: float = LONGEST_WAIT) -> None:
    """Until the condition is met."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


def interruptible(command: list[str]) -> "subprocess.Popen[bytes]":
    """A child in a group of its own that Ctrl-C reaches, though who runs the tests may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    finally:
        signal.signal(signal.SIGINT, before)


def workers_of(pid: int) -> list[int]:
    """The processes of a pool, without the one that keeps account of semaphores."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in _command_line(child)]


def _command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""  # it has ended


def ends_when_asked(command: "subprocess.Popen[bytes]") -> None:
    """Asked to end while two workers are busy, a command says nothing, and leaves none of them behind."""
    try:
        await_true(lambda: command.poll() is not None or len(workers_of(command.pid)) >= 2)
        workers = workers_of(command.pid)
        command.terminate()
        out, errors = command.communicate(timeout=LONGEST_WAIT)
    finally:
        if command.poll() is None:
            os.killpg(command.pid, signal.SIGKILL)
    assert (command.returncode, out, errors) == (TERMINATED, b"", b"")
    assert len(workers) >= 2
    await_true(lambda: not any(alive(pid) for pid in workers))
