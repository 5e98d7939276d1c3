"""The summary for a pull request: the verdict, what is wrong, and where the rest is, as Markdown."""

import re
from collections.abc import Sequence

from benchmarks.documents import markdown
from benchmarks.report.markup import FORBIDDEN
from benchmarks.report.report import Report
from benchmarks.report.sections.panels import Panels
from benchmarks.report.sections.regression import Comparison, counts, effect, urgency
from benchmarks.report.sections.variants import Gallery
from benchmarks.report.sections.verdict import Verdict
from benchmarks.report.words import look

MOST = 20
"""Rows of a table before it only says how many more there are."""
LAST = "The full report: `report.html`, one file that opens without a network. Made by `robust-core report`."


def summary(report: Report) -> str:
    """The report in a few lines of Markdown."""
    head = f"## {look(report.verdict.outcome)[1]} robust-core: {report.verdict.outcome}"
    parts = [head, text(report.verdict.sentence), _lines(report.verdict)]
    parts += [_violations(report.variants), _regression(report.regression), _panels(report.panels), LAST]
    return "\n\n".join(part for part in parts if part) + "\n"


def text(content: str) -> str:
    """Text that Markdown shows as it is, on one line.

    >>> text("a|b <script> *x*")
    'a\\\\|b &lt;script&gt; \\\\*x\\\\*'
    """
    line = " ".join(content.split()).translate(FORBIDDEN)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # Directional marks would reorder what follows; @ would notify somebody.
    line = re.sub("[\u202a-\u202e\u2066-\u2069\u200e\u200f]", "", line).replace("@", "@\u200b")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", line)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, cut where it gets long."""
    shown = markdown.table(head, rows[:MOST])
    return shown if len(rows) <= MOST else f"{shown}\n\n… and {len(rows) - MOST} more."


def _word(outcome: str) -> str:
    return f"{look(outcome)[1]} {outcome}"


def _lines(verdict: Verdict) -> str:
    rows = [[text(line.name), _word(line.outcome), text(line.short)] for line in verdict.lines]
    return _table(["part", "verdict", "in short"], rows)


def _violations(gallery: Gallery) -> str:
    """First causes in variants that should hold."""
    rows = [
        [text(variant.name), text(verdict.law), text(verdict.evidence)]
        for variant in gallery.variants
        if variant.expected == "holds" != variant.outcome
        for verdict in variant.verdicts
        if verdict.outcome in ("violated", "error")
    ]
    return "### Violated\n\n" + _table(["variant", "law", "evidence"], rows) if rows else ""


def _regression(comparison: Comparison | None) -> str:
    """Measures that moved; equivalent ones are counted only."""
    if comparison is None:
        return ""
    line = f"Against the baseline: {counts(comparison.rows)}."
    rows = [
        [_word(row.verdict), text(row.metric), text(row.variant), text(row.problem), text(effect(row))]
        for row in sorted(comparison.rows, key=urgency)
        if row.verdict not in ("equivalent", "undecided")
    ]
    return f"{line}\n\n" + _table(["verdict", "metric", "variant", "problem", "effect"], rows) if rows else line


def _panels(record: Panels) -> str:
    outcomes: dict[str, list[str]] = {}
    for panel in record.panels:
        outcomes.setdefault(panel.outcome, []).append(panel.panel)
    return "\n".join(f"- panels {word}: {', '.join(names)}" for word, names in outcomes.items())
