"""`robust-core mutants`: the kill matrix."""

import argparse
from typing import Any

from benchmarks.cli_conventions import HOLDS, VIOLATED, positive


def add_parser(commands: Any) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "mutants",
        help="which law catches which wrong algorithm",
        description="Judges the mutants (wrong algorithms on purpose) by every law that applies to them. "
        "An entry of the matrix is the number of problems up to the first violation. "
        "Exit code 1: a mutant is alive.",
        epilog="example: robust-core mutants properties.mutants.support",
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="module, module:NAME or file.py; default: all")
    parser.add_argument("--json", action="store_true", help="one JSON record per mutant and law")
    parser.add_argument("--examples", type=positive, default=60, metavar="N", help="problems per law (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="which problems are generated (default 0)")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from benchmarks.mutants import kill_matrix, rendered, survivors, zoo
    from properties.loading import load

    variants = {key: variant for target in options.targets for key, variant in load(target).items()} or zoo()
    kills = []
    for kill in kill_matrix(variants, examples=options.examples, seed=options.seed):
        kills.append(kill)
        if options.json:
            print(kill.to_json(), flush=True)
    if not options.json:
        print(rendered(kills))
    return VIOLATED if survivors(kills) else HOLDS
