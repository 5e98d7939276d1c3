"""docs/claims.md: the claims of the paper and our own theorems, with their verified status and counterexamples.

docs/set-claims.md, the claims of the literature about sets, is rendered by the same functions (`set_claims`).
"""

import re
import textwrap
from collections import Counter
from collections.abc import Mapping

from benchmarks.documents.markdown import table
from properties.claims import evidence
from properties.claims.claim import Claim
from properties.claims.evidence import Evidence
from properties.claims.paper import tdc_table, theorem3_constants
from properties.claims.text import SECTIONS, entries, parts
from properties.judging.counterexample import describe

LEGEND = f"""\
- **holds**: no violation of the statement as printed, under the hypotheses stated, in the number of cases given.
- **corrected**: the printed form fails (a counterexample is kept); the corrected form was checked instead.
- **conditional**: the printed form fails; it was checked with a hypothesis that the paper leaves out.
- **refuted**: the printed form fails and no correction is known.
- **not decidable as stated**: constants are only said to exist; the statement given was checked instead.
- **elsewhere**: needs samples or an experiment; the place is named.

*Exact* means decided in exact arithmetic; other judges use certified error bounds. *Cases* counts generated problems
({evidence.EXAMPLES} per statement in the quick profile, more where a failure was shrunk). *Tightest* is the largest
ratio of left to right side that the search reached: 1 means that the inequality is sharp. A status is the result of
these searches; it is a proof only where the module contains one.
"""

INTRODUCTION = f"""# The claims

This page lists every statement of the paper that a program can check, and [our own theorems](theorems.md), each with
its verified status. A theorem of our own has a *false* form too, which lacks one of its hypotheses: its counterexample
shows that the hypothesis is needed. The status is *conditional* or *corrected*, as if the false form were printed. The
command `robust-core documents claims` generates this page from the registry (`properties/claims`) and the committed
evidence. The tests run every claim again and fail if a status has changed or this page is out of date. `robust-core
claims ID` explains a claim, and `robust-core replay FILE` judges its counterexample again.

{LEGEND}"""


def document() -> str:
    """The whole document."""
    return ledger_document(INTRODUCTION, parts("paper", "ours"))


def ledger_document(introduction: str, chosen: Mapping[str, tuple[Claim, ...]]) -> str:
    """A page with the claims of some parts."""
    found = evidence.committed_evidence()
    counts = Counter(found[claim.id].status for claims in chosen.values() for claim in claims)
    lines = [introduction, table(["status", "claims"], counts.most_common())]
    for part, claims in chosen.items():
        rows = [_row(claim, found[claim.id]) for claim in claims]
        lines += ["", f"## {SECTIONS[part]}", "", table(["id", "status", "claim", "cases", "tightest"], rows)]
        for claim in claims:
            lines += ["", *_section(claim, found[claim.id])]
        if part == "paper.finite_time":
            head = ["constant of Theorem 3", "printed", "amended", "sharpest known", "forced by an instance"]
            lines += ["", "### The constants of Theorem 3", "", table(head, theorem3_constants.rows())]
        if part == "paper.tdc_constants":
            head = ["constant of robust TDC", "printed", "by Bessel", "printed", "corrected", "by Bessel"]
            words = f"The last three columns are values at {tdc_table.WORDS}; θ has the radius K, ω the radius K_ω."
            lines += ["", "### The constants of robust TDC", "", words, "", table(head, tdc_table.rows())]
        if part == "paper.tdc_rate":
            head = ["bound", "printed constants", "corrected", "by Bessel", "attained"]
            words = textwrap.fill(tdc_table.BOUND_WORDS, 120)
            lines += ["", "### The bounds of robust TDC", "", words, "", table(head, tdc_table.bounds())]
    return "\n".join(lines) + "\n"


def _row(claim: Claim, found: Evidence) -> list[str]:
    tightest = "" if found.tightest is None else f"{found.tightest:g}"
    return [
        f"[{claim.id}](#{claim.id.lower()})",
        found.status,
        _escape(claim.title),
        str(found.cases or ""),
        tightest,
    ]


def _section(claim: Claim, found: Evidence) -> list[str]:
    lines = [f"### {claim.id}", "", f"**{found.status}**", ""]
    lines += [f"- *{label}*: {_escape(text)}" for label, text in entries(claim, found)]
    for path, example in evidence.counterexamples(claim):
        name = f"properties/counterexamples/{path.name}"
        lines += ["", f"Counterexample ([{path.name}](../{name})):", "", "```text", describe(example.case), "```"]
        lines += ["", f"`robust-core replay {name}`"]
    return lines


def _escape(text: str) -> str:
    """The text as Markdown; a bracket before a parenthesis would be a link."""
    return re.sub(r"([|*_\[\]])", r"\\\1", text)
