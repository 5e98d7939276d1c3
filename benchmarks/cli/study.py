"""`robust-core study`: studies that run rarely and feed the documents."""

from benchmarks.cli import calibration, faults, field, flaky, hits, injected, power, sizes, theorem3
from benchmarks.cli.conventions import Commands


def add_parser(commands: Commands) -> None:
    """The studies, each with its own options."""
    study = commands.add_parser(
        "study",
        help="run one of the studies behind the documentation",
        description="Studies that run rarely: how well the suite itself works, measured.",
        epilog="example: robust-core study calibration --budget 2min",
    )
    studies = study.add_subparsers(required=True, metavar="STUDY")
    calibration.add_parser(studies)
    theorem3.add_parser(studies)
    injected.add_parser(studies)
    power.add_parser(studies)
    flaky.add_parser(studies)
    hits.add_parser(studies)
    faults.add_parser(studies)
    field.add_parser(studies)
    sizes.add_parser(studies)
