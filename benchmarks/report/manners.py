"""What a report leaves behind while it is made: no notes in the user's folder, and nothing when it is ended."""

import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STORAGE = "HYPOTHESIS_STORAGE_DIRECTORY"
"""The variable by which Hypothesis, in this process and in workers, learns where its notes go."""
TERMINATED = 128 + signal.SIGTERM


@contextmanager
def notes_elsewhere() -> Iterator[None]:
    """Hypothesis keeps notes on the interpreter in the working folder, unless somebody chose another place."""
    from hypothesis.configuration import set_hypothesis_home_dir

    if STORAGE in os.environ:
        yield
        return
    os.environ[STORAGE] = str(Path(tempfile.gettempdir()) / "robust-core-hypothesis")
    set_hypothesis_home_dir(None)  # it asks the environment once
    try:
        yield
    finally:
        del os.environ[STORAGE]
        set_hypothesis_home_dir(None)


@contextmanager
def termination_raised() -> Iterator[None]:
    """A request to end is an exception: left by one, pools end their workers and give their semaphores back."""
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(*_: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # asked again, it is already at it
    raise SystemExit(TERMINATED)
