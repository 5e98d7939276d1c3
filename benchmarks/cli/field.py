"""`robust-core study field`: algorithms of public libraries under the suite."""

import argparse
from pathlib import Path

from benchmarks.cli.conventions import HOLDS, Commands, add_json, add_quiet, positive, require_writable


def add_parser(studies: Commands) -> None:
    """The study and its options."""
    field = studies.add_parser(
        "field",
        help="judge algorithms of public libraries",
        description="Judges the algorithms of public libraries that are installed "
        "(pip install 'robust-core[field,field-jax]'), through the adapters in benchmarks/field. A violation is a "
        "finding, not a failure: the exit code is 0.",
        epilog="example: robust-core study field --output field-report.md",
    )
    field.add_argument("--examples", type=positive, default=200, metavar="N", help="problems per law (default 200)")
    field.add_argument("--output", type=Path, metavar="FILE", help="write the page (Markdown) to this file")
    add_json(field)
    add_quiet(field, "print only violations")
    field.set_defaults(run=_field)


def _field(options: argparse.Namespace) -> int:
    from benchmarks.studies import field
    from robust_core.json import dumps

    if options.output is not None:
        require_writable("--output", options.output)
    found = field.study(examples=options.examples)
    for each in found:
        if each.law or not options.quiet:
            line = f"{each.outcome:<9} {each.variant} ({each.library} {each.version})"
            print(dumps(each) if options.json else f"{line}{': ' if each.law else ''}{each.evidence}")
    if options.output is not None:
        field.write(options.output, found, options.examples)
    return HOLDS
