"""Public implementations under the suite: the variants of `benchmarks.field`, judged in workers, as a page."""

import datetime
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmarks.documents.markdown import table
from benchmarks.field import ACCURACY, LIBRARIES, Library
from properties import verify
from properties.judging.verdict import Record
from robust_core.problem import Variant
from robust_core.text import one_line
from robust_core.versions import ABSENT, installed_version

HEAD = """# Public implementations under the suite

Algorithms of public libraries, wrapped by the adapters in `benchmarks/field/` and judged like any variant. The
libraries solve ordinary problems, so they are judged at R = 0, to an accuracy of {accuracy:g} times max|c|/(1−gamma).
Costs are scaled to at most 1, because tolerances of libraries are absolute, and iteration limits that are arguments are
raised, except where the algorithm is named "default max_iter". This page was written by
`robust-core study field --output docs/field-report.md` on {date}, with the versions in the table. Each fault has its
version and a minimal case, and was checked by hand. [Wrap your library](wrapping.md) says how to write an adapter.

"""


@dataclass(frozen=True)
class Finding:
    """The verdicts on one algorithm of a library."""

    library: str
    version: str
    variant: str
    promise: str
    glue: int
    outcome: str
    law: str
    evidence: str
    case: str


def installed(library: Library) -> str | None:
    """The version of a library, if it is installed."""
    version = installed_version(library.distribution)
    return None if version == ABSENT else version


def findings(library: Library, version: str, *, examples: int) -> Iterator[Finding]:
    """Judge every algorithm of a library; its code runs in workers only."""
    module = import_module(library.module)
    glue = sum(1 for line in inspect.getsource(module).splitlines() if line.strip())
    for name, variant in vars(module).items():
        if isinstance(variant, Variant):
            records = list(verify(f"{library.module}:{name}", examples=examples, statistics=False))
            yield finding(library, version, variant, glue, records)


def finding(library: Library, version: str, variant: Variant, glue: int, records: list[Record]) -> Finding:
    """The first violation among the verdicts, or that all hold."""
    wrong = next((record for record in records if record.outcome == "violated"), None)
    promise = ", ".join(variant.promises)
    if wrong is None:
        outcome = "holds" if all(record.outcome == "holds" for record in records) else "undecided"
        return Finding(library.distribution, version, variant.name, promise, glue, outcome, "", "", "")
    shown = "" if wrong.counterexample is None else str(wrong.counterexample)
    evidence = one_line(wrong.evidence)
    return Finding(library.distribution, version, variant.name, promise, glue, "violated", wrong.law, evidence, shown)


def page(found: list[Finding], today: datetime.date) -> str:
    """The page: a table, and a section for every violation with its minimal case."""
    rows = [
        [f.library, f.version, f.variant, f.promise, f"**{f.outcome}**" if f.law else f.outcome, f.law, f.glue]
        for f in found
    ]
    columns = ["library", "version", "algorithm", "promise", "verdict", "violated law", "lines of the adapter"]
    sections = [
        f"### {f.variant}\n\n`{f.library}` {f.version}, law *{f.law}*: {f.evidence}\n\n```text\n{f.case}\n```"
        for f in found
        if f.law
    ]
    holds = sum(f.outcome == "holds" for f in found)
    count = f"{holds} of {len(found)} algorithms hold."
    heading = "## Minimal cases\n\n" if sections else ""
    text = HEAD.format(accuracy=ACCURACY, date=today.isoformat())
    return text + table(columns, rows) + f"\n\n{count}\n\n{heading}" + "\n\n".join(sections) + "\n"


def study(*, examples: int) -> list[Finding]:
    """All libraries that are installed; at least one must be."""
    there = [(library, version) for library in LIBRARIES if (version := installed(library)) is not None]
    if not there:
        names = ", ".join(library.distribution for library in LIBRARIES)
        raise ValueError(f"none of {names} is installed: pip install 'robust-core[field]'")
    return [each for library, version in there for each in findings(library, version, examples=examples)]


def write(path: Path, found: list[Finding]) -> None:
    """Write the page."""
    path.write_text(page(found, datetime.date.today()), encoding="utf-8")
