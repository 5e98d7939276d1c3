"""`robust-core study sizes`: plans of every set from a hundred to ten million states."""

import argparse
from pathlib import Path

from benchmarks.cli.conventions import (
    HOLDS,
    Commands,
    add_json,
    add_quiet,
    add_running,
    complete_with,
    open_work,
    output_of,
    positive,
    progress,
    show_table,
    write_record,
)

STORE = Path(".robust-core") / "sizes.jsonl"
STATES = 100_000
# Spelled out so that completion need not import what is measured; a test compares them.
SETS = (
    "contamination", "TV", "L1", "L∞", "bounded density", "chi-square", "L2", "KL", "reverse KL", "interval",
    "Wasserstein", "local adversary",
)  # fmt: skip


def add_parser(studies: Commands) -> None:
    """The study and its options."""
    parser = studies.add_parser(
        "sizes",
        help="measure plans of every set from a hundred to ten million states",
        description="Times a certified plan and a backup of all pairs of every set against nominal ones on the same "
        "arrays, one point after the other, and renews the committed points. What the store has is not measured again.",
        epilog="example: robust-core study sizes TV KL --states 1000000 --budget 10min",
    )
    sets = parser.add_argument("sets", nargs="*", metavar="SET", help="names as in the table (default: all)")
    complete_with(sets, lambda: SETS)
    parser.add_argument(
        "--states",
        type=positive,
        default=STATES,
        metavar="N",
        help=f"models of at most N states (default {STATES}); 1000000 need 1.2 GB of memory, 10000000 about 9.5 GB",
    )
    parser.add_argument("--missing", action="store_true", help="only points that are not committed")
    add_running(parser, STORE, workers=False, cluster=False)
    add_json(parser, "a JSON object for each point")
    add_quiet(parser, "print no points")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the points (default: the committed ones)")
    parser.set_defaults(run=_sizes)


def _sizes(options: argparse.Namespace) -> int:
    from benchmarks.documents.speed import COLUMNS, cells
    from benchmarks.runner.pool import single_thread
    from benchmarks.studies import sizes
    from robust_core.json import dumps

    single_thread()
    if unknown := set(options.sets) - set(SETS):
        raise ValueError(f"SET must be one of {', '.join(SETS)}, got {sorted(unknown)[0]!r}")
    output = output_of(options, sizes.BASELINE)
    before = sizes.load(output)
    there = {(one.set, one.states) for one in before.points} if options.missing else set()
    wanted = [
        (name, n)
        for name, n in sizes.places()
        if n <= options.states and name in (options.sets or SETS) and (name, n) not in there
    ]
    with open_work(options) as store:
        today = sizes.run(wanted, store=store, budget_seconds=options.budget, show=progress)
    write_record(output, before.renew(today))
    if options.json:
        for one in today.points if not options.quiet else ():
            print(dumps(one))
    elif today.points and not options.quiet:
        print(show_table(COLUMNS, map(cells, today.points)))
    return HOLDS
