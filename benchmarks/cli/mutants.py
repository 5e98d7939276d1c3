"""`robust-core mutants`: the kill matrix."""

import argparse
from collections.abc import Iterator
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from benchmarks.cli.conventions import HOLDS, VIOLATED, add_quiet, add_seed, positive, progress, stopped_between
from benchmarks.cli.loading import loaded

if TYPE_CHECKING:
    from benchmarks.mutants.matrix import Kill
    from robust_core.problem import Variant


def add_parser(commands: Any) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "mutants",
        help="which law catches which wrong algorithm",
        description="Judges the mutants (wrong algorithms on purpose) by every law that applies to them. "
        "An entry of the matrix is the number of problems up to the first violation. "
        "Exit code 1: a mutant is alive.",
        epilog="example: robust-core mutants properties.variants.mutants.support",
    )
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="file.py[:NAME], package.module[:NAME] or a published name; default: all built in",
    )
    parser.add_argument("--json", action="store_true", help="one JSON record per mutant and law")
    parser.add_argument("--examples", type=positive, default=60, metavar="N", help="problems per law (default 60)")
    add_seed(parser)
    add_quiet(parser, "only mutants that are alive")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from benchmarks.mutants.matrix import Table, summary, survivors, zoo

    found = loaded(options.targets) or zoo()
    tables = not (options.json or options.quiet)
    kills: list[Kill] = []
    for kind in dict.fromkeys(variant.kind for variant in found.values()):
        mutants = {key: variant for key, variant in found.items() if variant.kind == kind}
        table = Table.of(mutants.values())
        if tables:
            print(table.head(), flush=True)
        for key, mine in _judged(mutants, options, done=len({kill.mutant for kill in kills}), total=len(found)):
            kills += mine
            if options.json:
                shown = [kill.to_json() for kill in mine if not options.quiet or survivors(mine)]
            elif options.quiet:
                shown = [f"alive: {mutant}" for mutant in survivors(mine)]
            else:
                shown = [table.line(mutants[key].name, mine)]
            if shown:
                print("\n".join(shown), flush=True)
        if tables:
            print()
    unjudged = [key for key in found if key not in {kill.mutant for kill in kills}]
    if tables:
        print(summary(kills))
    for key in unjudged:
        print(f"alive: {key}: no law applies to it")
    return VIOLATED if unjudged or survivors(kills) else HOLDS


def _judged(
    mutants: "dict[str, Variant]", options: argparse.Namespace, *, done: int, total: int
) -> "Iterator[tuple[str, list[Kill]]]":
    """The mutants of one kind with their kills, each as soon as it is known; Ctrl-C stops between two problems."""
    from benchmarks.mutants import isolated
    from benchmarks.mutants.matrix import kill_matrix
    from properties.process.loading import place_of
    from properties.process.probe import may_misbehave

    places = {key: place for place, key in enumerate(mutants, start=done + 1)}
    with stopped_between() as check:
        before = ("", "")

        def tick(mutant: str, law: str) -> None:
            nonlocal before
            check()
            if (mutant, law) != before:
                before = (mutant, law)
                progress(f"[mutant {places[mutant]}/{total}] {mutants[mutant].name}: {law}")

        effort = {"examples": options.examples, "seed": options.seed, "tick": tick}
        kills: Iterator[Kill]
        if any(may_misbehave(place_of(key)) for key in mutants):
            kills = chain.from_iterable(isolated.kills(key, mutants[key], **effort) for key in mutants)
        else:
            kills = kill_matrix(mutants, **effort)
        for key, mine in groupby(kills, key=attrgetter("mutant")):
            judged = list(mine)
            progress("")
            yield key, judged
