"""The kill matrix for a user's mutant, judged in a worker: it may hang, die or eat memory.

The suite's own mutants do none of that, and share the problems that are drawn in one process.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import ClassVar

from benchmarks.mutants.matrix import Kill, kill_by, problems
from properties.cases.case import LawCase
from properties.judging.verification import applicable
from properties.process import child
from properties.process.child import GARBLED, Fault
from properties.process.loading import load_source
from properties.process.serving import Worker, follow_orders
from properties.process.session import Describe, Description, Failed, JudgeCanary, Session
from robust_core.text import shorten

SERVE = "benchmarks.mutants.isolated:serve"


@dataclass(frozen=True)
class JudgeMutant:
    """The order to judge a mutant by the laws of these names."""

    target: str
    laws: tuple[str, ...]
    examples: int
    seed: int


@dataclass(frozen=True)
class JudgeSource:
    """The order to judge another source of a variant by laws, up to the first that it violates.

    `promises` are those that the other source is judged by, instead of its own.
    """

    target: str
    source: str
    examples: int
    seed: int
    promises: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ProblemBegun:
    """A problem is about to be judged; it is number `number` of its law."""

    number: int
    law: str = ""


@dataclass(frozen=True)
class SourceJudged:
    """The law that the source violates first and the evidence; no law if it obeys all; invalid if it has no variant."""

    law: str = ""
    evidence: str = ""
    valid: bool = True


@dataclass(frozen=True)
class Killed:
    """The result of one law."""

    kill: Kill


def kills(
    session: Session,
    mutant: Description,
    *,
    examples: int,
    seed: int,
    tick: Callable[[str, str], None],
    seconds: float = child.SECONDS,
) -> Iterator[Kill]:
    """As `kill_matrix` of the one mutant; a problem at which its process hangs or dies is one that it fails."""
    laws = list(mutant.laws)
    while laws:
        worker = session.worker(mutant)
        worker.send(JudgeMutant(mutant.target, tuple(laws), examples, seed))
        fault = False
        while laws and not fault:
            law, problem = laws.pop(0), 1
            at_work = partial(tick, mutant.target, law)
            at_work()
            while isinstance(
                answer := worker.hear(ProblemBegun, Killed, Failed, seconds=seconds, waiting=at_work), ProblemBegun
            ):
                problem = answer.number
                at_work()
            if isinstance(answer, Failed):
                raise ValueError(f"{mutant.target}: {answer.reason}")
            if isinstance(answer, Killed) and (answer.kill.mutant, answer.kill.law) == (mutant.target, law):
                yield answer.kill
                continue
            if isinstance(answer, Fault) and answer.kind == "killed":
                raise ValueError(f"{mutant.target}: cannot be judged: {answer.fate}")
            finding = (answer if isinstance(answer, Fault) else GARBLED).misbehaviour()
            yield Kill(mutant.target, mutant.name, mutant.kind, law, problem, 0.0, finding)
            session.kill_worker(mutant)
            fault = True


def judge_source(
    session: Session,
    variant: Description,
    source: str,
    *,
    examples: int,
    seed: int,
    promises: tuple[str, ...] | None = None,
    seconds: float = child.SECONDS,
) -> SourceJudged:
    """Judge another source of a variant in the worker of the session; a source that hangs or dies is violated."""
    worker = session.worker(variant)
    worker.send(JudgeSource(variant.target, source, examples, seed, promises))
    law = "loading"
    while isinstance(answer := worker.hear(ProblemBegun, SourceJudged, Failed, seconds=seconds), ProblemBegun):
        law = answer.law
    if isinstance(answer, SourceJudged):
        return answer
    session.kill_worker(variant)
    if isinstance(answer, Failed):
        raise ValueError(f"{variant.target}: {answer.reason}")
    if answer.kind == "killed":
        raise ValueError(f"{variant.target}: a mutant cannot be judged: {answer.fate}")
    return SourceJudged(law, answer.misbehaviour())


class MutantWorker(Worker):
    """Judges mutants law by law; every problem is announced before it is judged."""

    ORDERS: ClassVar[tuple[type, ...]] = (Describe, JudgeCanary, JudgeMutant, JudgeSource)

    def __init__(self, send: Callable[[object], None]) -> None:
        super().__init__(send)
        self.cases: dict[tuple[object, ...], list[LawCase]] = {}

    def follow(self, order: object) -> None:
        """Do as ordered, and send the answers."""
        if isinstance(order, JudgeSource):
            self.send(self._judge_source(order))
            return
        if not isinstance(order, JudgeMutant):
            super().follow(order)
            return
        variant = self.variants[order.target]
        for law in applicable(variant):
            if law.name in order.laws:
                cases = problems(law, variant, examples=order.examples, seed=order.seed)
                numbers = count(1)

                def announce(numbers: Iterator[int] = numbers) -> None:
                    self.send(ProblemBegun(next(numbers)))

                self.send(Killed(kill_by(law, order.target, variant, cases, announce)))

    def _judge_source(self, order: JudgeSource) -> SourceJudged:
        try:
            variant = load_source(order.target, order.source)
            if order.promises is not None:
                variant = replace(variant, promises=order.promises)
        except ValueError as error:
            return SourceJudged("loading", str(error), valid=False)
        for law in applicable(variant):
            # The promises do not choose the cases, the code does not either: all sources share them.
            about = (law.name, variant.kind, variant.sets, repr(variant.options), order.examples, order.seed)
            if about not in self.cases:
                self.cases[about] = problems(law, variant, examples=order.examples, seed=order.seed)
            numbers = count(1)

            def announce(numbers: Iterator[int] = numbers, law: str = law.name) -> None:
                self.send(ProblemBegun(next(numbers), law))

            kill = kill_by(law, order.target, variant, self.cases[about], announce)
            if kill.cases is not None:
                return SourceJudged(law.name, shorten(kill.finding))
        return SourceJudged()


def serve(pipe: int) -> None:
    """Judge mutants as the parent orders."""
    follow_orders(pipe, MutantWorker)
