"""A case judged again in a process of its own, in which nothing was judged before.

A saved counterexample must replay to the verdict with which it was saved. A defect can live in the state of a module
that earlier cases have left, and then the case alone holds. So every violation is judged again before it is reported,
in the way in which `robust-core replay` does it.
"""

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from properties.judging.deviation import Deviation
from properties.judging.verdict import MISBEHAVIOUR, Outcome, Record
from properties.process import child
from properties.process.child import Child, Fault

SERVE = "properties.process.replay:serve"


@dataclass(frozen=True)
class JudgeAgain:
    """The order to judge the counterexample in a file again."""

    path: str


@dataclass(frozen=True)
class CaseLoaded:
    """The variant and the case that are judged."""

    variant: str
    case: str


@dataclass(frozen=True)
class NotLoaded:
    """The reason why the variant cannot be loaded; `fault` if its process hung or ended."""

    reason: str
    fault: bool = False


@dataclass(frozen=True)
class Refused:
    """A usage error: the file is not a counterexample, or the targets cannot be verified."""

    reason: str


@dataclass(frozen=True)
class JudgedAgain:
    """The verdict with its evidence."""

    outcome: Outcome
    evidence: str = ""
    deviation: Deviation | None = None


def judge_again(
    path: Path,
    *,
    seconds: float = child.SECONDS,
    loading: Callable[[], None] = lambda: None,
    judging: Callable[[], None] = lambda: None,
    start: Callable[[str], Child] = Child,
) -> tuple[CaseLoaded | None, JudgedAgain | NotLoaded | Refused]:
    """Judge the counterexample in a file in a new worker: the case if it could be loaded, and the answer.

    A variant that hangs or dies when it is judged has broken the law by that.
    """
    with start(SERVE) as worker:
        worker.send(JudgeAgain(str(path)))
        loaded = worker.hear(CaseLoaded, NotLoaded, Refused, seconds=seconds, waiting=loading)
        if isinstance(loaded, Fault):
            return None, NotLoaded(loaded.fate, fault=True)
        if not isinstance(loaded, CaseLoaded):
            return None, loaded
        answer = worker.hear(JudgedAgain, Refused, seconds=seconds, waiting=judging)
    if isinstance(answer, Fault) and answer.kind == "killed":
        answer = JudgedAgain("error", f"cannot be judged: {answer.fate}")
    if isinstance(answer, Fault):
        answer = JudgedAgain("violated", answer.misbehaviour())
    assert isinstance(answer, JudgedAgain | Refused)
    return loaded, answer


def confirm(
    record: Record,
    text: str | None,
    *,
    again: str,
    seconds: float = child.SECONDS,
    start: Callable[[str], Child] = Child,
) -> tuple[Record, str | None]:
    """The record of a violation after its case was judged again, with the evidence that a replay shows.

    The counterexample is the file that the record names, or `text`, which is returned too. One that holds is dropped, a
    file is deleted, and the evidence says so and by which command, `again`, the finding is seen again.
    """
    if text is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "counterexample.json"
            path.write_text(text, encoding="utf-8")
            _, answer = judge_again(path, seconds=seconds, start=start)
    else:
        path = Path(record.counterexample)
        _, answer = judge_again(path, seconds=seconds, start=start)
    if isinstance(answer, JudgedAgain) and answer.outcome == "violated":
        evidence = _newer(record.evidence, answer.evidence)
        return replace(record, evidence=evidence, deviation=answer.deviation), text
    if not isinstance(answer, JudgedAgain) or answer.outcome != "holds":
        reason = answer.evidence if isinstance(answer, JudgedAgain) else answer.reason
        note = f"the case could not be judged again in a new process: {reason}"
        return replace(record, evidence=f"{record.evidence}; {note}"), text
    if text is None:
        with contextlib.suppress(OSError):
            path.unlink()
    known = record.evidence.startswith(MISBEHAVIOUR)
    first = record.evidence if known else f"{MISBEHAVIOUR}depends on earlier cases: {record.evidence}"
    evidence = f"{first}; alone, in a new process, the case holds; seen again by: {again}"
    return replace(record, evidence=evidence, counterexample=None), None


def _newer(evidence: str, again: str) -> str:
    """The evidence of a replay; where the first one has the same with a note behind it, that one."""
    return evidence if evidence.startswith(again) else again
