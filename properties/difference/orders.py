"""Orders to the workers of two variants, and their answers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.judging.verdict import Outcome

BITS = np.dtype("<f8")


@dataclass(frozen=True)
class Numbers:
    """An array of floats, bit for bit."""

    shape: tuple[int, ...]
    bits: str

    @classmethod
    def of(cls, values: Any) -> "Numbers":
        """The array as a message has it.

        >>> Numbers.of([1.0]).array()
        array([1.])
        """
        array = np.asarray(values, dtype=BITS)
        return cls(array.shape, array.tobytes().hex())

    def array(self) -> np.ndarray:
        """The array."""
        return np.frombuffer(bytes.fromhex(self.bits), dtype=BITS).reshape(self.shape).astype(np.float64)


@dataclass(frozen=True)
class Answer:
    """What a variant gave in one case: its results step by step, and its misbehaviour, after which there are no more.

    The first result of a learner is its start; a function has one result.
    """

    steps: tuple[tuple[Numbers, ...], ...]
    misbehaviour: str = ""


# Orders


@dataclass(frozen=True)
class TellOptions:
    """Tell for which problems the variant is."""

    target: str


@dataclass(frozen=True)
class GiveAnswers:
    """Run the variant in a case, once for every seed of its rng; with `last` the last result of a learner is enough."""

    target: str
    case: dict[str, Any]
    seeds: tuple[int, ...]
    last: bool = False


@dataclass(frozen=True)
class TakeMean:
    """Enumerate the mean of the estimate after the last step of a case, given the steps before it."""

    target: str
    case: dict[str, Any]
    ends: float


@dataclass(frozen=True)
class JudgeCase:
    """Judge the variant in a case by every law that applies to it, or would with these promises too."""

    target: str
    case: dict[str, Any]
    promises: tuple[str, ...]


# Answers


@dataclass(frozen=True)
class OptionsTold:
    """The kinds of sets of the variant, and those of its options that are plain data."""

    sets: tuple[str, ...]
    options: dict[str, Any]


@dataclass(frozen=True)
class AnswersGiven:
    """One answer for every seed."""

    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class MeanTaken:
    """The mean, or the reason why there is none."""

    mean: Numbers | None
    refused: str = ""


@dataclass(frozen=True)
class LawAtCase:
    """The verdict of a law in one case; `promise` is what it tests, `own` says that the variant makes it."""

    law: str
    promise: str | None
    own: bool
    outcome: Outcome
    evidence: str


@dataclass(frozen=True)
class CaseJudged:
    """The verdicts in a case."""

    laws: tuple[LawAtCase, ...]
