"""The output of `robust-core verify`: each form handles one stream of events.

A handler is told every event in order, and at the end whether the run has finished.
"""

import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Protocol

from benchmarks.cli.conventions import paint, progress, table_width
from robust_core.text import one_line, plural

if TYPE_CHECKING:
    from properties.judging.verdict import Record
    from properties.process.session import Description, Event


class Handler(Protocol):
    """One form of output."""

    def handle(self, event: "Event") -> None:
        """Take note of an event."""

    def close(self, *, finished: bool) -> None:
        """Complete the output; the run may have been stopped before its end."""


class Progress:
    """What is at work, on a terminal only."""

    def __init__(self) -> None:
        self.place = ""

    def handle(self, event: "Event") -> None:
        """Show the law that begins."""
        from properties.process.session import LawBegun, VariantBegun

        if isinstance(event, VariantBegun):
            self.place = f"variant {event.place}/{event.total}, " if event.total > 1 else ""
        elif isinstance(event, LawBegun):
            progress(f"[{self.place}law {event.place}/{event.total}] {event.law}")
        else:
            progress("")

    def close(self, *, finished: bool) -> None:
        """Take the line away."""
        progress("")


class JsonLines:
    """One record a line; with `quiet` only those that do not hold."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    def handle(self, event: "Event") -> None:
        """Print a record."""
        from properties.process.session import Judged

        if isinstance(event, Judged) and not (self.quiet and event.record.outcome == "holds"):
            print(event.record.to_json(), flush=True)

    def close(self, *, finished: bool) -> None:
        """Nothing is left to print."""


class Table:
    """A table for each variant with all its verdicts, and a summary of the run."""

    def __init__(
        self, *, statistics: bool, verbose: bool = False, selects: Callable[[str], bool] = lambda law: True
    ) -> None:
        self.statistics, self.verbose, self.selects = statistics, verbose, selects
        self.all: list[Record] = []
        self.records: list[Record] = []

    def handle(self, event: "Event") -> None:
        """Print the head of a table, a row, or the line under it."""
        from properties.judging.verdict_table import heading
        from properties.process.session import Judged, VariantBegun, VariantEnded

        if isinstance(event, VariantBegun):
            self.records = []
            print("\n".join([_title(event.variant), *(f"  {limit}" for limit in event.variant.limits)]))
            print(heading(table_width()), flush=True)
        elif isinstance(event, Judged):
            self.records.append(event.record)
            print(_row(event.record, verbose=self.verbose), flush=True)
        elif isinstance(event, VariantEnded):
            self.all += self.records
            print(_line_under(self.records))
            for option, left_out in self._not_run(event.variant):
                print(f"  not run ({option}): {left_out}")
            for line in event.variant.advice:
                print(textwrap.fill(line, table_width(), initial_indent="  ", subsequent_indent="    "))

    def _not_run(self, variant: "Description") -> Iterator[tuple[str, str]]:
        """What options leave out: the option, and how much."""
        laws = sum(not self.selects(law) for law in variant.laws)
        if laws:
            yield "--law", plural(laws, "law")
        cells = sum(not self.selects(cell.name) for cell in variant.cells) if self.statistics else len(variant.cells)
        if cells:
            yield "--law" if self.statistics else "--no-statistics", plural(cells, "statistical cell")

    def close(self, *, finished: bool) -> None:
        """Print the summary of a run that has finished."""
        if finished and (text := summary(self.all)):
            print(text)


class QuietTable:
    """Only verdicts that do not hold, under the name of their variant; blocked laws are one line."""

    def __init__(self) -> None:
        self.title = ""
        self.why: Counter[str] = Counter()

    def handle(self, event: "Event") -> None:
        """Print a row if there is something to tell."""
        from properties.process.session import Judged, VariantBegun, VariantEnded

        if isinstance(event, VariantBegun):
            self.title = _title(event.variant)
            self.why.clear()
        elif isinstance(event, Judged) and event.record.outcome == "blocked":
            self.why[event.record.evidence] += 1
        elif isinstance(event, Judged) and event.record.outcome != "holds":
            if self.title:
                print(self.title)
                self.title = ""
            print(_row(event.record), flush=True)
        elif isinstance(event, VariantEnded) and self.why:
            reasons = "; ".join(f"{plural(count, 'law')}: {text}" for text, count in self.why.items())
            print(f"  {paint('blocked', sys.stdout, width=9)} {reasons}", flush=True)

    def close(self, *, finished: bool) -> None:
        """Nothing is left to print."""


def _title(variant: "Description") -> str:
    return f"{one_line(variant.name)} ({one_line(variant.target)})"


def _row(record: "Record", *, verbose: bool = False) -> str:
    """A row of the table; under a violation the two results side by side and how to see it again."""
    from properties.judging.verdict_table import row_lines

    lines = row_lines(record, width=table_width(), verbose=verbose, paint=partial(paint, stream=sys.stdout, width=9))
    # A command stays in one piece, to be copied.
    if record.counterexample:
        lines.append(f"    replay: robust-core replay {record.counterexample}")
    elif record.outcome == "violated" and record.statistics is not None:
        lines.append(f"    the same samples again: robust-core verify {record.target} --seed {record.seed}")
    return "\n".join(lines)


def _line_under(records: list["Record"]) -> str:
    """The line under the table of a variant: counts, and the first cause of what does not hold."""
    from properties.judging.verdict_table import count_outcomes

    line = f"  {count_outcomes(records)}"
    wrong = [record.law for record in records if record.outcome in ("violated", "error") and record.expected is None]
    return f"{line}; first cause: {wrong[0]}" if wrong else line


def summary(records: Iterable["Record"]) -> str:
    """Counts over all variants, and the error budget that the statistical laws had."""
    from properties.judging.verdict_table import count_outcomes

    records = list(records)
    cells = [record.statistics for record in records if record.statistics is not None]
    lines = [f"in all: {count_outcomes(records)}"] if len({(r.target, r.variant) for r in records}) != 1 else []
    if cells:
        allocated = sum(cell.alpha for cell in cells)
        lines.append(f"error budget: allocated {allocated:.3g} to {plural(len(cells), 'cell')}")
    return "\n".join(lines)
