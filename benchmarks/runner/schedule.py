"""Run jobs over an executor: this process, a pool of processes, or a cluster.

A job asks for units of work until it can return its result; a single unit is the simplest one. What the store has is
not computed, and every value goes into the store as it comes: a run that is killed loses the units under way and
nothing else. When the time is over no further unit begins, and a job that lacks units is told so. A worker that dies
is an error, never a verdict: the results so far are in the store.
"""

import math
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from benchmarks.runner.progress import Progress, Show, now
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit, compute, labels

T = TypeVar("T")
Steps = Generator[Sequence[Unit], list[Any], T]
"""Yields units and is sent their values, in their order; fewer of them mean that the time is over and it must end."""


@dataclass(frozen=True)
class Job(Generic[T]):
    """Steps that end with a result; `describe` says how they have ended."""

    name: str
    steps: Steps[T]
    describe: Callable[[T], str] = str


class Executor(Protocol):
    """Where units are computed."""

    @property
    def has_room(self) -> bool:
        """Whether another unit may be submitted now."""

    def submit(self, unit: Unit) -> None:
        """Begin a unit."""

    def collect(self) -> tuple[Unit, Any]:
        """Wait for a unit that has been submitted, and its value."""


class InProcess:
    """One unit after the other, in this process."""

    def __init__(self) -> None:
        self._unit: Unit | None = None

    @property
    def has_room(self) -> bool:
        """Whether the last unit was collected."""
        return self._unit is None

    def submit(self, unit: Unit) -> None:
        """Note the unit."""
        self._unit = unit

    def collect(self) -> tuple[Unit, Any]:
        """Compute it."""
        assert self._unit is not None
        unit, self._unit = self._unit, None
        return unit, compute(unit)


def executor(jobs: int, *, workers: int = 1, cluster: str | None = None) -> AbstractContextManager[Executor]:
    """The executor for so many jobs: the cluster whose scheduler is at that address, or `workers` processes."""
    if cluster is not None:
        from benchmarks.runner.cluster import connect

        return connect(cluster)
    if workers == 1 or jobs < 2:
        return nullcontext(InProcess())
    from benchmarks.runner.pool import Pool

    return Pool(min(workers, jobs))


def run(
    units: Sequence[Unit],
    *,
    store: Store,
    workers: int = 1,
    cluster: str | None = None,
    show: Show = lambda text: None,
    budget_seconds: float = math.inf,
) -> dict[bytes, Any]:
    """The values by key. Stored values are not computed again; after the budget no unit begins, so some may be missing.

    Units that are not repeatable are computed one at a time, in this process, when nothing else runs.
    """
    keys = {unit.key: unit for unit in units}
    store.refresh()
    missing = [unit for name, unit in keys.items() if store.get(name) is None]
    show(f"{len(keys) - len(missing)} units in the store, {len(missing)} to compute")
    progress = Progress(len(missing), show, now() + budget_seconds)
    name = labels(units)
    repeatable = [unit for unit in missing if unit.repeatable]
    alone = [unit for unit in missing if not unit.repeatable]
    for wanted, where in (
        (repeatable, executor(len(repeatable), workers=workers, cluster=cluster)),
        (alone, nullcontext(InProcess())),
    ):
        jobs = [Job(name(unit), _single(unit)) for unit in wanted]
        with closing(results(jobs, store=store, where=where, progress=progress)) as ended:
            for _ in ended:
                pass
    return {name: store.get(name) for name in keys if store.get(name) is not None}


def _single(unit: Unit) -> Steps[None]:
    yield [unit]


def results(
    jobs: Sequence[Job[T]], *, store: Store, where: AbstractContextManager[Executor], progress: Progress
) -> Generator[tuple[int, T], None, None]:
    """(place, result) of every job as it ends. The executor is entered when there is something to compute.

    Close it if it is not taken to its end: no process outlasts it.
    """
    with ExitStack() as stack:
        yield from _Schedule(jobs, store, lambda: stack.enter_context(where), progress).results()


