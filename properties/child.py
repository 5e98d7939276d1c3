"""A process of its own for code that may hang, die or eat memory: how it is started, limited and heard.

The child sends plain JSON; the parent waits for each message a limited time, which runs only while the child is at work
or asleep, not while it waits for a processor or is stopped.
"""

import json
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from properties.guard import divert_output
from properties.idleness import LOOKS, Idleness

SECONDS = 120.0
"""How long a child may take to say the next thing."""
EXTRA_MEMORY = 4 << 30
PATIENCE = 2.0
"""Seconds after which someone who waits is told what for."""

Serve = Callable[[Connection, str], None]
Message = dict[str, Any]


class Child:
    """A process that runs `serve` with a pipe and an order; it is killed when the `with` block ends."""

    def __init__(self, serve: Serve, order: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, order), daemon=True)
        # Ctrl-C on a terminal reaches the child too, and a held one is inherited: it is held from its first import on.
        resource_tracker.ensure_running()  # started with the child, it would let Ctrl-C through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()

    def message(self, seconds: float, *, waiting: Callable[[], None] = lambda: None) -> Message:
        """The next message; {"fault": "hung"} or {"fault": "died"} if there is none. `waiting` is called now and then.

        Where there is a fault, "fate" says it in words.
        """
        pause = min(seconds / LOOKS, PATIENCE)
        clock = Idleness(self._process.pid or 0, pause)
        try:
            while not self._connection.poll(pause):
                if clock.look() + clock.worked() >= seconds * (1.0 - 0.5 / LOOKS):
                    return {"fault": "hung", "fate": f"no answer within {seconds:g} s"}
                waiting()
            received: Message = json.loads(self._connection.recv_bytes())
            return received
        except (EOFError, ConnectionError):
            self._process.join(timeout=5.0)
            return {"fault": "died", "fate": f"its process ended with exit code {self._process.exitcode}"}


def misconduct(message: Message) -> str:
    """What a variant did whose process hung or died instead of sending a verdict."""
    return f"conduct: {message['fate']}{': it hangs or is far too slow' * (message['fault'] == 'hung')}"


def sender(connection: Connection) -> Callable[[Message], None]:
    """What the child says its messages with."""

    def send(message: Message) -> None:
        connection.send_bytes(json.dumps(message).encode())

    return send


def settle() -> None:
    """In the child, before the work: Ctrl-C and standard output are the parent's, memory is limited, and so is life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C on a terminal reaches both; the parent ends the child
    divert_output()
    _limit_memory()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def keep_notes_elsewhere() -> None:
    """In a child that searches: Hypothesis keeps notes in the working folder, and the user's is not the place."""
    from hypothesis.configuration import set_hypothesis_home_dir

    set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "robust-core-hypothesis")


def _end_with_parent() -> None:
    """A parent that is killed (by a limit of time in a pipeline, say) leaves nobody at work in an endless loop."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # timers are for the thread at work
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _limit_memory() -> None:
    """Let the child grow by a few gigabytes, so that a leak ends in its own MemoryError."""
    try:
        import resource
    except ImportError:
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _has_statm() else 0
    if used:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + EXTRA_MEMORY, hard))


def _has_statm() -> bool:
    return Path("/proc/self/statm").exists()
