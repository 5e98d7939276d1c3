"""Wrong learners of the average cost."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import PlainQ, but, with_radius
from robust_core import Contamination, Problem, Transition, Variant


class Relative(PlainQ):
    """Relative Q-learning: without a discount, and relative to an estimate of the gain."""

    discounted = False

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.start = self.Q.copy()
        if not self.discounted:
            self.gamma = 1.0

    def gain(self, step: Transition) -> float:
        """The estimate of the gain."""
        return float(self.Q[0, 0])

    def target(self, step: Transition) -> float:
        """What the entry moves to."""
        return super().target(step) - self.gain(step)


class _Normalised(Relative):
    """The whole table is kept relative to its first entry."""

    def update(self, step: Transition) -> None:
        super().update(step)
        self.Q = self.Q - self.Q[0, 0]


class _LateCount(Relative):
    def update(self, step: Transition) -> None:
        self.count(step)
        self.write(step, self.alpha(step), self.target(step))


class _Clipped(Relative):
    def target(self, step: Transition) -> float:
        own = float(self.Q[step.s, step.a])
        return own + float(np.clip(super().target(step) - own, -1.0, 1.0))


def _mutant(name: str, make: Any, promises: Any = ("relative update",), **options: Any) -> Variant:
    return Variant(f"relative Q {name}", "average cost learner", make, (Contamination,), promises, options)


VANILLA = _mutant("that is not robust", with_radius(Relative, 0.0))
HALF = _mutant("with half the radius", with_radius(Relative, 0.5))
NEVER = _mutant("that never learns", but(Relative, alpha=lambda self, step: 0.0))
DISCOUNTED = _mutant("with a discount", but(Relative, discounted=True))
TOTAL = _mutant("without a reference", but(Relative, gain=lambda self, step: 0.0))
# The visited entry is subtracted.
OWN_ENTRY = _mutant("relative to its own entry", but(Relative, gain=lambda self, step: float(self.Q[step.s, step.a])))
# V of state 0, where the entry was stated.
STATE_VALUE = _mutant("relative to a value", but(Relative, gain=lambda self, step: float(self.values()[0])))
MEAN_ENTRY = _mutant("relative to the mean", but(Relative, gain=lambda self, step: float(self.Q.mean())))
# The first entry of the start.
OLD_GAIN = _mutant("relative to the start", but(Relative, gain=lambda self, step: float(self.start[0, 0])))
TWICE_GAIN = _mutant("with twice the gain", but(Relative, gain=lambda self, step: 2.0 * Relative.gain(self, step)))
MEAN_STATE = _mutant("with the mean for the maximum", but(Relative, worst=lambda self: float(self.values().mean())))
# Nature stays where it is.
OWN_STATE = _mutant(
    "whose nature stays",
    but(
        Relative,
        target=lambda self, step: (
            step.cost + (1.0 - self.R) * self.following(step) + self.R * float(self.values()[step.s]) - self.gain(step)
        ),
    ),
)
MAX_ACTION = _mutant("with max for min", but(Relative, values=lambda self: np.asarray(self.Q.max(axis=1))))
NORMALISED = _mutant("that moves all entries", _Normalised)
NEXT_ACTION = _mutant("of action 0", but(Relative, following=lambda self, step: float(self.Q[step.s_next, 0])))
LATE_COUNT = _mutant("with the next step size", _LateCount)
CLIPPED = _mutant("with clipped errors", _Clipped)
EMPTY_REFERENCE = _mutant(
    "with a promise of no reference", but(Relative, gain=lambda self, step: 0.0), reference=lambda view: 0
)
# It moves by nothing, and says that f is what makes that so.
STUCK = _mutant(
    "with a reference for each pair",
    but(Relative, write=lambda self, step, alpha, target: None),
    reference=lambda view: view.T(view.estimate) - _entry(view),
)
VANILLA_AT_SOLUTION = _mutant(
    "that is not robust at the solution", with_radius(Relative, 0.0), ("relative fixed point",)
)
DISCOUNTED_SHIFT = _mutant("with a discount, shifted", but(Relative, discounted=True), ("relative shift",))


def _entry(view: Any) -> Any:
    return view.estimate[view.place]


class _TenthGain(Relative):
    """Every tenth step has the gain of the step before."""

    last = 0.0

    def gain(self, step: Transition) -> float:
        found = self.last if self.t % 10 == 9 else super().gain(step)
        self.last = super().gain(step)
        return found


class _Recentred(Relative):
    """Every 64 steps the smallest entry becomes 0."""

    def update(self, step: Transition) -> None:
        super().update(step)
        if self.t % 64 == 0:
            self.Q = self.Q - self.Q.min()


TENTH_GAIN = _mutant("with an old gain in every tenth step", _TenthGain)
RECENTRED = _mutant("that is centred every 64 steps", _Recentred)
FIRST_STATES = _mutant("of 100 states", but(Relative, worst=lambda self: float(self.values()[:100].max())))
