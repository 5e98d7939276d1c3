"""Fair timing: contestants take turns in one run, and the best of several turns counts."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass(frozen=True)
class Measurement:
    """One line of the speed table: what was compared, the ratio ours/theirs (or theirs/ours), and its limit."""

    subject: str
    size: str
    ours: float
    theirs: float
    ratio: float
    limit: str
    within: bool


def best_times(
    contestants: Mapping[str, Work], *, turns: int = 7, clock: Callable[[], float] = time.thread_time
) -> dict[str, float]:
    """Seconds of the fastest turn of each contestant; one unmeasured turn first compiles and warms the caches.

    The clock counts processor time of this thread, which waiting for other work on the machine does not lengthen;
    what runs in several threads is for `time.perf_counter`.
    """
    for work in contestants.values():
        work()
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(turns):
        for name, work in contestants.items():
            started = clock()
            work()
            best[name] = min(best[name], clock() - started)
    return best


def at_most(subject: str, size: str, ours: float, theirs: float, limit: float) -> Measurement:
    """Ours may cost at most `limit` times theirs."""
    ratio = ours / theirs
    return Measurement(subject, size, ours, theirs, ratio, f"<= {limit:g}", ratio <= limit)


def at_least(subject: str, size: str, ours: float, theirs: float, limit: float) -> Measurement:
    """Theirs must cost at least `limit` times ours."""
    ratio = theirs / ours
    return Measurement(subject, size, ours, theirs, ratio, f">= {limit:g}", ratio >= limit)
