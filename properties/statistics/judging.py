"""Statistical laws on a variant that is not trusted: every replicate is watched, and a clock can end the work.

A variant that raises, hangs, prints or draws from global random state has broken the law by that. When the clock
ends a cell it is *undecided*, never *violated*: a slow variant is not a wrong one.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from properties.judging import blame
from properties.judging.blame import CannotBeJudged
from properties.judging.causes import Causes
from properties.judging.expectations import Expectation
from properties.judging.guard import IDLE_FACTOR, TooSlow, watched
from properties.judging.verdict import Record, Verdict, blocked
from properties.statistics import seed_sets
from properties.statistics.law import Cell, Size, decide
from properties.statistics.sequential import OutOfTime
from properties.statistics.suite import Planned
from robust_core.validate import Floats

REPLICATE_SECONDS = 30.0
"""A replicate is at most some hundred thousand updates: a second for plain Python, so this is a hang."""
VARIANT_SECONDS: Mapping[Size, float] = {"quick": 60.0, "full": 1800.0}
"""How long the cells of one variant may take together, in seconds of the processor; the rest is then undecided."""


class _Misconduct(Exception):
    """What a replicate did beside computing."""


class _Idle(Exception):
    """A replicate that did nothing for too long: asleep."""


def judged(
    item: Planned,
    *,
    seed_set: str = seed_sets.PINNED,
    tick: Callable[[], None] = lambda: None,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Verdict:
    """The verdict of one cell; `tick` is called before every replicate."""
    known = {"cell": item.cell.id, "law": item.law.name, "alpha": item.alpha, "seed_set": seed_set}
    try:
        # Warnings are noted by the exact laws; here they would be repeated at every replicate.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = decide(_watched(item.cell, tick, out_of_time), alpha=item.alpha, seed_set=seed_set)
    except OutOfTime as end:
        evidence = f"pending: the time for statistics ended after n={end.done}; a fast path (update_many) would help"
        return Verdict("undecided", evidence, end.done, statistics={**known, "n": end.done})
    except _Idle as idle:
        return Verdict("undecided", f"pending: {idle}", statistics={**known, "n": 0})
    except TooSlow as slow:
        return Verdict("violated", f"conduct: one replicate took {slow}: it hangs or is far too slow")
    except _Misconduct as fault:
        return Verdict("violated", str(fault))
    except BaseException as error:
        return _raised(error)
    verdict = result.verdict()
    return replace(verdict, statistics={**finite(result.numbers()), "law": item.law.name, "seed_set": seed_set})


def _raised(error: BaseException) -> Verdict:
    """The verdict on a cell that ended in an exception: a fault of the variant, or nobody's."""
    try:
        return Verdict("violated", blame.conduct(error))
    except CannotBeJudged as reason:
        return Verdict("error", str(reason))


def finite(value: Any) -> Any:
    """Plain data in which what is infinite or no number is None: JSON has no word for it.

    >>> finite({"log_against": float("inf"), "path": [[16, 2.5]]})
    {'log_against': None, 'path': [[16, 2.5]]}
    """
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _watched(cell: Cell, tick: Callable[[], None], out_of_time: Callable[[], bool]) -> Cell:
    done = 0

    def sample(seed: bytes) -> Floats:
        nonlocal done
        if out_of_time():
            raise OutOfTime(done)
        tick()
        rows: list[Floats] = []
        try:
            finding = watched(lambda: rows.append(cell.sample(seed)), seconds=REPLICATE_SECONDS)
        except TooSlow as slow:
            if slow.busy:
                raise
            raise _Idle(f"one replicate took {slow}: it sleeps, which is slow but not wrong") from None
        if finding is not None:
            raise _Misconduct(str(finding))
        done += 1
        return rows[0]

    return replace(cell, sample=sample)


def records(
    name: str,
    cells: Sequence[Planned],
    *,
    seed: int = 0,
    seconds: float = float("inf"),
    cause: str | None = None,
    causes: Causes | None = None,
    expected: Mapping[str, Expectation] | None = None,
    progress: Callable[[str], None] = lambda law: None,
    tick: Callable[[], None] = lambda: None,
) -> Iterator[Record]:
    """One record per cell of the variant `name`.

    `cause` is a law that is violated already: the cells then say nothing new and are blocked. A fault of conduct
    in one cell blocks the others. `causes` knows for which reasons the laws before had no answer. `seed` chooses the
    seed set, 0 the pinned one.
    """
    causes = causes or Causes()
    out_of_time = _clock(seconds)
    for item in cells:
        progress(item.name)
        started = time.perf_counter()
        excuse = (expected or {}).get(item.name)
        if cause is not None:
            verdict = blocked(cause)
        elif excuse is not None:
            verdict = _pinned(item, excuse, tick)
        else:
            verdict = causes.distinct(
                item.name, judged(item, seed_set=seed_sets.of_seed(seed), tick=tick, out_of_time=out_of_time)
            )
            if verdict.outcome == "violated" and verdict.statistics is None:
                cause = item.name
        yield Record.of(
            verdict,
            variant=name,
            law=item.name,
            seconds=time.perf_counter() - started,
            seed=seed,
            excuse=None if excuse is None else excuse.reason,
        )


def _clock(seconds: float) -> Callable[[], bool]:
    """Whether so much time of the processor has passed, or, for a variant that sleeps, far more on the wall."""
    busy, wall = time.process_time() + seconds, time.monotonic() + IDLE_FACTOR * seconds
    return lambda: time.process_time() >= busy or time.monotonic() >= wall


def _pinned(item: Planned, excuse: Expectation, tick: Callable[[], None]) -> Verdict:
    """Judge the pinned samples alone; anything but a violation is an error: the excuse has lost its ground."""
    assert excuse.seed_set is not None
    verdict = judged(item, seed_set=excuse.seed_set, tick=tick)
    if verdict.outcome == "violated":
        return verdict
    found = f"it is {verdict.outcome} in seed set {excuse.seed_set!r}"
    text = f"expected to fail ({excuse.reason}), but {found}: remove the entry"
    return replace(verdict, outcome="error", evidence=text)
