"""Robust Q-learning with a target copy: targets come from a copy of the table that is renewed every third step."""

from typing import Any

from properties.laws.view import View
from properties.variants.target_learner import TargetLearner
from robust_core import Contamination, Problem, Transition, Variant

PERIOD = 3


class CopyLearner(TargetLearner):
    """The copy of steps 0, 3, 6, … gives the targets of the steps up to the next copy."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.copy = self.Q.copy()

    def update(self, transition: Transition) -> None:
        """Renew the copy if it is due, then learn."""
        if self.is_due():
            self.copy = self.Q.copy()
        place = transition.s, transition.a
        self.Q[place] += self.step_size() * (self.target(transition, self.copy) - self.Q[place])

    def is_due(self) -> bool:
        """Whether the copy is renewed before this step."""
        return self.t % PERIOD == 0


def expected(view: View) -> Any:
    """(1−alpha)Q + alpha T Q⁻ at the visited entry, Q⁻ the estimate at the last multiple of the period."""
    Q, frozen = view.estimate, view.estimates[view.t - view.t % PERIOD]
    Q[view.place] += view.alpha() * (view.T(frozen) - Q[view.place])
    return Q


VARIANT = Variant(
    "robust Q-learning with a target copy",
    "control",
    CopyLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "scale", "shift", "symmetric", "bounded"),
    options={"expected": expected, "schedule": "steps"},
)
