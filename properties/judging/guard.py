"""Watching a variant at work: time, printing, and random state that is not its own.

Each of these is misbehaviour with a finding of its own, whatever the variant computes. Printing and random state
are compared before and after every call of the variant (`call_observed`), so that nothing else is blamed on it: an
oracle may import a library that prints or seeds.
"""

import _random
import contextlib
import ctypes
import fcntl
import io
import os
import random
import resource
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from time import monotonic, process_time
from typing import Any

import numpy as np

from properties.judging.boundary import Answer, Loans, private_copy
from properties.judging.verdict import Finding
from properties.process.idleness import LOOKS, Idleness
from robust_core.text import message_of

# A case is a handful of updates on a model of a few states: milliseconds for anything sensible. The first may compile
# the variant's kernels, which takes some seconds of the processor's time; and on a busy machine a second of that may
# take many on the wall, which is nobody's fault. So the limits are on the processor's time and, for variants that
# sleep, on idle time.
CASE_SECONDS = 15.0
IDLE_FACTOR = 4.0
MESSAGE_SECONDS = 2.0
"""Of the processor, in which the message of an exception is read."""
SOON = 1e-6
"""Seconds after which the timer of a caller ends that is overdue: zero would turn it off."""
LONGEST_QUOTE = 80
STDOUT = 1
LARGEST_OUTPUT = 1 << 20
"""Bytes that a variant can write past Python to standard output in one case."""
MOST_ANSWERS = 256
"""Answers of a variant that are kept, the latest: a judge that fails may have failed at one of them."""
MERSENNE_BYTES = 4 * (624 + 1)
"""The state of a Mersenne twister: 624 words and the place in them."""


class TooSlow(BaseException):
    """A case ran out of time. Not an `Exception`, so that a variant's own handlers do not swallow it.

    `busy` says which time it was: the processor's, or idle time.
    """

    def __init__(self, limit: float, *, busy: bool) -> None:
        super().__init__(f"over {limit:g} s {'of the processor' if busy else 'of idleness'}")
        self.busy = busy

    def finding(self) -> Finding:
        """The timeout as a finding."""
        return Finding("misbehaviour: time of one case", str(self), "milliseconds")


_diverted: list[int] = []
"""The file that takes what is written past Python to standard output, where that was diverted."""


def divert_output() -> None:
    """Let nothing reach standard output any more, not even what a library written in C prints: `watch` reports it.

    For a process that has none of its own to say.
    """
    if _diverted:
        return
    if hasattr(os, "memfd_create"):
        # Its size is fixed: what goes beyond is refused, so that output cannot use up the memory of the machine.
        handle = os.memfd_create("output", os.MFD_ALLOW_SEALING)
        os.ftruncate(handle, _largest_output())
        fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    else:
        handle, path = tempfile.mkstemp()
        os.unlink(path)
    os.dup2(handle, STDOUT)
    _diverted.append(handle)


def _largest_output() -> int:
    """Bytes of the file; the caller may allow less for any file (`ulimit -f`)."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return LARGEST_OUTPUT if allowed == resource.RLIM_INFINITY else min(LARGEST_OUTPUT, allowed)


def _size_written() -> int:
    """How many bytes came past Python so far."""
    if not _diverted:
        return 0
    _flush_c()()
    return os.lseek(_diverted[0], 0, os.SEEK_CUR)


def _forget_written() -> None:
    if _diverted:
        _flush_c()()
        os.lseek(_diverted[0], 0, os.SEEK_SET)


@cache
def _flush_c() -> Callable[[], object]:
    """What has the C library write what it holds back, as it does for everything but a terminal."""
    try:
        return partial(ctypes.CDLL(None).fflush, None)
    except (OSError, AttributeError, TypeError):
        return lambda: None


class _Watch:
    """What the variant did in its calls since the watch began."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.drew = False
        self.text = ""
        self.in_call = False
        self.loans = Loans()
        self.answers: deque[Answer] = deque(maxlen=MOST_ANSWERS)
        self._printed = io.StringIO()

    @contextlib.contextmanager
    def install(self) -> Iterator[None]:
        """Route the calls of the variant to this watch and capture what is printed, until the end of the context."""
        _forget_written()
        _answers.clear()
        _watches.append(self)
        try:
            with contextlib.redirect_stdout(self._printed):
                yield
        finally:
            _watches.remove(self)
            _answers.extend(self.answers)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function of the variant, or one that does nothing but call the variant many times."""
        if self.in_call:
            return function(*args)
        self.in_call = True
        state, printed, written = _random_state(), self._printed.tell(), _size_written()
        try:
            return function(*args)
        finally:
            self.in_call = False
            self.drew = self.drew or _random_state() != state
            if self._printed.tell() != printed or _size_written() != written:
                self._quote(printed, written)

    def _quote(self, printed: int, written: int) -> None:
        if len(self.text) < LONGEST_QUOTE:
            self.text += self._printed.getvalue()[printed:]
            if _diverted:
                end = min(_size_written(), written + 4 * LONGEST_QUOTE)
                self.text += os.pread(_diverted[0], end - written, written).decode(errors="replace")

    def finding(self) -> Finding | None:
        """The misbehaviour, if there was any."""
        if self.drew:
            return Finding("misbehaviour: drew from global random state", "global state", "the rng of the problem")
        if self.text:
            return Finding("misbehaviour: printed to standard output", self.text[:LONGEST_QUOTE], "silence")
        changed = self.loans.find_change()
        return None if changed is None else Finding(f"misbehaviour: changed {changed}, which it was given", None, None)


_watches: list[_Watch] = []
"""The watches at work, the innermost last."""
_answers: list[Answer] = []
"""The answers of the variant in the last watch that ended."""


def watch(work: Callable[[], Finding | None], *, seconds: float | None = None) -> Finding | None:
    """The finding of `work`, or one about misbehaviour of the functions in it that are called by `call_observed`.

    `TooSlow` if it does not return in time.

    >>> print(watch(lambda: call_observed(print, "hello")))
    misbehaviour: printed to standard output: got 'hello\\n', wanted silence
    >>> watch(lambda: print("nobody is watched"))
    """
    limit = CASE_SECONDS if seconds is None else seconds
    watch = _Watch(limit)
    with watch.install(), _time_limit(limit, IDLE_FACTOR * limit):
        finding = work()
    misbehaviour = watch.finding()
    if misbehaviour is None or finding is None:
        return misbehaviour or finding
    # A printed line does not hide a wrong value.
    return replace(misbehaviour, also=str(finding), causes=finding.causes)


def call_observed(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of the variant; within `watch` its misbehaviour is noted."""
    return _watches[-1].call(function, *args) if _watches else function(*args)


