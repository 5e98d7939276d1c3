"""`robust-core net freeze` and `robust-core net check`: the net under a refactoring."""

import argparse
import sys
import time
from pathlib import Path

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    complete_with,
    dumps,
    progress,
)

# Spelled out so that help need not import the parts; a test compares them.
PARTS = ("counterexamples", "regression", "rows", "panels", "page")


def add_parser(commands: Commands) -> None:
    """The two actions and their options."""
    net = commands.add_parser(
        "net",
        help="record what the suite computes, and show that a refactoring changes none of it",
        description="The net is a folder of facts, one file per part: what the suite computed when they were frozen. "
        "Verdicts, hit rates, claims and documents are committed elsewhere, each with its own test.",
        epilog="example: robust-core net check rows page",
    )
    actions = net.add_subparsers(required=True, metavar="ACTION")
    freeze = actions.add_parser(
        "freeze",
        help="write the facts of the present code",
        description="Writes the facts of the present code to the folder.",
        epilog="example: robust-core net freeze page",
    )
    _add_shared(freeze)
    add_json(freeze, "one record per part")
    add_quiet(freeze, "print nothing")
    freeze.set_defaults(run=_freeze)
    check = actions.add_parser(
        "check",
        help="compare the present code with the frozen facts",
        description="Compares the present code with the frozen facts and prints every difference. Exit code 1: there "
        "is one.",
        epilog="example: robust-core net check rows page",
    )
    _add_shared(check)
    check.add_argument(
        "--sampled",
        action="store_true",
        help="after a change of the generator: let one counterexample in a hundred be larger",
    )
    add_json(check, "one record per difference")
    add_quiet(check, "differences only")
    check.set_defaults(run=_check)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    complete_with(parts, lambda: PARTS)
    parser.add_argument("--folder", type=Path, metavar="DIR", help="the frozen files (default: the committed ones)")


def _select(options: argparse.Namespace) -> tuple[list[str], Path]:
    """The parts that are asked for, and the folder of their facts."""
    from benchmarks.net.frozen import FOLDER
    from benchmarks.runner.pool import single_thread
    from robust_core.text import suggestion

    for part in options.parts:
        if part not in PARTS:
            raise ValueError(f"no part {part!r}; there are {', '.join(PARTS)}{suggestion(part, PARTS)}")
    single_thread()
    return options.parts or list(PARTS), options.folder or FOLDER


def _freeze(options: argparse.Namespace) -> int:
    from benchmarks.net import frozen
    from benchmarks.runner.progress import Progress

    parts, folder = _select(options)
    work = Progress(len(parts), progress)
    frozen.freeze_versions(folder)
    for part in parts:
        work.begin(part)
        started = time.process_time()
        number = frozen.freeze(part, folder)
        work.finish(part)
        progress("")
        if options.json:
            print(dumps({"part": part, "facts": number}), flush=True)
        elif not options.quiet:
            print(f"{part}: {number} facts frozen{_cost(started)}", flush=True)
    return HOLDS


def _check(options: argparse.Namespace) -> int:
    from benchmarks.net import frozen
    from benchmarks.runner.progress import Progress

    parts, folder = _select(options)
    work = Progress(len(parts), progress)
    frozen.require_frozen(parts, folder)
    for difference in frozen.check_versions(folder):
        print(f"warning: not the machine or the libraries of the net: {difference}", file=sys.stderr)
    total = 0
    for part in parts:
        work.begin(part)
        started = time.process_time()
        differences = frozen.check(part, folder, sampled=options.sampled)
        work.finish(part)
        progress("")
        total += len(differences)
        for difference in differences:
            record = {"part": part, **vars(difference)}
            print(dumps(record) if options.json else difference, flush=True)
        if not (options.json or options.quiet):
            print(f"{part}: {len(differences)} differences{_cost(started)}", flush=True)
    return VIOLATED if total else HOLDS


def _cost(started: float) -> str:
    return f" ({time.process_time() - started:.0f} s of processor time)"
