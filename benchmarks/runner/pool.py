"""Units of work over the processes of this machine."""

import contextlib
import os
import pickle
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from benchmarks.runner.units import Unit, compute

T = TypeVar("T")

AHEAD = 2
"""Units per worker that are handed out at a time: enough to keep it busy, few enough to stop soon."""
GRACE = 0.5
"""Seconds that processes have to end when they are asked to; then they are killed."""


class WorkerDied(OSError):
    """A worker process ended in the midst of its work."""


def single_thread() -> None:
    """One thread per worker: the cells are the parallelism."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")


@dataclass
class _Worker:
    """A process with the pipe to it, and the units it has been given, the first of them at work."""

    process: BaseProcess
    pipe: "Connection[Any, Any]"
    units: deque[Unit] = field(default_factory=deque)


class Pool:
    """Worker processes that compute units, started as they are needed; none outlasts the pool."""

    def __init__(self, workers: int) -> None:
        self.most = workers
        self.workers: list[_Worker] = []

    def __enter__(self) -> "Pool":
        return self

    @property
    def has_room(self) -> bool:
        """Whether a worker can take another unit."""
        return sum(len(worker.units) for worker in self.workers) < AHEAD * self.most

    def submit(self, unit: Unit) -> None:
        """Give a unit to the worker that has the fewest."""
        if len(self.workers) < self.most and all(worker.units for worker in self.workers):
            with _interrupts_held():
                self.workers.append(_without_interrupts(_start))
        worker = min(self.workers, key=lambda worker: len(worker.units))
        worker.units.append(unit)
        # A worker that has died is found when its units are collected.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            worker.pipe.send(unit)

    def collect(self) -> tuple[Unit, Any]:
        """Wait for a unit; WorkerDied if a process ends with units under way and no other has one ready."""
        busy = {worker.pipe: worker for worker in self.workers if worker.units}
        for pipe in connection.wait(busy):
            worker = busy[pipe]  # type: ignore[index]
            try:
                value, error = worker.pipe.recv()
            except (EOFError, ConnectionResetError):
                continue
            unit = worker.units.popleft()
            if error is not None:
                raise error
            return unit, value
        worker.process.join(GRACE)
        raise WorkerDied(
            f"a worker process died (exit code {worker.process.exitcode}) while it computed {worker.units[0]}; "
            "the results so far are in the store, run again to go on"
        )

    def __exit__(self, *_: Any) -> None:
        """End the processes, also those that are at work; Ctrl-C again does not leave half of them."""
        with _interrupts_held():
            for worker in self.workers:
                worker.pipe.close()
                if worker.units:
                    worker.process.terminate()
            left = {worker.process.sentinel for worker in self.workers}
            while left and (ended := connection.wait(left, GRACE)):
                left -= set(ended)
            for worker in self.workers:
                if worker.process.sentinel in left:
                    worker.process.kill()
                worker.process.join()
                worker.process.close()
            self.workers.clear()


def _start() -> _Worker:
    here, there = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_serve, args=(there,))
    process.start()
    there.close()
    return _Worker(process, here)


_CONTEXT = get_context("spawn")


def _serve(pipe: "Connection[Any, Any]") -> None:
    """In a worker: compute units until there are no more."""
    _prepare()
    with contextlib.suppress(EOFError, OSError):  # the pool was closed
        while True:
            pipe.send(_answer(pipe.recv()))


def _answer(unit: Unit) -> tuple[Any, Exception | None]:
    """(value, None) of a unit, or (None, error)."""
    try:
        return compute(unit), None
    except Exception as error:
        error.add_note(f"in a worker process:\n{traceback.format_exc()}")
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return None, RuntimeError(f"{type(error).__name__}: {error} (while computing {unit})")
        return None, error


class _Hold:
    """A handler that keeps signals until it is opened, and from then on passes them to the handlers it stands for."""

    def __init__(self, answers: dict[signal.Signals, Any]) -> None:
        self.answers = answers
        self.open = False
        self.held: list[tuple[int, Any]] = []

    def __call__(self, number: int, frame: Any) -> None:
        if self.open:
            self.answers[signal.Signals(number)](number, frame)
        else:
            self.held.append((number, frame))


def _answer_to(number: signal.Signals) -> Any:
    """The handler of a signal; an open hold that was left in its place is not counted."""
    answer = signal.getsignal(number)
    return answer.answers[number] if isinstance(answer, _Hold) and answer.open else answer


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C and a request to end (SIGTERM), if they are answered in Python, come afterwards.

    A process that is left half started complains.

    Python runs handlers in the main thread alone, between any two instructions, whichever thread took the signal.
    - The main thread does not block the signals. If it did, the kernel would give them to another thread, and the
      main thread could leave the block before that thread has told Python. As it is, a signal that the process sends
      to itself here is held before `os.kill` returns, and one from outside counts when it is delivered.
    - While the hold is closed no handler raises, so the way to `open` is not interrupted. Opening is one assignment.
      A handler may raise at any later instruction, also before all are back in their places: a hold that stays is
      open and does what the handler does, and the next use replaces it.
    """
    answers: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        answers = {number: _answer_to(number) for number in (signal.SIGINT, signal.SIGTERM)}
        answers = {number: answer for number, answer in answers.items() if callable(answer)}
    hold = _Hold(answers)
    try:
        for number in answers:
            signal.signal(number, hold)
        yield
    finally:
        hold.open = True
        try:
            for number, answer in answers.items():
                signal.signal(number, answer)
        finally:
            for told in hold.held:
                hold(*told)


def _without_interrupts(function: Callable[[], T]) -> T:
    """Call a function in a thread that blocks Ctrl-C: a process that it starts inherits that."""

    def call() -> T:
        # The first process of a program starts a tracker, and whoever starts that has Ctrl-C unblocked afterwards.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        return function()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(call).result()


def _prepare() -> None:
    """In a worker: one thread, Ctrl-C is the parent's business, and no life after the parent."""
    single_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    """A parent that was killed cannot stop its workers, and they would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
