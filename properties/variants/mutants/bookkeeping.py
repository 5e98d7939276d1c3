"""Wrong robust Q-learning: what it remembers, when it reads it, and where it writes."""

from typing import Any

import numpy as np

from properties.variants.mutants.control import PROMISES
from properties.variants.mutants.plain import PlainQ, but
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


def _mutant(name: str, make: Any) -> Variant:
    return Variant(f"Q-learning {name}", "control", make, (Contamination,), PROMISES)


class _RunningMaximum(PlainQ):
    """The maximum is kept up to date upwards and never falls."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.top = super().worst()

    def worst(self) -> float:
        self.top = max(self.top, super().worst())
        return self.top


class _CacheFromZero(PlainQ):
    """The maximum is refreshed after each update, and starts at zero."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.cached = 0.0

    def worst(self) -> float:
        return self.cached

    def count(self, step: Transition) -> None:
        super().count(step)
        self.cached = super().worst()


class _RareRefresh(PlainQ):
    """The maximum is refreshed every four steps."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.cached = super().worst()

    def worst(self) -> float:
        if self.t % 4 == 0:
            self.cached = super().worst()
        return self.cached


class _StaleTop(PlainQ):
    """The state of the maximum is found once; its value is followed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.top = int(self.values().argmax())

    def worst(self) -> float:
        return float(self.values()[self.top])


class _StaleValues(PlainQ):
    """V(s) is refreshed by a minimum that only falls."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.V = self.Q.min(axis=1)

    def values(self) -> Floats:
        self.V = np.minimum(self.V, self.Q.min(axis=1))
        return self.V


class _TargetTable(PlainQ):
    """Values come from a copy of the table that is one step old."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.old = self.Q.copy()

    def values(self) -> Floats:
        return self.old.min(axis=1)

    def write(self, step: Transition, alpha: float, target: float) -> None:
        self.old = self.Q.copy()
        super().write(step, alpha, target)


class _AfterTheWrite(PlainQ):
    """The nominal part is written first; the contamination term sees the new entry."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        super().write(step, alpha, step.cost + self.gamma * (1.0 - self.R) * self.following(step))
        self.Q[step.s, step.a] += alpha * self.gamma * self.R * self.worst()


class _FirstStepOne(PlainQ):
    """The first step has n = 1."""

    def update(self, step: Transition) -> None:
        self.count(step)
        self.write(step, self.alpha(step), self.target(step))


class _VisitsOfState(PlainQ):
    """Visits counted per state."""

    def alpha(self, step: Transition) -> float:
        schedule = self.problem.step_size
        return schedule.at(int(self.visits[step.s].sum()) if schedule.clock == "visits" else self.t)


class _VisitsOfNext(PlainQ):
    """Visits counted at the next state."""

    def count(self, step: Transition) -> None:
        self.t += 1
        self.visits[step.s_next, step.a] += 1


class _DoubleUpdate(PlainQ):
    def update(self, step: Transition) -> None:
        alpha = self.alpha(step)
        self.write(step, alpha, self.target(step))
        self.write(step, alpha, self.target(step))
        self.count(step)


class _Momentum(PlainQ):
    """Half of the last change is added again."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.velocity = np.zeros_like(self.Q)

    def write(self, step: Transition, alpha: float, target: float) -> None:
        place = step.s, step.a
        self.velocity[place] = 0.5 * self.velocity[place] + alpha * (target - self.Q[place])
        self.Q[place] += self.velocity[place]


class _NoDecay(PlainQ):
    """Q + alpha·target."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        self.Q[step.s, step.a] += alpha * target


class _SwappedMixing(PlainQ):
    def write(self, step: Transition, alpha: float, target: float) -> None:
        super().write(step, 1.0 - alpha, target)


class _WholeRow(PlainQ):
    """The update is written to every action of the visited state."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        super().write(step, alpha, target)
        self.Q[step.s] = self.Q[step.s, step.a]


class _WholeColumn(PlainQ):
    def place(self, step: Transition) -> Any:
        return slice(None), step.a

    def alpha(self, step: Transition) -> float:
        schedule = self.problem.step_size
        return schedule.at(int(self.visits[step.s, step.a]) if schedule.clock == "visits" else self.t)


class _Replay(PlainQ):
    """Each step also repeats the one before."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.last: Transition | None = None

    def update(self, step: Transition) -> None:
        super().update(step)
        if self.last is not None:
            self.write(self.last, self.alpha(self.last), self.target(self.last))
        self.last = step


class _Trace(PlainQ):
    """An eligibility trace."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.trace = np.zeros_like(self.Q)

    def write(self, step: Transition, alpha: float, target: float) -> None:
        self.trace *= 0.5 * self.gamma
        self.trace[step.s, step.a] = 1.0
        self.Q += alpha * (target - self.Q[step.s, step.a]) * self.trace


