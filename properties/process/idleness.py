"""How long a process has been idle: not at work, and not kept from it by others.

Time on the wall accuses the innocent: on a crowded machine a process waits for its turn, and one that was stopped and
continued finds that minutes have passed. Idle time is what is left when the processor's time and the time in the
queue for a processor are taken away; a look that comes late, because the observer itself was stopped, counts as one
that came in time.
"""

import os
from time import monotonic, process_time

LOOKS = 16
"""Looks within a limit: so many parts of it are told apart."""


class Idleness:
    """The idle time of a process since now, as seen by looks that are `pause` seconds apart; `stopped` is not in it.

    >>> idleness = Idleness(os.getpid(), 0.01)
    >>> from time import sleep; sleep(0.01)
    >>> 0.0 <= idleness.look() <= 0.01
    True
    """

    def __init__(self, process: int, pause: float) -> None:
        self._process, self._pause, self._passed = process, pause, 0.0
        self.stopped = 0.0
        self._first = self._last = self._now()

    def look(self) -> float:
        """Idle seconds up to now."""
        now = self._now()
        since = min(now[0] - self._last[0], self._pause)
        if _stopped(self._process):
            self.stopped += since
        else:
            self._passed += since
        self._last = now
        # In sum, not look by look: a wait for the processor is told only when it is over.
        return max(self._passed - self.work_seconds() - (now[2] - self._first[2]), 0.0)

    def work_seconds(self) -> float:
        """Seconds of the processor up to the last look."""
        return self._last[1] - self._first[1]

    def _now(self) -> tuple[float, float, float]:
        return monotonic(), _worked(self._process), _queued(self._process)


def _worked(process: int) -> float:
    """Seconds of the processor that all threads have used; 0 where the system does not tell."""
    if process == os.getpid():
        return process_time()
    fields = _status(process)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _queued(process: int) -> float:
    """Seconds that the main thread has waited for a processor; 0 where the system does not tell."""
    try:
        return int(_content(f"/proc/{process}/schedstat").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _stopped(process: int) -> bool:
    """Whether the process is stopped at this moment, by a signal or a debugger."""
    return _status(process)[:1] in (["T"], ["t"])


def _status(process: int) -> list[str]:
    """The fields of /proc/…/stat from the state on: the name before them may hold anything."""
    try:
        return _content(f"/proc/{process}/stat").decode(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _content(path: str) -> bytes:
    """The few bytes of a file of the system; every case begins with a look, so a text file would take too long."""
    handle = os.open(path, os.O_RDONLY)
    try:
        return os.read(handle, 4096)
    finally:
        os.close(handle)
