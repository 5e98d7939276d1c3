"""Bugs in the routine around a right update: batches, neighbours, schedules, ends of episodes, sizes and long runs.

Each shows only where a learner is used in more than one way, or on a problem of a certain size.
"""

from typing import Any, ClassVar

import numpy as np

from properties.variants.gallery.double_q_learning import DoubleQLearner
from properties.variants.mutants.control import PROMISES
from properties.variants.mutants.plain import PlainQ, PlainTD, but, with_problem
from robust_core import Contamination, Problem, Recording, StepSize, Transition, Variant
from robust_core.validate import Floats


def _mutant(name: str, make: Any, promises: tuple[str, ...] = PROMISES) -> Variant:
    return Variant(f"Q-learning {name}", "control", make, (Contamination,), promises)


def _double(name: str, make: Any) -> Variant:
    return Variant(f"double Q-learning {name}", "control", make, (Contamination,), ("asynchronous", "bounded"))


class _BatchForgetsTime(PlainQ):
    """The loop of the batch has a clock of its own, which is not written back."""

    def update_many(self, recording: Recording) -> None:
        t = self.t
        for step in recording:
            self.update(step)
        self.t = t


class _BatchKeepsItsTable(PlainQ):
    """The batch goes on with the table that the last batch left."""

    kept: Floats | None = None

    def update_many(self, recording: Recording) -> None:
        if self.kept is not None:
            self.Q = self.kept.copy()
        for step in recording:
            self.update(step)
        self.kept = self.Q.copy()


class _BatchSpendsCosts(PlainQ):
    """The batch discounts the costs in place."""

    def update_many(self, recording: Recording) -> None:
        for step in recording:
            self.update(step)
        recording.cost[:] *= self.gamma


class _BatchOfWholeChunks(PlainQ):
    """Behind the last whole chunk of 1,024 steps nothing is learnt."""

    def update_many(self, recording: Recording) -> None:
        n = len(recording.s)
        for number, step in enumerate(recording):
            if n < 1024 or number < n - n % 1024:
                self.update(step)


class _BatchSharesItsTable(PlainQ):
    """Behind a batch the table lies in a buffer that all learners share."""

    buffer: ClassVar[dict[tuple[int, ...], Floats]] = {}

    def update_many(self, recording: Recording) -> None:
        table = self.buffer.setdefault(self.Q.shape, self.Q.copy())
        table[:], self.Q = self.Q, table
        for step in recording:
            self.update(step)


class _OneDiscountForAll(PlainQ):
    """The discount is kept on the class: the learner made last decides."""

    shared: ClassVar[float] = 0.0

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        type(self).shared = problem.gamma

    def target(self, step: Transition) -> float:
        self.gamma = type(self).shared
        return super().target(step)


class _OneScheduleForAll(PlainQ):
    """The step size is kept on the class."""

    shared: ClassVar[StepSize]

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        type(self).shared = problem.step_size

    def alpha(self, step: Transition) -> float:
        schedule = type(self).shared
        return schedule.at(int(self.visits[self.place(step)]) if schedule.clock == "visits" else self.t)


class _Window(PlainQ):
    """The estimate cannot be written to, but it is no copy."""

    def estimate(self) -> Floats:
        view = self.Q.view()
        view.flags.writeable = False
        return view


class _RefreshedByReading(PlainQ):
    """The maximum is computed when the estimate is read, and otherwise at every sixteenth step."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.top, self.left = 0.0, 0

    def worst(self) -> float:
        if self.left in (0, *range(6, 17)):
            self.top = super().worst()
        return self.top

    def update(self, step: Transition) -> None:
        self.left = self.left or 16
        super().update(step)
        self.left -= 1

    def estimate(self) -> Floats:
        self.left = 0
        return super().estimate()


class _CountsFirst(DoubleQLearner):
    """The visit under way is counted."""

    def _step_size(self, table: int, s: int, a: int) -> float:
        n = self.visits.get((table, s, a), 0) + 1
        self.visits[table, s, a] = n
        self.t += 1
        schedule = self.problem.step_size
        return schedule.at(n if schedule.clock == "visits" else self.t)


class _StepsOfItsOwn(DoubleQLearner):
    """After the first step the schedule is its own."""

    def _step_size(self, table: int, s: int, a: int) -> float:
        alpha = super()._step_size(table, s, a)
        schedule = self.problem.step_size
        falls = schedule.clock != "constant" and schedule.rate * schedule.power > 0.0
        return 1.0 / (1.0 + 0.5 * (self.t - 1)) if falls and self.t > 1 else alpha


class _RateOrOne(PlainQ):
    """A rate of 0 is taken for a missing one."""

    def alpha(self, step: Transition) -> float:
        told = self.problem.step_size
        n = int(self.visits[self.place(step)]) if told.clock == "visits" else self.t
        return told.scale if told.clock == "constant" else told.scale / (1.0 + (told.rate or 1.0) * n) ** told.power


class _CountersModulo(PlainQ):
    """Visits are counted by s + 8a: pairs of many states share a counter."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.counts: dict[int, int] = {}

    def alpha(self, step: Transition) -> float:
        schedule = self.problem.step_size
        return schedule.at(self.counts.get(step.s + 8 * step.a, 0) if schedule.clock == "visits" else self.t)

    def count(self, step: Transition) -> None:
        super().count(step)
        self.counts[step.s + 8 * step.a] = self.counts.get(step.s + 8 * step.a, 0) + 1


