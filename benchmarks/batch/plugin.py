"""pytest options and summary of the statistical batch (`benchmarks/batch/suite.py`): one item per cell, over xdist.

    pytest -p benchmarks.batch.plugin benchmarks/batch/suite.py -n auto --size full --budget 30min

An item is one job of the runner, computed in the worker that has it. Every finished item shows how many are left and
about how long; the end shows the gate and, with the commands that continue them, the cells that are undecided or
pending. Results go to the record store piece by piece, so the next run goes on where this one was stopped, in the same
seed set. A worker that dies is an error: the exit code is 2, and the cells it had are pending.
"""

import math
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import pytest

from benchmarks.batch.cells import ROWS, Batch, Selection, plan_cells
from benchmarks.batch.history import History, seed_set_of, warnings
from benchmarks.cli.conventions import USAGE, VIOLATED, factor, positive, seconds
from benchmarks.runner import identity
from benchmarks.runner.progress import Progress, now
from benchmarks.runner.schedule import InProcess, Job, results
from benchmarks.runner.store import DEFAULT, Store
from properties.statistics import budget
from properties.statistics.records import CellResult, Gate
from robust_core import json
from robust_core.json import from_data

T = TypeVar("T")
CELL, CONTROL = "::test_cell[", "::test_control["
RESULT = "statistics"
"""The property of an item that carries the result of its cell from a worker to the controller."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the batch."""
    group = parser.getgroup("statistical batch")
    group.addoption("--size", choices=("quick", "full"), default="full", help="how large")
    group.addoption("--budget", type=seconds, default=math.inf, metavar="TIME", help="90s, 30min, 2h")
    group.addoption(
        "--samples", type=positive, default=math.inf, metavar="N", help="at most so many replicates per cell"
    )
    group.addoption(
        "--seed-set", default="pinned", help="a name for the seeds, or 'fresh': today's, or an unfinished run's"
    )
    group.addoption("--stretch", type=factor, default=1.0, help="raise n_max of undecided cells by this factor")
    group.addoption("--store", type=Path, default=DEFAULT, help="the record store")


