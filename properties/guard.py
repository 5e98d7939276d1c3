"""Watching a variant at work: time, printing, and random state that is not its own.

Each of these is a fault of conduct with a finding of its own, whatever the variant computes.
"""

import contextlib
import ctypes
import io
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from properties.idleness import LOOKS, Idleness
from properties.verdict import Finding

# A case is a handful of updates on a model of a few states: milliseconds for anything sensible. The first may compile
# the variant's kernels, which takes some seconds of the processor's time; and on a busy machine a second of that may
# take many on the wall, which is nobody's fault. So the limits are on the processor's time and, for variants that
# sleep, on idle time.
CASE_SECONDS = 15.0
IDLE_FACTOR = 4.0
LONGEST_QUOTE = 80
STDOUT = 1


class TooSlow(BaseException):
    """A case ran out of time. Not an `Exception`, so that a variant's own handlers do not swallow it.

    `busy` says which time it was: the processor's, or idle time.
    """

    def __init__(self, limit: float, *, busy: bool) -> None:
        super().__init__(f"over {limit:g} s {'of the processor' if busy else 'of idleness'}")
        self.busy = busy

    def finding(self) -> Finding:
        """The same as a finding."""
        return Finding("conduct: time of one case", str(self), "milliseconds")


_diverted: list[int] = []
"""The file that takes what is written past Python to standard output, where that was diverted."""


def divert_output() -> None:
    """Let nothing reach standard output any more, not even what a library written in C prints: `watched` reports it.

    For a process that has none of its own to say.
    """
    if _diverted:
        return
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("output")
    else:
        handle, path = tempfile.mkstemp()
        os.unlink(path)
    os.dup2(handle, STDOUT)
    _diverted.append(handle)


def _written() -> str:
    """The beginning of what came past Python since the last time, which is then forgotten."""
    if not _diverted:
        return ""
    _flush_c()
    size = os.lseek(_diverted[0], 0, os.SEEK_END)
    if not size:
        return ""
    os.lseek(_diverted[0], 0, os.SEEK_SET)
    text = os.read(_diverted[0], 4 * LONGEST_QUOTE).decode(errors="replace")
    os.ftruncate(_diverted[0], 0)
    os.lseek(_diverted[0], 0, os.SEEK_SET)
    return text


@cache
def _c_library() -> Any:
    return ctypes.CDLL(None)


def _flush_c() -> None:
    """Have the C library write what it holds back, as it does for everything but a terminal."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        _c_library().fflush(None)


def watched(work: Callable[[], Finding | None], *, seconds: float | None = None) -> Finding | None:
    """The finding of `work`, or one about its conduct; `TooSlow` if it does not return in time.

    >>> print(watched(lambda: print("hello")))
    conduct: printed to standard output: got 'hello\\n', wanted 'silence'
    """
    legacy, plain = _legacy_state(), random.getstate()
    printed, limit = io.StringIO(), CASE_SECONDS if seconds is None else seconds
    _written()  # of what was done before, as when the variant was loaded
    with contextlib.redirect_stdout(printed), _time_limit(limit, IDLE_FACTOR * limit):
        finding = work()
    if random.getstate() != plain or _legacy_state() != legacy:
        return Finding("conduct: drew from global random state", "global state", "the rng of the problem")
    text = printed.getvalue() + _written()
    if text:
        return Finding("conduct: printed to standard output", text[:LONGEST_QUOTE], "silence")
    return finding


def _legacy_state() -> tuple[Any, ...]:
    name, keys, position, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what is watched
    return name, np.asarray(keys).tobytes(), position, *rest


@contextlib.contextmanager
def _time_limit(busy: float, idle: float) -> Iterator[None]:
    """Interrupt the main thread after so much time of the processor or of idleness; elsewhere complain afterwards."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        started = time.process_time()
        yield
        if time.process_time() - started > busy:
            raise TooSlow(busy, busy=True)
        return
    pause = idle / LOOKS
    idleness = Idleness(os.getpid(), pause)

    def worked() -> None:
        raise TooSlow(busy, busy=True)

    def looked() -> None:
        if idleness.look() >= idle * (1.0 - 0.5 / LOOKS):
            raise TooSlow(idle, busy=False)

    with (
        _interrupted(signal.SIGPROF, signal.ITIMER_PROF, worked, busy),
        _interrupted(signal.SIGALRM, signal.ITIMER_REAL, looked, pause),
    ):
        yield


@contextlib.contextmanager
def _interrupted(number: int, timer: int, act: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call `act` every so many seconds of a timer."""
    previous = signal.signal(number, lambda number, frame: act())
    signal.setitimer(timer, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0.0)
        signal.signal(number, previous)
