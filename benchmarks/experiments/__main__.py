"""`python -m benchmarks.experiments`: run every panel under every reading, write the results and the document."""

import argparse
import sys
import time

from benchmarks.experiments import results, tables
from benchmarks.experiments.panels import PANELS, record, trends
from benchmarks.experiments.readings import DEFAULT, Reading, of_figure


def main() -> int:
    """Write results.json and docs/experiments.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments", description=__doc__)
    parser.add_argument("--default-only", action="store_true", help="the default reading alone; keep the other records")
    parser.add_argument("--missing", action="store_true", help="only what has no record yet: resume after a stop")
    parser.add_argument("--render", action="store_true", help="only write the document from the committed results")
    options = parser.parse_args()
    if not options.render:
        _compute(default_only=options.default_only, missing=options.missing)
    tables.DOCUMENT.parent.mkdir(exist_ok=True)
    tables.DOCUMENT.write_text(tables.document(*results.load()), encoding="utf-8")
    return 0


def _compute(*, default_only: bool, missing: bool) -> None:
    kept, trended = results.load() if results.FILE.exists() else ([], [])
    found = {(old["figure"], old["claim"]): old for old in trended}
    cells = {
        (panel.id, reading.name): (panel, reading) for panel in PANELS.values() for reading in of_figure(panel.figure)
    }
    records = {cell: old for old in kept if (cell := (old["panel"], old["reading"])) in cells}
    # The default reading first: its three panels of a figure give the trend.
    for cell, (panel, reading) in sorted(cells.items(), key=lambda item: item[1][1] != DEFAULT):
        if (default_only and reading != DEFAULT) or (missing and cell in records):
            continue
        start = time.perf_counter()
        records[cell] = made = record(panel, reading)
        sys.stderr.write(_line(made, reading, time.perf_counter() - start))
        if reading == DEFAULT:
            latest = trends({name: old for (name, which), old in records.items() if which == "default"})
            found |= {(trend["figure"], trend["claim"]): trend for trend in latest}
        results.FILE.write_text(results.dumps(records.values(), found.values()), encoding="utf-8")


def _line(made: results.Record, reading: Reading, seconds: float) -> str:
    return f"{made['panel']:<14}{reading.name:<20}{made['outcome']:<16}{seconds:6.1f} s\n"


if __name__ == "__main__":
    sys.exit(main())
