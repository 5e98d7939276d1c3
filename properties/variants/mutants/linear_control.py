"""Wrong learners of linear control: semi-gradient steps, then Greedy-GQ."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import TwoWeights, but, hard_maximum, with_problem, with_radius
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


class LinearQ:
    """Linear robust Q-learning, in parts that a mutant replaces."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.t = problem, 0
        self.theta = np.array(problem.initial)

    @property
    def radius(self) -> float:
        """R."""
        return float(getattr(self.problem.uncertainty_set, "radius", 0.0))

    @property
    def psi(self) -> Floats:
        """The features of pairs."""
        features: Any = self.problem.features
        return np.asarray(features)

    def alpha(self) -> float:
        """The step size."""
        return self.problem.step_size.at(self.t)

    def values(self, Q: Floats) -> Floats:
        """V."""
        return np.asarray(Q.min(axis=1))

    def top(self, V: Floats, step: Transition) -> float:
        """What nature restarts at."""
        return float(V.max())

    def following(self, V: Floats, Q: Floats, step: Transition) -> float:
        """The value after the step."""
        return 0.0 if step.terminal else float(V[step.s_next])

    def delta(self, step: Transition) -> float:
        """The error of the pair."""
        Q = self.psi @ self.theta
        V = self.values(Q)
        sigma = (1.0 - self.radius) * self.following(V, Q, step) + self.radius * self.top(V, step)
        return float(step.cost + self.problem.gamma * sigma - Q[step.s, step.a])

    def direction(self, step: Transition) -> Floats:
        """The features by which theta moves."""
        return np.asarray(self.psi[step.s, step.a])

    def update(self, step: Transition) -> None:
        """One step."""
        self.theta = self.theta + self.alpha() * self.delta(step) * self.direction(step)
        self.t += 1

    def estimate(self) -> Any:
        """A copy of theta."""
        return self.theta.copy()


class SmoothQ(LinearQ):
    """With the smooth maximum."""

    def top(self, V: Floats, step: Transition) -> float:
        """The smooth maximum."""
        smoothing: Any = self.problem.smoothing
        return float(smoothing.value(V))


class _MeanAction(LinearQ):
    """Expected SARSA of the behaviour."""

    def values(self, Q: Floats) -> Floats:
        behaviour: Any = self.problem.behaviour
        return np.asarray((behaviour * Q).sum(axis=1))


class _Normalised(LinearQ):
    """Divided by the square of the features."""

    def direction(self, step: Transition) -> Floats:
        psi = super().direction(step)
        return psi / max(1e-9, float(psi @ psi))


class _GreedyFeatures(LinearQ):
    """The features of the best action of the state."""

    def direction(self, step: Transition) -> Floats:
        best = int((self.psi @ self.theta)[step.s].argmin())
        return np.asarray(self.psi[step.s, best])


class _ResidualGradient(LinearQ):
    """One sample for both factors."""

    def direction(self, step: Transition) -> Floats:
        best = int((self.psi @ self.theta)[step.s_next].argmin())
        after = self.psi[step.s_next, best] * (not step.terminal)
        return np.asarray(self.psi[step.s, step.a] - self.problem.gamma * (1.0 - self.radius) * after)


class GreedyGQ(TwoWeights):
    """Robust Greedy-GQ: features of pairs, and of the greedy action where a state is valued."""

    def best(self, Q: Floats) -> Any:
        """The action of every state."""
        return Q.argmin(axis=1)

    def feature(self, step: Transition) -> Floats:
        """psi(s, a)."""
        return np.asarray(self.features[step.s, step.a])

    def top(self) -> Floats:
        """psi of the greedy action of every state."""
        return np.asarray(self.features[np.arange(len(self.features)), self.best(self.features @ self.theta)])


class _MeanFeatures(GreedyGQ):
    """Expected features of the behaviour."""

    def after(self, step: Transition, top: Floats) -> Floats:
        behaviour: Any = self.problem.behaviour
        return np.asarray(behaviour[step.s_next] @ self.features[step.s_next] * (not step.terminal))


class _StateTracked(GreedyGQ):
    """omega follows the features of the greedy action of the state."""

    def moves(self, step: Transition) -> tuple[Any, Any]:
        theta, _ = super().moves(step)
        psi = self.top()[step.s]
        return theta, (self.parts(step)[0] - psi @ self.omega) * psi


def _mutant(name: str, make: Any, **options: Any) -> Variant:
    return Variant(f"linear Q {name}", "linear control", make, (Contamination,), ("semi-gradient",), options)


def _greedy(name: str, make: Any) -> Variant:
    return Variant(f"Greedy-GQ {name}", "linear control", make, (Contamination,), ("mean update",), {"tables": 2})


