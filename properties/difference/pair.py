"""Two variants in their workers, asked the same."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from properties.cases.case import Case
from properties.cases.codec import encode
from properties.cases.scope import OutOfScope, Scope
from properties.difference.orders import (
    Answer,
    AnswersGiven,
    CaseJudged,
    GiveAnswers,
    JudgeCase,
    LawAtCase,
    MeanTaken,
    OptionsTold,
    TakeMean,
    TellOptions,
)
from properties.kinds import kind_of
from properties.process.child import Fault
from properties.process.session import Description, Failed, Session
from robust_core import sets
from robust_core.problem import Variant

SERVE = "properties.difference.serving:serve"
SAME = ("estimates", "tables", "parameters")
"""Options by which variants answer different questions."""
NARROW = ("smoothing", "ends", "samples", "draws", "levels", "schedule")


MOST_FAULTS, HANG = 16, 8
"""Faults after which a variant is given up, and as how many a hang counts."""


class Undecidable(ValueError):
    """The suite failed, or a worker was killed from outside: nothing can be said."""


Ask = Callable[[Description, object, type], Any]
"""The answer of a variant to an order, which is of that type; or the fault of its worker."""


@dataclass(frozen=True)
class Pair:
    """Two variants of one kind; `common` stands for both where cases are drawn, and is never called."""

    ask: Ask
    first: Description
    second: Description
    options: tuple[Mapping[str, Any], Mapping[str, Any]]
    common: Variant

    @classmethod
    def of(cls, found: Sequence[Description], ask: Ask) -> "Pair":
        """Two variants, if they can be compared; a `ValueError` says why not."""
        if len(found) != 2:
            names = ", ".join(variant.target for variant in found)
            raise ValueError(f"differ compares two variants, got {len(found)}: {names}; name one by FILE.py:NAME")
        first, second = found
        if first.kind != second.kind:
            raise ValueError(
                f"differ compares variants of one kind, got {first.kind!r} ({first.target}) and {second.kind!r} "
                f"({second.target})"
            )
        told = [_ask_options(ask, variant) for variant in found]
        return cls(ask, first, second, (told[0].options, told[1].options), _common(first, told))

    def both(self) -> tuple[Description, Description]:
        """The two variants."""
        return self.first, self.second

    def answers(self, case: Case) -> tuple[Answer, Answer]:
        """What both give in a case, with the same seed of their rng."""
        first, second = (self.runs(case, which, (0,))[0] for which in (0, 1))
        return first, second

    def runs(self, case: Case, which: int, seeds: tuple[int, ...], *, last: bool = False) -> tuple[Answer, ...]:
        """What one of them gives in a case, for every seed."""
        variant = self.both()[which]
        found = self.ask(variant, GiveAnswers(variant.target, to_data(case), seeds, last), AnswersGiven)
        return (Answer((), found.misbehaviour()),) * len(seeds) if isinstance(found, Fault) else found.answers

    def mean(self, case: Case, which: int, ends: float) -> MeanTaken:
        """The mean of one of them after the last step of a case."""
        variant = self.both()[which]
        found = self.ask(variant, TakeMean(variant.target, to_data(case), ends), MeanTaken)
        return MeanTaken(None, found.misbehaviour()) if isinstance(found, Fault) else found

    def judge(self, case: Case, which: int) -> tuple[LawAtCase, ...]:
        """The verdicts of laws on one of them in a case, by the promises of both."""
        variant, other = self.both()[which], self.both()[1 - which]
        found = self.ask(variant, JudgeCase(variant.target, to_data(case), other.promises), CaseJudged)
        if isinstance(found, Fault):
            return (LawAtCase("run", None, True, "violated", found.misbehaviour()),)
        laws: tuple[LawAtCase, ...] = found.laws
        return laws


def ask_worker(session: Session, faults: Counter[str], variant: Description, order: object, kind: type) -> Any:
    """The answer to an order, or the fault of a variant that hung or died; the next order has a new worker.

    One that does so again and again is given up, for every new worker takes a second, and every hang two minutes.
    """
    worker = session.worker(variant)
    worker.send(order)
    answer = worker.hear(kind, Failed)
    if isinstance(answer, kind):
        return answer
    session.kill_worker(variant)
    if isinstance(answer, Fault) and answer.kind != "killed":
        faults[variant.target] += HANG if answer.kind == "hung" else 1
        if faults[variant.target] >= MOST_FAULTS:
            raise Undecidable(f"{variant.target}: {answer.misbehaviour()}, again and again: it cannot be compared")
        return answer
    raise Undecidable(f"{variant.target}: {answer.reason if isinstance(answer, Failed) else answer.fate}")


def _ask_options(ask: Ask, variant: Description) -> OptionsTold:
    found = ask(variant, TellOptions(variant.target), OptionsTold)
    if isinstance(found, Fault):
        raise ValueError(f"{variant.target}: {found.misbehaviour()}")
    assert isinstance(found, OptionsTold)
    # Tuples are lists in a message.
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in found.options.items()}
    return replace(found, options=options)


def to_data(case: Case) -> dict[str, Any]:
    """A case as a message has it."""
    return {name: encode(value) for name, value in case.items()}


def _never(*_: Any) -> Any:
    raise AssertionError("no variant runs here")


def _common(first: Description, told: list[OptionsTold]) -> Variant:
    """A variant for which exactly those cases are drawn that both are for."""
    names = [each for each in told[0].sets if each in told[1].sets]
    if told[0].sets and not names:
        raise ValueError(
            f"differ: the variants have no set in common: {', '.join(told[0].sets)} and {', '.join(told[1].sets)}"
        )
    known = {cls.kind: cls for cls in sets.SETS}
    there = tuple(known[name] for name in names if name in known)
    if names and not there:
        raise ValueError(f"differ draws problems of the sets of the suite only, got {', '.join(names)}")
    options = _narrowest(told[0].options, told[1].options)
    return Variant("both", kind_name(first.kind), _never, there, (), options)


def kind_name(kind: str) -> Any:
    """The name of a kind, if there is one."""
    kind_of(kind)
    return kind


def _narrowest(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """The options of problems that both are for."""
    options: dict[str, Any] = {}
    for name in SAME:
        one, other = first.get(name), second.get(name)
        if one != other:
            raise ValueError(
                f"differ: the variants answer different questions: options[{name!r}] is {one!r} and {other!r}"
            )
        if one is not None:
            options[name] = one
    for name in NARROW:
        values: list[Any] = list(dict.fromkeys(side[name] for side in (first, second) if name in side))
        if name == "schedule" and len(values) == 2:
            values = ["own"]
        if name == "ends" and "none" in values:
            values = ["none"]
        if len(values) > 1 and name in ("smoothing", "ends"):
            raise ValueError(f"differ: no problem is for both: options[{name!r}] is {values[0]!r} and {values[1]!r}")
        if values:
            options[name] = max(values) if name in ("samples", "draws") else values[0]
    try:
        return options | Scope.of_options(first).common(Scope.of_options(second)).options
    except OutOfScope as error:
        raise ValueError(f"differ: {error}") from None


Allowed = Callable[[Case], bool]


def is_for(common: Variant) -> Allowed:
    """Whether a reduced case has a radius, and a model, that both are for."""
    scope = Scope.of(common)
    return lambda case: scope.allows(case.get("uncertainty_set")) and ("mdp" not in case or scope.has(case["mdp"]))
