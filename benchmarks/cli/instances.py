"""`robust-core instances`: the benchmark instances of the s-rectangular literature, rebuilt, solved and linted."""

import argparse
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import HOLDS, VIOLATED, Commands, add_json, add_quiet, complete_with, fold, show_table
from robust_core.text import suggestion

if TYPE_CHECKING:
    from benchmarks.instances.solution import Solution

# Spelled out so that help need not import what is solved; a test compares them.
NAMES = ("taxi", "frozen-lake", "blackjack", "riverswim", "inventory", "machine")


def add_parser(commands: Commands) -> None:
    """The command and its options."""
    instances = commands.add_parser(
        "instances",
        help="rebuild and solve published instances of s-rectangular sets",
        description="Rebuilds benchmark instances of the s-rectangular literature from their rules and solves them for "
        "the L1 ball with budgets .05, .10 and .20: the sweeps of plain value iteration under the published stopping "
        "rule, beside the published number where one is known, and bounds from a plan with a certificate. Then it "
        "lists what is odd in each instance. Exit code 1: a number of sweeps differs from the published one.",
        epilog="example: robust-core instances taxi",
    )
    names = instances.add_argument(
        "names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)} (default: all of these)"
    )
    complete_with(names, lambda: NAMES)
    add_json(instances)
    add_quiet(instances, "print only numbers that differ from the published ones")
    instances.set_defaults(run=_instances)


def _instances(options: argparse.Namespace) -> int:
    if unknown := set(options.names) - set(NAMES):
        name = min(unknown)
        raise ValueError(f"no instance {name!r}; there are {', '.join(NAMES)}{suggestion(name, NAMES)}")
    from benchmarks.instances import solution
    from benchmarks.instances.rules import INSTANCES
    from robust_core.json import dumps

    code, rows, oddities = HOLDS, [], []
    for name in options.names or NAMES:
        instance = INSTANCES[name]()
        for budget in solution.BUDGETS:
            found = solution.solve(instance, budget)
            code = code if found.same else VIOLATED
            if not (options.quiet and found.same):
                rows.append(found)
        oddities += [] if options.quiet else solution.lint(instance)
    if options.json:
        for record in (*rows, *oddities):
            print(dumps(record))
    elif rows:
        print(_table(rows))
        for oddity in oddities:
            print(f"\n{fold(f'{oddity.name}: {oddity.what}: {oddity.detail}')}", end="")
        print()
    return code


def _table(rows: "list[Solution]") -> str:
    columns = ["instance", "S x A", "kappa", "sweeps", "published", "least value", "certified", "width", "error"]
    cells = [
        [
            row.name, f"{row.states} x {row.actions}", f"{row.budget:g}", str(row.sweeps),
            "none known" if row.published is None else f"{row.published}{'' if row.same else ' differs'}",
            f"{row.least:.4f}", f"{row.certified_least:.5f}", f"{row.width:.1e}", f"{row.error:.2g}",
        ]
        for row in rows
    ]  # fmt: skip
    return show_table(columns, cells)
