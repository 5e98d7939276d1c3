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
from hypothesis import target

from properties.cases.case import Case
from properties.judging.blame import SetAside
from properties.judging.exploration import explore
from properties.judging.verdict import Finding, Verdict

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
    `broken` is a statement that differs by one error and must be caught: it shows that the check can fail. A claim
    whose printed form fails needs none.
    """

    id: str
    where: str
    kind: Kind
    title: str
    hypotheses: str = ""
    printed: Statement | None = None
    amended: Statement | None = None
    amendment: Amendment | None = None
    broken: Statement | None = None
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


def adjudicate(claim: Claim, *, examples: int, seed: int = 0, shrink: bool = True) -> Adjudication:
    """Run a claim's statements and derive its status; without `shrink` a violation is reported as it was found."""
    printed, printed_ratio = _run(claim.printed, examples, seed, shrink)
    amended, amended_ratio = _run(claim.amended, examples, seed, shrink)
    tightest = printed_ratio if claim.amended is None else amended_ratio
    return Adjudication(claim, status(claim, printed, amended), printed, amended, tightest)


def judge(statement: Statement, *, examples: int, seed: int = 0, shrink: bool = True) -> Verdict:
    """The verdict on one statement."""
    verdict, _ = _run(statement, examples, seed, shrink)
    assert verdict is not None
    return verdict


def status(claim: Claim, printed: Verdict | None, amended: Verdict | None) -> Status:
    """What the two verdicts make of a claim."""
    if amended is not None and amended.outcome != "holds":
        return "open"
    if printed is None:
        return "elsewhere" if amended is None else "not decidable as stated"
    if printed.outcome == "holds":
        return "holds"
    if amended is None:
        return "refuted"
    return "corrected" if claim.amendment == "correction" else "conditional"


def _run(statement: Statement | None, examples: int, seed: int, shrink: bool) -> tuple[Verdict | None, float | None]:
    """The verdict, and the largest ratio of left to right side seen on the way, towards which the search climbs."""
    if statement is None:
        return None, None
    measure = statement.tightness
    ratios: list[float] = []

    def judged(case: dict[str, Any]) -> Finding | None:
        try:
            finding = statement.judge(**case)
        except ArithmeticError as refusal:
            if type(refusal) is not ArithmeticError:  # a bug: an oracle that refuses a case raises no subclass
                raise
            raise SetAside(str(refusal)) from refusal
        if finding is None and measure is not None:
            ratios.append(float(measure(**case)))
            target(ratios[-1])
        return finding

    verdict = explore(statement.cases(), judged, examples=examples, master_seed=seed, shrink=shrink)
    return verdict, max(ratios, default=None)
