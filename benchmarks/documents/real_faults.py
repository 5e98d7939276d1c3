"""docs/real-faults.md: defects of public planners and learners, and the law that catches each."""

from collections.abc import Iterable

from benchmarks.documents.markdown import table
from benchmarks.studies.faults import EXAMPLES, load
from properties.variants.faults import Fault, halves

HEAD = """# Real faults

Mutants are written by the authors of the laws. These defects are not: each was reported in the tracker of a public
planner or learner. It is re-created from its description as a small variant (`properties/variants/faults`), with the
promises that its author would make, and at radius 0 if the public algorithm is not robust. The copy could fail because
of a mistake in copying. So the same algorithms without the defects are judged too, and all their laws must hold.

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
