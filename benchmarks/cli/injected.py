"""`robust-core study injected`: injected defects that a comparison must find, and fresh seeds that it must not."""

import argparse
import functools
from pathlib import Path

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    add_running,
    open_work,
    positive,
    progress,
)

STORE = Path(".robust-core") / "injected.jsonl"


def add_parser(studies: Commands) -> None:
    """The study and its options."""
    injected = studies.add_parser(
        "injected",
        help="inject defects into the learners and compare: which are found, and are there false alarms?",
        description="Compares learners with injected defects with the right ones, and seed sets with each other. Exit "
        "code 1: a defect was missed in some seed set, or there was a false alarm.",
        epilog="example: robust-core study injected 'bias 1 %' --workers 2",
    )
    injected.add_argument("defects", nargs="*", metavar="DEFECT", help="the name of a defect (default: all)")
    injected.add_argument(
        "--seed-sets", type=positive, default=1, metavar="N", help="sets of seeds (default 1: the pinned ones)"
    )
    add_running(injected, STORE, budget=False, cluster=False)
    add_json(injected)
    add_quiet(injected, "print only defects that were missed, and false alarms")
    injected.set_defaults(run=_injected)


def _injected(options: argparse.Namespace) -> int:
    from benchmarks.documents import markdown
    from benchmarks.regression.bench import bench
    from benchmarks.regression.defects import DEFECTS
    from benchmarks.studies import injected
    from robust_core.json import dumps

    if unknown := set(options.defects) - DEFECTS.keys():
        raise ValueError(f"no defect {', '.join(sorted(unknown))}; there are {', '.join(DEFECTS)}")
    wrong = 0
    with open_work(options) as store:
        measure = functools.partial(bench, store=store, workers=options.workers, show=progress)
        references = [measure(seed_set=seed_set) for seed_set in injected.seed_sets(options.seed_sets)]
        if not (options.json or options.quiet):
            print(markdown.head(injected.COLUMNS), flush=True)
        for finding in injected.study_defects(options.defects or list(DEFECTS), references, measure):
            progress("")
            missed = finding.found < finding.seed_sets
            wrong += missed
            if missed or not options.quiet:
                print(dumps(finding) if options.json else markdown.row(finding.row()), flush=True)
        for control in injected.study_controls(references):
            wrong += control.false_alarms
            if control.false_alarms or not options.quiet:
                print(dumps(control) if options.json else control, flush=True)
    return VIOLATED if wrong else HOLDS
