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
libraries solve ordinary problems, so they are judged at R = 0. Planners are judged to an accuracy of {accuracy:g} times
max|c|/(1−gamma); their costs are scaled to at most 1, because tolerances of libraries are absolute, and iteration
limits that are arguments are raised, except where the algorithm is named "default max_iter". Learners are judged by the
exact laws of their steps. This page was written by
`robust-core study field --examples {examples} --output docs/field-report.md` on {date}, with the versions in the table.
There were at most {most} problems per law for {slow}, because its steps are slow. mushroom-rl asks for numpy 1.24 and
was installed without its dependencies (`tox run -e field` shows how). Each fault is listed with the version and a
minimal case, and was checked by hand. [Wrap your library](wrapping.md) explains how to write an adapter.

"""


LEFT_OUT = (
    ("bettermdptools", "0.9.0", "numpy < 2"),
    ("aima3", "1.0.11", "networkx 1.11"),
    ("blackhc.mdp", "1.0.6", "networkx < 2"),
    ("rlberry-scool", "0.7.3", "rlberry with its extras, and gymnasium < 0.30"),
    ("msdm", "0.11", "torch, and a bridge to Julia"),
)
"""Packages that have planners or learners of tables and do not install beside the others: what they need."""


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


def library_version(library: Library) -> str | None:
    """The version of a library, if it is installed."""
    version = installed_version(library.distribution)
    return None if version == ABSENT else version


def findings(library: Library, version: str, *, examples: int) -> Iterator[Finding]:
    """Judge every algorithm of a library; its code runs in workers only."""
    module = import_module(library.module)
    glue = sum(1 for line in inspect.getsource(module).splitlines() if line.strip())
    for name, variant in vars(module).items():
        if isinstance(variant, Variant):
            most = min(examples, library.most)
            records = list(verify(f"{library.module}:{name}", examples=most, statistics=False))
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


def page(found: list[Finding], today: datetime.date, examples: int) -> str:
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
    slow = min(LIBRARIES, key=lambda library: library.most)
    text = HEAD.format(
        accuracy=ACCURACY, date=today.isoformat(), examples=examples, slow=slow.distribution, most=slow.most
    )
    shown = heading + "\n\n".join(sections) + "\n\n" if sections else ""
    return text + table(columns, rows) + f"\n\n{count}\n\n{shown}{_left_out()}"


def _left_out() -> str:
    about = (
        "These packages have planners or learners of tables, but cannot be installed together with those above "
        "(numpy 2)."
    )
    return f"## Left out\n\n{about}\n\n" + table(["package", "version", "it needs"], LEFT_OUT) + "\n"


def study(*, examples: int) -> list[Finding]:
    """All libraries that are installed; at least one must be."""
    there = [(library, version) for library in LIBRARIES if (version := library_version(library)) is not None]
    if not there:
        names = ", ".join(library.distribution for library in LIBRARIES)
        raise ValueError(f"none of {names} is installed: pip install 'robust-core[field,field-jax]'")
    return [each for library, version in there for each in findings(library, version, examples=examples)]


def write(path: Path, found: list[Finding], examples: int) -> None:
    """Write the page."""
    path.write_text(page(found, datetime.date.today(), examples), encoding="utf-8")
