"""The process between the suite and a worker: it ends the worker, and every process that the worker started.

`start` is executed in a new interpreter. It forks: the first process watches, the second is the worker, in which the
module of a user is executed. On Linux the watcher is the sub-reaper of the processes below it, so a process that leaves
the worker's session is found too; elsewhere the worker's process group is ended. When the suite closes its end of the
control socket, or dies, everything ends.

This module is imported before the fork and imports nothing large.
"""

import codecs
import contextlib
import ctypes
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import NoReturn

from robust_core.text import error_text, one_line

STDERR = 2
GRACE = 5.0
"""Seconds in which a worker that was asked to end, and the processes that it started, do so by themselves."""
LEAST_GRACE = 2.0
"""Seconds that the processes have if the worker took most of the time."""
PAUSE = 0.02
LONGEST_NAME = 40
MOST_PROCESSES = 256
"""Processes that a worker may have at a time: more are a fault that takes the machine away from everybody."""
LOOK = 1.0
"""Seconds between two counts of the processes."""
GLANCE = 0.1
"""Seconds between two looks at the number of tasks of the system, which is one short read."""
LARGEST_OUTPUT = 1 << 13
"""Bytes of standard error that a worker, and all that it starts, can show; the rest is read and dropped."""
PORTION = 4096
"""Bytes that can be written without waiting where a select says so."""
PIPE = 1 << 16
"""Bytes that a pipe holds."""
PORTIONS = 32
"""Portions that are read at a time, twice what a pipe holds."""
CUT = b"\n(more was written to standard error)\n"
MOST_OUTPUT = 1 << 30
"""Bytes of standard error after which a worker is ended: whoever writes so much does not stop."""
CROWDED, FLOODED = 1000, 1001
"""The reports on a worker that was ended because of its many processes or its output: no exit codes of the system."""
BROKEN = 70
"""The exit code of a worker in which the suite's own code cannot go on."""
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36


def start(pipe: int, control: int, serve: str) -> None:
    """Fork the worker, which calls `serve` ("module:function") with the descriptor of its pipe, and watch it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    # Without a handler the end of a child wakes nobody.
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    output, complaints = os.pipe()
    worker = os.fork()
    if worker:
        os.close(pipe)
        os.close(complaints)
        os.set_blocking(output, False)
        _watch(socket.socket(fileno=control), woken, worker, _Output(output))
    os.close(output)
    os.dup2(complaints, STDERR)
    os.close(complaints)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for open_socket in (woken, wakes):
        open_socket.close()
    os.close(control)
    os.setpgid(0, 0)
    _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    os.set_inheritable(pipe, False)
    module, _, name = serve.partition(":")
    # Taken now: the module of a user may close or patch what our code needs.
    write, leave = os.write, os._exit
    try:
        getattr(importlib.import_module(module), name)(pipe)
    except SystemExit:
        raise
    except BaseException as error:
        # The place where ours fell says nothing, so there is no traceback, and neither if the last words fail too.
        try:
            write(STDERR, f"the worker ended: {error_text(error)}\n".encode(errors="replace"))
        finally:
            leave(BROKEN)


def _prctl(option: int, value: int) -> None:
    """Call prctl where the system has it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class _Output:
    """What the worker writes to standard error: shown up to a limit, so that it cannot fill a terminal or a log.

    It is text in UTF-8, with every character escaped that would control a terminal.

    What is to be shown waits here until whoever reads it is ready: nobody waits for them.
    """

    def __init__(self, source: int) -> None:
        self.source, self.left, self.total = source, LARGEST_OUTPUT, 0
        self.open = True
        self.waiting = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def forward(self, patience: float = 0.0) -> None:
        """Show what waits, and read what is there, at most what a pipe holds: a worker may never stop writing."""
        for _ in range(PORTIONS):
            if not self._read() and not self.waiting:
                return
            self._show(patience)

    def _read(self) -> bool:
        try:
            # What is not shown is read as fast as it can be: whoever writes it waits for that.
            data = os.read(self.source, PORTION if self.left >= 0 else PIPE) if self.open else b""
        except OSError:  # nothing is there at this moment
            return False
        self.open = bool(data)
        self.total += len(data)
        if self.left < 0:
            return self.open
        lines = self._decoder.decode(data, final=not data).split("\n")
        shown = "\n".join(map(one_line, lines)).encode(errors="replace")
        self.waiting += shown[: self.left]
        self.left -= len(shown)
        if self.left < 0:
            self.waiting += CUT
        return self.open

    def _show(self, patience: float) -> None:
        if self.waiting and select.select([], [STDERR], [], patience)[1]:
            try:
                del self.waiting[: os.write(STDERR, self.waiting[:PORTION])]
            except OSError:  # nobody reads it any more
                self.waiting.clear()


