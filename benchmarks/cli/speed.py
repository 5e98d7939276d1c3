"""`robust-core speed`: our processor time against peers and limits."""

import argparse

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    complete_with,
    positive,
    progress,
    show_table,
)
from robust_core.text import suggestion

# Spelled out so that help need not import what is measured; a test compares them.
PARTS = (
    "loops",
    "adversary",
    "python",
    "threads",
    "tdc",
    "support",
    "sets",
    "s-rectangular",
    "help",
    "first call",
    "memory",
)
ORACLES = ("plans", "scale", "set plans", "programs")
CLUSTER = "cluster"
ON_REQUEST = (*ORACLES, CLUSTER)
"""Planning and convex programs take minutes; the cost of a cluster has a table of its own and no limits."""
PASSES = 4


def add_parser(commands: Commands) -> None:
    """The command and its options."""
    speed = commands.add_parser(
        "speed",
        help="measure our processor time against peers and limits (needs an idle machine)",
        description="Prints the speed table: ours against peers and limits, interleaved in one run, the best of "
        "several passes. Exit code 1: a limit is missed. The parts 'plans' (against QuantEcon, which must be "
        "installed), 'scale' (up to ten million states, in 10 GB of memory) and 'programs' measure oracles, "
        "'set plans' the planner of every set; 'cluster' starts a scheduler and workers on this machine and prints the "
        "cost of a unit of work there.",
        epilog="example: robust-core speed help --passes 1",
    )
    parts = speed.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"any of {', '.join(PARTS)} (default: all of these), or {', '.join(ON_REQUEST)}",
    )
    complete_with(parts, lambda: (*PARTS, *ON_REQUEST))
    speed.add_argument("--quick", action="store_true", help="small sizes only")
    speed.add_argument(
        "--passes", type=positive, default=PASSES, metavar="N", help=f"measure all of it N times (default {PASSES})"
    )
    add_json(speed)
    add_quiet(speed, "print only lines that miss their limit")
    speed.set_defaults(run=_speed)


def _speed(options: argparse.Namespace) -> int:
    if unknown := set(options.parts) - {*PARTS, *ON_REQUEST}:
        name, known = min(unknown), (*PARTS, *ON_REQUEST)
        raise ValueError(f"no part {name!r}; there are {', '.join(known)}{suggestion(name, known)}")
    code = HOLDS
    if chosen := [part for part in options.parts or PARTS if part != CLUSTER]:
        code = _limits(chosen, options)
    if CLUSTER in options.parts:
        _costs(options)
    return code


def _limits(parts: list[str], options: argparse.Namespace) -> int:
    from benchmarks.speed import table
    from benchmarks.speed.timing import closest
    from robust_core.json import dumps

    lines = table.measure(parts, quick=options.quick, passes=options.passes, show=progress)
    progress("")
    shown = [line for line in lines if not (options.quiet and line.within)]
    if options.json:
        for line in shown:
            print(dumps(line))
    elif shown:
        print(show_table(table.COLUMNS, map(table.row, shown)))
        if not options.quiet:
            nearest = show_table(table.COLUMNS, map(table.row, closest(lines)))
            print(f"\nOf each comparison the size closest to its limit:\n\n{nearest}")
    return HOLDS if all(line.within for line in lines) else VIOLATED


def _costs(options: argparse.Namespace) -> None:
    from benchmarks.documents import markdown
    from benchmarks.speed import cluster
    from robust_core.json import dumps

    if options.quiet:
        return
    if not options.json:
        print(markdown.head(cluster.COLUMNS), flush=True)
    for cost in cluster.measure():
        print(dumps(cost) if options.json else markdown.row(cost.row()), flush=True)
