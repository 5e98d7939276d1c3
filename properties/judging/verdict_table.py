"""The verdicts on one variant as a list that reads well: as text in a terminal, as a table in a notebook."""

import math
import textwrap
from collections.abc import Callable
from html import escape

from properties.judging.verdict import Record
from robust_core.text import one_line

COLUMNS = ("verdict", "law", "time", "evidence")
NARROWEST, INDENT = 60, " " * 12
"""Columns of the narrowest table, and the indentation of what stands under a row."""
LONGEST_LAW, SHORTEST_LAW, TIME, SHORT = 45, 24, 8, 22
"""Columns of the longest and the shortest column of laws, of the time, and of short evidence."""


class Verdicts(list[Record]):
    """Records, in the order in which they were decided.

    >>> print(Verdicts([Record("mine", "box", "holds", "no violation in 5 cases", 5, 0.25, 0)]))
    mine
      verdict   law                                     time  evidence
      holds     box                                   0.25 s  5 cases
      1 holds
    """

    @property
    def violated(self) -> "Verdicts":
        """The violations that are not expected failures."""
        return Verdicts(record for record in self if record.outcome == "violated" and record.expected is None)

    @property
    def undecided(self) -> "Verdicts":
        """The records that are undecided."""
        return Verdicts(record for record in self if record.outcome == "undecided")

    def __str__(self) -> str:
        if not self:
            return "nothing to verify"
        rows = [line for record in self for line in row_lines(record)]
        return "\n".join([one_line(self[0].variant), heading(), *rows, f"  {count_outcomes(self)}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table with coloured verdicts; everything a variant could have written is escaped."""
        head = "".join(f'<th style="text-align:left">{name}</th>' for name in COLUMNS)
        name = escape(self[0].variant) if self else "nothing to verify"
        caption = f"<caption><b>{name}</b>: {count_outcomes(self)}</caption>"
        return f"<table>{caption}<tr>{head}</tr>{''.join(map(_html_row, self))}</table>"


COLOURS = {
    "holds": "#0b7a55", "expected": "#0b7a55", "violated": "#c23b00", "error": "#c23b00", "undecided": "#8a6500",
    "untested": "#8a6500",
}  # fmt: skip
"""Of verdicts in a notebook: they can be read on light and on dark ground."""


def _html_row(record: Record) -> str:
    """A row; under a violation the results side by side, aligned, and the command that shows it again."""
    outcome, law, time, _ = row(record)
    colour = COLOURS.get(outcome, "#6b7380")
    cells = [f'<b style="color:{colour}">{outcome}</b>', *map(escape, (law, time, short_evidence(record)))]
    lines = ["<tr>", *(f'<td style="text-align:left">{cell}</td>' for cell in cells), "</tr>"]
    under = record.results.splitlines()
    if isinstance(record.counterexample, str):
        under.append(f"robust-core replay {record.counterexample}")
    if under:
        text = escape("\n".join(under))
        lines.append(f'<tr><td></td><td colspan="3"><pre style="text-align:left">{text}</pre></td></tr>')
    return "".join(lines)


def heading(width: int = 80) -> str:
    """The line above the rows of a table."""
    verdict, law, time, evidence = COLUMNS
    return f"  {verdict:<9} {law:<{_law_columns(width)}} {time:>{TIME}}  {evidence}"


def row_lines(
    record: Record, *, width: int = 80, verbose: bool = False, paint: Callable[[str], str] = "{:<9}".format
) -> list[str]:
    """A row that fits the width, with the lines under it.

    A long law shifts the time to the right, and one for which the row is too short has a line of its own. Under a
    violation stand the two results side by side. `paint` pads and colours the verdict. With
    `verbose` the evidence of a statistical law is complete.
    """
    width, columns = max(width, NARROWEST), _law_columns(width)
    outcome, law, time, _ = row(record)
    evidence = one_line(record.evidence if verbose else short_evidence(record))
    law, under = one_line(law), []
    taken = len(INDENT) + 1 + max(TIME, len(time)) + 2 + len(evidence)
    if taken + len(law) <= width:
        columns = max(columns, len(law))
    if taken + columns > width:
        under = fill(evidence, width - len(INDENT))
        evidence = ""
    lines = [f"  {paint(outcome)} "]
    if len(law) > columns:
        first, *rest = fill(law, width - len(INDENT))
        lines = [lines[0] + first, *(INDENT + line for line in rest), INDENT]
        law = ""
    lines[-1] = f"{lines[-1]}{law:<{columns}} {time:>{TIME}}  {evidence}".rstrip()
    lines += [INDENT + line for line in [*under, *record.results.splitlines()]]
    return lines


def fill(text: str, columns: int) -> list[str]:
    """The text in lines of at most so many columns; a longer word is cut."""
    return textwrap.wrap(text, columns, break_on_hyphens=False) or [""]


def _law_columns(width: int) -> int:
    return min(LONGEST_LAW, max(SHORTEST_LAW, width - len(INDENT) - 1 - TIME - 2 - SHORT))


def short_evidence(record: Record) -> str:
    """The evidence in a few words where all is well or undecided; a violation is told in full.

    >>> short_evidence(Record("mine", "box", "holds", "no violation in 5 cases", 5, 0.25, 0))
    '5 cases'
    """
    cell = record.statistics
    if record.blocked_by:
        return f"by '{record.blocked_by}'"
    if cell is None or record.outcome == "error":
        return record.evidence.removeprefix("no violation in ")
    if record.outcome == "violated":
        looks_like = f"looks like: {cell.diagnosis}; " if cell.diagnosis else ""
        return f"{looks_like}e-value 10^{cell.log_against / math.log(10):.1f} against the law after {cell.n} samples"
    return f"{cell.n} samples" if record.outcome == "holds" else f"{cell.n} samples, at most {cell.n_max}"


def row(record: Record) -> tuple[str, str, str, str]:
    """(verdict, law, time, evidence) as a person reads them."""
    outcome = "expected" if record.expected else record.outcome
    return outcome, record.law, f"{record.seconds:.2f} s", record.evidence


def count_outcomes(records: list[Record]) -> str:
    """How many of each outcome.

    >>> count_outcomes([])
    'nothing to verify'
    """
    counts: dict[str, int] = {}
    for record in records:
        outcome = row(record)[0]
        counts[outcome] = counts.get(outcome, 0) + 1
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "nothing to verify"
