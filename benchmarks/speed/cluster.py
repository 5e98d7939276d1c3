"""What a cluster costs and gains: `robust-core speed cluster` prints the table of docs/cluster.md.

Starts a scheduler and one, then two workers on the loopback, and sends units that do nothing (the overhead), that
wait (the scaling of the engine, whatever else the machine does) and that compute (the scaling of the work, on an idle
machine of two cores). A first round of every kind is not counted.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.runner.cluster import Session, connect
from benchmarks.runner.units import Unit

ROUNDS = 3
WAIT = 0.1
"""Seconds that a waiting unit takes."""
STEPS = 2_000_000


def nothing(place: int) -> int:
    """A unit that does nothing."""
    return place


def waiting(place: int, seconds: float) -> int:
    """A unit that takes a while and no processor."""
    time.sleep(seconds)
    return place


def computing(place: int, steps: int) -> float:
    """A unit that learns: robust Q-learning on a small random model."""
    from robust_core import Q_LEARNING, Contamination, Problem, TabularLearner, Walk, constant, key, uniform
    from robust_core.learners.tabular import learn
    from robust_core.models import garnet

    mdp = garnet(100, 4, 5, gamma=0.9, seed=key("cluster speed"))
    problem = Problem.of(
        mdp,
        Contamination(0.1),
        step_size=constant(0.1),
    )
    learner = TabularLearner(Q_LEARNING, problem)
    learn(learner, Walk(mdp, uniform(100, 4), seed=key("cluster speed", place)), steps)
    return float(learner.table.sum())


def _unit(name: str, **arguments: Any) -> Unit:
    return Unit(f"benchmarks.speed.cluster:{name}", arguments)


def kinds() -> dict[str, list[Unit]]:
    """The units of a round."""
    return {
        "nothing": [_unit("nothing", place=i) for i in range(200)],
        "waiting": [_unit("waiting", place=i, seconds=WAIT) for i in range(40)],
        "computing": [_unit("computing", place=i, steps=STEPS) for i in range(40)],
    }


@dataclass(frozen=True)
class Cluster:
    """A scheduler with workers on the loopback."""

    address: str
    processes: list["subprocess.Popen[bytes]"]

    def cpu(self) -> float:
        """The processor time of all of them and of this process, in seconds (as Linux tells it)."""
        stats = [Path(f"/proc/{pid}/stat").read_text() for pid in [os.getpid(), *(one.pid for one in self.processes)]]
        # After the name in brackets: user and system time are the 12th and 13th field, in ticks.
        fields = [stat.rpartition(")")[2].split()[11:13] for stat in stats]
        return sum(int(tick) for spent in fields for tick in spent) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[Cluster]:
    """Start a scheduler and workers; end them."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ends:
        file = Path(folder) / "scheduler"
        common = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"]
        started = []
        for what in [["scheduler", "--port", "0"], *[["worker", "--nthreads", "1", "--no-nanny"]] * workers]:
            command = [sys.executable, "-m", f"distributed.cli.dask_{what[0]}", *common, *what[1:]]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            process = subprocess.Popen(command, cwd=folder, **quiet)  # type: ignore[call-overload]
            ends.callback(process.wait)
            ends.callback(process.kill)
            started.append(process)
        while not file.exists():
            time.sleep(0.05)
        yield Cluster(json.loads(file.read_text())["address"], started)


COLUMNS = ("workers", "units", "elapsed per unit", "processor time per unit")


@dataclass(frozen=True)
class Cost:
    """What one unit costs, in milliseconds."""

    workers: int
    units: str
    elapsed: float
    processor: float

    def row(self) -> list[object]:
        """A line of the table."""
        return [self.workers, self.units, f"{self.elapsed:.1f} ms", f"{self.processor:.1f} ms"]


def _best_round(session: Session, running: Cluster, units: list[Unit]) -> tuple[float, ...]:
    """(elapsed, processor time) per unit in milliseconds, the best of some rounds."""
    found = []
    for _ in range(ROUNDS + 1):
        elapsed, spent = time.perf_counter(), running.cpu()
        for _ in session.compute(units):
            pass
        found.append((time.perf_counter() - elapsed, running.cpu() - spent))
    return tuple(1e3 * min(column) / len(units) for column in zip(*found[1:], strict=True))


def measure() -> Iterator[Cost]:
    """The cost of units of every kind, with one worker and with two."""
    for workers in (1, 2):
        with cluster(workers) as running, connect(running.address) as session:
            session.client.wait_for_workers(workers)
            for kind, units in kinds().items():
                yield Cost(workers, kind, *_best_round(session, running, units))
