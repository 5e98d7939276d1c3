"""Speedy Q-learning (Azar, Munos, Ghavamzadeh and Kappen, 2011) with robust targets, asynchronous.

Q ← Q + alpha(T'Q_{t−1} − Q) + (1−alpha)(T'Q − T'Q_{t−1}), both targets from the same sample.
"""

from typing import Any

from properties.laws.view import View
from properties.variants.target_learner import TargetLearner
from robust_core import Contamination, Problem, Transition, Variant


class SpeedyLearner(TargetLearner):
    """The table before the last step is kept."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.last = self.Q.copy()

    def update(self, transition: Transition) -> None:
        """One step."""
        place, alpha = (transition.s, transition.a), self.step_size()
        old, new = self.target(transition, self.last), self.target(transition, self.Q)
        self.keep()
        self.Q[place] += alpha * (old - self.Q[place]) + (1.0 - alpha) * (new - old)

    def keep(self) -> None:
        """Remember the table of this step for the next one."""
        self.last = self.Q.copy()


def expected(view: View) -> Any:
    """The same with the backups of the last two estimates."""
    Q, alpha = view.estimate, view.alpha()
    old, new = view.T(view.estimates[max(view.t - 1, 0)]), view.T(Q)
    Q[view.place] += alpha * (old - Q[view.place]) + (1 - alpha) * (new - old)
    return Q


VARIANT = Variant(
    "robust speedy Q-learning",
    "control",
    SpeedyLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "symmetric"),
    options={"expected": expected, "schedule": "steps"},
)
