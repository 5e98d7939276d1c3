"""Records as JUnit XML, for the test pages of continuous integration."""

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from properties.judging.counterexample import Counterexample, describe
from properties.judging.verdict import Record
from properties.process.session import Event, Judged
from properties.statistics.records import CellResult
from robust_core.json import text_of
from robust_core.text import shorten

# XML 1.0 cannot carry control characters, halves of surrogate pairs and two others.
_FORBIDDEN = {code: "�" for code in (*range(32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF) if code not in (9, 10, 13)}

LONGEST_CASE = 20_000
"""Characters of a case that is shown as it is written."""
STATISTICS = ("cell", "law", "seed_set", "n", "alpha", "beta", "effect", "log_against", "log_favour")


UNFINISHED = Record("robust-core", "not finished", "error", "the run ended before the last law was judged", 0, 0.0, 0)
"""What stands for all that a run that was stopped did not come to: without it, its file would be green."""


class JUnit:
    """A file with one test case per record, written at the end of the run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[Record] = []

    def handle(self, event: Event) -> None:
        """Take a record."""
        if isinstance(event, Judged):
            self.records.append(event.record)

    def close(self, *, finished: bool) -> None:
        """Write the file; a run that was stopped has one more case, an error that says so."""
        write(self.records if finished else [*self.records, UNFINISHED], self.path)


def write(records: Sequence[Record], path: Path) -> None:
    """One test case per record: violated is a failure, error an error; blocked, undecided and untested are skipped."""
    suite = ElementTree.Element("testsuite", name="robust-core", tests=str(len(records)))
    for kind, outcome in (("failures", "violated"), ("errors", "error")):
        suite.set(kind, str(sum(r.outcome == outcome and r.expected is None for r in records)))
    suite.set("skipped", str(sum(_is_skipped(r) for r in records)))
    for record in records:
        suite.append(_case(record))
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def _is_skipped(record: Record) -> bool:
    return record.outcome in ("blocked", "undecided", "untested") or record.expected is not None


def _case(record: Record) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", classname=_clean(record.variant), name=_clean(record.law), time=f"{record.seconds:.3f}"
    )
    evidence = _clean(record.evidence)
    if record.statistics is not None:
        case.append(_numbers(record.statistics))
    if _is_skipped(record):
        reason = f"expected: {record.expected}" if record.expected else f"{record.outcome}: {evidence}"
        ElementTree.SubElement(case, "skipped", message=_clean(reason))
    elif record.outcome in ("violated", "error"):
        tag = "failure" if record.outcome == "violated" else "error"
        ElementTree.SubElement(case, tag, message=evidence).text = _clean("\n\n".join(_account(record)))
    return case


def _account(record: Record) -> Iterator[str]:
    """What a page of tests needs to show of a failure: the statement, the evidence, the case, how to see it again."""
    if statement := _statements().get(record.law if record.statistics is None else record.statistics.law):
        yield f"statement: {statement}"
    yield f"evidence: {record.evidence}"
    if isinstance(record.counterexample, str):
        yield f"case:\n{_case_text(Path(record.counterexample))}"
    if record.results:
        yield f"results:\n{record.results}"
    if isinstance(record.counterexample, str):
        yield f"replay: robust-core replay {record.counterexample}"
    elif record.target:
        yield f"again: robust-core verify {record.target} --seed {record.seed}"


@functools.cache
def _statements() -> dict[str, str]:
    """The statements of all laws by their names."""
    from properties.laws.catalogue import LAWS
    from properties.statistics.laws import laws

    return {law.name: law.statement for law in LAWS} | {law.name: law.statement for law in laws()}


def _case_text(path: Path) -> str:
    """The case of a file in words. A set that the variant's module defines is not known here: then as it is written."""
    try:
        return describe(Counterexample.load(path).case)
    except (ValueError, OSError):
        pass
    try:
        return shorten(text_of(path), LONGEST_CASE)
    except (ValueError, OSError):
        return "(the file is gone)"


def _numbers(statistics: CellResult) -> ElementTree.Element:
    """The numbers behind a statistical verdict, as properties of the test case."""
    properties = ElementTree.Element("properties")
    for name in STATISTICS:
        value = _clean(str(getattr(statistics, name)))
        ElementTree.SubElement(properties, "property", name=name, value=value)
    return properties


def _clean(text: str) -> str:
    return text.translate(_FORBIDDEN)
