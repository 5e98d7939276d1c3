"""`robust-core study faults`: which law catches which defect of a public algorithm."""

import argparse
from pathlib import Path

from benchmarks.cli.conventions import HOLDS, VIOLATED, Commands, add_json, add_quiet, progress, require_writable


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

    output = options.output or faults.BASELINE
    require_writable("--output", output)
    found = []
    # The numbers of a wrong algorithm may overflow.
    with np.errstate(all="ignore"):
        for one in faults.judged(catalogue()):
            found.append(one)
            progress(one.source)
            if not (options.quiet and one.law):
                print(dumps(one) if options.json else f"{one.source}: {one.law or 'not caught'}", flush=True)
    progress("")
    output.write_text(dumps(faults.FaultResults(tuple(found)), indent=1) + "\n", encoding="utf-8")
    return HOLDS if all(one.law for one in found) else VIOLATED
