"""A process of its own for code that may hang, die, eat memory or start others: how it is started, heard and ended.

The parent waits for each message a limited time, which runs only while the worker computes or sleeps, not while it
waits for a processor or is stopped. `properties.process.supervisor` ends the worker and all that it has started.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from properties.process.idleness import LOOKS, Idleness
from properties.process.memory import limit_memory, shortage
from properties.process.messages import first_frame, from_frame, to_frame
from properties.process.supervisor import (
    BROKEN,
    CROWDED,
    FLOODED,
    GRACE,
    MOST_OUTPUT,
    MOST_PROCESSES,
    end_marked,
)

SECONDS = 120.0
"""How long a worker may take until its next message."""
PATIENCE = 2.0
"""Seconds after which someone who waits is told the reason."""
CHUNK = 1 << 16
MARK = "ROBUST_CORE_WORKER"
"""The variable in the environment of a worker and of what it starts: they are known by it if its supervisor dies."""
FROM_OTHERS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that end a process from outside; those of a crash are not among them."""
END_SECONDS = 4 * GRACE
"""How long the supervisor may take to end everything."""
# The current folder, which may have a `json.py`, is on the path of a program that is given as text. So nothing is
# imported before the path is that of the parent.
PROGRAM = (
    "import sys; sys.path[:] = sys.argv[4:]; "
    "from properties.process.supervisor import start; start(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])"
)


@dataclass(frozen=True)
class Fault:
    """The reason why there is no message: the worker hung, died, was killed, or something else was in its pipe.

    A worker that was killed by a signal that others send accuses nobody: the system may have had no memory left.
    Neither does one that was stopped, but another one would probably be too, after as long a wait.
    """

    kind: Literal["hung", "died", "killed", "garbled"]
    fate: str
    stopped: bool = False

    def misbehaviour(self) -> str:
        """The evidence against a variant whose process did this instead of sending a verdict."""
        return f"misbehaviour: {self.fate}{': it hangs or is far too slow' * (self.kind == 'hung')}"


GARBLED = Fault(
    "garbled",
    "its pipe to the suite had another message than the one expected: it, or a process it started, wrote there",
)


@dataclass(frozen=True)
class Hello:
    """The first message of a worker, before it executes anything of the user's."""

    process: int


@dataclass(frozen=True)
class Stop:
    """The order to exit."""


@dataclass(frozen=True)
class _Report:
    """The end of a worker: its exit code (None: not known) and the processes that it left behind."""

    exit: int | None
    left: tuple[str, ...] = ()


