"""The claims of the paper with the status that running them gave (the committed evidence)."""

from typing import Any


def code() -> str:
    """The present code of what judges the claims; the evidence does not say which code gave it."""
    from benchmarks.report.data.code import present
    from properties.claims import evidence

    return present(evidence.__name__)


def collected() -> list[dict[str, Any]]:
    """One entry per claim, in the order of the paper."""
    from properties.claims import evidence
    from properties.claims.text import AMENDMENTS, KINDS, SECTIONS, checked, parts

    found = evidence.stored()
    return [
        {
            "id": claim.id,
            "part": SECTIONS[part],
            "where": claim.where,
            "kind": KINDS[claim.kind],
            "title": claim.title,
            "hypotheses": claim.hypotheses,
            "printed": claim.printed.text if claim.printed else "",
            "amended": claim.amended.text if claim.amended else "",
            "amendment": AMENDMENTS[claim.amendment] if claim.amendment else "",
            "note": claim.note,
            "status": found[claim.id].status,
            "finding": found[claim.id].finding or "",
            "checked": checked(claim, found[claim.id]),
            "counterexamples": [path.name for path, _ in evidence.counterexamples(claim)],
        }
        for part, claims in parts().items()
        for claim in claims
    ]
