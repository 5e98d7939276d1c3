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
    progress,
    raise_on_termination,
    require_writable,
)

STORE = Path(".robust-core") / "hits.jsonl"


def add_parser(studies: Commands) -> None:
    """The study and its options."""
    parser = studies.add_parser(
        "hits",
        help="measure how often its law meets a mutant, over seeds",
        description="Judges every mutant with five seeds, and renews the committed hit rates by the modules that were "
        "measured. Exit code 1: a mutant is met in less than 1 % of the cases, and in none that every search tries.",
        epilog="example: robust-core study hits operator planner --budget 2min",
    )
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="of properties/variants/mutants (default: all)")
    add_running(parser, STORE, cluster=False)
    add_json(parser, "a JSON object for each mutant")
    add_quiet(parser, "only mutants that are not caught")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the hit rates (default: the committed ones)")
    parser.set_defaults(run=_hits)


def _hits(options: argparse.Namespace) -> int:
    from benchmarks.runner.pool import single_thread
    from benchmarks.runner.store import open_store
    from benchmarks.studies import hits
    from robust_core.json import dumps

    single_thread()
    known = hits.modules()
    if unknown := set(options.modules) - set(known):
        raise ValueError(f"MODULE must be one of {', '.join(known)}, got {', '.join(sorted(unknown))}")
    output = options.output or hits.BASELINE
    require_writable("--output", output)
    with open_store(options.store) as store, raise_on_termination():
        today = hits.run(
            options.modules or known,
            store=store,
            workers=options.workers,
            budget_seconds=options.budget,
            show=progress,
        )
    progress("")
    output.write_text(dumps(hits.load(output).renew(today), indent=1) + "\n", encoding="utf-8")
    missed = [one for one in today.mutants if not one.caught]
    for one in missed if options.quiet else today.mutants:
        print(dumps(one) if options.json else f"{one.mutant}: {one.law or 'no law'}, {one.words}")
    return VIOLATED if missed else HOLDS
