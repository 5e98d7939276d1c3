"""Idle time is told from work, from a late look and from being stopped."""

import os
import signal
import subprocess
import sys
import time

import pytest

from properties.idleness import Idleness

PAUSE = 0.05
LOOKS = 10

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="needs Linux' account of processes")


def looked_at(code: str, *, stopped: bool = False) -> tuple[float, float]:
    """(idle, worked) seconds of a process that runs `code`, after LOOKS pauses."""
    child = subprocess.Popen([sys.executable, "-c", f"print(flush=True)\n{code}"], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        if stopped:
            child.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)  # until it has
        clock = Idleness(child.pid, PAUSE)
        for _ in range(LOOKS):
            time.sleep(PAUSE)
            clock.look()
        return clock.look(), clock.worked()
    finally:
        child.kill()
        child.communicate()


def test_a_sleeper_is_idle() -> None:
    idle, worked = looked_at("import time; time.sleep(60)")
    assert idle > worked
    assert idle > LOOKS * PAUSE / 2


def test_work_and_waiting_for_a_processor_are_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    # (wall, worked, queued): works, is kept waiting (told one look later), sleeps, and works in two threads.
    accounts = iter(
        [(0.0, 5.0, 1.0), (1.0, 6.0, 1.0), (2.0, 6.0, 1.0), (3.0, 6.5, 2.5), (4.0, 6.5, 2.5), (5.0, 8.5, 2.5)]
    )
    monkeypatch.setattr(Idleness, "_now", lambda self: next(accounts))
    clock = Idleness(os.getpid(), 1.0)
    assert [clock.look() for _ in range(5)] == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert clock.worked() == 3.5


def test_a_stopped_process_is_not_idle() -> None:
    idle, _ = looked_at("import time; time.sleep(60)", stopped=True)
    assert idle == 0.0


def test_a_late_look_counts_as_one() -> None:
    clock = Idleness(os.getpid(), PAUSE)
    time.sleep(LOOKS * PAUSE)
    assert clock.look() <= PAUSE