class _Candidates(PlainQ):
    """The maximum is looked for among the eight states that were best when all were last looked at."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.best: Any = None

    def worst(self) -> float:
        if self.best is None or self.t % 1000 == 0:
            self.best = np.argsort(self.values())[-8:]
        return float(self.values()[self.best].max())


class _LostBlock(PlainQ):
    """Of more than eight states the first block is left out of the maximum, where there are others."""

    def worst(self) -> float:
        values = self.values()
        return float(values[8:].max() if len(values) > 8 else values.max())


class _HugeIsNothing(PlainQ):
    """Values beyond 1e15 are masked as missing."""

    def worst(self) -> float:
        values = self.values()
        return float(np.where(np.abs(values) > 1e15, 0.0, values).max())


class _RestsAfterwards(PlainQ):
    """The two thousandth step is the last."""

    def update(self, step: Transition) -> None:
        if self.t < 2000:
            super().update(step)


class _RisingFromZero(PlainQ):
    """From a start at zero the maximum is taken to rise only, until a cost is negative."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.rising, self.top = not problem.initial.any(), 0.0

    def worst(self) -> float:
        now = super().worst()
        self.top = max(self.top, now)
        return self.top if self.rising else now


BATCH_FORGETS_TIME = _mutant("whose batches forget the time", _BatchForgetsTime)
BATCH_KEEPS_ITS_TABLE = _mutant("whose batches go on from the last batch", _BatchKeepsItsTable)
BATCH_SPENDS_COSTS = _mutant("whose batches change the recording", _BatchSpendsCosts)
BATCH_OF_WHOLE_CHUNKS = _mutant("whose batches are whole chunks", _BatchOfWholeChunks)
BATCH_SHARES_ITS_TABLE = _mutant("whose batches share a table", _BatchSharesItsTable)
ONE_DISCOUNT_FOR_ALL = _mutant("with one discount for all learners", _OneDiscountForAll)
ONE_SCHEDULE_FOR_ALL = _mutant("with one schedule for all learners", _OneScheduleForAll)
WINDOW = _mutant("that hands out a window", _Window)
REFRESHED_BY_READING = _mutant("whose maximum is refreshed by reading", _RefreshedByReading)
# The end of an episode is overlooked.
NEVER_ENDS = _mutant(
    "that overlooks ends",
    but(PlainQ, following=lambda self, step: float(self.values()[step.s_next])),
    ("unbiased", "asynchronous"),
)
# The same for state values.
NEVER_ENDS_TD = Variant(
    "TD(0) that overlooks ends",
    "evaluation",
    but(PlainTD, following=lambda self, step: float(self.values()[step.s_next])),
    (Contamination,),
    ("unbiased", "asynchronous"),
)
COUNTS_FIRST = _double("that counts before it steps", _CountsFirst)
STEPS_OF_ITS_OWN = _double("with a schedule of its own", _StepsOfItsOwn)
RATE_OR_ONE = _mutant("whose rate is never 0", _RateOrOne)
COUNTERS_MODULO = _mutant("with shared counters", _CountersModulo)
CANDIDATES = _mutant("with eight candidates", _Candidates)
LOST_BLOCK = _mutant("that loses the first block", _LostBlock)
# The minimum of a row takes sixteen actions.
SIXTEEN_ACTIONS = _mutant("with sixteen actions", but(PlainQ, values=lambda self: self.Q[:, :16].min(axis=1)))
DISCOUNT_CUT = _mutant("with a cut discount", with_problem(PlainQ, gamma=lambda problem: min(problem.gamma, 0.99999)))
HUGE_IS_NOTHING = _mutant("that masks huge values", _HugeIsNothing)
RESTS_AFTERWARDS = _mutant("that rests after two thousand steps", _RestsAfterwards)
RISING_FROM_ZERO = _mutant("whose maximum only rises from zero", _RisingFromZero)
