"""Large statistical batches: cells over all cores, resumable after any kill, the same bits whatever the workers.

    python -m benchmarks.batch --size full --budget 30min

Every cell is decided by its own process from rows that are functions of their keys; rows are kept in the record
store as they come, piece by piece. A time budget leaves cells *pending*; it never changes a finished one.
"""

import argparse
import functools
import hashlib
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.cli_conventions import HOLDS, UNDECIDED, VIOLATED
from benchmarks.store import DEFAULT, Store

UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """A span of time: 90s, 30min, 2h.

    >>> seconds("30min")
    1800.0
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|min|h)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"must look like 90s, 30min or 2h, got {text!r}")
    return float(match[1]) * UNITS[match[2]]


@functools.cache
def fingerprint() -> bytes:
    """A hash of what the samples depend on beside their keys: the sources of core, oracles and laws, numpy, numba.

    Rows of other code are never taken from the store; seeds do not depend on it, so results stay comparable.
    """
    import numba
    import numpy as np

    import oracles
    import properties.statistics
    import robust_core

    digest = hashlib.blake2b(f"{np.__version__} {numba.__version__}".encode(), digest_size=16)
    for package in (robust_core, oracles, properties.statistics):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.digest()


def verdict(index: int, *, size: Any, epoch: str, path: Path, deadline: float, stretch: float = 1.0) -> dict[str, Any]:
    """Decide one cell of the run, by its place in `planned(size)`; the outcome is `pending` when time runs out."""
    from properties.statistics.law import decide
    from properties.statistics.sequential import OutOfTime
    from properties.statistics.suite import planned

    item = planned(size)[index]
    store = Store(path)
    try:
        result = decide(
            item.cell,
            alpha=item.alpha,
            epoch=epoch,
            memory=store,
            fingerprint=fingerprint(),
            out_of_time=lambda: time.time() > deadline,
            stretch=stretch,
        )
    except OutOfTime as end:
        return {"cell": item.cell.id, "law": item.law.name, "outcome": "pending", "n": end.done}
    finally:
        store.close()
    n_max = item.cell.plan(item.alpha).n_max
    return {"law": item.law.name, "outcome": result.entry.decision.outcome, "n_max": n_max, **result.numbers()}


def control(index: int, *, size: Any, epoch: str, path: Path, deadline: float = math.inf) -> dict[str, Any]:
    """Whether the law catches one of its negative controls, by its place in `controls(size)`."""
    from properties.statistics.law import decide
    from properties.statistics.sequential import OutOfTime
    from properties.statistics.suite import planned

    law, variant = controls(size)[index]
    alpha = min(item.alpha for item in planned(size))
    found = {"control": f"{law.name}: {variant.name}", "outcome": "missed", "cell": None, "n": None}
    store = Store(path)
    options: dict[str, Any] = {"alpha": alpha, "epoch": epoch, "memory": store, "fingerprint": fingerprint()}
    try:
        for cell in law.cells(variant, size):
            result = decide(cell, out_of_time=lambda: time.time() > deadline, **options)
            if result.entry.decision.outcome == "violated":
                return found | {"outcome": "violated", "cell": cell.id, "n": result.entry.decision.n}
    except OutOfTime:
        return found | {"outcome": "pending"}
    finally:
        store.close()
    return found


def controls(size: Any) -> list[Any]:
    """The negative controls of a size with their laws."""
    from properties.statistics.laws import laws

    return [(law, variant) for law in laws() for variant in law.wrong(size)]


def summary(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The gate over the finished cells, what is undecided, what is pending, and whom e-BH suspects."""
    from properties.statistics import budget
    from properties.statistics.sequential import Decision

    ledger = [
        budget.Entry(
            r["cell"], r["alpha"], r["beta"], r["effect"],
            Decision(r["outcome"], r["n"], r["log_against"], r["log_favour"], tuple(r["log_factors"])),
        )
        for r in records if r["outcome"] != "pending"
    ]  # fmt: skip
    gate = budget.gate(ledger)
    pending = [r["cell"] for r in records if r["outcome"] == "pending"]
    return {
        "budget": budget.RUN_BUDGET,
        "spent": gate.spent,
        "outcome": gate.outcome,
        "violated": list(gate.violated),
        "undecided": list(gate.undecided),
        "pending": pending,
        "log_product": gate.log_product,
        "suspects": list(budget.suspects(ledger)),
    }