class _Crowd:
    """Counts the processes of a worker.

    Processes that fork without end are faster than a count of them, which reads a file of each and has to wait for its
    turn among them. So the number of all tasks of the system is looked at often, and where it has grown by more than a
    worker may have, its group stands still during the count.
    """

    def __init__(self, worker: int) -> None:
        self.worker, self.tasks, self.next_count = worker, _tasks(), time.monotonic() + LOOK

    def is_too_large(self) -> bool:
        """Whether the worker has more processes than it may; counted when it is time for it or there is a reason."""
        grown = _tasks() - self.tasks > MOST_PROCESSES
        if not grown and time.monotonic() < self.next_count:
            return False
        if grown:
            self._signal(signal.SIGSTOP)
        found = len(_descendants())
        if found > MOST_PROCESSES:
            return True
        if grown:
            self._signal(signal.SIGCONT)
            self.tasks = _tasks() - found  # others have started processes: those are not the worker's
        self.next_count = time.monotonic() + LOOK
        return False

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self.worker, number)


def _tasks() -> int:
    """The number of tasks of the system; 0 where it does not tell."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def _watch(control: socket.socket, woken: socket.socket, worker: int, output: _Output) -> NoReturn:
    """Wait for the end of the worker or for an order of the suite; report, and end this process."""
    deadline: float | None = None
    crowd = _Crowd(worker)
    status = None
    while status is None:
        wait = GLANCE if deadline is None else min(max(deadline - time.monotonic(), 0.0), GLANCE)
        sources: list[int | socket.socket] = [woken, control, *([output.source] if output.open else [])]
        ready, _, _ = select.select(sources, [STDERR] if output.waiting else [], [], wait)
        output.forward()
        if woken in ready:
            woken.recv(1024)
        if control in ready:
            if not _received(control):
                _end_all(worker)
                os._exit(1)
            deadline = time.monotonic() + GRACE
        if deadline is not None and time.monotonic() >= deadline:
            _kill(worker)
        excess = CROWDED if crowd.is_too_large() else FLOODED if output.total > MOST_OUTPUT else None
        if excess is not None:
            _end_all(worker)
            _report(control, excess, [])
        status = _reap(worker)
    output.forward(patience=LOOK)
    left = _left_behind(control, worker, deadline)
    _end_all(worker)
    _report(control, status, left)


def _report(control: socket.socket, status: int, left: list[str]) -> NoReturn:
    """Tell the suite how the worker ended, and end this process."""
    with contextlib.suppress(OSError):
        control.sendall(json.dumps({"exit": status, "left": left}).encode())
    os._exit(0)


def _received(control: socket.socket) -> bytes:
    try:
        return control.recv(1)
    except OSError:
        return b""


def _reap(worker: int) -> int | None:
    """Take leave of the children that have ended; the exit code of the worker if it is among them."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == worker and not os.WIFSTOPPED(status):  # it may have this process trace it
                found = os.waitstatus_to_exitcode(status)
            if pid == 0:
                break
    return found


def _left_behind(control: socket.socket, worker: int, deadline: float | None) -> list[str]:
    """The names of the processes that remain after the worker; after an order to end they have time to end too."""
    until = 0.0 if deadline is None else max(deadline, time.monotonic() + LEAST_GRACE)
    while (found := _descendants()) and time.monotonic() < until and not select.select([control], [], [], PAUSE)[0]:
        _reap(worker)
    return [name[:LONGEST_NAME] for name in found.values()]


def _end_all(worker: int) -> None:
    """Kill the worker and every process below this one, also those that are started meanwhile."""
    with contextlib.suppress(OSError):
        os.killpg(worker, signal.SIGKILL)
    _kill(worker)
    until = time.monotonic() + GRACE
    while (found := _descendants()) and time.monotonic() < until:
        for pid in found:
            _kill(pid)
        _reap(worker)
        time.sleep(PAUSE)


def end_marked(mark: str) -> None:
    """Kill every process whose environment has the mark: for a worker whose supervisor did not live to end it."""
    until = time.monotonic() + GRACE
    while (found := _marked(mark.encode())) and time.monotonic() < until:
        for pid in found:
            _kill(pid)
        time.sleep(PAUSE)


def _marked(mark: bytes) -> list[int]:
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in file.read_bytes().split(b"\0"):
                found.append(int(file.parent.name))
    return found


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def _descendants() -> dict[int, str]:
    """The processes below this one by number, with their names; none where the system does not list them."""
    parents: dict[int, tuple[int, str]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            head, _, rest = file.read_text(errors="replace").rpartition(")")
            state, parent = rest.split()[:2]
            if state not in "ZX":
                parents[int(file.parent.name)] = int(parent), head.partition("(")[2]
    below = {os.getpid()}
    found: dict[int, str] = {}
    while more := {pid: name for pid, (parent, name) in parents.items() if parent in below and pid not in found}:
        found |= more
        below = set(more)
    return found
