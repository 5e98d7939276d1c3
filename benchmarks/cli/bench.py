"""`robust-core bench`, `robust-core compare` and `robust-core baseline accept`."""

import argparse
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cli import own
from benchmarks.cli.conventions import (
    HOLDS,
    Commands,
    add_json,
    add_quiet,
    add_running,
    add_strict,
    open_work,
    positive,
    progress,
    require_clone,
    require_writable,
)

if TYPE_CHECKING:
    from benchmarks.regression.measures import Measurements

STORE = Path(".robust-core") / "regression.jsonl"
TIME = "60s with TARGET, otherwise none"
EXAMPLE = "example: robust-core baseline accept --reason 'the walk draws one number less per step'"


def add_parser(commands: Commands) -> None:
    """The three commands and their options."""
    bench = commands.add_parser(
        "bench",
        help="measure variants for a later comparison; stored results are reused",
        description="Measures your variants, or without TARGET the learners of the suite. Every result is stored when "
        "it is finished, so a run that was interrupted or killed continues where it stopped.",
        epilog="example: robust-core bench --workers 2 --budget 5min",
    )
    add_targets(bench, "your variant: file.py[:NAME] or package.module[:NAME] (default: the learners of the suite)")
    bench.add_argument("--replicates", type=positive, default=None, metavar="N", help="number of seeds (default 96)")
    add_measuring(bench)
    add_json(bench, "the summary, or one record per measure of a variant")
    bench.add_argument(
        "--output", type=Path, metavar="FILE", help="also write the measurements to this file, for compare --baseline"
    )
    add_quiet(bench, "print nothing unless measures are pending")
    bench.set_defaults(run=_bench)
    compare = commands.add_parser(
        "compare",
        help="compare two versions of a variant: better, worse, equivalent, undecided or changed",
        description="Compares two versions of your variant: OLD and NEW, or NEW with a baseline. Without TARGET, "
        "compares the learners of the suite with a baseline. Both sides are measured where measurements are missing. "
        "Exit code 1: a measure is worse or has changed.",
        epilog="example: robust-core compare old.py new.py --budget 30s",
    )
    add_targets(compare, "OLD and NEW, or NEW with --baseline: file.py[:NAME]; they run in separate processes")
    compare.add_argument(
        "--markdown", action="store_true", help="print a Markdown table for a pull request instead of text"
    )
    compare.add_argument("--junit", type=Path, metavar="FILE", help="also write the measures as JUnit XML")
    compare.add_argument(
        "--waivers", type=Path, metavar="FILE", help="a TOML file of measures that may be worse until a date"
    )
    compare.add_argument(
        "--history", type=Path, metavar="FOLDER", help="add the comparison to this history (with TARGET only)"
    )
    compare.add_argument("--no-clock", action="store_true", help="do not measure processor times (with TARGET only)")
    add_measuring(compare)
    compare.add_argument(
        "--baseline",
        metavar="FILE|REVISION",
        help="a file of measurements or a git revision (default without TARGET: the committed baseline)",
    )
    compare.add_argument(
        "--today",
        type=Path,
        metavar="FILE",
        help="measure nothing, compare this file (bench --output; without TARGET only)",
    )
    add_json(compare, "the whole comparison, one line per variant")
    compare.add_argument("--all", action="store_true", help="list every measure, not only those that differ")
    add_quiet(compare, "print nothing unless a measure is worse or has changed")
    add_strict(compare)
    compare.set_defaults(run=_compare)
    _add_baseline(commands)


def add_targets(parser: argparse.ArgumentParser, what: str) -> None:
    """Variants of the user's, and what they are measured on."""
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=what)
    parser.add_argument(
        "--problem",
        action="append",
        default=[],
        metavar="NAME",
        help="a benchmark problem (with TARGET only); a wrong name lists them; repeatable",
    )
    parser.add_argument(
        "--model", type=Path, metavar="FILE", help="your own model in JSON (MDP.to_json; with TARGET only)"
    )
    parser.add_argument("--radius", type=float, default=None, metavar="R", help="the radius of --model (default 0.125)")


def _add_baseline(commands: Commands) -> None:
    baseline = commands.add_parser(
        "baseline",
        help="make the present measurements the baseline",
        description="The baseline is the file of measurements, committed with the code, that compare compares with.",
        epilog=EXAMPLE,
    )
    actions = baseline.add_subparsers(required=True, metavar="ACTION")
    accept = actions.add_parser(
        "accept",
        help="make the present measurements the baseline",
        description="Measures what is missing, shows which measures change, and writes the baseline file; commit it.",
        epilog=EXAMPLE,
    )
    add_measuring(accept, partial=False)
    accept.add_argument(
        "--reason", required=True, metavar="TEXT", help="one line: why these numbers are the right ones"
    )
    accept.add_argument("--file", type=Path, metavar="FILE", help="the baseline file (default: the committed one)")
    add_json(accept, "the changes, and the file that was written")
    add_quiet(accept, "write the file and do not show the changes")
    accept.set_defaults(run=_accept)


