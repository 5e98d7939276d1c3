"""Fair timing: contestants take turns in one run, and the best of several turns, in several passes, counts."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

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


def without_limit(subject: str, size: str, ours: float, theirs: float) -> Measurement:
    """A ratio without a limit."""
    return Measurement(subject, size, ours, theirs, ours / theirs, "stated", True)


def best_of(passes: Sequence[Measurement]) -> Measurement:
    """The same line of several passes: the best time of each contestant.

    A neighbour on the other half of a core slows one contestant and not the next, for seconds: longer than turns last.

    >>> best_of([at_most("x", "S=1", 3.0, 1.0, 2.0), at_most("x", "S=1", 1.5, 2.0, 2.0)]).ratio
    1.5
    """
    first = passes[0]
    ours, theirs = min(line.ours for line in passes), min(line.theirs for line in passes)
    sign, _, limit = first.limit.partition(" ")
    if sign == "<=":
        return at_most(first.subject, first.size, ours, theirs, float(limit))
    if sign == ">=":
        return at_least(first.subject, first.size, ours, theirs, float(limit))
    return replace(first, ours=ours, theirs=theirs, ratio=ours / theirs)


def closest(lines: Sequence[Measurement]) -> list[Measurement]:
    """Of each comparison the one line that is closest to its limit, or beyond it: the whole table in short.

    >>> closest([at_most("x", "S=1", 1.0, 1.0, 2.0), at_most("x", "S=9", 3.0, 2.0, 2.0)])[0].size
    'S=9'
    """
    grouped: dict[str, list[Measurement]] = {}
    for line in lines:
        grouped.setdefault(line.subject, []).append(line)
    return [max(same, key=_strain) for same in grouped.values()]


def _strain(line: Measurement) -> float:
    """How much of its limit a line uses up: 1 is the limit itself; a line that is only stated uses nothing."""
    sign, _, limit = line.limit.partition(" ")
    if sign == "<=":
        return line.ratio / float(limit)
    return float(limit) / line.ratio if sign == ">=" else 0.0
