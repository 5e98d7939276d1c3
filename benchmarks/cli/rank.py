"""`robust-core rank` and `robust-core history`."""

import argparse
import sys
from pathlib import Path

from benchmarks.cli.bench import STORE, add_seed_set, add_targets
from benchmarks.cli.conventions import (
    HOLDS,
    UNDECIDED,
    Commands,
    add_json,
    add_quiet,
    add_running,
    add_strict,
    fold,
    open_work,
)
from benchmarks.cli.own import choice, effort

HISTORY = Path(".robust-core") / "history"


def add_parser(commands: Commands) -> None:
    """`rank` and `history`."""
    rank = commands.add_parser(
        "rank",
        help="compare several variants side by side: ranks with simultaneous intervals",
        description="Measures variants of one kind on the same seeds and gives each of them a range of ranks in each "
        "measure. All ranges hold simultaneously with probability 0.99.",
        epilog="example: robust-core rank properties.variants.gallery.q_learning properties.variants.gallery.speedy_q",
    )
    add_targets(rank, "variants: file.py[:NAME] or package.module[:NAME]; a file may hold several")
    add_running(rank, STORE, default="60s", workers=False)
    add_seed_set(rank)
    add_json(rank, "the ranking")
    add_quiet(rank, "print only ranks that are a single number")
    rank.set_defaults(run=_rank)
    _add_history(commands)


def _rank(options: argparse.Namespace) -> int:
    from benchmarks.regression import own
    from robust_core.json import dumps

    if not options.targets:
        raise ValueError("name at least two variants, e.g. robust-core rank a.py b.py")
    with open_work(options) as store:
        found = own.rank(options.targets, choice(options), store=store, effort=effort(options, clock=False))
    if options.json:
        print(dumps(found))
        return HOLDS
    last = ("", "")
    certain = [row for row in found.ranks if row.best == row.last]
    for row in certain if options.quiet else found.ranks:
        if (row.metric, row.problem) != last:
            print(f"{row.metric} / {row.problem} (n={row.n})")
            last = row.metric, row.problem
        span = f"{row.best}" if row.best == row.last else f"{row.best}-{row.last}"
        median = "not finite" if row.median is None else f"{row.median:.4g}"
        print(fold(f"  rank {span:<7} median {median:<10} {row.variant}"))
    print(f"all ranks hold simultaneously with probability {1.0 - found.alpha:g}")
    return HOLDS


def _add_history(commands: Commands) -> None:
    history = commands.add_parser(
        "history",
        help="list the comparisons of a history, with change points",
        description="Reads the records that `compare --history` has added: one line per comparison. A change point is "
        "an alarm of an e-detector; the probability of a false one within n records is at most n/10,000. For a "
        "committed file of measurements (an accepted baseline or the output of `bench --output`), compares its "
        "versions in git.",
        epilog="example: robust-core history .robust-core/history",
    )
    history.add_argument(
        "place",
        nargs="?",
        type=Path,
        default=HISTORY,
        metavar="FOLDER|FILE",
        help=f"the history (default {HISTORY}), or a committed file of measurements",
    )
    history.add_argument("--merge", type=Path, metavar="FOLDER", help="add the records of another history to it")
    add_json(history, "the records and change points")
    add_quiet(history, "print nothing unless there is a change point")
    add_strict(history, "there is a change point")
    history.set_defaults(run=_history)


def _history(options: argparse.Namespace) -> int:
    from benchmarks.regression import history
    from robust_core.json import dumps

    if options.merge is not None:
        added = history.merge(options.place, options.merge)
        print(f"{added} records added to {options.place}", file=sys.stderr)
    if options.place != HISTORY and not options.place.exists():
        raise ValueError(f"{options.place}: no such history; robust-core compare … --history FOLDER begins one")
    records = history.read_any(options.place)
    found = history.trends(records)
    if options.json:
        print(dumps({"records": [history.short(record) for record in records], "trends": found}))
    elif not options.quiet or any(trend.alarm is not None for trend in found):
        print("\n".join(fold(line) for line in history.text(records, found).splitlines()))
    return UNDECIDED if options.strict and any(trend.alarm is not None for trend in found) else HOLDS
