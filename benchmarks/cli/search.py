"""`robust-core search`: the deep search of the nightly run."""

import argparse
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import HOLDS, VIOLATED, Commands, add_budget, add_json, add_quiet, dumps, progress

if TYPE_CHECKING:
    from properties.judging.deep_search import Violation

DEFAULT_BUDGET = 1800.0


def add_parser(commands: Commands) -> None:
    """The command and its options."""
    search = commands.add_parser(
        "search",
        help="search for violations of claims and laws on fresh random problems until the time is up",
        description="Judges every claim that should hold, and every law on every variant of the gallery, on fresh "
        "random problems, in rounds of twice as many examples each, until the time is up. Counterexamples are saved "
        "in .robust-core/nightly. Exit code 1: there is one.",
        epilog="example: robust-core search --budget 30min",
    )
    add_budget(search, default=DEFAULT_BUDGET)
    add_json(search, "one record per violation")
    add_quiet(search, "print only violations")
    search.set_defaults(
        run=_search, resume="(this starts from the beginning, with new problems; counterexamples are kept)"
    )


def _search(options: argparse.Namespace) -> int:
    if not options.budget > 0.0:
        raise ValueError(f"--budget must be more than 0s, in which nothing is searched, got {options.budget:g}s")
    from properties.judging.deep_search import Begin, Violation, run

    violations = 0
    for event in run(options.budget):
        if isinstance(event, Begin):
            progress(f"[{event.examples} examples] {event.variant}: {event.law}")
            continue
        progress("")
        if isinstance(event, Violation):
            violations += 1
            print(_record(event) if options.json else _line(event), flush=True)
        elif not (options.json or options.quiet):
            print(f"a round of {event.examples} examples each is complete, violations: {violations}", flush=True)
    progress("")
    return VIOLATED if violations else HOLDS


def _line(violation: "Violation") -> str:
    replay = f"robust-core replay {violation.counterexample}"
    return f"{violation.variant}: {violation.law}: {violation.evidence} (seed {violation.seed}); {replay}"


def _record(violation: "Violation") -> str:
    return dumps(vars(violation) | {"counterexample": str(violation.counterexample)})
