"""pytest options and summary of the statistical batch (`statistical_suite.py`): one item per cell, over xdist.

    pytest -p benchmarks.batch.plugin benchmarks/batch/suite.py -n auto --size full --budget 30min

Every finished item shows how many are left and about how long; the end shows the gate, the ledger's total, and with the
commands that continue them what is undecided and what is pending, also where a worker was killed. Results go to the
record store piece by piece, so the next run goes on where this one was stopped, in the same seed set.
"""

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.batch import cells
from benchmarks.batch.gate import PENDING, summary
from benchmarks.batch.history import FRESH, seed_set_of, warnings
from benchmarks.cli.conventions import VIOLATED, factor, positive
from benchmarks.cli.timespan import UNITS, seconds
from benchmarks.runner.store import DEFAULT


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
    """The controller collects the records of the items; workers know when the whole run began, and its seed set."""
    if hasattr(config, "workerinput"):
        config.stash[STARTED], config.stash[SEED_SET] = config.workerinput["statistics"]
        return
    config.stash[STARTED] = time.time()
    config.stash[SEED_SET] = _seed_set(config)
    config.pluginmanager.register(Progress(config), "statistical progress")


def _seed_set(config: pytest.Config) -> str:
    """The seed set of the whole run, whichever day it ends."""
    word: str = config.getoption("--seed-set")
    if word != FRESH or config.option.collectonly:
        return word
    with cells.opened(config.getoption("--store"), config.getoption("--size")) as history:
        return seed_set_of(word, history, only=_selection(config))


def _selection(config: pytest.Config) -> str:
    """The name of a run of all cells, or of those that -k chooses."""
    return f"-k {config.option.keyword}" if config.option.keyword else ""


def pytest_report_header(config: pytest.Config) -> str:
    """Which samples these are."""
    return f"seed set: {config.stash[SEED_SET]}"


STARTED = pytest.StashKey[float]()
SEED_SET = pytest.StashKey[str]()
RECORD = "statistics"
CLAIM, CONTROL = "::test_claim[", "::test_control["


class Progress:
    """Runs in the controller: counts, estimates, and judges at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.records: dict[str, dict[str, Any]] = {}
        self.ids: list[str] = []
        self.ended: set[str] = set()
        self.skipped: set[str] = set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the start and the seed set of the run to a worker of xdist."""
        node.workerinput["statistics"] = (self.config.stash[STARTED], self.config.stash[SEED_SET])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Every worker collects the same items."""
        self.ids = list(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without xdist the items are collected here."""
        self.ids = self.ids or [item.nodeid for item in session.items]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the record of an item and show what is left."""
        if report.when != "call":
            return
        self.ended.add(report.nodeid)
        self.skipped |= {report.nodeid} if report.skipped else set()
        for name, value in report.user_properties:
            if name == RECORD:
                record = json.loads(str(value))
                self.records[record["cell"]] = record
        elapsed = time.time() - self.config.stash[STARTED]
        left = elapsed / len(self.ended) * max(len(self.ids) - len(self.ended), 0)
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            done = f"[{len(self.ended)}/{len(self.ids)}, about {left / UNITS['min']:.1f} min left]"
            terminal.write_line(f"{done} {report.nodeid}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """The product over all cells can be red where no single cell is; a run without gaps is finished."""
        if self.config.option.collectonly or not self.ids:
            return
        self._fill()
        if self.records and self._summary()["outcome"] == "violated":
            session.exitstatus = VIOLATED
        controls = {name for name in self.ids if CONTROL in name}
        whole = controls <= self.ended - self.skipped
        if whole and not any(record["outcome"] == PENDING for record in self.records.values()):
            with cells.opened(self._option("--store"), self._option("--size")) as history:
                history.finish(self.config.stash[SEED_SET], _selection(self.config))

    def _fill(self) -> None:
        """A cell whose worker was killed, or that was never begun, is what its rows in the store make of it."""
        from properties.statistics.suite import planned

        claimed = {name.partition(CLAIM)[2].removesuffix("]") for name in self.ids if CLAIM in name}
        for index, item in enumerate(planned(self._option("--size"))):
            if item.cell.id in claimed and item.cell.id not in self.records:
                self.records[item.cell.id] = cells.verdict(
                    index,
                    size=self._option("--size"),
                    seed_set=self.config.stash[SEED_SET],
                    path=self._option("--store"),
                    deadline=self.config.stash[STARTED],
                    stretch=self._option("--stretch"),
                    samples=self._option("--samples"),
                )

    def _option(self, name: str) -> Any:
        return self.config.getoption(name)

    def _summary(self) -> dict[str, Any]:
        return summary([self.records[cell] for cell in sorted(self.records)])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The gate, the ledger, and a warning for everything that has no verdict."""
        for name in sorted(self.skipped):
            if CONTROL in name:
                terminalreporter.write_line(f"warning: pending control: {name.partition(CONTROL)[2].removesuffix(']')}")
        if not self.records:
            return
        found = self._summary()
        terminalreporter.section("statistical verdicts")
        terminalreporter.write_line(
            f"gate: {found['outcome']}; error budget {found['spent']:.2g} of {found['budget']:.2g}; "
            f"log product {found['log_product']:.1f}; suspects: {', '.join(found['suspects']) or 'none'}"
        )
        for cell in found["violated"]:
            terminalreporter.write_line(f"violated: {cell}")
        names = {"size": "--size", "stretch": "--stretch", "path": "--store"}
        common = {name: self._option(option) for name, option in names.items()}
        for line in warnings(
            [self.records[c] for c in sorted(self.records)], seed_set=self.config.stash[SEED_SET], **common
        ):
            terminalreporter.write_line(line)