class _StepFloor(PlainQ):
    """Steps of at least 0.01, so that learning never stops."""

    def alpha(self, step: Transition) -> float:
        alpha = super().alpha(step)
        return max(alpha, 0.01) if alpha else 0.0


class _Reset(PlainQ):
    """A fresh start every hundred steps."""

    def count(self, step: Transition) -> None:
        super().count(step)
        if self.t % 100 == 0:
            self.Q[:] = self.problem.initial


# A difference of target and entry that the author of a bug took for nothing: far above rounding, so it can be seen.
BILLIONTH = 1e-9


class _SmallSkipped(PlainQ):
    """Differences below a billionth are not worth a write."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        if abs(target - self.Q[step.s, step.a]) > BILLIONTH:
            super().write(step, alpha, target)


class _Colliding(PlainQ):
    """Visits counted under s + a."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.keys: dict[int, int] = {}

    def alpha(self, step: Transition) -> float:
        schedule = self.problem.step_size
        return schedule.at(self.keys.get(step.s + step.a, 0) if schedule.clock == "visits" else self.t)

    def count(self, step: Transition) -> None:
        super().count(step)
        self.keys[step.s + step.a] = self.keys.get(step.s + step.a, 0) + 1


class _Float32(PlainQ):
    def write(self, step: Transition, alpha: float, target: float) -> None:
        super().write(step, alpha, target)
        self.Q = self.Q.astype(np.float32).astype(np.float64)


class _Rounded(PlainQ):
    """Entries are stored with eight decimals."""

    def write(self, step: Transition, alpha: float, target: float) -> None:
        super().write(step, alpha, target)
        self.Q[step.s, step.a] = round(float(self.Q[step.s, step.a]), 8)


RUNNING_MAXIMUM = _mutant("with a maximum that never falls", _RunningMaximum)
CACHE_FROM_ZERO = _mutant("with a maximum cached from zero", _CacheFromZero)
RARE_REFRESH = _mutant("with a maximum refreshed every four steps", _RareRefresh)
STALE_TOP = _mutant("that remembers the worst state", _StaleTop)
STALE_VALUES = _mutant("with values that never rise", _StaleValues)
TARGET_TABLE = _mutant("with values one step old", _TargetTable)
AFTER_THE_WRITE = _mutant("that writes before it looks", _AfterTheWrite)
FIRST_STEP_ONE = _mutant("with steps off by one", _FirstStepOne)
# A per-visit schedule fed with the time.
TIME_FOR_VISITS = _mutant(
    "with time for visits", but(PlainQ, alpha=lambda self, step: self.problem.step_size.at(self.t))
)
VISITS_FOR_TIME = _mutant(
    "with visits for time",
    but(PlainQ, alpha=lambda self, step: self.problem.step_size.at(int(self.visits[step.s, step.a]))),
)
VISITS_OF_STATE = _mutant("with visits of the state", _VisitsOfState)
VISITS_OF_NEXT = _mutant("with visits of the next state", _VisitsOfNext)
# The schedule is read once.
CONSTANT_STEP = _mutant("with a constant step", but(PlainQ, alpha=lambda self, step: self.problem.step_size.at(0)))
# 1/(1+n), whatever the schedule says.
OWN_STEP = _mutant(
    "with a step of its own", but(PlainQ, alpha=lambda self, step: 1.0 / (1.0 + float(self.visits[step.s, step.a])))
)
DOUBLE_UPDATE = _mutant("that updates twice", _DoubleUpdate)
MOMENTUM = _mutant("with momentum", _Momentum)
NO_DECAY = _mutant("that only adds", _NoDecay)
SWAPPED_MIXING = _mutant("with alpha and 1−alpha swapped", _SwappedMixing)
WHOLE_ROW = _mutant("that writes the whole row", _WholeRow)
WHOLE_COLUMN = _mutant("that writes the whole column", _WholeColumn)
WRITES_NEXT = _mutant("that writes at the next state", but(PlainQ, place=lambda self, step: (step.s_next, step.a)))
REPLAY = _mutant("that repeats the last step", _Replay)
TRACE = _mutant("with a trace", _Trace)
STEP_FLOOR = _mutant("with a smallest step", _StepFloor)
RESET = _mutant("with a reset every hundred steps", _Reset)
SMALL_SKIPPED = _mutant("that skips small changes", _SmallSkipped)
COLLIDING = _mutant("with colliding visit counts", _Colliding)
FLOAT32 = _mutant("in float32", _Float32)
ROUNDED = _mutant("with eight decimals", _Rounded)
