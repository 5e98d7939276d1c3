"""Batches of statistical cells: resumable after any kill, the same bits whatever the workers.

A cell is a job of the runner: it asks for the rows up to its next look until the evidence is clear. Rows are functions
of their units and are kept in the record store, piece by piece. A budget of time or of samples leaves cells *pending*;
it never changes a finished one. Verdicts are kept too, and a night (`benchmarks.batch.nights`) continues what is
undecided.
"""

import functools
import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.batch.history import History
from benchmarks.runner import identity
from benchmarks.runner.progress import Progress, Show, now
from benchmarks.runner.schedule import Job, Steps, executor, results
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit
from properties.statistics import budget, law, laws, suite
from properties.statistics.law import Cell, Size, StatisticalLaw
from properties.statistics.records import CellResult, ControlResult, RunReport
from properties.statistics.sequential import Piece
from properties.statistics.suite import Planned
from robust_core.problem import Variant

ROWS = "benchmarks.batch.rows"
"""The module whose code computes the rows."""


@dataclass(frozen=True)
class Control:
    """A variant that its law must find violated. It spends no budget: its level is that of the strictest cell."""

    law: StatisticalLaw
    variant: Variant
    alpha: float

    @property
    def name(self) -> str:
        """The law and the variant."""
        return f"{self.law.name}: {self.variant.name}"


@dataclass(frozen=True)
class Batch:
    """What all cells of a run share. No cell takes more than `samples` replicates, wherever they come from."""

    size: Size
    seed_set: str
    samples: float = math.inf
    stretch: float = 1.0

    def cell(self, item: Planned) -> Job[CellResult]:
        """The job that decides a cell."""
        return Job(item.cell.id, self._cell(item), lambda result: f"{result.outcome:<9} n={result.n} {result.cell}")

    def _cell(self, item: Planned) -> Steps[CellResult]:
        return (yield from self._decide(item.law, item.law.right, item.cell, item.alpha))

    def control(self, control: Control) -> Job[ControlResult]:
        """The job that looks for a cell that catches a control."""
        return Job(
            control.name, self._control(control), lambda result: f"{result.outcome:<9} n={result.n} {result.control}"
        )

    def _control(self, control: Control) -> Steps[ControlResult]:
        unstretched = replace(self, stretch=1.0)
        for cell in control.law.cells(control.variant, self.size):
            result = yield from unstretched._decide(control.law, control.variant, cell, control.alpha)
            if result.outcome == "pending":
                return ControlResult(control.name, "pending")
            if result.outcome == "violated":
                return ControlResult(control.name, "violated", cell.id, result.n)
        return ControlResult(control.name, "missed")

    def _decide(self, of: StatisticalLaw, variant: Variant, cell: Cell, alpha: float) -> Steps[CellResult]:
        """The steps of a cell, with units in the place of its pieces."""
        steps = law.steps(cell, alpha=alpha, seed_set=self.seed_set, law=of.name, stretch=self.stretch)
        pieces = next(steps)
        while True:
            allowed = [piece for piece in pieces if piece[1] <= self.samples]
            tables = yield [self._unit(of, variant, cell, piece) for piece in allowed]
            try:
                pieces = steps.send(tables)
            except StopIteration as end:
                result: CellResult = end.value
                return result

    def _unit(self, of: StatisticalLaw, variant: Variant, cell: Cell, piece: Piece) -> Unit:
        names = {
            "size": self.size,
            "seed_set": self.seed_set,
            "law": of.name,
            "variant": variant.name,
            "stream": cell.stream,
        }
        return Unit(f"{ROWS}:rows", names | {"start": piece[0], "stop": piece[1]})


@functools.cache
def plan_cells(size: Size) -> tuple[Planned, ...]:
    """The cells of a run."""
    return tuple(suite.plan_cells(size))


@functools.cache
def controls(size: Size) -> tuple[Control, ...]:
    """The negative controls of a run."""
    alpha = min(item.alpha for item in plan_cells(size))
    return tuple(Control(law, variant, alpha) for law in laws.laws() for variant in law.wrong(size))


@dataclass(frozen=True)
class Selection:
    """The cells, and the controls, of a run whose name contains a text; the shares are those of the whole run."""

    cells: tuple[Planned, ...]
    controls: tuple[Control, ...]

    @classmethod
    def of(cls, size: Size, only: str = "", *, with_controls: bool = True) -> "Selection":
        """Those of a size."""
        wrong = controls(size) if with_controls else ()
        return cls(
            tuple(item for item in plan_cells(size) if only in item.cell.id),
            tuple(control for control in wrong if only in control.name),
        )


Results = tuple[tuple[CellResult, ...], tuple[ControlResult, ...]]


@dataclass(frozen=True)
class Runner:
    """Where jobs run, where their rows and verdicts are kept, and what is shown meanwhile."""

    history: History
    workers: int = 1
    cluster: str | None = None
    show: Show = lambda line: None

    def decide(self, batch: Batch, selection: Selection, deadline: float = math.inf) -> Results:
        """The results of cells and controls, in their order; verdicts are kept as they come."""
        jobs: list[Job[Any]] = [batch.cell(item) for item in selection.cells]
        jobs += [batch.control(control) for control in selection.controls]
        where = executor(len(jobs), workers=self.workers, cluster=self.cluster)
        progress = Progress(len(jobs), self.show, deadline, endings=True)
        found: dict[int, Any] = {}
        with closing(results(jobs, store=self.history.store, where=where, progress=progress)) as ended:
            for place, result in ended:
                found[place] = result
                if isinstance(result, CellResult):
                    self.history.keep(batch.stretch, result)
        ordered = [found[place] for place in range(len(jobs))]
        cells = len(selection.cells)
        return tuple(ordered[:cells]), tuple(ordered[cells:])

    def report(self, batch: Batch, selection: Selection, *, budget_seconds: float = math.inf) -> RunReport:
        """A run of cells and controls.

        The report is the same for every number of workers, on every cluster and after every history of kills.
        """
        deadline = now() + budget_seconds
        cells, checked = self.decide(batch, selection, deadline)
        return RunReport(batch.size, batch.seed_set, budget.gate(cells), cells, checked)


@contextmanager
def open_history(path: Path, size: Size) -> Iterator[History]:
    """The history of this code at a size."""
    with closing(Store(path)) as store:
        yield History(store, identity.of(ROWS), size)


def run(
    *,
    size: Size,
    seed_set: str,
    path: Path,
    workers: int = 1,
    cluster: str | None = None,
    budget_seconds: float = math.inf,
    samples: float = math.inf,
    stretch: float = 1.0,
    with_controls: bool = True,
    only: str = "",
    show: Show = lambda line: None,
) -> RunReport:
    """A run of all cells and controls whose name contains `only`."""
    with open_history(path, size) as history:
        runner = Runner(history, workers, cluster, show)
        selection = Selection.of(size, only, with_controls=with_controls)
        return runner.report(Batch(size, seed_set, samples, stretch), selection, budget_seconds=budget_seconds)
