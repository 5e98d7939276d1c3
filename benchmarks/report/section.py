"""A section of the report: what it collects, how it is drawn, and its lines of the verdict."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from benchmarks.report.markup import Html
from benchmarks.report.plots import Plot
from benchmarks.runner.schedule import run
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit

STORES = Path(".robust-core")
"""Where results are kept: those of the report, and those of `bench` and of the statistical batches."""
SEVERITY = ("violated", "error", "undecided", "pending", "holds")
Record = TypeVar("Record")
Show = Callable[[str], None]


@dataclass
class Work:
    """The options of a report, and what was collected for it so far."""

    targets: Sequence[str] = ()
    quick: bool = False
    workers: int = 1
    stores: Path = STORES
    baseline: Path | None = None
    history: Path | None = None
    show: Show = lambda line: None
    begun: float = field(default_factory=time.time)
    seconds: list[tuple[str, float]] = field(default_factory=list)
    _results: dict[Callable[["Work"], Any], Any] = field(default_factory=dict)

    def result(self, collect: Callable[["Work"], Record]) -> Record:
        """The result of a function of the work, which is called once."""
        if collect not in self._results:
            self._results[collect] = collect(self)
        found: Record = self._results[collect]
        return found

    def compute(self, units: Sequence[Unit]) -> list[Any]:
        """The values of units in their order; the store of the report keeps them as they come."""
        with closing(Store(self.stores / "report.jsonl")) as store:
            values = run(units, store=store, workers=self.workers, show=self.show)
        return [values[unit.key] for unit in units]

    @contextmanager
    def part(self, name: str, label: str) -> Iterator[None]:
        """Time one part; its progress begins with the label."""
        outside = self.show
        self.show = lambda line: outside(f"[{label}] {line}")
        self.show(name)
        started = time.perf_counter()
        try:
            yield
        finally:
            self.show = outside
        self.seconds.append((name, round(time.perf_counter() - started, 2)))


@dataclass(frozen=True)
class Line:
    """A line of the verdict.

    `brief` is what the sentence of the verdict says of it when all is well; a line that does not decide is a finding
    about the paper.
    """

    section: str
    name: str
    outcome: str
    short: str
    brief: str = ""
    decides: bool = True


@dataclass(frozen=True)
class Content:
    """The content of a section, and the plots whose values the page's script shows."""

    body: Html
    plots: tuple[Plot, ...] = ()


@dataclass(frozen=True)
class Section(Generic[Record]):
    """Its anchor, its heading, and three functions: collect a record, draw it, and judge it for the verdict.

    A section is about this run of the code, or about the paper; the second part of the page has the latter.
    """

    id: str
    title: str
    collect: Callable[[Work], Record]
    render: Callable[[Record], Content]
    judge: Callable[[Record], Sequence[Line]] = lambda record: ()
    about: Literal["run", "paper"] = "run"


def worst(outcomes: set[str]) -> str:
    """The most severe of some outcomes; without any, nothing is wrong.

    >>> worst({"holds", "undecided"}), worst(set())
    ('undecided', 'holds')
    """
    return next((word for word in SEVERITY if word in outcomes), "holds")