@dataclass
class _Open:
    """A job that waits for units."""

    wanted: Sequence[Unit]
    lacking: set[bytes] = field(default_factory=set)


class _Schedule(Generic[T]):
    """Jobs are begun in their order, a new one only where the open ones leave the executor room."""

    def __init__(self, jobs: Sequence[Job[T]], store: Store, start: Callable[[], Executor], progress: Progress) -> None:
        self.jobs, self.store, self.start, self.progress = jobs, store, start, progress
        self.executor: Executor | None = None
        self.waiting = deque(range(len(jobs)))
        self.open: dict[int, _Open] = {}
        self.queue: deque[Unit] = deque()
        self.under_way: set[bytes] = set()
        self.begun: set[int] = set()

    def results(self) -> Iterator[tuple[int, T]]:
        """(place, result) of every job as it ends."""
        while True:
            yield from self._hand_out()
            if not self.under_way:
                return
            assert self.executor is not None
            unit, value = self.executor.collect()
            self.store.put(unit.key, value, repeatable=unit.repeatable)
            self.under_way.discard(unit.key)
            yield from self._deliver(unit.key)

    def _hand_out(self) -> Iterator[tuple[int, T]]:
        """Submit units and begin jobs while there is room and time; without time, end what lacks units."""
        while self.queue or self.waiting:
            if self.progress.over:
                yield from self._cut()
            elif self.queue and (self.executor is None or self.executor.has_room):
                self.executor = self.executor or self.start()
                unit = self.queue.popleft()
                self.under_way.add(unit.key)
                self.executor.submit(unit)
            elif self.queue or (self.executor is not None and not self.executor.has_room):
                return
            else:
                yield from self._advance(self.waiting.popleft(), None)

    def _cut(self) -> Iterator[tuple[int, T]]:
        """No further unit begins; the store may still decide jobs that were not begun."""
        self.queue.clear()
        for place in [place for place, job in self.open.items() if not job.lacking <= self.under_way]:
            yield from self._advance(place, self._values(self.open[place].wanted))
        while self.waiting:
            yield from self._advance(self.waiting.popleft(), None)

    def _deliver(self, name: bytes) -> Iterator[tuple[int, T]]:
        """A unit is there: go on with the jobs that lack nothing more."""
        for job in self.open.values():
            job.lacking.discard(name)
        for place in [place for place, job in self.open.items() if not job.lacking]:
            yield from self._advance(place, self._values(self.open[place].wanted))

    def _advance(self, place: int, values: list[Any] | None) -> Iterator[tuple[int, T]]:
        """Go on with a job until it lacks units or ends."""
        job, complete = self.jobs[place], not (place in self.open and self.open.pop(place).lacking)
        while True:
            try:
                wanted = next(job.steps) if values is None else job.steps.send(values)
            except StopIteration as end:
                result: T = end.value
                self.progress.finish(job.name, job.describe(result), complete=complete)
                yield place, result
                return
            values = self._values(wanted)
            complete = len(values) == len(wanted)
            if not complete and not self.progress.over:
                self._wait(place, wanted)
                return

    def _values(self, wanted: Sequence[Unit]) -> list[Any]:
        """The values of the units that are in the store, up to the first that is not."""
        values = []
        for unit in wanted:
            value = self.store.get(unit.key)
            if value is None:
                break
            values.append(value)
        return values

    def _wait(self, place: int, wanted: Sequence[Unit]) -> None:
        lacking = {unit.key: unit for unit in wanted if self.store.get(unit.key) is None}
        if place not in self.begun:
            self.begun.add(place)
            self.progress.begin(self.jobs[place].name)
        self.open[place] = _Open(wanted, set(lacking))
        known = self.under_way | {unit.key for unit in self.queue}
        self.queue.extend(unit for name, unit in lacking.items() if name not in known)
