"""What a worker may do instead of its work; each function is called in a process of its own."""

import ctypes
import os
import signal
import sys
import time

from properties.process.child import Line
from properties.process.session import Alive

FORKS = 300


def write_without_end(pipe: int) -> None:
    """Fill standard error, then answer."""
    with Line(pipe) as line:
        for _ in range(100):
            os.write(2, b"x" * 65_536)
        line.send(Alive())


def flood(pipe: int) -> None:
    """Write to standard error for ever."""
    with Line(pipe):
        while True:
            os.write(2, b"x" * 65_536)


def break_the_pipe(pipe: int) -> None:
    """Write what controls a terminal, and let the next reading of an order fail."""
    with Line(pipe) as line:
        os.write(2, b"\x1b[2J\xff\n")
        os.set_blocking(pipe, False)
        line.receive(Alive)


def stop(pipe: int) -> None:
    """Stop itself."""
    with Line(pipe):
        os.kill(os.getpid(), signal.SIGSTOP)


def stop_traced(pipe: int) -> None:
    """Stop itself, traced by the process that watches it where that is allowed."""
    with Line(pipe):
        refused = ctypes.CDLL(None).ptrace(0, 0, 0, 0)
        os.kill(os.getpid(), signal.SIGSTOP if refused else signal.SIGUSR1)


def start_many(pipe: int) -> None:
    """Start more processes than a worker may have."""
    with Line(pipe):
        for _ in range(FORKS):
            if os.fork() == 0:
                time.sleep(1000.0)
        time.sleep(1000.0)


def end_the_watcher(pipe: int) -> None:
    """Kill the process that watches it."""
    with Line(pipe):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000.0)


def follow_script() -> None:
    """Start a worker of the name that the command line gives, and say how it ended: standard error is the caller's."""
    from properties.process.child import Child

    with Child(f"{__spec__.name}:{sys.argv[1]}") as child:
        sys.stdout.write(repr(child.hear(Alive, seconds=float(sys.argv[2]))))
