"""Progress of a run: how many jobs are done, about how long the rest takes, and when its time is over."""

import math
import time
from collections.abc import Callable

FEWEST, LEAST_PART = 3, 0.05
"""How many jobs must be done, and which part of all, before their time says something about that of the rest."""
LONG = 120.0
"""Seconds from which on the time left is given in minutes."""
Show = Callable[[str], None]


def now() -> float:
    """The clock of all deadlines, in seconds. It is never set back, and processes of one machine share it."""
    return time.monotonic()


def progress_line(done: int, total: int, seconds: float, name: str, *, known: int = 0) -> str:
    """A line of progress: the count, the part of the whole and, once there is enough to tell, the time left.

    The `known` ones among those done took no time: they were in the store.

    >>> progress_line(1, 40, 3.0, "walked"), progress_line(10, 40, 30.0, "walked")
    ('[1/40, 2 %] walked', '[10/40, 25 %, about 90 s left] walked')
    """
    left, timed = "", done - known
    if timed >= max(FEWEST, LEAST_PART * (total - known)):
        remaining = seconds / timed * (total - done)
        left = f", about {remaining:.0f} s left" if remaining < LONG else f", about {remaining / 60.0:.0f} min left"
    return f"[{done}/{total}, {100 * done // total} %{left}] {name}"


class Progress:
    """Counts the jobs of a run, and shows which one is at work, or instead (`endings`) how each has ended."""

    def __init__(
        self, total: int, show: Show = lambda text: None, deadline: float = math.inf, *, endings: bool = False
    ) -> None:
        self.total, self.show, self.deadline, self.endings, self.started = total, show, deadline, endings, now()
        self.done = self.known = 0
        self._under_way: list[str] = []

    @property
    def over(self) -> bool:
        """Whether nothing more may begin."""
        return now() >= self.deadline

    def begin(self, name: str) -> None:
        """Say what is at work, if nothing that began before still is."""
        self._under_way.append(name)
        if len(self._under_way) == 1 and not self.endings:
            self._say(name)

    def finish(self, name: str, ending: str = "", *, complete: bool = True) -> None:
        """Count a job that is complete; say what is at work now, or how the job has ended."""
        self.done += complete
        if name in self._under_way:
            self._under_way.remove(name)
        else:
            self.known += complete
        if self.endings:
            self._say(ending)
        elif self._under_way:
            self._say(self._under_way[0])
        elif self.done == self.total:
            self._say(name)

    def _say(self, text: str) -> None:
        self.show(progress_line(self.done, self.total, now() - self.started, text, known=self.known))
