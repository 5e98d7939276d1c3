"""The report as files: the page, the summary, and the counterexamples that verification found."""

import json
import os
from pathlib import Path
from typing import Any

from benchmarks.report.page import render
from benchmarks.report.summary import summary

PAGE, SUMMARY = "report.html", "summary.md"


def write(data: dict[str, Any], folder: Path) -> Path:
    """Write the files into a folder and return the page's path; a reader never sees half a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for variant in data["gallery"]["variants"]:
        for record in variant["records"]:
            if record["counterexample"] is not None:
                example = {key: value for key, value in record["counterexample"].items() if key != "file"}
                text = json.dumps(example, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
                _replaced(folder / "counterexamples" / record["counterexample"]["file"], text)
    _replaced(folder / SUMMARY, summary(data))
    return _replaced(folder / PAGE, render(data))


def _replaced(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(path.name + ".part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)
    return path
