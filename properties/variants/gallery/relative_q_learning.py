"""Robust relative Q-learning for the average cost; an entry estimates the gain, or the mean of the table."""

from typing import Any

from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats

PROMISES = ("relative update", "relative fixed point", "relative shift")


class RelativeQ:
    """An entry moves towards c + (1−R)V(s') + R max V − f(Q), f the first entry."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.Q, self.t = problem, problem.initial.copy(), 0
        self.visits = 0 * self.Q

    def gain(self) -> float:
        """The estimate of the average cost."""
        return float(self.Q[0, 0])

    def update(self, transition: Transition) -> None:
        """Learn from one step."""
        p: Any = self.problem
        place, V, R = (transition.s, transition.a), self.Q.min(axis=1), p.uncertainty_set.radius
        alpha = p.step_size.at(int(self.visits[place]) if p.step_size.clock == "visits" else self.t)
        target = transition.cost + (1.0 - R) * V[transition.s_next] + R * V.max() - self.gain()
        self.Q[place] += alpha * (target - self.Q[place])
        self.visits[place] += 1
        self.t += 1

    def estimate(self) -> Floats:
        """Q."""
        return self.Q.copy()


class MeanReference(RelativeQ):
    """The mean of the table estimates the gain."""

    def gain(self) -> float:
        """The mean of the table."""
        return float(self.Q.mean())


VARIANT = Variant("relative Q-learning", "average cost learner", RelativeQ, (Contamination,), PROMISES)
MEAN = Variant(
    "relative Q-learning, mean reference",
    "average cost learner",
    MeanReference,
    (Contamination,),
    PROMISES,
    {"reference": lambda view: view.estimate.mean()},
)
