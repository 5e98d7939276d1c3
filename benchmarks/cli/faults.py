"""`robust-core study faults`: which law catches which defect of a public algorithm."""

import argparse
from pathlib import Path

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    output_of,
    progress,
    write_record,
)


def add_parser(studies: Commands) -> None:
    """The study and its options."""
    parser = studies.add_parser(
        "faults",
        help="judge defects of public algorithms",
        description="Judges the defects of public planners and learners that are re-created in "
        "properties/variants/faults, and renews the committed result. Exit code 1: one of them is not caught.",
        epilog="example: robust-core study faults --output faults.json",
    )
    add_json(parser, "a JSON object for each fault")
    add_quiet(parser, "print only faults that are not caught")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the result (default: the committed one)")
    parser.set_defaults(run=_faults)


def _faults(options: argparse.Namespace) -> int:
    import numpy as np

    from benchmarks.studies import faults
    from properties.variants.faults import catalogue
    from robust_core.json import dumps

    output = output_of(options, faults.BASELINE)
    found = []
    # The numbers of a wrong algorithm may overflow.
    with np.errstate(all="ignore"):
        for one in faults.judge_faults(catalogue()):
            found.append(one)
            progress(one.source)
            if not (options.quiet and one.law):
                print(dumps(one) if options.json else f"{one.source}: {one.law or 'not caught'}", flush=True)
    progress("")
    write_record(output, faults.FaultResults(tuple(found)))
    return HOLDS if all(one.law for one in found) else VIOLATED
