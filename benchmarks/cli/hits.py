"""`robust-core study hits`: how often its law meets a mutant, over seeds."""

import argparse
from pathlib import Path

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    add_running,
    open_work,
    output_of,
    progress,
    write_record,
)

STORE = Path(".robust-core") / "hits.jsonl"


def add_parser(studies: Commands) -> None:
    """The study and its options."""
    parser = studies.add_parser(
        "hits",
        help="measure how often its law meets a mutant, over seeds",
        description="Judges mutants with five seeds, and renews the committed hit rates by those that were measured. "
        "Exit code 1: a mutant is met in less than 1 % of the cases, and in none that every search tries.",
        epilog="example: robust-core study hits operator planner --budget 2min",
    )
    parser.add_argument(
        "mutants",
        nargs="*",
        metavar="MUTANT",
        help="MODULE or MODULE:NAME of properties/variants/mutants (default: all)",
    )
    parser.add_argument("--missing", action="store_true", help="only mutants that have no committed hit rate")
    add_running(parser, STORE, cluster=False)
    add_json(parser, "a JSON object for each mutant")
    add_quiet(parser, "print only mutants that are not caught")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the hit rates (default: the committed ones)")
    parser.set_defaults(run=_hits)


def _hits(options: argparse.Namespace) -> int:
    from benchmarks.runner.pool import single_thread
    from benchmarks.studies import hits
    from robust_core.json import dumps
    from robust_core.text import suggestion

    single_thread()
    known = hits.names()
    for text in options.mutants:
        if not any(_is_asked_for(name, [text]) for name in known):
            near = {*known, *(name.partition(":")[0] for name in known)}
            raise ValueError(f"no MUTANT {text!r} in properties/variants/mutants{suggestion(text, sorted(near))}")
    output = output_of(options, hits.BASELINE)
    before = hits.load(output)
    there = {one.mutant for one in before.mutants} if options.missing else set()
    wanted = [name for name in known if name not in there and _is_asked_for(name, options.mutants)]
    with open_work(options) as store:
        today = hits.run(
            wanted,
            store=store,
            workers=options.workers,
            budget_seconds=options.budget,
            show=progress,
        )
    write_record(output, before.renew(today))
    missed = [one for one in today.mutants if not one.caught]
    for one in missed if options.quiet else today.mutants:
        print(dumps(one) if options.json else f"{one.mutant}: {one.law or 'no law'}, {one.words}")
    return VIOLATED if missed else HOLDS


def _is_asked_for(name: str, mutants: list[str]) -> bool:
    return not mutants or name in mutants or name.partition(":")[0] in mutants
