"""What a claim of the paper is, and how its status is found: by running it.

A claim has the statement *as printed* and, where that fails, an *amended* one. Both are judged on generated cases
by the same search; the status follows from the two verdicts and is never written down as a fact:

    printed holds                                      -> holds
    printed fails, amended (a correction) holds        -> corrected
    printed fails, amended (an added hypothesis) holds -> conditional
    printed fails, nothing amended                     -> refuted
    no printed predicate; a substitute is judged       -> not decidable as stated
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from properties.law import Case
from properties.search import explore
from properties.verdict import Finding, Verdict

Status = Literal["holds", "corrected", "refuted", "conditional", "not decidable as stated", "elsewhere", "open"]
Kind = Literal["E", "P", "S", "X"]
Amendment = Literal["correction", "hypothesis", "substitute"]


@dataclass(frozen=True)
class Statement:
    """A predicate over cases: `judge(**case)` returns a finding where it fails.

    `tightness(**case)` is the ratio of the left to the right side of an inequality (1 is sharp), where there is one.
    `exact` says that the judge decides in exact arithmetic.
    """

    text: str
    cases: Callable[[], st.SearchStrategy[Case]]
    judge: Callable[..., Finding | None]
    tightness: Callable[..., float] | None = None
    exact: bool = False


@dataclass(frozen=True)
class Claim:
    """A checkable claim: its id in the inventory, its place in the paper, its kind, and its statements.

    A claim that needs statistics or an experiment has `elsewhere`: where its test lives.
    """

    id: str
    where: str
    kind: Kind
    title: str
    hypotheses: str = ""
    printed: Statement | None = None
    amended: Statement | None = None
    amendment: Amendment | None = None
    elsewhere: str | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if (self.amended is None) != (self.amendment is None):
            raise ValueError(f"claim {self.id!r}: amended and amendment go together")
        if self.printed is None and self.amendment != "substitute" and self.elsewhere is None:
            raise ValueError(f"claim {self.id!r}: nothing to check")


@dataclass(frozen=True)
class Adjudication:
    """The status of a claim as found by running it, with the evidence."""

    claim: Claim
    status: Status
    printed: Verdict | None
    amended: Verdict | None
    tightest: float | None


def adjudicate(claim: Claim, *, examples: int, seed: int = 0) -> Adjudication:
    """Run a claim's statements and derive its status."""
    printed = _verdict(claim.printed, examples, seed)
    amended = _verdict(claim.amended, examples, seed)
    best = claim.amended if claim.amended is not None else claim.printed
    return Adjudication(claim, _status(claim, printed, amended), printed, amended, _tightest(best, examples, seed))


def _verdict(statement: Statement | None, examples: int, seed: int) -> Verdict | None:
    if statement is None:
        return None
    return explore(statement.cases(), lambda case: statement.judge(**case), examples=examples, master_seed=seed)


def _status(claim: Claim, printed: Verdict | None, amended: Verdict | None) -> Status:
    if amended is not None and amended.outcome != "holds":
        return "open"
    if printed is None:
        return "elsewhere" if amended is None else "not decidable as stated"
    if printed.outcome == "holds":
        return "holds"
    if amended is None:
        return "refuted"
    return "corrected" if claim.amendment == "correction" else "conditional"


def _tightest(statement: Statement | None, examples: int, seed: int) -> float | None:
    """The largest ratio of left to right side seen, with Hypothesis climbing towards it."""
    if statement is None or statement.tightness is None:
        return None
    from hypothesis import target

    measure = statement.tightness
    seen = [0.0]

    def climb(case: dict[str, Any]) -> None:
        ratio = float(measure(**case))
        seen[0] = max(seen[0], ratio)
        target(ratio)

    explore(statement.cases(), climb, examples=examples, master_seed=seed)
    return seen[0]
