"""Counterexamples in numbers: the committed ones to the paper's claims, judged again, and what verification found."""

from collections.abc import Iterable
from typing import Any

from properties.cases.codec import encode


def committed() -> list[dict[str, Any]]:
    """Every committed counterexample with today's judgement of it."""
    from properties.claims import catalogue, evidence

    return [
        {
            "file": f"properties/counterexamples/{path.name}",
            "about": claim.id,
            "against": "the statement as printed",
            "title": claim.title,
            "case": {name: encode(value) for name, value in example.case.items()},
            "table": "",
            **_judged(claim.printed, example),
        }
        for claim in catalogue().values()
        for path, example in evidence.counterexamples(claim)
    ]


def _judged(statement: Any, example: Any) -> dict[str, Any]:
    """What the judge says now; a counterexample that has lost its force has the outcome *holds*."""
    finding = statement.judge(**example.case)
    if finding is None:
        return {"outcome": "holds", "what": example.finding, "got": "", "wanted": "", "allowed": ""}
    return {
        "outcome": "violated",
        "what": finding.what,
        "got": _plain(finding.got),
        "wanted": _plain(finding.wanted),
        "allowed": f"{finding.allowed:.3g}",
    }


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def found(gallery: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The counterexamples in the records of a verification, as they are shown."""
    entries = []
    for variant in gallery:
        for record in variant["records"]:
            example = record["counterexample"]
            if example is not None:
                what, _, numbers = record["evidence"].partition(": got ")
                got, _, rest = numbers.partition(", wanted ")
                wanted, _, allowed = rest.rpartition(" within ")
                entries.append(
                    {
                        "file": f"counterexamples/{example['file']}",
                        "about": record["law"],
                        "against": variant["name"],
                        "title": f"{variant['name']}: {record['law']}",
                        "case": example["case"],
                        "outcome": record["outcome"],
                        "what": what,
                        "got": got.strip("'"),
                        "wanted": wanted.strip("'"),
                        "allowed": allowed,
                        "table": record["table"] or "",
                    }
                )
    return entries
