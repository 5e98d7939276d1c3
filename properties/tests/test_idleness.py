"""Idle time is told from work, from a late look and from being stopped."""

import os
import signal
import subprocess
import sys
import time

import pytest

from properties.process.idleness import Idleness

PAUSE = 0.05
LOOKS = 10

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="needs Linux' account of processes")


def test_a_sleeper_is_idle() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        clock, enough = Idleness(child.pid, PAUSE), LOOKS * PAUSE
        try:
            # On a busy machine it takes long until it sleeps; then it does nothing else.
            while clock.look() < enough:
                assert child.poll() is None
                time.sleep(PAUSE)
        finally:
            child.kill()


def test_work_and_waiting_for_a_processor_are_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    # (wall, worked, queued): works, is kept waiting (told one look later), sleeps, and works in two threads.
    accounts = iter(
        [(0.0, 5.0, 1.0), (1.0, 6.0, 1.0), (2.0, 6.0, 1.0), (3.0, 6.5, 2.5), (4.0, 6.5, 2.5), (5.0, 8.5, 2.5)]
    )
    monkeypatch.setattr(Idleness, "_now", lambda self: next(accounts))
    clock = Idleness(os.getpid(), 1.0)
    assert [clock.look() for _ in range(5)] == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert clock.work_seconds() == 3.5


def test_a_stopped_process_is_not_idle() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        try:
            child.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)  # until it has
            clock = Idleness(child.pid, PAUSE)
            for _ in range(LOOKS):
                time.sleep(PAUSE)
                assert clock.look() == 0.0
        finally:
            child.kill()


def test_a_late_look_counts_as_one() -> None:
    clock = Idleness(os.getpid(), PAUSE)
    time.sleep(LOOKS * PAUSE)
    assert clock.look() <= PAUSE
