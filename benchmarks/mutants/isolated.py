"""The kill matrix for a user's mutant, judged in a worker: it may hang, die or eat memory.

The suite's own mutants do none of that, and share the problems that are drawn in one process.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import ClassVar

from benchmarks.mutants.matrix import Kill, kill_by, problems
from properties.judging.verification import applicable
from properties.process import child
from properties.process.child import GARBLED, Fault
from properties.process.serving import Worker, follow_orders
from properties.process.session import Describe, Description, Failed, Session

SERVE = "benchmarks.mutants.isolated:serve"


@dataclass(frozen=True)
class JudgeMutant:
    """The order to judge a mutant by the laws of these names."""

    target: str
    laws: tuple[str, ...]
    examples: int
    seed: int


@dataclass(frozen=True)
class ProblemBegun:
    """A problem is about to be judged; it is number `number` of its law."""

    number: int


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
                raise RuntimeError(answer.reason)
            if isinstance(answer, Killed) and (answer.kill.mutant, answer.kill.law) == (mutant.target, law):
                yield answer.kill
                continue
            if isinstance(answer, Fault) and answer.kind == "killed":
                raise ValueError(f"{mutant.target}: cannot be judged: {answer.fate}")
            finding = (answer if isinstance(answer, Fault) else GARBLED).misbehaviour()
            yield Kill(mutant.target, mutant.name, mutant.kind, law, problem, 0.0, finding)
            session.kill_worker(mutant)
            fault = True


class MutantWorker(Worker):
    """Judges mutants law by law; every problem is announced before it is judged."""

    ORDERS: ClassVar[tuple[type, ...]] = (Describe, JudgeMutant)

    def follow(self, order: object) -> None:
        """Do as ordered, and send the answers."""
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


def serve(pipe: int) -> None:
    """Judge mutants as the parent orders."""
    follow_orders(pipe, MutantWorker)
