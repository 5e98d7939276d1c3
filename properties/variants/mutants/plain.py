"""Plain learners with a seam at every place where a bug can be: a mutant overrides one of them.

They are right as they stand (a test verifies them), so a mutant is wrong by its own few lines only.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robust_core import Contamination, Mellowmax, Problem, Transition
from robust_core.validate import Floats


def but(base: type, **parts: Any) -> Any:
    """The class with some of its parts replaced: methods, properties or constants."""
    return type(base.__name__, (base,), parts)


def with_problem(make: Any, **changes: Callable[[Any], Any]) -> Any:
    """What `make` makes of a problem with other entries, each a function of the problem that is given."""
    return lambda problem, *others: make(
        replace(problem, **{name: change(problem) for name, change in changes.items()}), *others
    )


def with_radius(make: Any, factor: float) -> Any:
    """What `make` makes of a problem whose radius is so many times as large."""
    return with_problem(make, uncertainty_set=lambda problem: Contamination(factor * problem.uncertainty_set.radius))


class PlainQ:
    """Robust Q-learning (eq:Qupdate)."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.gamma = problem, problem.gamma
        self.R: float = problem.uncertainty_set.radius  # type: ignore[attr-defined]
        self.Q: Floats = problem.initial.copy()
        self.visits = np.zeros(self.Q.shape, dtype=np.int64)
        self.t = 0

    def update(self, step: Transition) -> None:
        """One transition."""
        alpha, target = self.alpha(step), self.target(step)
        self.write(step, alpha, target)
        self.count(step)

    def place(self, step: Transition) -> Any:
        """The entry that learns."""
        return step.s, step.a

    def count(self, step: Transition) -> None:
        """After the update, time and visits move on."""
        self.t += 1
        self.visits[self.place(step)] += 1

    def alpha(self, step: Transition) -> float:
        """The step size."""
        schedule = self.problem.step_size
        return schedule.at(int(self.visits[self.place(step)]) if schedule.clock == "visits" else self.t)

    def values(self) -> Floats:
        """V(s)."""
        return self.Q.min(axis=1)

    def worst(self) -> float:
        """Nature's choice."""
        return float(self.values().max())

    def following(self, step: Transition) -> float:
        """The value of the next state."""
        return 0.0 if step.terminal else float(self.values()[step.s_next])

    def target(self, step: Transition) -> float:
        """c + gamma R max V + gamma (1−R) v'."""
        return step.cost + self.gamma * (self.R * self.worst() + (1.0 - self.R) * self.following(step))

    def write(self, step: Transition, alpha: float, target: float) -> None:
        """Mix the target into the entry."""
        place = self.place(step)
        self.Q[place] = (1.0 - alpha) * self.Q[place] + alpha * target

    def estimate(self) -> Floats:
        """A copy of the table."""
        return self.Q.copy()


class PlainExpectedSarsa(PlainQ):
    """The same for a policy: V(s) = Σ_a pi(a|s) Q(s,a)."""

    def values(self) -> Floats:
        """V(s)."""
        assert self.problem.policy is not None
        return (self.problem.policy * self.Q).sum(axis=1)


class PlainSarsa(PlainExpectedSarsa):
    """The next value is that of the sampled action."""

    def following(self, step: Transition) -> float:
        """Q(s',a')."""
        return 0.0 if step.terminal else float(self.Q[step.s_next, step.a_next])


class PlainTD(PlainQ):
    """TD(0): the table is V."""

    def place(self, step: Transition) -> Any:
        """The visited state."""
        return step.s

    def values(self) -> Floats:
        """The table."""
        return self.Q


class PlainTDC:
    """Robust TDC (Algorithm 2)."""

    def __init__(self, problem: Problem) -> None:
        assert problem.features is not None
        assert problem.second_step_size is not None
        self.problem, self.gamma, self.K = problem, problem.gamma, problem.projection
        self.R: float = problem.uncertainty_set.radius  # type: ignore[attr-defined]
        self.phi: Floats = problem.features
        self.beta_schedule = problem.second_step_size
        self.varrho = problem.smoothing.varrho if problem.smoothing else 1.0
        self.theta: Floats = problem.initial.copy()
        self.omega = np.zeros_like(self.theta)
        self.t = 0

    def smooth(self, V: Floats) -> float:
        """LSE or mellow-max."""
        top = V.max()
        weights = np.exp(self.varrho * (V - top))
        total = weights.mean() if isinstance(self.problem.smoothing, Mellowmax) else weights.sum()
        return float(top + np.log(total) / self.varrho)

    def softmax(self, V: Floats) -> Floats:
        """Its gradient."""
        weights = np.exp(self.varrho * (V - V.max()))
        return weights / weights.sum()

    def next_features(self, step: Transition) -> Floats:
        """phi(s'), 0 at the end of an episode."""
        return np.zeros_like(self.theta) if step.terminal else self.phi[step.s_next]

    def delta(self, step: Transition) -> float:
        """The robust temporal difference."""
        V = self.phi @ self.theta
        following = float(self.next_features(step) @ self.theta)
        return float(step.cost + self.gamma * ((1.0 - self.R) * following + self.R * self.smooth(V)) - V[step.s])

    def g(self, step: Transition) -> Floats:
        """The gradient of the target."""
        weights = self.softmax(self.phi @ self.theta)
        return self.gamma * ((1.0 - self.R) * self.next_features(step) + self.R * (weights @ self.phi))

    def tracked(self, step: Transition) -> float:
        """phi(s)·omega."""
        return float(self.phi[step.s] @ self.omega)

    def direction(self, step: Transition) -> Floats:
        """Where theta goes."""
        return self.delta(step) * self.phi[step.s] - self.g(step) * self.tracked(step)

    def error(self, step: Transition) -> Floats:
        """Where omega goes."""
        return (self.delta(step) - self.tracked(step)) * self.phi[step.s]

    def projected(self, x: Floats) -> Floats:
        """Back into the ball."""
        norm = float(np.linalg.norm(x))
        return x * (self.K / norm) if norm > self.K else x

    def alpha(self) -> float:
        """The step size of theta."""
        return self.problem.step_size.at(self.t)

    def beta(self) -> float:
        """The step size of omega."""
        return self.beta_schedule.at(self.t)

    def update(self, step: Transition) -> None:
        """One transition."""
        direction, error = self.direction(step), self.error(step)
        self.theta = self.projected(self.theta + self.alpha() * direction)
        self.omega = self.projected(self.omega + self.beta() * error)
        self.t += 1

    def estimate(self) -> tuple[Floats, Floats]:
        """Copies of (theta, omega)."""
        return self.theta.copy(), self.omega.copy()


