"""Large statistical batches: cells over all cores, resumable after any kill, the same bits whatever the workers.

    python -m benchmarks.batch.cells --size full --budget 30min
    python -m benchmarks.batch.cells --size full --cluster tcp://127.0.0.1:8786

Every cell is decided from rows that are functions of their keys, by a process of its own or, when a cluster computes
the rows, by this one; rows are kept in the record store as they come, piece by piece. A budget of time or of samples
leaves cells *pending*; it never changes a finished one. Verdicts are kept too, and `python -m benchmarks.batch.nights`
continues what is undecided.
"""

import argparse
import functools
import hashlib
import itertools
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.batch.gate import PENDING, exit_code, summary
from benchmarks.batch.history import History, seed_set_of, warnings
from benchmarks.batch.watched import Watched
from benchmarks.cli.conventions import USAGE, factor, interruptible, positive, require_writable
from benchmarks.cli.timespan import UNITS, seconds
from benchmarks.runner.identity import executed
from benchmarks.runner.pool import computed, single_thread
from benchmarks.runner.store import DEFAULT, Store

if TYPE_CHECKING:
    from properties.statistics.law import Memory

LIBRARIES = ("numpy", "numba", "scipy")
"""The libraries whose versions can change the bits of a row."""


def versions() -> list[str]:
    """The Python and the libraries that compute the rows."""
    return [f"python {platform.python_version()}", *(f"{name} {version(name)}" for name in LIBRARIES)]


@functools.cache
def fingerprint() -> bytes:
    """A hash of what the samples depend on beside their keys: the sources of core, oracles and laws, and `versions`.

    Rows of other code are never taken from the store; seeds do not depend on it, so results stay comparable.
    """
    import oracles
    import properties.statistics
    import robust_core

    digest = hashlib.blake2b(" ".join(versions()).encode(), digest_size=16)
    for package in (robust_core, oracles, properties.statistics):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            code = executed(path.read_text(encoding="utf-8"))
            digest.update(f"{path.relative_to(root)}\0{code}\0".encode())
    return digest.digest()


@functools.cache
def cells(size: Any, kind: str, index: int) -> list[Any]:
    """(law, cell, alpha) of a cell of the run, by its place in `planned(size)`, or of all cells of a control."""
    from properties.statistics.suite import planned

    items = planned(size)
    if kind == "cell":
        return [(items[index].law, items[index].cell, items[index].alpha)]
    law, variant = controls(size)[index]
    # A control spends no budget: it is judged at the level of the strictest cell.
    return [(law, cell, min(item.alpha for item in items)) for cell in law.cells(variant, size)]


Where = tuple[str, int, int]
"""(kind, index, part): a cell as `cells` finds it."""
MemoryOf = Callable[[Where], "Memory"]
"""Where the rows of a cell are kept."""


@dataclass(frozen=True)
class Run:
    """What all cells of a run share. No cell takes more than `samples` replicates, wherever they come from."""

    size: Any
    seed_set: str
    deadline: float = math.inf
    samples: float = math.inf
    stretch: float = 1.0


def _decided(where: Where, run: Run, memory: Watched) -> Any:
    """The result of a cell; OutOfTime where a budget ends before the verdict."""
    from properties.statistics.law import decide

    kind, index, part = where
    _, cell, alpha = cells(run.size, kind, index)[part]
    coming = all_pieces()
    return decide(
        cell,
        alpha=alpha,
        seed_set=run.seed_set,
        memory=memory,
        fingerprint=fingerprint(),
        # Asked once before every piece, in the order of the pieces.
        out_of_time=lambda: next(coming)[1] > run.samples,
        stretch=run.stretch if kind == "cell" else 1.0,
    )


def all_pieces() -> Iterator[tuple[int, int]]:
    """The pieces of every cell, in order, without end; they depend on nothing."""
    for look in looks():
        yield from look


def looks() -> Iterator[list[tuple[int, int]]]:
    """The pieces that lie between two looks.

    >>> list(itertools.islice(looks(), 2))
    [[(0, 16)], [(16, 20)]]
    """
    from properties.statistics.law import PIECE
    from properties.statistics.sequential import look_times, pieces

    for start, stop in itertools.pairwise(itertools.chain([0], look_times())):
        yield pieces(start, stop, PIECE)


def verdict(
    index: int,
    *,
    size: Any,
    seed_set: str,
    path: Path,
    deadline: float,
    stretch: float = 1.0,
    samples: float = math.inf,
) -> dict[str, Any]:
    """Decide one cell of the run, by its place in `planned(size)`; the outcome is `pending` when a budget runs out."""
    found = _job("cell", index, Run(size, seed_set, deadline, samples, stretch), path)
    with opened(path, size) as history:
        history.keep(seed_set, stretch, found)
    return found


