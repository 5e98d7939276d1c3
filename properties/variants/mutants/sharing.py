"""Wrong robust Q-learning: how it starts, what it hands out and what it shares."""

import random
from typing import Any, ClassVar

import numpy as np

from properties.variants.mutants.control import PROMISES
from properties.variants.mutants.plain import PlainQ, but
from robust_core import Contamination, Problem, Recording, Transition, Variant
from robust_core.validate import Floats


def _mutant(name: str, make: Any) -> Variant:
    return Variant(f"Q-learning {name}", "control", make, (Contamination,), PROMISES)


class _OneStepLate(PlainQ):
    """A transition is learnt when the next one comes."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.pending: Transition | None = None

    def update(self, step: Transition) -> None:
        if self.pending is not None:
            super().update(self.pending)
        self.pending = step


class _StartsAtZero(PlainQ):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.Q = np.zeros_like(self.Q)


class _Averaged(PlainQ):
    """The estimate is the mean of the table's history."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.mean = self.Q.copy()

    def count(self, step: Transition) -> None:
        super().count(step)
        self.mean += (self.Q - self.mean) / (self.t + 1)

    def estimate(self) -> Floats:
        return self.mean.copy()


class _ReadingResets(PlainQ):
    """Reading the estimate starts a new seed set of the clock."""

    def estimate(self) -> Floats:
        self.t = 0
        self.visits[:] = 0
        return self.Q.copy()


class _Shared(PlainQ):
    """Visit counts live in the class."""

    counts: ClassVar[dict[tuple[int, int], int]] = {}

    def alpha(self, step: Transition) -> float:
        schedule = self.problem.step_size
        return schedule.at(self.counts.get((step.s, step.a), 0) if schedule.clock == "visits" else self.t)

    def count(self, step: Transition) -> None:
        super().count(step)
        self.counts[step.s, step.a] = self.counts.get((step.s, step.a), 0) + 1


class _CopiesItself(PlainQ):
    """A deep copy that is no copy."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "_CopiesItself":
        return self


class _Batched(PlainQ):
    """The fast path computes all targets first."""

    def update_many(self, recording: Recording) -> None:
        """All targets from the table as it was."""
        for step, target in [(step, self.target(step)) for step in recording]:
            self.write(step, self.alpha(step), target)
            self.count(step)


class _BatchedWithoutClock(PlainQ):
    """The fast path starts the clock anew."""

    def update_many(self, recording: Recording) -> None:
        """The loop, from time 0."""
        self.t = 0
        for step in recording:
            self.update(step)


ONE_STEP_LATE = _mutant("one step late", _OneStepLate)
# What is copied or saved starts its clock anew.
FORGETS_ON_COPY = _mutant(
    "that forgets the time when copied", but(PlainQ, __getstate__=lambda self: self.__dict__ | {"t": 0})
)
STARTS_AT_ZERO = _mutant("that starts at zero", _StartsAtZero)
OWN_BUFFER = _mutant("that hands out its buffer", but(PlainQ, estimate=lambda self: self.Q))
AVERAGED = _mutant("with averaged estimates", _Averaged)
READING_RESETS = _mutant("whose clock restarts when read", _ReadingResets)
SHARED = _mutant("with shared visit counts", _Shared)
COPIES_ITSELF = _mutant("that cannot be copied", _CopiesItself)
# Jitter from the global random state breaks ties.
GLOBAL_RANDOM = _mutant(
    "with global randomness", but(PlainQ, values=lambda self: (self.Q + 1e-12 * random.random()).min(axis=1))
)
BATCHED = _mutant("whose fast path computes targets first", _Batched)
BATCHED_WITHOUT_CLOCK = _mutant("whose fast path restarts the clock", _BatchedWithoutClock)
