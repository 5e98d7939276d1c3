"""docs/real-faults.md: defects of public planners and learners, and the law that catches each."""

from collections.abc import Iterable

from benchmarks.documents.markdown import table
from benchmarks.studies.faults import EXAMPLES, load
from properties.variants.faults import Fault, halves

HEAD = """# Real faults

Mutants are written by those who write the laws. These defects were not: each was reported in the tracker of a public
planner or learner, and is re-created from its description as a small variant (`properties/variants/faults`), with the
promises that an honest author makes, at radius 0 where the public algorithm is not robust. A defect may die of a
mistake in its copy; so the algorithms without the defects are judged too, and must hold.

The list and its split in two halves by date were committed before any of them was judged. No law changed between the
first run of the second half and the run that is shown here. Every law had {examples} cases of seed 0. This page is
written by `robust-core documents real-faults` from the result of `robust-core study faults`.
"""
COLUMNS = ("date", "source", "defect", "caught by")


def document() -> str:
    """Both halves."""
    laws = {one.source: one.law for one in load().faults}
    parts = [HEAD.format(examples=EXAMPLES)]
    for title, faults in zip(("The older half", "The newer half"), halves(), strict=True):
        caught = sum(bool(laws[fault.source]) for fault in faults)
        parts.append(f"## {title}: {caught} of {len(faults)} caught\n\n{table(COLUMNS, _rows(faults, laws))}\n")
    return "\n".join(parts)


def _rows(faults: Iterable[Fault], laws: dict[str, str]) -> list[list[str]]:
    return [[fault.date, fault.source, fault.defect, laws[fault.source] or "**not caught**"] for fault in faults]
