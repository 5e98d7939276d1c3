"""The claims of the paper, typeset, each with the status that running it gave."""

from collections import Counter
from typing import Any

from benchmarks.report.layout import Cell, Section, commands, fold, table
from benchmarks.report.markup import Html, tag
from benchmarks.report.typeset import prose
from benchmarks.report.words import badge, with_entry

INTRODUCTION = (
    "Each claim is an executable statement. Corrected and conditional claims fail as printed (the counterexample is "
    "kept) and hold in the amended form; claims settled elsewhere need an experiment or samples."
)


def section(data: dict[str, Any]) -> Section:
    """A table of all claims, the statement and its evidence behind each."""
    claims = data["claims"]
    counts = Counter(claim["status"] for claim in claims)
    tally = tag("p", *(part for word, n in counts.most_common() for part in (badge(word, f"{n} {word}"), " ")))
    rows = [_row(claim) for claim in claims]
    caption = f"The {len(claims)} claims, in the order of the paper"
    listed = table(caption, ["claim", "status", "statement", "where"], rows, class_="claims")
    again = commands("robust-core claims ID", "robust-core claims ID --run", "robust-core claims --run")
    quiet = _provenance(data["claims code"])
    return Section("claims", "Claims of the paper", Html(tag("p", INTRODUCTION) + tally + quiet + listed + again))


def _provenance(present: str) -> Html:
    """Which code gave the statuses: the evidence does not say, and need not, for the tests run every claim."""
    unsaid = "The committed evidence does not say which code gave it; the tests run every claim and compare the "
    return tag("p", unsaid, "status. The present code is ", tag("code", present), ".", class_="quiet")


def _row(claim: dict[str, Any]) -> list[Any]:
    return [
        Cell(tag("code", claim["id"], id=f"claim-{claim['id']}")),
        badge(claim["status"]),
        Cell(_statement(claim), key=claim["title"]),
        claim["where"],
    ]


def _statement(claim: dict[str, Any]) -> Html:
    """The title, and behind it what is printed, what is wrong with it, and what was checked."""
    entries: list[tuple[str, Any]] = [
        ("hypotheses", claim["hypotheses"] and prose(claim["hypotheses"])),
        ("printed", claim["printed"] and prose(claim["printed"])),
        ("fails", claim["finding"] and _finding(claim["finding"])),
        (claim["amendment"], claim["amended"] and prose(claim["amended"])),
        ("checked", claim["checked"]),
        ("note", claim["note"] and prose(claim["note"])),
        ("counterexample", [_link(name) for name in claim["counterexamples"]]),
    ]
    terms = [(tag("dt", label), tag("dd", content)) for label, content in entries if content]
    return fold(prose(claim["title"]), tag("dl", terms))


def _finding(text: str) -> Html:
    """What was compared is notation; the two numbers stay as they were printed."""
    what, got, rest = text.partition(": got ")
    return Html(prose(with_entry(what)) + tag("span", got + rest))


def _link(name: str) -> Html:
    return Html(tag("a", name, href=f"#example-{name.removesuffix('.json')}") + " ")
