"""What the Q-learners of the gallery with a hidden state share: one target of eq:Qupdate, and one step size a step."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from properties.laws.view import View
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


def expected_of_mean(view: View, earlier: Sequence[Transition], share: Fraction) -> Any:
    """Q + share (Σ over the earlier steps of (target − entry) + (backup − entry) of the newest), all at Q."""
    Q, before = view.estimate, view.estimate
    V = view.values(before)
    for step in earlier:
        following = 0 if step.terminal else V[step.s_next]
        target = step.cost + view.gamma * view.radius * max(V) + view.b * following
        Q[step.s, step.a] += share * (target - before[step.s, step.a])
    Q[view.place] += share * (view.T(before) - before[view.place])
    return Q