class PlainGTD2(PlainTDC):
    """Robust GTD2."""

    def direction(self, step: Transition) -> Floats:
        """(phi − g)(phi·omega)."""
        return (self.phi[step.s] - self.g(step)) * self.tracked(step)


class TwoWeights:
    """A corrected gradient of theta and omega, in parts that a mutant replaces: no ratios, and no balls."""

    factors = 1.0, 1.0
    """Of the step sizes."""
    correction = nature = 1.0
    """Factors of the correction, and of nature's part in its gradient."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.t = problem, 0
        self.theta, self.omega = (np.array(part) for part in problem.initial)

    @property
    def radius(self) -> float:
        """R."""
        return float(getattr(self.problem.uncertainty_set, "radius", 0.0))

    @property
    def sizes(self) -> tuple[float, float]:
        """alpha and beta."""
        assert self.problem.second_step_size is not None
        alpha, beta = self.problem.step_size.at(self.alpha_count()), self.problem.second_step_size.at(self.t)
        return self.factors[0] * alpha, self.factors[1] * beta

    def alpha_count(self) -> int:
        """The number of steps so far, for alpha."""
        return self.t

    @property
    def balls(self) -> tuple[float, float]:
        """The radii of projection."""
        return np.inf, np.inf

    @property
    def features(self) -> Floats:
        """Phi, of states or of pairs."""
        features: Any = self.problem.features
        return np.asarray(features)

    def feature(self, step: Transition) -> Floats:
        """The features of what is left."""
        return np.asarray(self.features[step.s])

    def top(self) -> Floats:
        """The features of what every state is worth."""
        return self.features

    def after(self, step: Transition, top: Floats) -> Floats:
        """The features that follow."""
        return np.asarray(top[step.s_next] * (not step.terminal))

    def smooth(self, V: Floats) -> tuple[float, Floats]:
        """The smooth maximum and its gradient."""
        smoothing: Any = self.problem.smoothing
        return float(smoothing.value(V)), smoothing.gradient(V)

    def parts(self, step: Transition) -> tuple[float, Floats]:
        """(delta, gradient of the target)."""
        R, gamma, top = self.radius, self.problem.gamma, self.top()
        after, (smooth, softmax) = self.after(step, top), self.smooth(top @ self.theta)
        delta = step.cost + gamma * ((1.0 - R) * after @ self.theta + R * smooth) - self.feature(step) @ self.theta
        return float(delta), gamma * ((1.0 - R) * after + self.nature * R * softmax @ top)

    def ratio(self, step: Transition) -> float:
        """The weight of a transition."""
        return 1.0

    def ratios(self, step: Transition) -> tuple[float, float, float]:
        """The weights of delta and of the correction in theta, and of delta in omega."""
        ratio = self.ratio(step)
        return ratio, ratio, ratio

    def moves(self, step: Transition) -> tuple[Any, Any]:
        """The directions of theta and omega."""
        phi, (delta, gradient), (first, second, third) = self.feature(step), self.parts(step), self.ratios(step)
        tracked = phi @ self.omega
        return first * delta * phi - self.correction * second * tracked * gradient, (third * delta - tracked) * phi

    def update(self, step: Transition) -> None:
        """One step."""
        found = []
        for x, size, move, K in zip((self.theta, self.omega), self.sizes, self.moves(step), self.balls, strict=True):
            after = x + size * move
            norm = float(np.linalg.norm(after))
            found.append(after if norm <= K else after * (K / norm))
        self.theta, self.omega = found
        self.t += 1

    def estimate(self) -> tuple[Floats, Floats]:
        """A copy of both."""
        return self.theta.copy(), self.omega.copy()


def hard_maximum(self: Any, V: Floats) -> tuple[float, Floats]:
    """The maximum and a gradient of it, where the smooth ones belong."""
    return float(V.max()), np.eye(len(V))[V.argmax()]
