"""Bugs that need a horizon: 2^16 steps or visits, a thousand states, hundreds of actions, dozens of features."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import PlainExpectedSarsa, PlainQ, PlainTDC, but, with_problem
from robust_core import MDP, Contamination, Problem, Transition, UncertaintySet, Variant, bellman
from robust_core.validate import Floats


class _ShortVisits(PlainQ):
    """Visits in 16 bits."""

    def count(self, step: Transition) -> None:
        super().count(step)
        self.visits[self.place(step)] %= 2**16


class _ShortClock(PlainQ):
    """Steps in 16 bits."""

    def count(self, step: Transition) -> None:
        super().count(step)
        self.t %= 2**16


class _StopsLate(PlainQ):
    """A limit of steps that no test reaches."""

    def alpha(self, step: Transition) -> float:
        return super().alpha(step) if self.t < 50_000 else 0.0


class _LastStepSize(PlainQ):
    """A table of 2^15 step sizes, the last of which stays."""

    def alpha(self, step: Transition) -> float:
        schedule = self.problem.step_size
        n = int(self.visits[self.place(step)]) if schedule.clock == "visits" else self.t
        return schedule.at(min(n, 2**15 - 1))


class _HarmonicTail(PlainQ):
    """After 500 counts step sizes fall as those of power 1."""

    def alpha(self, step: Transition) -> float:
        schedule = self.problem.step_size
        n = int(self.visits[self.place(step)]) if schedule.clock == "visits" else self.t
        if schedule.clock == "constant" or n <= 500:
            return schedule.at(n)
        return schedule.at(500) * (1.0 + 500.0 * schedule.rate) / (1.0 + n * schedule.rate)


class _LaterStates(PlainQ):
    """A maximum whose last block is left out where it is not full."""

    def worst(self) -> float:
        V = self.values()
        return float(V[: len(V) // 512 * 512 or len(V)].max())


class _FewStates(PlainExpectedSarsa):
    """A maximum of the first 512 states."""

    def worst(self) -> float:
        return float(self.values()[:512].max())


class _SomeFeatures(PlainTDC):
    """The correction of the first 64 features."""

    def g(self, step: Transition) -> Floats:
        g = super().g(step).copy()
        g[64:] = 0.0
        return g


class _LinearClock(PlainTDC):
    """Steps in 16 bits."""

    def update(self, step: Transition) -> None:
        super().update(step)
        self.t %= 2**16


class _HalfPrecision(PlainQ):
    """The time is kept as float16, whose numbers end at 65,504."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.latest = 0

    def count(self, step: Transition) -> None:
        super().count(step)
        self.latest += 1
        self.t = int(min(float(np.float32(self.latest)), 65504.0))


class _SinglePrecision(PlainQ):
    """Targets among more than 400 entries in single precision, to save memory."""

    def target(self, step: Transition) -> float:
        target = super().target(step)
        return float(np.float32(target)) if self.Q.size > 400 else target


def _single_backup(mdp: MDP, uncertainty_set: UncertaintySet, Q: Floats) -> Floats:
    """Values of more than 500 states in single precision."""
    return bellman(mdp, uncertainty_set, Q.astype(np.float32).astype(np.float64) if len(Q) > 500 else Q)


def _q(name: str, make: Any, *promises: str) -> Variant:
    return Variant(f"Q-learning {name}", "control", make, (Contamination,), promises)


def _tdc(name: str, make: Any) -> Variant:
    return Variant(f"TDC {name}", "linear evaluation", make, (Contamination,), ("TDC",))


SHORT_VISITS = _q("with visits in 16 bits", _ShortVisits, "sample form")
SHORT_VISITS_IN_THE_MEAN = _q("with visits in 16 bits, unbiased", _ShortVisits, "unbiased")
SHORT_CLOCK = _q("with steps in 16 bits", _ShortClock, "sample form")
STOPS_LATE = _q("that stops after 50,000 steps", _StopsLate, "sample form")
STOPS_LATE_IN_THE_MEAN = _q("that stops after 50,000 steps, unbiased", _StopsLate, "unbiased")
LAST_STEP_SIZE = _q("with 32,768 step sizes", _LastStepSize, "sample form")
HARMONIC_TAIL = _q("whose step sizes fall as 1/n in the end", _HarmonicTail, "sample form")
# A maximum of the first 1,024 states.
SOME_STATES = _q(
    "with a maximum of 1,024 states", but(PlainQ, worst=lambda self: float(self.values()[:1024].max())), "sample form"
)
LATER_STATES = _q("with a maximum of full blocks", _LaterStates, "sample form")
# A minimum of the first 256 actions.
SOME_ACTIONS = _q(
    "with a minimum of 256 actions", but(PlainQ, values=lambda self: self.Q[:, :256].min(axis=1)), "sample form"
)
SATURATED_CLOCK = _q("whose clock ends at 65,504", _HalfPrecision, "sample form")
FEW_STATES = Variant(
    "expected SARSA with a maximum of 512 states",
    "evaluation",
    _FewStates,
    (Contamination,),
    ("sample form",),
    {"estimates": "Q"},
)
SOME_FEATURES = _tdc("that corrects 64 features", _SomeFeatures)
# A smooth maximum of 1,024 states.
LINEAR_STATES = _tdc(
    "with a maximum of 1,024 states", but(PlainTDC, smooth=lambda self, V: PlainTDC.smooth(self, V[:1024]))
)
LINEAR_CLOCK = _tdc("with steps in 16 bits", _LinearClock)
SINGLE_PRECISION = _q("with large tables in single precision", _SinglePrecision, "sample form")
SINGLE_BACKUP = Variant(
    "T with many values in single precision", "operator", _single_backup, (Contamination,), ("bellman",)
)
SINGLE_FEATURES = _tdc(
    "with features of many states in single precision",
    with_problem(PlainTDC, features=lambda p: np.float32(p.features) if p.n_states > 500 else p.features),
)