VANILLA = _mutant("that is not robust", but(LinearQ, radius=0.0))
HALF = _mutant("with half the radius", with_radius(LinearQ, 0.5))
NEVER = _mutant("that never learns", but(LinearQ, alpha=lambda self: 0.0))
LATE_STEP = _mutant("with the next step size", but(LinearQ, alpha=lambda self: self.problem.step_size.at(self.t + 1)))
MEAN_STATE = _mutant("with the mean for the maximum", but(LinearQ, top=lambda self, V, step: float(V.mean())))
BEST_STATE = _mutant("with the minimum for the maximum", but(LinearQ, top=lambda self, V, step: float(V.min())))
# The maximum over the two states of the transition.
TWO_STATES = _mutant(
    "with the maximum of two states", but(LinearQ, top=lambda self, V, step: float(max(V[step.s], V[step.s_next])))
)
# The maximum over pairs.
WORST_PAIR = _mutant(
    "with the maximum of all pairs", but(LinearQ, top=lambda self, V, step: float((self.psi @ self.theta).max()))
)
MAX_ACTION = _mutant("with max for min", but(LinearQ, values=lambda self, Q: np.asarray(Q.max(axis=1))))
# The value of the next action.
SARSA = _mutant(
    "of the next action",
    but(LinearQ, following=lambda self, V, Q, step: 0.0 if step.terminal else float(Q[step.s_next, step.a_next])),
)
MEAN_ACTION = _mutant("of the behaviour", _MeanAction)
PAST_END = _mutant("that goes on after the end", but(LinearQ, following=lambda self, V, Q, step: float(V[step.s_next])))
NORMALISED = _mutant("with normalised features", _Normalised)
GREEDY_FEATURES = _mutant("with the features of the best action", _GreedyFeatures)
RESIDUAL_GRADIENT = _mutant("with the residual gradient", _ResidualGradient)
CLIPPED_ERROR = _mutant(
    "with clipped errors", but(LinearQ, delta=lambda self, step: float(np.clip(LinearQ.delta(self, step), -1.0, 1.0)))
)
SMOOTH_SOLD_AS_HARD = _mutant("with a smooth maximum, not said", SmoothQ)
HARD_SOLD_AS_SMOOTH = _mutant("with the hard maximum, sold as smooth", LinearQ, smoothing="lse")
VANILLA_GQ = _greedy("that is not robust", but(GreedyGQ, radius=0.0))
HALF_GQ = _greedy("with half the radius", with_radius(GreedyGQ, 0.5))
NEVER_GQ = _greedy("that never learns", but(GreedyGQ, factors=(0.0, 0.0)))
# The features of the action that was taken next.
NEXT_ACTION_GQ = _greedy(
    "of the next action",
    but(
        GreedyGQ,
        after=lambda self, step, top: np.asarray(self.features[step.s_next, step.a_next] * (not step.terminal)),
    ),
)
MAX_GQ = _greedy("with max for min", but(GreedyGQ, best=lambda self, Q: Q.argmax(axis=1)))
MEAN_FEATURES = _greedy("with expected features", _MeanFeatures)
ONE_CORRECTION = _greedy("without nature's part of the correction", but(GreedyGQ, nature=0.0))
HARD_GQ = _greedy("with the hard maximum", but(GreedyGQ, smooth=hard_maximum))
NO_CORRECTION = _greedy("without a correction", but(GreedyGQ, correction=0.0))
SIGN_GQ = _greedy("with the sign of the correction", but(GreedyGQ, correction=-1.0))
OMEGA_ASLEEP = _greedy("whose omega never moves", but(GreedyGQ, factors=(1.0, 0.0)))
SWAPPED_SIZES = _greedy(
    "with swapped step sizes",
    with_problem(
        GreedyGQ, step_size=lambda problem: problem.second_step_size, second_step_size=lambda problem: problem.step_size
    ),
)
STATE_TRACKED = _greedy("whose omega follows the best action", _StateTracked)
LATE_ALPHA_GQ = _greedy("whose alpha is one step late", but(GreedyGQ, alpha_count=lambda self: max(self.t - 1, 0)))
BLOCK = _mutant("with the maximum of 16 states", but(LinearQ, top=lambda self, V, step: float(V[:16].max())))


class _Refreshed(LinearQ):
    """Every 256 steps nature restarts at the smallest value."""

    def top(self, V: Floats, step: Transition) -> float:
        return float(V.min() if self.t % 256 == 255 else V.max())


REFRESHED = _mutant("with a wrong step in 256", _Refreshed)
HUNDRED = _mutant("with the maximum of 100 states", but(LinearQ, top=lambda self, V, step: float(V[:100].max())))
