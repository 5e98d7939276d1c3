"""Wrong learners of linear control: semi-gradient steps, then Greedy-GQ."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import TwoWeights
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


class _Vanilla(LinearQ):
    radius = 0.0


class _Half(LinearQ):
    @property
    def radius(self) -> float:
        return super().radius / 2.0


class _Never(LinearQ):
    def alpha(self) -> float:
        return 0.0


class _LateStep(LinearQ):
    def alpha(self) -> float:
        return self.problem.step_size.at(self.t + 1)


class _MeanState(LinearQ):
    def top(self, V: Floats, step: Transition) -> float:
        return float(V.mean())


class _BestState(LinearQ):
    def top(self, V: Floats, step: Transition) -> float:
        return float(V.min())


class _TwoStates(LinearQ):
    """The maximum over the two states of the transition."""

    def top(self, V: Floats, step: Transition) -> float:
        return float(max(V[step.s], V[step.s_next]))


class _WorstPair(LinearQ):
    """The maximum over pairs."""

    def top(self, V: Floats, step: Transition) -> float:
        return float((self.psi @ self.theta).max())


class _MaxAction(LinearQ):
    def values(self, Q: Floats) -> Floats:
        return np.asarray(Q.max(axis=1))


class _Sarsa(LinearQ):
    """The value of the next action."""

    def following(self, V: Floats, Q: Floats, step: Transition) -> float:
        return 0.0 if step.terminal else float(Q[step.s_next, step.a_next])


class _MeanAction(LinearQ):
    """Expected SARSA of the behaviour."""

    def values(self, Q: Floats) -> Floats:
        behaviour: Any = self.problem.behaviour
        return np.asarray((behaviour * Q).sum(axis=1))


class _PastEnd(LinearQ):
    def following(self, V: Floats, Q: Floats, step: Transition) -> float:
        return float(V[step.s_next])


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


class _ClippedError(LinearQ):
    def delta(self, step: Transition) -> float:
        return float(np.clip(super().delta(step), -1.0, 1.0))


class GreedyGQ(TwoWeights):
    """Robust Greedy-GQ, in parts that a mutant replaces."""

    psi = TwoWeights.features

    def best(self, Q: Floats) -> Any:
        """The action of every state."""
        return Q.argmin(axis=1)

    def after(self, step: Transition, top: Floats) -> Floats:
        """The features that follow."""
        return np.asarray(top[step.s_next] * (not step.terminal))

    def parts(self, step: Transition) -> tuple[float, Floats]:
        """(delta, gradient of the target)."""
        R, gamma = self.radius, self.problem.gamma
        Q = self.psi @ self.theta
        top = self.psi[np.arange(len(Q)), self.best(Q)]
        smooth, softmax = self.smooth(top @ self.theta)
        after = self.after(step, top)
        delta = step.cost + gamma * ((1.0 - R) * after @ self.theta + R * smooth) - Q[step.s, step.a]
        return float(delta), gamma * ((1.0 - R) * after + R * softmax @ top)

    def moves(self, step: Transition) -> tuple[Any, Any]:
        """The directions of theta and omega."""
        psi = self.psi[step.s, step.a]
        delta, gradient = self.parts(step)
        tracked = psi @ self.omega
        return delta * psi - tracked * gradient, (delta - tracked) * psi

    def update(self, step: Transition) -> None:
        """One step."""
        (alpha, beta), (theta, omega) = self.sizes, self.moves(step)
        self.theta, self.omega = self.theta + alpha * theta, self.omega + beta * omega
        self.t += 1


class _VanillaGQ(GreedyGQ):
    radius = 0.0


class _HalfGQ(GreedyGQ):
    @property
    def radius(self) -> float:
        return super().radius / 2.0


class _NeverGQ(GreedyGQ):
    @property
    def sizes(self) -> tuple[float, float]:
        return 0.0, 0.0


class _NextActionGQ(GreedyGQ):
    """The features of the action that was taken next."""

    def after(self, step: Transition, top: Floats) -> Floats:
        return np.asarray(self.psi[step.s_next, step.a_next] * (not step.terminal))


class _MaxGQ(GreedyGQ):
    def best(self, Q: Floats) -> Any:
        return Q.argmax(axis=1)


class _MeanFeatures(GreedyGQ):
    """Expected features of the behaviour."""

    def after(self, step: Transition, top: Floats) -> Floats:
        behaviour: Any = self.problem.behaviour
        return np.asarray(behaviour[step.s_next] @ self.psi[step.s_next] * (not step.terminal))


class _OneCorrection(GreedyGQ):
    """The correction without nature's part."""

    def parts(self, step: Transition) -> tuple[float, Floats]:
        Q = self.psi @ self.theta
        top = self.psi[np.arange(len(Q)), self.best(Q)]
        return super().parts(step)[0], self.problem.gamma * (1.0 - self.radius) * self.after(step, top)


