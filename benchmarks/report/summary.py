"""The summary for a pull request: the verdict, what is wrong, and where the rest is, as Markdown."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.report.effects import effect, urgency
from benchmarks.report.markup import FORBIDDEN
from benchmarks.report.overall import outcome_of
from benchmarks.report.words import look

MOST = 20
"""Rows of a table before it only says how many more there are."""


def summary(data: dict[str, Any]) -> str:
    """The report in a few lines of Markdown."""
    verdict = data["verdict"]
    symbol = look(verdict["outcome"])[1]
    parts = [f"## {symbol} robust-core: {verdict['outcome']}", text(verdict["sentence"]), _parts(verdict["parts"])]
    parts += [part for part in (_violations(data), _regression(data["regression"]), _panels(data["panels"])) if part]
    parts.append(
        "The whole report: `report.html`, one file that opens without a network. Made by `robust-core report`."
    )
    return "\n\n".join(parts) + "\n"


def text(content: str) -> str:
    """Text that Markdown shows as it is, on one line.

    >>> text("a|b <script> *x*")
    'a\\\\|b &lt;script&gt; \\\\*x\\\\*'
    """
    line = " ".join(str(content).split()).translate(FORBIDDEN)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # Directional marks would reorder what follows; @ would notify somebody.
    line = re.sub("[\u202a-\u202e\u2066-\u2069\u200e\u200f]", "", line).replace("@", "@\u200b")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", line)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table of escaped cells, cut where it gets long."""
    listed = list(rows)
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [f"| {' | '.join(row)} |" for row in listed[:MOST]]
    if len(listed) > MOST:
        lines.append(f"\n… and {len(listed) - MOST} more.")
    return "\n".join(lines)


def _word(outcome: str) -> str:
    return f"{look(outcome)[1]} {outcome}"


def _parts(parts: list[dict[str, str]]) -> str:
    return table(
        ["part", "verdict", "in short"], [[text(p["name"]), _word(p["outcome"]), text(p["short"])] for p in parts]
    )


def _violations(data: dict[str, Any]) -> str:
    """First causes in variants that were to hold."""
    rows = [
        [text(variant["name"]), text(record["law"]), text(record["evidence"])]
        for variant in data["gallery"]["variants"]
        if variant["expected"] == "holds" and outcome_of(variant) != "holds"
        for record in variant["records"]
        if record["outcome"] in ("violated", "error")
    ]
    return "### Violated\n\n" + table(["variant", "law", "evidence"], rows) if rows else ""


def _regression(comparison: dict[str, Any] | None) -> str:
    """Cells that moved; equivalent ones are counted only."""
    if comparison is None:
        return ""
    cells = sorted(comparison["cells"], key=lambda cell: urgency(cell["verdict"]))
    moved = [cell for cell in cells if cell["verdict"] not in ("equivalent", "undecided")]
    counts = Counter(cell["verdict"] for cell in comparison["cells"])
    line = "Against the baseline: " + ", ".join(f"{count} {word}" for word, count in sorted(counts.items())) + "."
    if not moved:
        return line
    rows = [
        [_word(cell["verdict"]), *(text(cell[name]) for name in ("metric", "variant", "problem")), text(effect(cell))]
        for cell in moved
    ]
    return f"{line}\n\n" + table(["verdict", "metric", "variant", "problem", "effect"], rows)


def _panels(panels: dict[str, Any]) -> str:
    outcomes: dict[str, list[str]] = {}
    for panel in panels["panels"]:
        outcomes.setdefault(panel["outcome"], []).append(panel["panel"])
    return "\n".join(f"- panels {word}: {', '.join(names)}" for word, names in outcomes.items())
