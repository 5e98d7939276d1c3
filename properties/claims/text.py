"""The catalogue of claims as text: the parts of the paper, and one claim explained."""

import importlib
from pathlib import Path

from properties.claims import LEDGERS, PARTS, evidence
from properties.claims.claim import Claim, Statement
from properties.claims.evidence import Evidence
from properties.judging.counterexample import describe

SECTIONS = {
    "paper.model": "Model and operators",
    "paper.q_learning": "Robust Q-learning and its convergence",
    "paper.finite_time": "Finite-time analysis of robust Q-learning",
    "paper.smoothing": "Smoothing",
    "paper.msprbe": "The objective of robust TDC",
    "paper.tdc_constants": "Constants of robust TDC",
    "paper.tdc_rate": "Rate of robust TDC",
    "paper.experiments": "Experiments",
    "ours.contamination": "Our theorems: contamination is a change of discount",
    "ours.kullback_leibler": "Our theorems: the Kullback-Leibler ball",
    "ours.average": "Our theorems: average cost",
    "ours.gradient": "Our theorems: policy gradient",
    "ours.plug_in": "Our theorems: which sets one sample can learn",
    "ours.visit_counts": "Our theorems: visit counts",
    "ours.switching": "Our theorems: the mean square of robust TDC",
    "sets.inclusions": "Inclusions of sets",
    "sets.limits": "Limits of the radius",
    "sets.duals": "Duals and worst cases",
    "sets.regularised": "Robust values as regularised ones",
    "sets.games": "Rectangularity and randomised policies",
    "sets.samples": "Sets around sampled rows",
}
KINDS = {"E": "exact", "P": "on every path", "S": "statistical", "X": "experiment"}
AMENDMENTS = {"correction": "corrected", "hypothesis": "with the missing hypothesis", "substitute": "checked instead"}


def parts(*ledgers: str) -> dict[str, tuple[Claim, ...]]:
    """The claims of each part, in the order of the paper; of all ledgers by default."""
    chosen = [part for part in PARTS if part.partition(".")[0] in (ledgers or LEDGERS)]
    return {part: importlib.import_module(f"properties.claims.{part}").CLAIMS for part in chosen}


def evidence_line(claim: Claim, found: Evidence) -> str:
    """One line of evidence.

    >>> from properties.claims import catalogue
    >>> evidence_line(catalogue()["cont-in-tv"], Evidence("holds", 200, 1.0))
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


def labels(claim: Claim) -> tuple[str, str]:
    """What the two statements of a claim are called.

    The amended statement of a theorem of ours is the theorem; the other one lacks a hypothesis, and is false.

    >>> from properties.claims import catalogue
    >>> [labels(catalogue()[name]) for name in ("thm3", "decoupling", "game-value")]
    [('printed', 'with the missing hypothesis'), ('false', 'theorem'), ('statement', '')]
    """
    if all(claim not in ours for ours in parts("ours").values()):
        return "printed", AMENDMENTS.get(claim.amendment or "", "")
    return ("statement", "") if claim.amended is None else ("false", "theorem")


def entries(claim: Claim, found: Evidence) -> list[tuple[str, str]]:
    """What there is to say about a claim, as (label, text)."""
    printed, amended = labels(claim)
    rows = [
        ("claim", claim.title),
        ("where", f"{claim.where} ({KINDS[claim.kind]})"),
        ("hypotheses", claim.hypotheses),
        (printed, _text(claim.printed)),
        ("fails", found.finding or ""),
        (amended, _text(claim.amended)),
        ("checked", evidence_line(claim, found)),
        ("note", claim.note),
    ]
    return [(label, text) for label, text in rows if text]


def _text(statement: Statement | None) -> str:
    return "" if statement is None else statement.text


def explain(claim: Claim) -> str:
    """A claim for the terminal, its counterexamples in numbers and the commands that replay them."""
    found = evidence.committed_evidence()[claim.id]
    lines = [f"{claim.id}: {found.status}"]
    lines += [f"  {label + ':':<12} {text}" for label, text in entries(claim, found)]
    for path, example in evidence.counterexamples(claim):
        lines += [
            "",
            f"counterexample to the {labels(claim)[0]} form",
            *_indented(describe(example.case)),
            f"  {example.finding}",
        ]
        lines += [f"  replay: robust-core replay {_shortest(path)}"]
    return "\n".join(lines)


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _shortest(path: Path) -> Path:
    """The path from here, if it lies below."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