class _HardGQ(GreedyGQ):
    def smooth(self, V: Floats) -> tuple[float, Floats]:
        return float(V.max()), np.eye(len(V))[V.argmax()]


class _NoCorrection(GreedyGQ):
    def moves(self, step: Transition) -> tuple[Any, Any]:
        return self.parts(step)[0] * self.psi[step.s, step.a], super().moves(step)[1]


class _SignGQ(GreedyGQ):
    def moves(self, step: Transition) -> tuple[Any, Any]:
        psi = self.psi[step.s, step.a]
        delta, gradient = self.parts(step)
        return delta * psi + (psi @ self.omega) * gradient, super().moves(step)[1]


class _OmegaAsleep(GreedyGQ):
    @property
    def sizes(self) -> tuple[float, float]:
        return super().sizes[0], 0.0


class _SwappedSizes(GreedyGQ):
    @property
    def sizes(self) -> tuple[float, float]:
        return super().sizes[1], super().sizes[0]


class _StateTracked(GreedyGQ):
    """omega follows the features of the greedy action of the state."""

    def moves(self, step: Transition) -> tuple[Any, Any]:
        theta, _ = super().moves(step)
        best = int(self.best(self.psi @ self.theta)[step.s])
        psi = self.psi[step.s, best]
        return theta, (self.parts(step)[0] - psi @ self.omega) * psi


def _mutant(name: str, make: Any, **options: Any) -> Variant:
    return Variant(f"linear Q {name}", "linear control", make, (Contamination,), ("semi-gradient",), options)


def _greedy(name: str, make: Any) -> Variant:
    return Variant(f"Greedy-GQ {name}", "linear control", make, (Contamination,), ("mean update",), {"tables": 2})


VANILLA = _mutant("that is not robust", _Vanilla)
HALF = _mutant("with half the radius", _Half)
NEVER = _mutant("that never learns", _Never)
LATE_STEP = _mutant("with the next step size", _LateStep)
MEAN_STATE = _mutant("with the mean for the maximum", _MeanState)
BEST_STATE = _mutant("with the minimum for the maximum", _BestState)
TWO_STATES = _mutant("with the maximum of two states", _TwoStates)
WORST_PAIR = _mutant("with the maximum of all pairs", _WorstPair)
MAX_ACTION = _mutant("with max for min", _MaxAction)
SARSA = _mutant("of the next action", _Sarsa)
MEAN_ACTION = _mutant("of the behaviour", _MeanAction)
PAST_END = _mutant("that goes on after the end", _PastEnd)
NORMALISED = _mutant("with normalised features", _Normalised)
GREEDY_FEATURES = _mutant("with the features of the best action", _GreedyFeatures)
RESIDUAL_GRADIENT = _mutant("with the residual gradient", _ResidualGradient)
CLIPPED_ERROR = _mutant("with clipped errors", _ClippedError)
SMOOTH_SOLD_AS_HARD = _mutant("with a smooth maximum, not said", SmoothQ)
HARD_SOLD_AS_SMOOTH = _mutant("with the hard maximum, sold as smooth", LinearQ, smoothing="lse")
VANILLA_GQ = _greedy("that is not robust", _VanillaGQ)
HALF_GQ = _greedy("with half the radius", _HalfGQ)
NEVER_GQ = _greedy("that never learns", _NeverGQ)
NEXT_ACTION_GQ = _greedy("of the next action", _NextActionGQ)
MAX_GQ = _greedy("with max for min", _MaxGQ)
MEAN_FEATURES = _greedy("with expected features", _MeanFeatures)
ONE_CORRECTION = _greedy("without nature's part of the correction", _OneCorrection)
HARD_GQ = _greedy("with the hard maximum", _HardGQ)
NO_CORRECTION = _greedy("without a correction", _NoCorrection)
SIGN_GQ = _greedy("with the sign of the correction", _SignGQ)
OMEGA_ASLEEP = _greedy("whose omega never moves", _OmegaAsleep)
SWAPPED_SIZES = _greedy("with swapped step sizes", _SwappedSizes)
STATE_TRACKED = _greedy("whose omega follows the best action", _StateTracked)
