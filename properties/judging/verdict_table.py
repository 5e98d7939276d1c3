"""The verdicts on one variant as a list that reads well: as text in a terminal, as a table in a notebook."""

from html import escape

from properties.judging.verdict import Record
from robust_core.text import one_line

COLUMNS = ("verdict", "law", "time", "evidence")


class Verdicts(list[Record]):
    """Records, in the order in which they were decided.

    >>> print(Verdicts([Record("mine", "box", "holds", "no violation in 5 cases", 5, 0.25, 0)]))
    mine
      verdict   law  time    evidence
      holds     box  0.25 s  no violation in 5 cases
      1 holds
    """

    @property
    def violated(self) -> "Verdicts":
        """What is violated and not expected to be."""
        return Verdicts(record for record in self if record.outcome == "violated" and record.expected is None)

    @property
    def undecided(self) -> "Verdicts":
        """What the budget could not decide."""
        return Verdicts(record for record in self if record.outcome == "undecided")

    def __str__(self) -> str:
        if not self:
            return "nothing to verify"
        rows = [COLUMNS, *(row(record) for record in self)]
        widths = [max(9, *(len(line[0]) for line in rows)), *(max(len(line[i]) for line in rows) for i in (1, 2))]
        lines = []
        for line in rows:
            cells = [text.ljust(width) for text, width in zip(line[:3], widths, strict=True)]
            lines.append(f"  {cells[0]} {cells[1]}  {cells[2]}  {line[3]}".rstrip())
        return "\n".join([one_line(self[0].variant), *lines, f"  {counted(self)}"])

    def _repr_html_(self) -> str:
        """A table; everything a variant could have written is escaped."""
        head = "".join(f"<th>{name}</th>" for name in COLUMNS)
        body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row(record))}</tr>" for record in self)
        name = escape(self[0].variant) if self else "nothing to verify"
        return f"<table><caption>{name}: {counted(self)}</caption><tr>{head}</tr>{body}</table>"


def row(record: Record) -> tuple[str, str, str, str]:
    """(verdict, law, time, evidence) as a person reads them."""
    outcome = "expected" if record.expected else record.outcome
    return outcome, record.law, f"{record.seconds:.2f} s", record.evidence


def counted(records: list[Record]) -> str:
    """How many of each outcome.

    >>> counted([])
    'nothing to verify'
    """
    counts: dict[str, int] = {}
    for record in records:
        outcome = row(record)[0]
        counts[outcome] = counts.get(outcome, 0) + 1
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "nothing to verify"
