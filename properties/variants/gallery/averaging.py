"""Robust Q-learning that returns the average of its iterates (Polyak and Ruppert)."""

from typing import Any

from properties.laws.view import View
from properties.variants.target_learner import TargetLearner
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


class AveragingLearner(TargetLearner):
    """Q-learning beside which the mean of all iterates, the start included, is kept."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.mean = self.Q.copy()

    def update(self, transition: Transition) -> None:
        """One step of Q-learning, then one of the average."""
        place = transition.s, transition.a
        self.Q[place] += self.step_size() * (self.target(transition, self.Q) - self.Q[place])
        self.mean += (self.Q - self.mean) / (self.t + 1)

    def estimate(self) -> Floats:
        """A copy of the average."""
        return self.mean.copy()


def expected(view: View) -> Any:
    """avg + (x' − avg)/(t+2), x' the backup step of x_t = (t+1) avg_t − t avg_{t−1}, which nothing hides."""
    t, mean = view.t, view.estimate
    x = (t + 1) * mean - t * view.estimates[t - 1] if t else view.estimate
    after = x.copy()
    after[view.place] += view.alpha() * (view.T(x) - x[view.place])
    return mean + (after - mean) / (t + 2)


VARIANT = Variant(
    "robust Q-learning, averaged",
    "control",
    AveragingLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "scale", "symmetric", "bounded"),
    options={"expected": expected, "schedule": "steps"},
)
