"""`python -m benchmarks.experiments`: run all panels and interpretations, write the results and the document."""

import argparse
import multiprocessing
import os
import resource
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.cli.conventions import USAGE, positive
from benchmarks.documents import experiments
from benchmarks.documents.write import write
from benchmarks.experiments import results, work
from benchmarks.experiments.panels import trends
from benchmarks.runner.identity import libraries
from benchmarks.runner.store import Store


def main() -> int:
    """Write results.json and docs/experiments.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments", description=__doc__)
    parser.add_argument("--render", action="store_true", help="only write the document from the committed results")
    parser.add_argument("--workers", type=positive, default=os.cpu_count() or 1, help="processes (default: all cores)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler, tcp://HOST:PORT, instead of processes")
    parser.add_argument("--store", type=Path, default=work.STORE, help=f"the record store (default {work.STORE})")
    options = parser.parse_args()
    if not options.render:
        try:
            _compute(options)
        except (OSError, ImportError) as error:
            parser.exit(USAGE, f"{parser.prog}: {error}\n")
    if not results.made_by_present_code():
        made_by, present = results.codes()
        print(f"{parser.prog}: results made by code {made_by}, the present is {present}", file=sys.stderr)  # noqa: T201
    write("experiments", experiments.document())
    return 0


def _compute(options: argparse.Namespace) -> None:
    cells = work.all_cells()
    with closing(Store(options.store)) as store:
        store.refresh()
        kept = sum(store.get(work.unit(*cell).key) is not None for cell in cells)
        records = work.computed(
            cells,
            store=store,
            workers=options.workers,
            cluster=options.cluster,
            show=lambda line: print(line, file=sys.stderr, flush=True),  # noqa: T201
        )
    made: results.Results = {
        "made by": _provenance(kept, len(cells), cluster=options.cluster is not None),
        "records": list(records.values()),
        "trends": list(trends(records)),
    }
    results.FILE.write_text(results.dumps(made), encoding="utf-8")


def _provenance(kept: int, total: int, *, cluster: bool) -> dict[str, Any]:
    """One version of the code makes all records; the processor time is known where all were made in one go, here."""
    made: dict[str, Any] = {"code": results.present_code(), "records": total, "libraries": libraries()}
    if kept or cluster:
        return made
    for worker in multiprocessing.active_children():
        worker.join()  # the time of a worker is known when it has ended
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return made | {"cpu seconds": round(sum(who.ru_utime + who.ru_stime for who in spent))}


if __name__ == "__main__":
    sys.exit(main())
