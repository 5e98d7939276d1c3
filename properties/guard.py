"""Watching a variant at work: time, printing, and random state that is not its own.

Each of these is a fault of conduct with a finding of its own, whatever the variant computes.
"""

import contextlib
import io
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from properties.verdict import Finding

# A case is a handful of updates on a model of a few states: microseconds for anything sensible.
CASE_SECONDS = 5.0
LONGEST_QUOTE = 80


class TooSlow(BaseException):
    """A case ran out of time. Not an `Exception`, so that a variant's own handlers do not swallow it."""


def watched(work: Callable[[], Finding | None], *, seconds: float = CASE_SECONDS) -> Finding | None:
    """The finding of `work`, or one about its conduct; `TooSlow` if it does not return in time.

    >>> print(watched(lambda: print("hello")))
    conduct: printed to standard output: got 'hello\\n', wanted 'silence' within 0
    """
    legacy, plain = _legacy_state(), random.getstate()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), _time_limit(seconds):
        finding = work()
    if random.getstate() != plain or _legacy_state() != legacy:
        return Finding("conduct: drew from global random state", "global state", "the rng of the problem")
    if printed.getvalue():
        return Finding("conduct: printed to standard output", printed.getvalue()[:LONGEST_QUOTE], "silence")
    return finding


def _legacy_state() -> tuple[Any, ...]:
    name, keys, position, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what is watched
    return name, np.asarray(keys).tobytes(), position, *rest


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt the main thread after `seconds`; elsewhere only measure, and complain afterwards."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        started = time.monotonic()
        yield
        if time.monotonic() - started > seconds:
            raise TooSlow
        return

    def interrupt(number: int, frame: object) -> None:
        raise TooSlow

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
