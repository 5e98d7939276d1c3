"""`robust-core bench`, `robust-core compare` and `robust-core baseline accept`."""

import argparse
import json
import math
import os
import statistics
import sys
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.cli.conventions import (
    HOLDS,
    KEPT,
    UNDECIDED,
    VIOLATED,
    HelpFormatter,
    add_budget,
    add_cluster,
    add_json,
    add_quiet,
    add_store,
    add_workers,
    progress,
    require_clone,
    require_writable,
    termination_raised,
)

STORE = Path(".robust-core") / "regression.jsonl"
EXAMPLE = "example: robust-core baseline accept --reason 'the walk draws one number less per step'"
Parsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_parser(commands: Parsers) -> None:
    """The three commands and their options."""
    bench = commands.add_parser(
        "bench",
        help="measure what a comparison needs; what the store has is not measured again",
        description="Measures the cells of the regression report. Every result is kept as it comes: a run that was "
        "interrupted or killed goes on where it was.",
        epilog="example: robust-core bench --workers 2 --budget 5min",
    )
    _add_measuring(bench)
    add_json(bench, "the summary as one JSON object")
    bench.add_argument("--output", type=Path, metavar="FILE", help="write the cells in the form of a baseline")
    add_quiet(bench, "nothing unless cells are pending")
    bench.set_defaults(run=_bench, resume=KEPT)
    compare = commands.add_parser(
        "compare",
        help="compare today's measurements with a baseline: better, worse, equivalent, undecided or changed",
        description="Measures what is missing (as bench does) and compares it with a baseline. Exit code 1: something "
        "is worse, or has changed in a suspicious way.",
        epilog="example: robust-core compare --workers 2",
    )
    _add_measuring(compare)
    compare.add_argument(
        "--baseline", metavar="FILE|REVISION", help="a file or a git revision (default: the committed)"
    )
    compare.add_argument(
        "--today", type=Path, metavar="FILE", help="compare this file (bench --output), measure nothing"
    )
    add_json(compare, "the whole comparison as one JSON object")
    compare.add_argument("--all", action="store_true", help="list every cell, not only those that differ")
    add_quiet(compare, "nothing unless a cell is worse or has changed")
    compare.add_argument("--strict", action="store_true", help="exit with 3 if anything is undecided")
    compare.set_defaults(run=_compare, resume=KEPT)
    _add_baseline(commands)


def _add_baseline(commands: Parsers) -> None:
    baseline = commands.add_parser(
        "baseline",
        help="move the baseline to today's measurements",
        description="The baseline is the file of measurements, committed with the code, that compare compares with.",
        epilog=EXAMPLE,
        formatter_class=HelpFormatter,
    )
    actions = baseline.add_subparsers(required=True, metavar="ACTION")
    accept = actions.add_parser(
        "accept",
        help="make today's measurements the baseline",
        description="Measures what is missing, shows what moves, and writes the baseline file; commit it.",
        epilog=EXAMPLE,
    )
    _add_measuring(accept, partial=False)
    accept.add_argument(
        "--reason", required=True, metavar="TEXT", help="one line: why these numbers are the right ones"
    )
    accept.add_argument("--file", type=Path, metavar="FILE", help="the baseline file (default: the committed one)")
    add_json(accept, "what moves, and what was written, as one JSON object")
    add_quiet(accept, "write the file, and do not show what moves")
    accept.set_defaults(run=_accept, resume=KEPT)


def _add_measuring(parser: argparse.ArgumentParser, *, partial: bool = True) -> None:
    """The options of everything that measures; `partial` for those that may leave cells out."""
    add_store(parser, STORE)
    add_workers(parser)
    add_cluster(parser)
    parser.add_argument(
        "--seed-set", default="pinned", metavar="NAME", help="a name for other seeds than the baseline's"
    )
    if partial:
        add_budget(parser)
        parser.add_argument("--only", default="", metavar="TEXT", help="only cells whose name contains this")


def _measured(options: argparse.Namespace) -> dict[str, Any]:
    """Today's cells."""
    from benchmarks.regression.bench import bench
    from benchmarks.runner.units import opened

    if not options.seed_set.isprintable() or not options.seed_set:
        raise ValueError(f"seed set must be a name, got {options.seed_set!r}")
    with opened(options.store) as store, termination_raised():
        try:
            return bench(
                store=store,
                seed_set=options.seed_set,
                only=getattr(options, "only", ""),
                workers=options.workers,
                cluster=options.cluster,
                budget_seconds=getattr(options, "budget", math.inf),
                show=progress,
            )
        finally:
            progress("")


