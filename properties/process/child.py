"""A process of its own for code that may hang, die or eat memory: how it is started, limited and heard.

The child sends plain JSON; the parent waits for each message a limited time, which runs only while the child is at work
or asleep, not while it waits for a processor or is stopped. The code under test can write to the pipe too, and so can
the processes it starts: a message counts only if it is whole, and written by the child itself.
"""

import json
import multiprocessing
import os
import signal
import struct
import tempfile
import threading
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from properties.judging.guard import divert_output
from properties.process.idleness import LOOKS, Idleness
from properties.process.memory import limit_memory, shortage

SECONDS = 120.0
"""How long a child may take to say the next thing."""
PATIENCE = 2.0
"""Seconds after which someone who waits is told what for."""
HEADER = struct.Struct("!i")
"""The length of a message, which `Connection.send_bytes` writes before it."""
LONGEST_MESSAGE = 64 << 20
"""Bytes; a record has some kilobytes, and its longest part is a table of a few thousand entries."""
CHUNK = 1 << 16
SENDER = "process"
"""The field of a message with the number of the process that has sent it."""

Serve = Callable[[Connection, str], None]
Message = dict[str, Any]

GARBLED: Message = {
    "fault": "garbled",
    "fate": "its pipe to the suite had another message than the one expected: it, or a process it started, wrote there",
}


class Child:
    """A process that runs `serve` with a pipe and an order; it is killed when the `with` block ends."""

    def __init__(self, serve: Serve, order: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._received = bytearray()
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
        """The next message, or a fault: "hung", "died" or "garbled". `waiting` is called now and then.

        Where there is a fault, "fate" says it in words.
        """
        pause = min(seconds / LOOKS, PATIENCE)
        clock = Idleness(self._process.pid or 0, pause)
        try:
            while (message := self._next_message()) is None:
                if clock.look() + clock.worked() >= seconds * (1.0 - 0.5 / LOOKS):
                    return {"fault": "hung", "fate": f"no answer within {seconds:g} s"}
                if self._connection.poll(pause):
                    self._receive()
                else:
                    waiting()
            return message
        except (EOFError, ConnectionError):
            self._process.join(timeout=5.0)
            note = f" ({shortage()})" if shortage() else ""
            return {"fault": "died", "fate": f"its process ended with exit code {self._process.exitcode}{note}"}

    def _receive(self) -> None:
        """Read the bytes that are there: to wait for a whole message could take forever."""
        data = os.read(self._connection.fileno(), CHUNK)
        if not data:
            raise EOFError
        self._received += data

    def _next_message(self) -> Message | None:
        """The first message of the bytes received so far, None if it is not whole yet."""
        if len(self._received) < HEADER.size:
            return None
        (length,) = HEADER.unpack_from(self._received)
        if not 0 < length <= LONGEST_MESSAGE:
            return GARBLED
        end = HEADER.size + length
        if len(self._received) < end:
            return None
        text = bytes(self._received[HEADER.size : end])
        del self._received[:end]
        return self._parse(text)

    def _parse(self, text: bytes) -> Message:
        """The message, if the child itself has sent it and not a process that it started."""
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            return GARBLED
        if not isinstance(message, dict) or message.pop(SENDER, None) != self._process.pid:
            return GARBLED
        return message


def misconduct(message: Message) -> str:
    """What a variant did whose process hung or died instead of sending a verdict."""
    return f"conduct: {message['fate']}{': it hangs or is far too slow' * (message['fault'] == 'hung')}"


def sender(connection: Connection) -> Callable[[Message], None]:
    """What the child says its messages with."""

    def send(message: Message) -> None:
        connection.send_bytes(json.dumps({**message, SENDER: os.getpid()}).encode())

    return send


def settle() -> None:
    """In the child, before the work: Ctrl-C and standard output are the parent's, memory is limited, and so is life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C on a terminal reaches both; the parent ends the child
    divert_output()
    limit_memory()
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