def lend(value: Any, name: str) -> Any:
    """The value as a variant gets it; within `watch` it is noted if it changes."""
    return _watches[-1].loans.lend(value, name) if _watches else private_copy(value)


def note_answer(answer: Any, shape: tuple[int, ...] | None) -> None:
    """Note what a variant returned, with the shape that it should have, None if that is not known."""
    if _watches:
        _watches[-1].answers.append((answer, shape))


def latest_answers() -> list[Answer]:
    """The latest answers of the variant at work, or of the one that was."""
    return list(_watches[-1].answers) if _watches else _answers


def is_call_of_variant(code: object) -> bool:
    """Whether a frame with this code calls the variant."""
    return code in (call_observed.__code__, _Watch.call.__code__)


def message_in_time(error: BaseException) -> str:
    """The message of an exception, if it is read in time; within `watch` one that is not ends the case as too slow."""
    limit = min([MESSAGE_SECONDS, *(watch.seconds for watch in _watches)])
    try:
        with _time_limit(limit, IDLE_FACTOR * limit):
            return message_of(error)
    except TooSlow:
        if _watches:
            raise
        return "(its message takes too long to read)"


def _random_state() -> tuple[object, ...]:
    """The global state of `random` and of numpy.

    The memory of the generators is read: `getstate` and `get_state` take a hundred times as long, and this is called
    before and after every update. A normal variate that numpy holds back is not in it: after at most one the state
    moves.
    """
    legacy = np.random.mtrand._rand._bit_generator
    return random._inst.__dict__["gauss_next"], _plain_memory().raw, legacy, _legacy_memory(legacy).raw


@cache
def _plain_memory() -> "ctypes.Array[ctypes.c_char]":
    """The fields that CPython's C type adds to an object: the state of the Mersenne twister and the place in it."""
    size = _random.Random.__basicsize__ - object.__basicsize__
    return (ctypes.c_char * size).from_address(id(random._inst) + object.__basicsize__)


@cache
def _legacy_memory(generator: Any) -> "ctypes.Array[ctypes.c_char]":
    """The same of a generator of numpy; one that is not a Mersenne twister was put there by `set_bit_generator`."""
    size = MERSENNE_BYTES if isinstance(generator, np.random.MT19937) else 0
    return (ctypes.c_char * size).from_address(generator.ctypes.state_address)


@contextlib.contextmanager
def _time_limit(busy: float, idle: float) -> Iterator[None]:
    """Interrupt the main thread after so much time of the processor or of idleness; elsewhere complain afterwards."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        started = process_time()
        yield
        if process_time() - started > busy:
            raise TooSlow(busy, busy=True)
        return
    pause = idle / LOOKS
    idleness = Idleness(os.getpid(), pause)
    raised: list[TooSlow] = []

    def worked() -> None:
        raised.append(TooSlow(busy, busy=True))
        raise raised[0]

    def looked() -> None:
        if idleness.look() >= idle * (1.0 - 0.5 / LOOKS):
            raised.append(TooSlow(idle, busy=False))
            raise raised[0]

    with (
        _interrupted(signal.SIGPROF, signal.ITIMER_PROF, process_time, worked, busy),
        _interrupted(signal.SIGALRM, signal.ITIMER_REAL, monotonic, looked, pause),
    ):
        yield
    if raised:
        # Something has swallowed it: a handler of every exception, or Python itself if it was raised in a __del__.
        raise raised[0]


@contextlib.contextmanager
def _interrupted(
    number: int, timer: int, clock: Callable[[], float], act: Callable[[], None], seconds: float
) -> Iterator[None]:
    """Call `act` every so many seconds of a timer, which is then as if it had not been used: a caller may need it too.

    A signal that comes when the time is over does nothing: an exception here would leave the timer and the handler.
    """
    armed = True

    def handle(number: int, frame: object) -> None:
        if armed:
            act()

    # First of all: a signal of the caller's timer must not come to our handler.
    (first, interval), started = signal.setitimer(timer, 0.0), clock()
    previous = signal.signal(number, handle)
    signal.setitimer(timer, seconds, seconds)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(timer, 0.0)
        signal.signal(number, previous)
        if first:
            signal.setitimer(timer, max(first - (clock() - started), SOON), interval)
