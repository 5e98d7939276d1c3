"""Statistical laws on a variant that is not trusted: every replicate is watched, and a clock can end the work.

A variant that raises, hangs, prints or draws from global random state has broken the law by that. When the clock
ends a cell it is *undecided*, never *violated*: a slow variant is not a wrong one.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import monotonic, perf_counter, process_time

from properties.cases.scope import OutOfScope
from properties.judging import blame
from properties.judging.blame import CannotBeJudged, NotTested
from properties.judging.causes import Causes
from properties.judging.expectations import Expectation
from properties.judging.guard import IDLE_FACTOR, TooSlow, watch
from properties.judging.verdict import Record, Verdict, blocked_verdict
from properties.statistics import seed_sets
from properties.statistics.law import Cell, Size, decide
from properties.statistics.sequential import OutOfTime
from properties.statistics.suite import Planned
from robust_core.validate import Floats

REPLICATE_SECONDS = 30.0
"""A replicate is at most some hundred thousand updates: a second for plain Python, so this is a hang."""
VARIANT_SECONDS: Mapping[Size, float] = {"quick": 60.0, "full": 1800.0}
"""How long the cells of one variant may take together, in seconds of the processor; the rest is then undecided."""


class _Misbehaviour(Exception):
    """What a replicate did beside computing."""


def judge(
    item: Planned,
    *,
    seed_set: str = seed_sets.PINNED,
    tick: Callable[[], None] = lambda: None,
    out_of_time: Callable[[], bool] = lambda: False,
    known: dict[bytes, Floats] | None = None,
) -> Verdict:
    """The verdict of one cell; `tick` is called before every replicate.

    `known` has the replicates of the variant by their seeds; cells with a common stream take them from there.
    """
    watch = _Watch(item.cell, tick, out_of_time, {} if known is None else known)
    try:
        # Warnings are noted by the exact laws; here they would be repeated at every replicate.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cell = replace(item.cell, sample=watch.sample)
            result = decide(cell, alpha=item.alpha, seed_set=seed_set, law=item.law.name)
    except TooSlow as slow:
        return Verdict("violated", f"misbehaviour: one replicate took {slow}: it hangs or is far too slow")
    except OutOfScope as reason:
        return Verdict(
            "untested", f"untested: the options of the variant leave out the problem of this cell ({reason})"
        )
    except _Misbehaviour as fault:
        return Verdict("violated", str(fault))
    except BaseException as error:
        return _raised(error)
    if result.outcome == "pending":
        return Verdict("undecided", f"pending: {watch.reason}", result.n, statistics=result)
    return Verdict(result.outcome, str(result), result.n, statistics=result)


def _raised(error: BaseException) -> Verdict:
    """The verdict on a cell that ended in an exception: a fault of the variant, or nobody's."""
    try:
        return Verdict("violated", blame.misbehaviour(error))
    except NotTested as reason:
        return Verdict("untested", str(reason))
    except CannotBeJudged as reason:
        return Verdict("error", str(reason))


class _Watch:
    """Watches every replicate of a cell; `reason` says why it stopped asking for more."""

    def __init__(
        self, cell: Cell, tick: Callable[[], None], out_of_time: Callable[[], bool], known: dict[bytes, Floats]
    ) -> None:
        self.cell, self.tick, self.out_of_time, self.known = cell, tick, out_of_time, known
        self.done, self.reason = 0, ""

    def sample(self, seed: bytes) -> Floats:
        """One replicate of the cell."""
        if seed not in self.known:
            self.known[seed] = self._computed(seed)
        self.done += 1
        return self.known[seed]

    def _computed(self, seed: bytes) -> Floats:
        if self.out_of_time():
            self.reason = f"the time for statistics ended after n={self.done}; a fast path (update_many) would help"
            raise OutOfTime
        self.tick()
        rows: list[Floats] = []
        try:
            finding = watch(lambda: rows.append(self.cell.sample(seed)), seconds=REPLICATE_SECONDS)
        except TooSlow as slow:
            if slow.busy:
                raise
            self.reason = f"one replicate took {slow}: it sleeps, which is slow but not wrong"
            raise OutOfTime from None
        if finding is not None:
            raise _Misbehaviour(str(finding))
        return rows[0]


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

    `cause` is a law that is violated already: the cells then say nothing new and are blocked. Misbehaviour
    in one cell blocks the others. `causes` knows for which reasons the laws before had no answer. `seed` chooses the
    seed set, 0 the pinned one.
    """
    causes = causes or Causes()
    out_of_time = _clock(seconds)
    known: dict[bytes, Floats] = {}
    for item in cells:
        progress(item.name)
        started = perf_counter()
        excuse = (expected or {}).get(item.name)
        if cause is not None:
            verdict = blocked_verdict(cause)
        elif excuse is not None:
            verdict = _pinned(item, excuse, tick)
        else:
            verdict = causes.distinct(
                item.name,
                judge(item, seed_set=seed_sets.of_seed(seed), tick=tick, out_of_time=out_of_time, known=known),
            )
            if verdict.outcome == "violated" and verdict.statistics is None:
                cause = item.name
        yield Record.of(
            verdict,
            variant=name,
            law=item.name,
            seconds=perf_counter() - started,
            seed=seed,
            excuse=None if excuse is None else excuse.reason,
        )


def _clock(seconds: float) -> Callable[[], bool]:
    """Whether so much time of the processor has passed, or, for a variant that sleeps, far more on the wall."""
    busy, wall = process_time() + seconds, monotonic() + IDLE_FACTOR * seconds
    return lambda: process_time() >= busy or monotonic() >= wall


def _pinned(item: Planned, excuse: Expectation, tick: Callable[[], None]) -> Verdict:
    """Judge the pinned samples alone; anything but a violation is an error: the excuse has lost its ground."""
    assert excuse.seed_set is not None
    verdict = judge(item, seed_set=excuse.seed_set, tick=tick)
    if verdict.outcome == "violated":
        return verdict
    found = f"it is {verdict.outcome} in seed set {excuse.seed_set!r}"
    text = f"expected to fail ({excuse.reason}), but {found}: remove the entry"
    return replace(verdict, outcome="error", evidence=text)
