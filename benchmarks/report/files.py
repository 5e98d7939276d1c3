"""The report as files: the page, the summary, and the counterexamples that verification found."""

from pathlib import Path

from benchmarks.report.page import render
from benchmarks.report.report import Report
from benchmarks.report.summary import summary
from benchmarks.runner.store import write_whole

PAGE, SUMMARY = "report.html", "summary.md"


def write(report: Report, folder: Path) -> Path:
    """Write the files into a folder and return the page's path; a reader never sees half a file."""
    for variant in report.variants.variants:
        for verdict in variant.verdicts:
            if verdict.counterexample is not None:
                write_whole(folder / "counterexamples" / verdict.counterexample.file, verdict.counterexample.text)
    write_whole(folder / SUMMARY, summary(report))
    write_whole(folder / PAGE, render(report))
    return folder / PAGE
