"""Jobs over the processes of this machine."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from multiprocessing import connection, get_context, parent_process
from typing import Any, TypeVar

T = TypeVar("T")

GRACE = 0.5
"""Seconds that processes have to end when they are asked to; then they are killed."""
CLOSING = 10.0
"""Seconds that the thread of a pool without processes has to see that they are gone."""


def single_thread() -> None:
    """One thread per worker: the cells are the parallelism."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def computed(jobs: Sequence[Callable[[], dict[str, Any]]], *, workers: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """(place, result) of every job as it finishes; BrokenProcessPool if a worker dies."""
    if workers == 1:
        yield from ((place, job()) for place, job in enumerate(jobs))
        return
    with Pool(workers) as pool:
        places: dict[Future[dict[str, Any]], int] = {pool.submit(job): place for place, job in enumerate(jobs)}
        waiting = set(places)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from ((places[future], future.result()) for future in done)


class Pool(ProcessPoolExecutor):
    """Worker processes that do not outlast their use: left by an exception, they are ended with what they are at.

    An executor alone waits, when the interpreter ends at the latest, for every job that has begun.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers, mp_context=get_context("spawn"), initializer=_prepare)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand out a job; a process that is started for it never hears of Ctrl-C, not even while it imports."""
        with _interrupts_held():
            return _without_interrupts(partial(super().submit, function, *args, **kwargs))

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.shutdown()
        else:
            with _interrupts_held():
                self._end()

    def _end(self) -> None:
        """End the processes at once; Ctrl-C again does not leave half of them."""
        processes = list((self._processes or {}).values())
        manager: Any = self._executor_manager_thread
        self.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        left = {process.sentinel for process in processes}
        while left and (ended := connection.wait(left, GRACE)):
            left -= set(ended)
        for process in processes:
            if process.sentinel in left:
                process.kill()
        if manager is not None:
            # It closes the pipes that the interpreter, when it ends, writes to: both at a time end in a traceback.
            manager.join(CLOSING)


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
