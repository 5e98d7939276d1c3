"""What the Q-learners of the gallery with a hidden state share: one target of eq:Qupdate, and one step size a step."""

import numpy as np

from robust_core import Problem, Transition
from robust_core.validate import Floats


class TargetLearner:
    """A table, and the target of a transition under any table."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.Q, self.t = problem, problem.initial.copy(), 0
        self.radius = float(getattr(problem.uncertainty_set, "radius"))  # noqa: B009 (any set with a radius)

    def target(self, transition: Transition, Q: Floats) -> float:
        """c + gamma(R max V + (1−R)V(s')), V = min_a Q."""
        V = Q.min(axis=1)
        following = 0.0 if transition.terminal else V[transition.s_next]
        R = self.radius
        return float(transition.cost + self.problem.gamma * (R * V.max() + (1.0 - R) * following))

    def step_size(self) -> float:
        """The step size of this step, which is counted."""
        self.t += 1
        return self.problem.step_size.at(self.t - 1)

    def estimate(self) -> Floats:
        """A copy of Q."""
        return np.array(self.Q, dtype=np.float64)