def add_seed_set(parser: argparse.ArgumentParser) -> None:
    """`--seed-set`: the same seeds give the same values."""
    parser.add_argument(
        "--seed-set", default="pinned", metavar="NAME", help="name of the seed set (default: the seeds of the baseline)"
    )


def add_measuring(parser: argparse.ArgumentParser, *, partial: bool = True) -> None:
    """The options of `bench`, `compare` and `baseline accept`; `partial` for those that may leave measures out."""
    add_running(parser, STORE, budget=partial, default=TIME)
    add_seed_set(parser)
    if partial:
        parser.add_argument(
            "--only", default="", metavar="TEXT", help="only measures whose name contains this (without TARGET only)"
        )


def _measure(options: argparse.Namespace) -> "Measurements":
    """Today's measurements."""
    from benchmarks.regression.bench import bench

    seed_set = own.seed_set(options)
    with open_work(options) as store:
        return bench(
            store=store,
            seed_set=seed_set,
            only=getattr(options, "only", ""),
            workers=options.workers,
            cluster=options.cluster,
            budget_seconds=getattr(options, "budget", math.inf),
            show=progress,
        )


def _require_replaceable(option: str, path: Path) -> None:
    """Refuse, before the work, what could not be replaced by a new file."""
    require_writable(option, path)
    if path.exists() and not path.is_file():
        raise ValueError(f"{option} {path}: not a file that could be replaced")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"{option} {path}: nothing may be written to the folder {path.parent}")


def _bench(options: argparse.Namespace) -> int:
    if options.targets:
        if options.output is not None:
            _require_replaceable("--output", options.output)
        return own.bench(options)
    own.refuse_without_target(options)
    from benchmarks.regression import baseline
    from benchmarks.regression.summary import summarize
    from benchmarks.runner.store import write_whole
    from robust_core.json import dumps

    if options.output is not None:
        _require_replaceable("--output", options.output)
    today = _measure(options)
    if not today.measures and not today.pending:
        raise ValueError(f"no measure contains {options.only!r}: see robust-core bench --json")
    if options.output is not None:
        write_whole(options.output, baseline.text(today, reason="measured by robust-core bench"))
    if options.json:
        print(dumps(summarize(today, options.store)))
    elif not options.quiet or today.pending:
        print(f"{len(today.measures)} measured, {len(today.pending)} pending; records in {options.store}")
    return HOLDS


def _compare(options: argparse.Namespace) -> int:
    if options.targets:
        return own.compare(options)
    own.refuse_without_target(options)
    from benchmarks.regression import baseline
    from benchmarks.regression.compare import compare

    excused = own.read_waivers(options)
    reference = baseline.load(options.baseline or str(baseline.COMMITTED))
    today = _measure(options) if options.today is None else baseline.load(str(options.today))
    sides = [side.select(options.only) for side in (reference, today)]
    if not any(side.measures for side in sides):
        raise ValueError(f"no measure contains {options.only!r}")
    return own.show(options, [own.Shown("learners of the suite", compare(*sides))], excused)


def _before(path: Path) -> "Measurements | None":
    """The baseline that is replaced; one that cannot be read is replaced all the same, with a message."""
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
    from benchmarks.regression.compare import compare
    from benchmarks.regression.measures import Sample, title
    from benchmarks.regression.summary import Acceptance
    from benchmarks.runner.store import write_whole
    from robust_core.json import dumps

    path = options.file or baseline.COMMITTED
    baseline.require_reason(options.reason)
    if options.file is None:
        require_clone(path, otherwise=", or give the file with --file")
    _require_replaceable("--file", path)
    before = _before(path)
    today = _measure(options)
    impossible = [measure for measure in today.measures if isinstance(measure, Sample) and measure.impossible]
    if impossible:
        names = "; ".join(title(measure.name) for measure in impossible)
        raise ValueError(f"values that are better than the truth allows cannot be a baseline: {names}")
    content = baseline.text(today, reason=options.reason)
    found = None if before is None else compare(before, today)
    if found is not None and not (options.json or options.quiet):
        print(table.text(found))
    write_whole(path, content)
    written = Acceptance(str(path), len(today.measures), len(content.encode()), options.reason, found)
    if options.json:
        print(dumps(written))
    elif not options.quiet:
        print(f"{written.file}: {written.measures} measures, {written.bytes} bytes: {written.reason}")
    return HOLDS
