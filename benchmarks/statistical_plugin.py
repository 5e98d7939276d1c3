"""pytest options and summary of the statistical batch (`statistical_suite.py`): one item per cell, over xdist.

    pytest -p benchmarks.statistical_plugin benchmarks/statistical_suite.py -n auto --size full --budget 30min

Every finished item shows how many are left and about how long; the end shows the gate, the ledger's total, what is
undecided and what is pending. Results go to the record store piece by piece, so the next run goes on where this
one was stopped.
"""

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.batch import seconds, summary
from benchmarks.cli_conventions import VIOLATED, positive
from benchmarks.store import DEFAULT


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the batch."""
    group = parser.getgroup("statistical batch")
    group.addoption("--size", choices=("quick", "full"), default="full", help="how large")
    group.addoption("--budget", type=seconds, default=math.inf, metavar="TIME", help="90s, 30min, 2h")
    group.addoption(
        "--samples", type=positive, default=math.inf, metavar="N", help="at most so many replicates per cell"
    )
    group.addoption("--epoch", default="pinned", help="a name for the seeds, or 'fresh' for today's")
    group.addoption("--stretch", type=float, default=1.0, help="raise n_max of undecided cells by this factor")
    group.addoption("--store", type=Path, default=DEFAULT, help="the record store")


def pytest_configure(config: pytest.Config) -> None:
    """The controller collects the records that items report; workers know when the whole run began."""
    if hasattr(config, "workerinput"):
        config.stash[STARTED] = config.workerinput["statistics_started"]
        return
    config.stash[STARTED] = time.time()
    config.pluginmanager.register(Progress(config), "statistical progress")


STARTED = pytest.StashKey[float]()
RECORD = "statistics"


class Progress:
    """Runs in the controller: counts, estimates, and judges at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.records: list[dict[str, Any]] = []
        self.total = self.done = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the start of the run to a worker of xdist."""
        node.workerinput["statistics_started"] = self.config.stash[STARTED]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Every worker collects the same items."""
        self.total = len(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without xdist the items are collected here."""
        self.total = max(self.total, len(session.items))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the record of an item and show what is left."""
        if report.when != "call":
            return
        self.done += 1
        self.records += [json.loads(str(value)) for name, value in report.user_properties if name == RECORD]
        elapsed = time.time() - self.config.stash[STARTED]
        left = elapsed / self.done * max(self.total - self.done, 0)
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.write_line(f"[{self.done}/{self.total}, about {left / 60:.1f} min left] {report.nodeid}")

    def _summary(self) -> dict[str, Any]:
        return summary(sorted(self.records, key=lambda record: record["cell"]))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """The product over all cells can be red where no single cell is."""
        if self.records and self._summary()["outcome"] == "violated":
            session.exitstatus = VIOLATED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The gate, the ledger, and a warning for everything that has no verdict."""
        if not self.records:
            return
        found = self._summary()
        terminalreporter.section("statistical verdicts")
        terminalreporter.write_line(
            f"gate: {found['outcome']}; error budget {found['spent']:.2g} of {found['budget']:.2g}; "
            f"log product {found['log_product']:.1f}; suspects: {', '.join(found['suspects']) or 'none'}"
        )
        for word in ("violated", "undecided", "pending"):
            for cell in found[word]:
                terminalreporter.write_line(f"{'warning: ' if word != 'violated' else ''}{word}: {cell}")