def control(
    index: int, *, size: Any, seed_set: str, path: Path, deadline: float = math.inf, samples: float = math.inf
) -> dict[str, Any]:
    """Whether the law catches one of its negative controls, by its place in `controls(size)`."""
    return _job("control", index, Run(size, seed_set, deadline, samples), path)


def record(kind: str, index: int, run: Run, memory_of: MemoryOf) -> dict[str, Any]:
    """The record of a cell or of a control."""
    return (_cell_record if kind == "cell" else _control_record)(index, run, memory_of)


def _cell_record(index: int, run: Run, memory_of: MemoryOf) -> dict[str, Any]:
    from properties.statistics.budget import Entry
    from properties.statistics.law import Result
    from properties.statistics.sequential import OutOfTime

    law, cell, alpha = cells(run.size, "cell", index)[0]
    where, plan = ("cell", index, 0), cell.plan(alpha)
    common = {"law": law.name, "n_max": plan.n_max}
    memory = Watched(memory_of(where), run.deadline)
    try:
        result = _decided(where, run, memory)
    except OutOfTime:
        so_far = Entry(cell.id, plan.alpha, plan.beta, plan.test.effect, memory.evidence(cell, alpha))
        return {**common, "outcome": PENDING, **Result(so_far, {}, "").numbers()}
    return {**common, "outcome": result.entry.decision.outcome, **result.numbers()}


def _control_record(index: int, run: Run, memory_of: MemoryOf) -> dict[str, Any]:
    from properties.statistics.sequential import OutOfTime

    law, variant = controls(run.size)[index]
    found = {"control": f"{law.name}: {variant.name}", "outcome": "missed", "cell": None, "n": None}
    try:
        for part, (_, cell, _) in enumerate(cells(run.size, "control", index)):
            where = ("control", index, part)
            decision = _decided(where, run, Watched(memory_of(where), run.deadline)).entry.decision
            if decision.outcome == "violated":
                return found | {"outcome": "violated", "cell": cell.id, "n": decision.n}
    except OutOfTime:
        return found | {"outcome": PENDING}
    return found


def controls(size: Any) -> list[Any]:
    """The negative controls of a size with their laws."""
    from properties.statistics.laws import laws

    return [(law, variant) for law in laws() for variant in law.wrong(size)]


