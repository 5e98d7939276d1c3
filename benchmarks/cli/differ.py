"""`robust-core differ`."""

import argparse
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    add_seed,
    dumps,
    positive,
    progress,
    report_loading,
)

if TYPE_CHECKING:
    from properties.difference.difference import Difference

LEVELS = {"bits": "equal in bits", "law": "equal in law", "mean": "equal in the mean"}


def add_parser(commands: Commands) -> None:
    """The command and its options."""
    differ = commands.add_parser(
        "differ",
        help="find the smallest problem and step on which two variants differ",
        description="Compares two variants of one kind: equal in bits, in law, in the mean, or different. Where they "
        "differ it shows the smallest problem and step, and with which of the two the oracle agrees. Loading a variant "
        "executes its module, in a separate process. Exit code 1: the equality that --at-least requires is not "
        "reached.",
        epilog="example: robust-core differ old.py new.py",
    )
    for name, which in (("first", "FIRST"), ("second", "SECOND")):
        differ.add_argument(name, metavar=which, help="file.py[:NAME], package.module[:NAME] or a published name")
    differ.add_argument("--examples", type=positive, default=200, metavar="N", help="problems (default 200)")
    add_seed(differ)
    differ.add_argument(
        "--at-least", choices=tuple(LEVELS), default="mean", help="the equality asked for (default mean)"
    )
    add_json(differ, "the comparison as one JSON object")
    add_quiet(differ, "print nothing if the equality that --at-least requires is reached")
    differ.set_defaults(run=_differ)


def _differ(options: argparse.Namespace) -> int:
    from properties.difference.difference import differ
    from properties.difference.equality import LEVELS as ORDER

    if options.first == options.second:
        raise ValueError(f"differ compares two variants, got {options.first} twice")
    try:
        found = differ(
            options.first,
            options.second,
            examples=options.examples,
            seed=options.seed,
            waiting=report_loading,
            show=progress,
        )
    finally:
        progress("")
    enough = ORDER.index(found.verdict) <= ORDER.index(LEVELS[options.at_least])
    if options.quiet and enough:
        return HOLDS
    print(dumps(found) if options.json else text(found))
    return HOLDS if enough else VIOLATED


def text(found: "Difference") -> str:
    """The comparison as a person reads it."""
    from properties.difference.oracle import IN_WORDS
    from robust_core.text import one_line

    lines = [
        f"{found.verdict}: {one_line(found.first)} and {one_line(found.second)}",
        f"  {found.evidence}",
        f"  {found.same_bits} of {found.cases} answers have the same bits (seed {found.seed})",
    ]
    if found.limits:
        lines.append(f"  problems that both are for: {'; '.join(found.limits)}")
    if found.parting is not None:
        lines += [
            "",
            "smallest problem on which they differ",
            *(f"  {line}" for line in found.problem.splitlines()),
            f"  {found.parting}",
        ]
    if found.oracle is not None:
        lines += ["", IN_WORDS[found.oracle.side]]
        lines += [
            f"  the {blame.which} violates {blame.law!r}{'' if blame.at_the_case else ' in another case'}: "
            f"{one_line(blame.evidence)}"
            for blame in found.oracle.violations
        ]
    return "\n".join(lines)