def _require_replaceable(option: str, path: Path) -> None:
    """Refuse, before the work, what could not be replaced by a new file."""
    require_writable(option, path)
    if path.exists() and not path.is_file():
        raise ValueError(f"{option} {path}: not a file that could be replaced")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"{option} {path}: nothing may be written to the folder {path.parent}")


def _bench(options: argparse.Namespace) -> int:
    from benchmarks.regression import baseline

    if options.output is not None:
        _require_replaceable("--output", options.output)
    today = _measured(options)
    if not today["cells"] and not today["pending"]:
        raise ValueError(f"no cell contains {options.only!r}: see robust-core bench --json")
    if options.output is not None:
        baseline.write(options.output, baseline.text(today, reason="measured by robust-core bench"))
    summary = _summary(today, options)
    if options.json:
        print(json.dumps(summary, indent=1, ensure_ascii=False))
    elif not options.quiet or today["pending"]:
        print(f"{len(today['cells'])} cells measured, {len(today['pending'])} pending; records in {options.store}")
    return HOLDS


def _summary(today: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """The cells with their medians: what a person wants to see, without the values by seed."""
    cells = []
    for cell in today["cells"]:
        shown = {name: cell[name] for name in ("metric", "variant", "problem")}
        values = [value for value in cell.get("values", ()) if value is not None]
        if "value" in cell:
            cells.append(shown | {"value": cell["value"]})
        else:
            middle = statistics.median(values) if values else None
            cells.append(shown | {"median": middle, "n": len(cell["values"]), "impossible": cell["impossible"]})
    fixed = {"seed_set": today["seed_set"], "versions": today["versions"], "store": str(options.store)}
    return fixed | {"pending": today["pending"], "cells": cells}


def _compare(options: argparse.Namespace) -> int:
    from benchmarks.regression import baseline, table
    from benchmarks.regression.compare import compared

    reference = baseline.load(options.baseline or str(baseline.COMMITTED))
    today = _measured(options) if options.today is None else baseline.load(str(options.today))
    sides = [_chosen(side, options.only) for side in (reference, today)]
    if not any(side["cells"] for side in sides):
        raise ValueError(f"no cell contains {options.only!r}")
    found = compared(*sides)
    if options.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    elif not options.quiet or found["counts"]["worse"] or found["counts"]["changed"]:
        print(table.text(found, everything=options.all))
    return exit_code(found, strict=options.strict)


def _chosen(side: dict[str, Any], only: str) -> dict[str, Any]:
    cells = [cell for cell in side["cells"] if only in f"{cell['metric']} / {cell['variant']} / {cell['problem']}"]
    return side | {"cells": cells}


def exit_code(found: dict[str, Any], *, strict: bool) -> int:
    """1 if a cell is worse or changed, 3 for undecided ones under `strict`; better is for a person to look at."""
    if found["counts"]["worse"] or found["counts"]["changed"]:
        return VIOLATED
    if found["counts"]["undecided"]:
        undecided = found["counts"]["undecided"]
        print(f"warning: {undecided} {'cell is' if undecided == 1 else 'cells are'} undecided", file=sys.stderr)
        return UNDECIDED if strict else HOLDS
    return HOLDS


def _before(path: Path) -> dict[str, Any] | None:
    """The baseline that is replaced; one that cannot be read is replaced all the same, and said so."""
    from benchmarks.regression import baseline

    if not path.exists():
        return None
    try:
        return baseline.load(str(path))
    except ValueError as error:
        print(f"robust-core: nothing to compare with: {error}", file=sys.stderr)
        return None


def _accept(options: argparse.Namespace) -> int:
    from benchmarks.regression import baseline, table
    from benchmarks.regression.compare import compared

    path = options.file or baseline.COMMITTED
    baseline.checked_reason(options.reason)
    if options.file is None:
        require_clone(path, otherwise=", or give the file with --file")
    _require_replaceable("--file", path)
    before = _before(path)
    today = _measured(options)
    impossible = [cell for cell in today["cells"] if cell.get("impossible")]
    if impossible:
        names = "; ".join(f"{cell['metric']} / {cell['variant']} / {cell['problem']}" for cell in impossible)
        raise ValueError(f"values that are better than the truth allows are no baseline: {names}")
    content = baseline.text(today, reason=options.reason)
    moved = None if before is None else compared(before, today)
    if moved is not None and not (options.json or options.quiet):
        print(table.text(moved))
    baseline.write(path, content)
    written = {
        "file": str(path),
        "cells": len(today["cells"]),
        "bytes": len(content.encode()),
        "reason": options.reason,
    }
    if options.json:
        print(json.dumps(written | {"comparison": moved}, indent=1, ensure_ascii=False))
    elif not options.quiet:
        print("{file}: {cells} cells, {bytes} bytes: {reason}".format(**written))
    return HOLDS
