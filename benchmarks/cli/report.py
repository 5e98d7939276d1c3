"""`robust-core report`: one HTML page and a Markdown summary."""

import argparse
from pathlib import Path

from benchmarks.cli.conventions import (
    HOLDS,
    KEPT,
    UNDECIDED,
    USAGE,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    add_strict,
    add_workers,
    progress,
    report_loading,
)

OUTPUT = Path(".robust-core") / "report"
EXIT_CODES = {"violated": VIOLATED, "error": USAGE}


def add_parser(commands: Commands) -> None:
    """The command and its options."""
    report = commands.add_parser(
        "report",
        help="write an HTML report and a Markdown summary of all results",
        description="Verifies the gallery, judges the mutants, runs the quick statistical suite, compares with the "
        "baseline, and writes it all with the paper's claims and panels as one self-contained HTML page and as "
        "a Markdown summary. Results are kept as they come: a second report takes seconds, an interrupted one "
        "continues where it stopped.",
        epilog="example: robust-core report --output report",
    )
    report.add_argument(
        "targets", nargs="*", metavar="TARGET", help="variants to judge in addition to the gallery: file.py"
    )
    report.add_argument("--output", type=Path, default=OUTPUT, metavar="DIR", help=f"default: {OUTPUT}")
    report.add_argument("--quick", action="store_true", help="fewer problems per law and per mutant")
    report.add_argument(
        "--history",
        type=Path,
        metavar="FOLDER|FILE",
        help="draw the trends of this history, or of a committed file of measurements (default: .robust-core/history)",
    )
    add_json(report, "the data of the report instead of its place")
    add_quiet(report, "print nothing unless something does not hold")
    add_strict(report)
    add_workers(report)
    report.set_defaults(run=_report, resume=KEPT)


def _report(options: argparse.Namespace) -> int:
    from benchmarks.report.collect import collect
    from benchmarks.report.files import SUMMARY, write
    from properties.process.session import Session

    if options.history is not None and not options.history.exists():
        raise ValueError(
            "history must be a folder that `compare --history` has written or a committed file of measurements, "
            f"got {options.history}"
        )
    try:
        Session(options.targets, waiting=report_loading).close()  # what cannot be loaded is refused before any work
    finally:
        progress("")
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        report = collect(targets=options.targets, quick=options.quick, workers=options.workers,
                         history=options.history, show=progress)  # fmt: skip
        page = write(report, options.output)
    finally:
        progress("")
    verdict = report.verdict
    if options.json:
        from robust_core.json import dumps

        print(dumps(report))
    elif not options.quiet or verdict.outcome != "holds":
        print(f"{verdict.outcome}: {verdict.sentence}\n{page}\n{page.with_name(SUMMARY)}")
    return _exit_code(verdict.outcome, strict=options.strict)


def _exit_code(outcome: str, *, strict: bool) -> int:
    if outcome in ("undecided", "pending"):
        return UNDECIDED if strict else HOLDS
    return EXIT_CODES.get(outcome, HOLDS)