def run(
    *,
    size: Any,
    seed_set: str,
    path: Path,
    workers: int = 1,
    cluster: str | None = None,
    budget_seconds: float = math.inf,
    samples: float = math.inf,
    stretch: float = 1.0,
    with_controls: bool = True,
    only: str = "",
    show: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """A run of all cells whose id contains `only`; the shares are those of the whole run.

    The result is the same for every number of workers, on every cluster and after every history of kills.
    """
    common = Run(size, seed_set, time.time() + budget_seconds, samples, stretch)
    jobs = chosen(size, only, with_controls=with_controls)
    return report(common, jobs, work(jobs, common, path, workers=workers, cluster=cluster, show=show))


def work(
    jobs: Sequence[tuple[str, int]],
    common: Run,
    path: Path,
    *,
    workers: int = 1,
    cluster: str | None = None,
    show: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """The records of cells and controls, in the order of the jobs; verdicts are kept as they come."""
    if cluster is None:
        partials = [functools.partial(_job, kind, index, common, path) for kind, index in jobs]
        results = _survived(computed(partials, workers=min(workers, max(len(jobs), 1))), jobs, common, path, show)
    else:
        from benchmarks.batch import on_cluster

        results = on_cluster.computed(jobs, common, path, cluster)
    started, found = time.time(), dict[int, dict[str, Any]]()
    with opened(path, common.size) as history:
        for place, result in results:
            found[place] = result
            if jobs[place][0] == "cell":
                history.keep(common.seed_set, common.stretch, result)
            left = (time.time() - started) / len(found) * (len(jobs) - len(found)) / UNITS["min"]
            name = result.get("control") or result["cell"]
            done = f"[{len(found)}/{len(jobs)}, about {left:.1f} min left]"
            show(f"{done} {result['outcome']:<9} n={result['n']} {name}")
    return [found[place] for place in range(len(jobs))]


def _survived(
    results: Iterator[tuple[int, dict[str, Any]]],
    jobs: Sequence[tuple[str, int]],
    common: Run,
    path: Path,
    show: Callable[[str], None],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The results; where a worker is killed, what is left is what its rows in the store make of it, mostly pending."""
    left = dict(enumerate(jobs))
    try:
        for place, result in results:
            del left[place]
            yield place, result
    except BrokenProcessPool:
        show("warning: a worker process died; what was not finished is pending")
        late = replace(common, deadline=-math.inf)
        yield from ((place, _job(kind, index, late, path)) for place, (kind, index) in left.items())


def report(common: Run, jobs: Sequence[tuple[str, int]], found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The gate and the records of a run."""
    records = [record for (kind, _), record in zip(jobs, found, strict=True) if kind == "cell"]
    checked = [record for (kind, _), record in zip(jobs, found, strict=True) if kind == "control"]
    return {
        "size": common.size,
        "seed_set": common.seed_set,
        "summary": summary(records),
        "missed controls": [c["control"] for c in checked if c["outcome"] == "missed"],
        "cells": records,
        "controls": checked,
    }


@contextmanager
def opened(path: Path, size: Any) -> Iterator[History]:
    """The history of this code at a size."""
    with closing(Store(path)) as store:
        yield History(store, fingerprint(), size)


def chosen(size: Any, only: str, *, with_controls: bool) -> list[tuple[str, int]]:
    """(kind, index) of the cells, then of the controls, whose name contains `only`."""
    from properties.statistics.suite import planned

    wanted = [("cell", i) for i, item in enumerate(planned(size)) if only in item.cell.id]
    if with_controls:
        names = (f"{law.name}: {variant.name}" for law, variant in controls(size))
        wanted += [("control", i) for i, name in enumerate(names) if only in name]
    return wanted


def _job(kind: str, index: int, run: Run, path: Path) -> dict[str, Any]:
    with closing(Store(path)) as store:
        return record(kind, index, run, lambda where: store)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that runs cells."""
    parser.add_argument("--size", choices=("quick", "full"), default="full", help="how large (default: full)")
    parser.add_argument("--budget", type=seconds, default=math.inf, metavar="TIME", help="90s, 30min, 2h")
    parser.add_argument(
        "--workers", type=positive, default=os.cpu_count() or 1, metavar="N", help="processes (default: all cores)"
    )
    parser.add_argument("--store", type=Path, default=DEFAULT, help=f"the record store (default {DEFAULT})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report here")
    parser.add_argument("--strict", action="store_true", help="exit with 3 if anything is undecided or pending")
    parser.add_argument("--no-controls", action="store_true", help="leave out the negative controls")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cells and controls whose name contains this")


def require_work(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse a selection that leaves nothing to run, whose gate would be green over nothing, and a lost report."""
    if not chosen(options.size, options.only, with_controls=not options.no_controls):
        what = "cell" if options.no_controls else "cell or control"
        parser.error(f"--only {options.only!r}: no {what} at size {options.size} has this in its name")
    if options.json is not None:
        try:
            require_writable("--json", options.json)
        except ValueError as error:
            parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batch.cells", description="Run the statistical suite.")
    add_run_options(parser)
    parser.add_argument(
        "--seed-set", default="pinned", help="a name for the seeds, or 'fresh': today's, or an unfinished run's"
    )
    parser.add_argument(
        "--samples",
        type=positive,
        default=math.inf,
        metavar="N",
        help="no cell takes more than N replicates; one without a verdict by then stays pending",
    )
    parser.add_argument("--stretch", type=factor, default=1.0, help="raise n_max of undecided cells by this factor")
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="a Dask scheduler, tcp://HOST:PORT, that computes the rows"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = _parser()
    options = parser.parse_args(arguments)
    require_work(parser, options)
    single_thread()
    try:
        with opened(options.store, options.size) as history:
            seed_set = seed_set_of(options.seed_set, history, only=options.only)
        say(f"seed set: {seed_set}")
        found = run(
            size=options.size,
            seed_set=seed_set,
            path=options.store,
            workers=options.workers,
            cluster=options.cluster,
            budget_seconds=options.budget,
            samples=options.samples,
            stretch=options.stretch,
            with_controls=not options.no_controls,
            only=options.only,
            show=say,
        )
        if not any(record["outcome"] == PENDING for record in found["cells"] + found["controls"]):
            with opened(options.store, options.size) as history:
                history.finish(seed_set, options.only)
    except (OSError, ImportError) as error:
        parser.exit(USAGE, f"{parser.prog}: {error}\n")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    print(json.dumps(found["summary"], indent=1, sort_keys=True))  # noqa: T201
    common = {"size": options.size, "seed_set": seed_set, "stretch": options.stretch, "path": options.store}
    for line in warnings(found["cells"], **common):
        say(line)
    return exit_code(found, strict=options.strict)


def say(line: str) -> None:
    """A line for who watches."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(interruptible(main, "python -m benchmarks.batch.cells"))