class Child:
    """A worker that runs `serve` ("module:function"); when the `with` block ends, nothing of it is left."""

    def __init__(self, serve: str) -> None:
        self._pipe, pipe = socket.socketpair()
        self._control, control = socket.socketpair()
        self._received = bytearray()
        self._report: _Report | None = None
        self._worker: int | None = None
        self._mark = f"{MARK}={os.urandom(16).hex()}"
        with pipe, control:
            handles = pipe.fileno(), control.fileno()
            command = [sys.executable, "-c", PROGRAM, *map(str, handles), serve, *map(str, sys.path)]
            # In a session of its own it does not hear Ctrl-C: the parent ends it.
            self._supervisor = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=handles,
                env={**os.environ, **dict([self._mark.split("=")])},
                start_new_session=True,
            )

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End the worker and all processes that it started, at once."""
        self._control.close()
        # The worker may have stopped it.
        self._supervisor.send_signal(signal.SIGCONT)
        try:
            self._supervisor.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        if self._supervisor.returncode < 0:
            end_marked(self._mark)
        self._pipe.close()

    def interrupt(self) -> None:
        """End the worker from another thread than the one that hears it, which then hears a `Fault`."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def end(self) -> tuple[str, ...]:
        """Let the worker exit; kills the processes that it left behind and returns their names."""
        self._supervisor.send_signal(signal.SIGCONT)
        with contextlib.suppress(OSError):
            self.send(Stop())
            self._control.sendall(b"e")
        while self._report is None and select.select([self._control], [], [], END_SECONDS)[0]:
            self._receive_report()
        self.kill()
        return () if self._report is None else self._report.left

    @property
    def unread(self) -> bool:
        """Whether more has come than the messages that were heard: after `end` nothing more can come."""
        return bool(self._received)

    def send(self, order: Any) -> None:
        """Send the worker an order. A worker that has died is noticed by the next `hear`."""
        with contextlib.suppress(ConnectionError):
            self._pipe.sendall(to_frame(order, os.getpid()))

    def hear(self, *kinds: type, seconds: float = SECONDS, waiting: Callable[[], None] = lambda: None) -> Any:
        """The next message, which is of one of these kinds, or a `Fault`. `waiting` is called now and then."""
        if self._worker is None:
            # What comes before it is the suite's own, however little time the variant has.
            hello = self._hear((Hello,), max(seconds, SECONDS), waiting)
            if isinstance(hello, Fault):
                return hello
            self._worker = hello.process
        return self._hear(kinds, seconds, waiting)

    def _hear(self, kinds: tuple[type, ...], seconds: float, waiting: Callable[[], None]) -> Any:
        pause = min(seconds / LOOKS, PATIENCE)
        clock = Idleness(self._worker or self._supervisor.pid, pause)
        while True:
            try:
                text = first_frame(self._received)
                if text is not None:
                    return from_frame(text, kinds, self._worker)
            except ValueError:
                return GARBLED
            if self._report is not None:
                return self._death(self._report)
            if clock.look() + clock.work_seconds() >= seconds * (1.0 - 0.5 / LOOKS):
                return Fault("hung", f"no answer within {seconds:g} s")
            if clock.stopped >= seconds:
                # Whether it stopped itself or others did cannot be told, so nobody is accused.
                return Fault("killed", f"its process was stopped for {seconds:g} s", stopped=True)
            ready, _, _ = select.select([self._pipe, self._control], [], [], pause)
            if self._control in ready:
                self._receive_report()
            elif self._pipe in ready and not self._receive():
                return self._closed()
            if not ready:
                waiting()

    def _receive(self) -> bool:
        """Read the bytes that are there: to wait for a whole message could take forever. False at the end."""
        try:
            data = self._pipe.recv(CHUNK)
        except ConnectionError:
            return False
        self._received += data
        return bool(data)

    def _receive_report(self) -> None:
        """Note how the worker ended; nobody writes to the pipe any more, and the rest in it is read."""
        try:
            data = json.loads(self._control.recv(CHUNK))
            self._report = _Report(data["exit"], tuple(data["left"]))
        except (OSError, ValueError):
            self._report = _Report(None)
        while select.select([self._pipe], [], [], 0.0)[0] and self._receive():
            pass

    def _closed(self) -> Fault:
        """The pipe has no writer any more: the worker has ended, or has closed it."""
        while self._report is None and select.select([self._control], [], [], GRACE)[0]:
            self._receive_report()
        if self._report is None:
            return Fault("died", "it closed its pipe to the suite")
        return self._death(self._report)

    def _death(self, report: _Report) -> Fault:
        note = f" ({shortage()})" if shortage() else ""
        if report.exit is None:
            return Fault("killed", f"the process that watches it ended, and it was ended too{note}")
        if report.exit == CROWDED:
            return Fault("died", f"it started more than {MOST_PROCESSES} processes, which the suite has ended")
        if report.exit == FLOODED:
            wrote = f"it wrote more than {MOST_OUTPUT >> 30} GiB to standard error"
            return Fault("died", f"{wrote}, and the suite has ended it")
        if report.exit == BROKEN:
            # A limit of the caller or a module that closes files: which of them cannot be told.
            return Fault("killed", f"the code of the suite in its process could not go on{note}")
        kind: Literal["killed", "died"] = "killed" if -report.exit in FROM_OTHERS else "died"
        return Fault(kind, f"its process ended with exit code {report.exit}{note}")


class Line:
    """The end of the pipe that the worker has; without a parent at the other end, the work ends in silence."""

    def __init__(self, pipe: int) -> None:
        self._pipe = socket.socket(fileno=pipe)
        # Taken now: a module that patches sockets does not silence its worker, which would be waited for.
        self._write, self._read = self._pipe.sendall, self._pipe.recv
        self._received = bytearray()
        self.send(Hello(os.getpid()))

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._pipe.close()
        return kind is not None and issubclass(kind, ConnectionError)

    def send(self, message: Any) -> None:
        """Send a message to the suite."""
        self._write(to_frame(message, os.getpid()))

    def receive(self, *kinds: type) -> Any:
        """The next order, of one of these kinds; None at the end."""
        while (text := first_frame(self._received)) is None:
            data = self._read(CHUNK)
            if not data:
                return None
            self._received += data
        order = from_frame(text, (*kinds, Stop), None)
        return None if isinstance(order, Stop) else order


def settle() -> None:
    """Prepare a worker: divert standard output, limit memory, and let Hypothesis store its files elsewhere."""
    from properties.judging.guard import divert_output
    from properties.process.hypothesis_storage import move_storage

    divert_output()
    limit_memory()
    move_storage()
