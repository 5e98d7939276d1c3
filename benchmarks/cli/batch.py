"""`robust-core batch`: the statistical suite, resumable, and night by night."""

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import (
    HOLDS,
    Commands,
    add_json,
    add_quiet,
    add_running,
    add_strict,
    factor,
    positive,
    raise_on_termination,
    require_writable,
    write_record,
)

if TYPE_CHECKING:
    from properties.statistics.records import RunReport

STORE = Path(".robust-core") / "statistics.jsonl"
BASELINE = Path(__file__).parents[1] / "baselines" / "statistical.json"
EXAMPLE = "example: robust-core batch run --size quick --budget 5min"


def add_parser(commands: Commands) -> None:
    """The command and its actions."""
    batch = commands.add_parser(
        "batch",
        help="run the statistical suite itself: every law on a right algorithm and on its negative controls",
        description="Decides the cells of the statistical laws. Samples are stored in pieces when they are drawn, so a "
        "run that was interrupted or killed continues where it stopped.",
        epilog=EXAMPLE,
    )
    actions = batch.add_subparsers(required=True, metavar="ACTION")
    run = actions.add_parser(
        "run",
        help="one run in one seed set",
        description="Decides every cell and every negative control in one seed set. Exit code 1: a law is violated, "
        "or a control was missed.",
        epilog=EXAMPLE,
    )
    _add_common(run, cluster=True)
    run.add_argument(
        "--seed-set",
        default="pinned",
        metavar="NAME",
        help="name of the seed set, or 'fresh': a new one of today, or that of an unfinished run",
    )
    run.add_argument(
        "--samples",
        type=positive,
        default=math.inf,
        metavar="N",
        help="largest number of replicates per cell; a cell without a verdict by then stays pending",
    )
    run.add_argument(
        "--stretch",
        type=factor,
        default=1.0,
        metavar="X",
        help="multiply the largest sample size of undecided cells by X",
    )
    run.set_defaults(run=_run)
    night = actions.add_parser(
        "night",
        help="continue what earlier runs left undecided, then run a fresh seed set",
        description="Continues undecided cells at twice their size, in their own seed sets; then runs today's seed "
        "set. Exit code 1: a law is violated in a seed set, or a control was missed.",
        epilog="example: robust-core batch night --size quick --budget 2min",
    )
    _add_common(night, cluster=False)
    night.set_defaults(run=_night)
    accept = actions.add_parser(
        "accept",
        help="make the report of a whole run at full size the committed one",
        description="Checks that a report has every cell and every control of the full size, none of them pending, "
        "and writes it to the baselines; commit it.",
        epilog="example: robust-core batch accept benchmarks/baselines/statistical.json",
    )
    accept.add_argument("report", type=Path, metavar="FILE", help="written by robust-core batch run --output")
    add_json(accept, "the file that was written")
    add_quiet(accept, "print nothing")
    accept.set_defaults(run=_accept)


def _add_common(parser: argparse.ArgumentParser, *, cluster: bool) -> None:
    parser.add_argument("--size", choices=("quick", "full"), default="full", help="size of the tests (default: full)")
    add_running(parser, STORE, cluster=cluster)
    add_json(parser, "the report")
    add_quiet(parser, "print no progress, and nothing if everything holds")
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the report to this file, as JSON")
    add_strict(parser, "anything is undecided or pending")
    parser.add_argument("--no-controls", action="store_true", help="leave out the negative controls")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cells and controls whose name contains this")


def _require_work(options: argparse.Namespace) -> None:
    """Refuse a selection that leaves nothing to run, whose gate would be green over nothing, and a lost report."""
    from benchmarks.batch.cells import Selection
    from benchmarks.runner.pool import single_thread

    single_thread()
    if options.output is not None:
        require_writable("--output", options.output)
    selection = Selection.of(options.size, options.only, with_controls=not options.no_controls)
    if not selection.cells and not selection.controls:
        what = "cell" if options.no_controls else "cell or control"
        raise ValueError(f"--only {options.only!r}: no {what} at size {options.size} has this in its name")


def _run(options: argparse.Namespace) -> int:
    _require_work(options)

    from benchmarks.batch.cells import Batch, Runner, Selection, open_history
    from benchmarks.batch.gate import exit_code
    from benchmarks.batch.history import seed_set_of, warnings

    with open_history(options.store, options.size) as history, raise_on_termination():
        seed_set = seed_set_of(options.seed_set, history, only=options.only)
        show = _silent if options.quiet else _say
        show(f"seed set: {seed_set}")
        selection = Selection.of(options.size, options.only, with_controls=not options.no_controls)
        batch = Batch(options.size, seed_set, options.samples, options.stretch)
        runner = Runner(history, options.workers, options.cluster, show)
        report = runner.report(batch, selection, budget_seconds=options.budget)
        if not report.is_pending:
            history.finish(seed_set, options.only)
    _print(report, options, _lines(report), holds=report.summary.outcome == "holds" and not report.missed)
    for line in warnings(report.cells, size=options.size, stretch=options.stretch, path=options.store):
        _say(line)
    return exit_code([report.summary], report.controls, strict=options.strict)


def _lines(report: "RunReport") -> list[str]:
    """The gate of a run, and the controls that were not caught."""
    gate = report.summary
    return [
        f"{report.seed_set}: {gate.outcome}; error budget {gate.spent:.2g} of {gate.budget:.2g}; log product "
        f"{gate.log_product:.1f}; violated: {', '.join(gate.violated) or 'none'}; "
        f"suspects: {', '.join(gate.suspects) or 'none'}",
        *(f"{one.outcome} control: {one.control}" for one in report.controls if one.outcome != "violated"),
    ]


def _night(options: argparse.Namespace) -> int:
    _require_work(options)

    from benchmarks.batch import nights
    from benchmarks.batch.gate import exit_code

    with raise_on_termination():
        report = nights.run(
            size=options.size,
            path=options.store,
            workers=options.workers,
            budget_seconds=options.budget,
            with_controls=not options.no_controls,
            only=options.only,
            show=_silent if options.quiet else _say,
        )
    _print(report, options, report.lines(), holds=report.holds)
    return exit_code(report.seed_sets.values(), report.controls, strict=options.strict)


def _accept(options: argparse.Namespace) -> int:
    from benchmarks.batch.gate import require_whole
    from properties.statistics.records import RunReport
    from robust_core import json

    report = json.from_data(RunReport, json.load(options.report), str(options.report))
    require_whole(report)
    write_record(BASELINE, report)
    if options.json:
        print(json.dumps({"file": str(BASELINE), "cells": len(report.cells), "controls": len(report.controls)}))
    elif not options.quiet:
        print(BASELINE)
    return HOLDS


def _print(report: object, options: argparse.Namespace, lines: list[str], *, holds: bool) -> None:
    from robust_core.json import dumps

    if options.output is not None:
        write_record(options.output, report)
    if options.json:
        print(dumps(report))
    elif not (options.quiet and holds):
        print("\n".join(lines))


def _silent(line: str) -> None:
    """Say nothing."""


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