def pytest_configure(config: pytest.Config) -> None:
    """Every process opens the store once; the controller alone fixes the deadline and the seed set."""
    if config.option.collectonly:
        return
    size = config.getoption("--size")
    history = History(Store(config.getoption("--store")), identity.of(ROWS), size)
    if hasattr(config, "workerinput"):
        deadline, seed_set = config.workerinput["statistics"]
    else:
        deadline = now() + config.getoption("--budget")
        seed_set = seed_set_of(config.getoption("--seed-set"), history, only=_selection(config))
    batch = Batch(size, seed_set, config.getoption("--samples"), config.getoption("--stretch"))
    config.stash[SUITE] = Suite(batch, history, deadline)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Controller(config), "statistical controller")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the store."""
    if (suite := config.stash.get(SUITE, None)) is not None:
        suite.history.store.close()


def _selection(config: pytest.Config) -> str:
    """The name of a run of all cells, or of those that -k chooses."""
    return f"-k {config.option.keyword}" if config.option.keyword else ""


def pytest_report_header(config: pytest.Config) -> str:
    """Which samples these are."""
    suite = config.stash.get(SUITE, None)
    return f"seed set: {suite.batch.seed_set if suite is not None else config.getoption('--seed-set')}"


class Suite:
    """What the items of one process share."""

    def __init__(self, batch: Batch, history: History, deadline: float) -> None:
        self.batch, self.history, self.deadline = batch, history, deadline

    def run(self, job: Job[T]) -> T:
        """The result of a job, computed in this process."""
        self.history.store.refresh()
        progress = Progress(1, deadline=self.deadline)
        ((_, result),) = results([job], store=self.history.store, where=nullcontext(InProcess()), progress=progress)
        return result

    def decide(self, cell: int) -> CellResult:
        """Decide a cell, by its place in the run, and keep its verdict."""
        result = self.run(self.batch.cell(plan_cells(self.batch.size)[cell]))
        self.history.keep(self.batch.stretch, result)
        return result


SUITE = pytest.StashKey[Suite]()


class Controller:
    """Runs in the controller: counts, estimates, and judges at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.suite = config, config.stash[SUITE]
        self.results: dict[str, CellResult] = {}
        self.ids: list[str] = []
        self.ended: set[str] = set()
        self.skipped: set[str] = set()
        self.died = False
        self.progress = Progress(0, self._write, endings=True)

    def _write(self, line: str) -> None:
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.write_line(line)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the deadline and the seed set of the run to a worker of xdist."""
        node.workerinput["statistics"] = (self.suite.deadline, self.suite.batch.seed_set)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        """A worker that was not asked to end has died."""
        self.died = self.died or error is not None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Every worker collects the same items."""
        self._expect(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without xdist the items are collected here."""
        self._expect(self.ids or [item.nodeid for item in session.items])

    def _expect(self, ids: list[str]) -> None:
        self.ids = list(ids)
        self.progress.total = len(self.ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result of an item and show what is left."""
        if report.when != "call":
            return
        self.ended.add(report.nodeid)
        self.skipped |= {report.nodeid} if report.skipped else set()
        for name, value in report.user_properties:
            if name == RESULT:
                result = from_data(CellResult, json.loads(str(value)))
                self.results[result.cell] = result
        self.progress.begin(report.nodeid)
        self.progress.finish(report.nodeid, report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """The product over all cells can be red where no single cell is; a run without gaps is finished."""
        if not self.ids:
            return
        self._fill()
        if self.results and self._gate().red:
            session.exitstatus = VIOLATED
        if self.died:
            session.exitstatus = USAGE
        controls = {name for name in self.ids if CONTROL in name}
        whole = controls <= self.ended - self.skipped
        if whole and not any(result.outcome == "pending" for result in self.results.values()):
            self.suite.history.finish(self.suite.batch.seed_set, _selection(self.config))

    def _fill(self) -> None:
        """A cell whose worker was killed, or that was never begun, is decided by its rows in the store, or pending."""
        claimed = {name.partition(CELL)[2].removesuffix("]") for name in self.ids if CELL in name}
        late = Suite(self.suite.batch, self.suite.history, -math.inf)
        for index, item in enumerate(plan_cells(self.suite.batch.size)):
            if item.cell.id in claimed and item.cell.id not in self.results:
                self.results[item.cell.id] = late.decide(index)

    def _sorted(self) -> list[CellResult]:
        return [self.results[cell] for cell in sorted(self.results)]

    def _gate(self) -> Gate:
        return budget.gate(self._sorted())

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The gate, the ledger, and a warning for everything that has no verdict."""
        for name in sorted(self.skipped):
            if CONTROL in name:
                terminalreporter.write_line(f"warning: pending control: {name.partition(CONTROL)[2].removesuffix(']')}")
        if self.died:
            terminalreporter.write_line("error: a worker process died; the results so far are in the store")
        if not self.results:
            return
        gate, batch = self._gate(), self.suite.batch
        terminalreporter.section("statistical verdicts")
        terminalreporter.write_line(
            f"gate: {gate.outcome}; error budget {gate.spent:.2g} of {gate.budget:.2g}; "
            f"log product {gate.log_product:.1f}; suspects: {', '.join(gate.suspects) or 'none'}"
        )
        for cell in gate.violated:
            terminalreporter.write_line(f"violated: {cell}")
        path = self.suite.history.store.path
        for line in warnings(self._sorted(), size=batch.size, stretch=batch.stretch, path=path):
            terminalreporter.write_line(line)


def result_property(result: CellResult) -> tuple[str, str]:
    """The result of a cell as a property of its item."""
    return RESULT, json.dumps(result)


def names(size: Any) -> tuple[list[str], list[str]]:
    """The ids of the items: cells, then controls."""
    selection = Selection.of(size)
    return [item.cell.id for item in selection.cells], [control.name for control in selection.controls]
