"""The report as files: the page, the summary, and the counterexamples that verification found."""

import os
from pathlib import Path

from benchmarks.report.page import render
from benchmarks.report.report import Report
from benchmarks.report.summary import summary

PAGE, SUMMARY = "report.html", "summary.md"


def write(report: Report, folder: Path) -> Path:
    """Write the files into a folder and return the page's path; a reader never sees half a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for variant in report.variants.variants:
        for verdict in variant.verdicts:
            if verdict.counterexample is not None:
                _replace(folder / "counterexamples" / verdict.counterexample.file, verdict.counterexample.text)
    _replace(folder / SUMMARY, summary(report))
    return _replace(folder / PAGE, render(report))


def _replace(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(path.name + ".part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)
    return path
