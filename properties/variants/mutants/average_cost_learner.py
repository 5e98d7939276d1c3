"""Wrong learners of the average cost."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import but, with_radius
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


class Relative:
    """Relative Q-learning, in parts that a mutant replaces."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.Q, self.t = problem, np.array(problem.initial), 0
        self.start, self.visits = self.Q.copy(), np.zeros(self.Q.shape, dtype=np.int64)

    @property
    def radius(self) -> float:
        """R."""
        return float(getattr(self.problem.uncertainty_set, "radius", 0.0))

    def alpha(self, place: tuple[int, int]) -> float:
        """The step size."""
        count = self.visits[place] if self.problem.step_size.clock == "visits" else self.t
        return self.problem.step_size.at(int(count))

    def values(self) -> Floats:
        """V."""
        return np.asarray(self.Q.min(axis=1))

    def top(self, V: Floats, step: Transition) -> float:
        """What nature restarts at."""
        return float(V.max())

    def gain(self, step: Transition) -> float:
        """The estimate of the gain."""
        return float(self.Q[0, 0])

    def discount(self) -> float:
        """There is none."""
        return 1.0

    def target(self, step: Transition) -> float:
        """What the entry moves to."""
        V, R = self.values(), self.radius
        return step.cost + self.discount() * ((1.0 - R) * V[step.s_next] + R * self.top(V, step)) - self.gain(step)

    def update(self, step: Transition) -> None:
        """One step."""
        place = step.s, step.a
        self.Q[place] += self.alpha(place) * (self.target(step) - self.Q[place])
        self.visits[place] += 1
        self.t += 1

    def estimate(self) -> Floats:
        """A copy of the table."""
        return self.Q.copy()


class _Discounted(Relative):
    def discount(self) -> float:
        return self.problem.gamma


class _Total(Relative):
    """Nothing is subtracted."""

    def gain(self, step: Transition) -> float:
        return 0.0


class _Normalised(Relative):
    """The whole table is kept relative to its first entry."""

    def update(self, step: Transition) -> None:
        super().update(step)
        self.Q = self.Q - self.Q[0, 0]


class _NextAction(Relative):
    """The entry of action 0 in the next state."""

    def target(self, step: Transition) -> float:
        V, R = self.values(), self.radius
        return step.cost + (1.0 - R) * self.Q[step.s_next, 0] + R * self.top(V, step) - self.gain(step)


class _LateCount(Relative):
    def alpha(self, place: tuple[int, int]) -> float:
        count = self.visits[place] if self.problem.step_size.clock == "visits" else self.t
        return self.problem.step_size.at(int(count) + 1)


class _Clipped(Relative):
    def target(self, step: Transition) -> float:
        own = float(self.Q[step.s, step.a])
        return own + float(np.clip(super().target(step) - own, -1.0, 1.0))


def _mutant(name: str, make: Any, promises: Any = ("relative update",), **options: Any) -> Variant:
    return Variant(f"relative Q {name}", "average cost learner", make, (Contamination,), promises, options)


VANILLA = _mutant("that is not robust", with_radius(Relative, 0.0))
HALF = _mutant("with half the radius", with_radius(Relative, 0.5))
NEVER = _mutant("that never learns", but(Relative, alpha=lambda self, place: 0.0))
DISCOUNTED = _mutant("with a discount", _Discounted)
TOTAL = _mutant("without a reference", _Total)
# The visited entry is subtracted.
OWN_ENTRY = _mutant("relative to its own entry", but(Relative, gain=lambda self, step: float(self.Q[step.s, step.a])))
# V of state 0, where the entry was stated.
STATE_VALUE = _mutant("relative to a value", but(Relative, gain=lambda self, step: float(self.values()[0])))
MEAN_ENTRY = _mutant("relative to the mean", but(Relative, gain=lambda self, step: float(self.Q.mean())))
# The first entry of the start.
OLD_GAIN = _mutant("relative to the start", but(Relative, gain=lambda self, step: float(self.start[0, 0])))
TWICE_GAIN = _mutant("with twice the gain", but(Relative, gain=lambda self, step: 2.0 * Relative.gain(self, step)))
MEAN_STATE = _mutant("with the mean for the maximum", but(Relative, top=lambda self, V, step: float(V.mean())))
# Nature stays where it is.
OWN_STATE = _mutant("whose nature stays", but(Relative, top=lambda self, V, step: float(V[step.s])))
MAX_ACTION = _mutant("with max for min", but(Relative, values=lambda self: np.asarray(self.Q.max(axis=1))))
NORMALISED = _mutant("that moves all entries", _Normalised)
NEXT_ACTION = _mutant("of action 0", _NextAction)
LATE_COUNT = _mutant("with the next step size", _LateCount)
CLIPPED = _mutant("with clipped errors", _Clipped)
EMPTY_REFERENCE = _mutant("with a promise of no reference", _Total, reference=lambda view: 0)
# It moves by nothing, and says that f is what makes that so.
STUCK = _mutant(
    "with a reference for each pair",
    but(Relative, gain=lambda self, step: 0.0, target=lambda self, step: float(self.Q[step.s, step.a])),
    reference=lambda view: view.T(view.estimate) - _entry(view),
)
VANILLA_AT_SOLUTION = _mutant(
    "that is not robust at the solution", with_radius(Relative, 0.0), ("relative fixed point",)
)
DISCOUNTED_SHIFT = _mutant("with a discount, shifted", _Discounted, ("relative shift",))


def _entry(view: Any) -> Any:
    return view.estimate[view.place]
