"""The claims of the paper, each with its verified status (the committed evidence)."""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from benchmarks.report.code import present
from benchmarks.report.layout import Cell, chapter, commands, fold, table
from benchmarks.report.markup import Html, inline, tag
from benchmarks.report.section import Content, Line, Section, Work
from benchmarks.report.words import badge, with_entry

INTRODUCTION = (
    "Each claim is an executable statement. Corrected and conditional claims fail as printed (the counterexample is "
    "kept) and hold in the amended form; claims settled elsewhere need an experiment or samples. A count leads to its "
    "claims."
)


@dataclass(frozen=True)
class Claim:
    """A claim as text; what does not apply to it is empty."""

    id: str
    where: str
    title: str
    hypotheses: str
    form: str
    printed: str
    finding: str
    amendment: str
    amended: str
    checked: str
    note: str
    status: str
    counterexamples: tuple[str, ...]


@dataclass(frozen=True)
class Claims:
    """The claims in the order of the paper, and the hash of the present code that judges them."""

    claims: tuple[Claim, ...]
    code: str


def collect(work: Work) -> Claims:
    """The ledger with its committed evidence."""
    from properties.claims import evidence
    from properties.claims.text import evidence_line, labels, parts

    stored = evidence.committed_evidence()
    claims = tuple(
        Claim(
            id=claim.id,
            where=claim.where,
            title=claim.title,
            hypotheses=claim.hypotheses,
            form=labels(claim)[0],
            printed=claim.printed.text if claim.printed else "",
            finding=stored[claim.id].finding or "",
            amendment=labels(claim)[1],
            amended=claim.amended.text if claim.amended else "",
            checked=evidence_line(claim, stored[claim.id]),
            note=claim.note,
            status=stored[claim.id].status,
            counterexamples=tuple(path.name for path, _ in evidence.counterexamples(claim)),
        )
        for part in parts("paper", "ours").values()
        for claim in part
    )
    return Claims(claims, present(evidence.__name__))


def render(record: Claims) -> Content:
    """A table of all claims, the statement and its evidence behind each."""
    counts = Counter(claim.status for claim in record.claims)
    tally = tag("p", *(part for word, n in counts.most_common() for part in (_filter(word, n), " ")))
    rows = [_row(claim) for claim in record.claims]
    caption = f"The {len(rows)} claims, in the order of the paper"
    whole = table(caption, ["claim", "status", "statement", "where"], rows, class_="claims", name="claims")
    listed = chapter(caption, whole)
    again = commands("robust-core claims ID", "robust-core claims ID --run", "robust-core claims --run")
    return Content(Html(tag("p", INTRODUCTION) + tally + _provenance(record.code) + listed + again))


def _filter(word: str, count: int) -> Html:
    """A count that leads to the table, filtered by it."""
    return tag("a", badge(word, f"{count} {word}"), href=f"#table-claims?claims={quote(word)}", class_="plain")


def _provenance(present: str) -> Html:
    """Which code gave the statuses: the evidence does not say, and need not, for the tests run every claim."""
    unsaid = "The committed evidence does not say which code gave it; the tests run every claim and compare the "
    return tag("p", unsaid, "status. The present code is ", tag("code", present), ".", class_="quiet")


def _row(claim: Claim) -> list[Any]:
    return [
        Cell(tag("code", claim.id, id=f"claim-{claim.id}")),
        badge(claim.status),
        Cell(_statement(claim), key=claim.title),
        claim.where,
    ]


def _statement(claim: Claim) -> Html:
    """The title, and behind it what is printed, what is wrong with it, and what was checked."""
    entries: list[tuple[str, Any]] = [
        ("hypotheses", inline(claim.hypotheses)),
        (claim.form, inline(claim.printed)),
        ("fails", _finding(claim.finding)),
        (claim.amendment, inline(claim.amended)),
        ("checked", claim.checked),
        ("note", inline(claim.note)),
        ("counterexample", [_link(name) for name in claim.counterexamples]),
    ]
    terms = [(tag("dt", label), tag("dd", content)) for label, content in entries if content]
    return fold(inline(claim.title), tag("dl", terms))


def _finding(text: str) -> Html:
    what, got, rest = text.partition(": got ")
    return Html(inline(with_entry(what)) + inline(got + rest))


def _link(name: str) -> Html:
    return Html(tag("a", name, href=f"#example-{name.removesuffix('.json')}") + " ")


def judge(record: Claims) -> list[Line]:
    """How many claims have which status: a finding about the paper."""
    counts = Counter(claim.status for claim in record.claims)
    short = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    return [Line("claims", "Claims of the paper", "open" if counts["open"] else "finding", short, decides=False)]


SECTION = Section("claims", "Claims of the paper", collect, render, judge, about="paper")