def _single_thread() -> None:
    """One thread per worker: the cells are the parallelism."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def computed(jobs: list[Callable[[], dict[str, Any]]], *, workers: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """(place, result) of every job as it finishes."""
    if workers == 1:
        yield from ((place, job()) for place, job in enumerate(jobs))
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_single_thread) as pool:
        places: dict[Future[dict[str, Any]], int] = {pool.submit(job): place for place, job in enumerate(jobs)}
        waiting = set(places)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from ((places[future], future.result()) for future in done)


def run(
    *,
    size: Any,
    epoch: str,
    path: Path,
    workers: int = 1,
    budget_seconds: float = math.inf,
    stretch: float = 1.0,
    with_controls: bool = True,
    only: str = "",
    show: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """A run of all cells whose id contains `only`; the shares are those of the whole run.

    The result is the same for every number of workers and every history of kills.
    """
    from properties.statistics.suite import planned

    started = time.time()
    common = {"size": size, "epoch": epoch, "path": path}
    deadline = started + budget_seconds
    chosen = [i for i, item in enumerate(planned(size)) if only in item.cell.id]
    jobs: list[Callable[[], dict[str, Any]]] = [
        functools.partial(verdict, i, deadline=deadline, stretch=stretch, **common) for i in chosen
    ]
    if with_controls:
        wrong = [i for i, (law, variant) in enumerate(controls(size)) if only in f"{law.name}: {variant.name}"]
        jobs += [functools.partial(control, i, deadline=deadline, **common) for i in wrong]
    found: dict[int, dict[str, Any]] = {}
    for place, result in computed(jobs, workers=workers):
        found[place] = result
        elapsed = time.time() - started
        left = elapsed / len(found) * (len(jobs) - len(found))
        name = result.get("control") or result["cell"]
        show(
            f"[{len(found)}/{len(jobs)}, about {left / 60:.1f} min left] {result['outcome']:<9} n={result['n']} {name}"
        )
    records = [found[i] for i in range(len(chosen))]
    checked = [found[i] for i in range(len(chosen), len(jobs))]
    return {
        "size": size,
        "epoch": epoch,
        "summary": summary(records),
        "missed controls": [c["control"] for c in checked if c["outcome"] == "missed"],
        "cells": records,
        "controls": checked,
    }


def exit_code(report: dict[str, Any], *, strict: bool) -> int:
    """0 unless the gate is red or a control was missed; 3 for undecided or pending cells under `strict`."""
    found = report["summary"]
    if found["outcome"] == "violated" or report["missed controls"]:
        return VIOLATED
    return UNDECIDED if strict and (found["undecided"] or found["pending"]) else HOLDS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batch", description="Run the statistical suite.")
    parser.add_argument("--size", choices=("quick", "full"), default="full", help="how large (default: full)")
    parser.add_argument("--epoch", default="pinned", help="a name for the seeds, or 'fresh' for today's")
    parser.add_argument("--budget", type=seconds, default=math.inf, metavar="TIME", help="90s, 30min, 2h")
    parser.add_argument("--stretch", type=float, default=1.0, help="raise n_max of undecided cells by this factor")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)")
    parser.add_argument("--store", type=Path, default=DEFAULT, help=f"the record store (default {DEFAULT})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report here")
    parser.add_argument("--strict", action="store_true", help="exit with 3 if anything is undecided or pending")
    parser.add_argument("--no-controls", action="store_true", help="leave out the negative controls")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cells and controls whose name contains this")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    from properties.statistics import epochs

    options = _parser().parse_args(arguments)
    _single_thread()
    report = run(
        size=options.size,
        epoch=epochs.fresh() if options.epoch == "fresh" else options.epoch,
        path=options.store,
        workers=options.workers,
        budget_seconds=options.budget,
        stretch=options.stretch,
        with_controls=not options.no_controls,
        only=options.only,
        show=lambda line: print(line, file=sys.stderr, flush=True),  # noqa: T201
    )
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    print(json.dumps(report["summary"], indent=1, sort_keys=True))  # noqa: T201
    for name in report["summary"]["undecided"]:
        print(f"warning: undecided: {name} (continue it with --stretch)", file=sys.stderr)  # noqa: T201
    return exit_code(report, strict=options.strict)


if __name__ == "__main__":
    sys.exit(main())
