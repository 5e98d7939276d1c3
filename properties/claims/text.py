"""The catalogue of claims as text: one claim explained, and the document with all of them."""

import importlib
import re
from collections import Counter
from pathlib import Path

from properties.claims import PARTS, evidence
from properties.claims.claim import Claim, Statement
from properties.claims.evidence import Evidence
from properties.judging.counterexample import described

DOCUMENT = Path(__file__).parents[2] / "docs" / "claims.md"

SECTIONS = {
    "model": "Model and operators",
    "q_learning": "Robust Q-learning and its convergence",
    "finite_time": "Finite-time analysis of robust Q-learning",
    "smoothing": "Smoothing",
    "msprbe": "The objective of robust TDC",
    "tdc_constants": "Constants of robust TDC",
    "tdc_rate": "Rate of robust TDC",
    "experiments": "Experiments",
}
KINDS = {"E": "exact", "P": "on every path", "S": "statistical", "X": "experiment"}
AMENDMENTS = {"correction": "corrected", "hypothesis": "with the missing hypothesis", "substitute": "checked instead"}

INTRODUCTION = f"""# The claims of the paper

Everything the paper says that a program can check, with the status that running it gave. This file is generated from
the registry (`properties/claims`) and the committed evidence by `python -m properties.claims.evidence`; the tests run
every claim again and fail if a status has changed or this file is out of date. `robust-core claims ID` explains a
claim, `robust-core replay FILE` judges its counterexample again.

- **holds**: no violation of the statement as printed, under the hypotheses stated, in the number of cases given.
- **corrected**: the printed form fails (a counterexample is kept); the corrected form was checked instead.
- **conditional**: the printed form fails; it was checked with a hypothesis that the paper leaves out.
- **refuted**: the printed form fails and no correction is known.
- **not decidable as stated**: constants are only said to exist; the statement given was checked instead.
- **elsewhere**: needs samples or an experiment; the place is named.

*Exact* means decided in exact arithmetic; other judges use certified error bounds. *Cases* counts generated problems
({evidence.EXAMPLES} per statement in the quick profile, more where a failure was shrunk). *Tightest* is the largest
ratio of left to right side that the search reached: 1 means that the inequality is sharp. A status is what these
searches found, not a proof, except where a proof is given in the module.
"""


def parts() -> dict[str, tuple[Claim, ...]]:
    """The claims of each part, in the order of the paper."""
    return {part: importlib.import_module(f"properties.claims.paper.{part}").CLAIMS for part in PARTS}


def checked(claim: Claim, found: Evidence) -> str:
    """One line of evidence.

    >>> from properties.claims import catalogue
    >>> checked(catalogue()["cont-in-tv"], Evidence("holds", 200, 1.0))
    '200 cases, exact arithmetic, tightest ratio 1'
    """
    guard = claim.amended or claim.printed
    if guard is None:
        return f"in {claim.elsewhere}"
    words = [f"{found.cases} cases", "exact arithmetic" if guard.exact else "certified bounds"]
    if found.tightest is not None:
        words.append(f"tightest ratio {found.tightest:g}")
    if claim.elsewhere is not None:
        words.append(f"with samples in {claim.elsewhere}")
    return ", ".join(words)


def entries(claim: Claim, found: Evidence) -> list[tuple[str, str]]:
    """What there is to say about a claim, as (label, text)."""
    amended = AMENDMENTS.get(claim.amendment or "", "")
    rows = [
        ("claim", claim.title),
        ("where", f"{claim.where} ({KINDS[claim.kind]})"),
        ("hypotheses", claim.hypotheses),
        ("printed", _text(claim.printed)),
        ("fails", found.finding or ""),
        (amended, _text(claim.amended)),
        ("checked", checked(claim, found)),
        ("note", claim.note),
    ]
    return [(label, text) for label, text in rows if text]


def _text(statement: Statement | None) -> str:
    return "" if statement is None else statement.text


def explained(claim: Claim) -> str:
    """A claim for the terminal, its counterexamples in numbers and the commands that replay them."""
    found = evidence.stored()[claim.id]
    lines = [f"{claim.id}: {found.status}"]
    lines += [f"  {label + ':':<12} {text}" for label, text in entries(claim, found)]
    for path, example in evidence.counterexamples(claim):
        lines += ["", "counterexample to the printed form", *_indented(described(example.case)), f"  {example.finding}"]
        lines += [f"  replay: robust-core replay {_shortest(path)}"]
    return "\n".join(lines)


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _shortest(path: Path) -> Path:
    """The path from here, if it lies below."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def markdown() -> str:
    """The document with all claims."""
    found = evidence.stored()
    counts = Counter(entry.status for entry in found.values())
    lines = [INTRODUCTION, "| status | claims |", "|---|---|"]
    lines += [f"| {status} | {number} |" for status, number in sorted(counts.items(), key=lambda pair: -pair[1])]
    for part, claims in parts().items():
        lines += ["", f"## {SECTIONS[part]}", "", "| id | status | claim | cases | tightest |", "|---|---|---|---|---|"]
        lines += [_row(claim, found[claim.id]) for claim in claims]
        for claim in claims:
            lines += ["", *_section(claim, found[claim.id])]
    return "\n".join(lines) + "\n"


def _row(claim: Claim, found: Evidence) -> str:
    tightest = "" if found.tightest is None else f"{found.tightest:g}"
    cells = (
        f"[{claim.id}](#{claim.id.lower()})",
        found.status,
        _escaped(claim.title),
        str(found.cases or ""),
        tightest,
    )
    return "| " + " | ".join(cells) + " |"


def _section(claim: Claim, found: Evidence) -> list[str]:
    lines = [f"### {claim.id}", "", f"**{found.status}**", ""]
    lines += [f"- *{label}*: {_escaped(text)}" for label, text in entries(claim, found)]
    for path, example in evidence.counterexamples(claim):
        name = f"properties/counterexamples/{path.name}"
        lines += ["", f"Counterexample ([{path.name}](../{name})):", "", "```text", described(example.case), "```"]
        lines += ["", f"`robust-core replay {name}`"]
    return lines


def _escaped(text: str) -> str:
    """The text as Markdown; a bracket before a parenthesis would be a link."""
    return re.sub(r"([|*_\[\]])", r"\\\1", text)
