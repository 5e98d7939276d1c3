"""Robust Q-learning with momentum (heavy ball): the last change, times mu, is added to every change."""

from fractions import Fraction
from typing import Any

import numpy as np

from properties.laws.view import View
from properties.variants.target_learner import TargetLearner
from robust_core import Contamination, Problem, Transition, Variant

MU = 0.5


class HeavyBallLearner(TargetLearner):
    """D ← mu D + alpha (target − Q) at the visited entry, Q ← Q + D."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.change = np.zeros_like(self.Q)

    def update(self, transition: Transition) -> None:
        """One step."""
        place = transition.s, transition.a
        self.change = MU * self.change
        self.change[place] += self.step_size() * (self.target(transition, self.Q) - self.Q[place])
        self.Q = self.Q + self.change


def expected(view: View) -> Any:
    """Q + mu D + alpha (TQ − Q) at the visited entry, D the difference of the last two estimates."""
    Q = view.estimate
    after = Q + Fraction(MU) * (Q - view.estimates[-2]) if view.t else view.estimate
    after[view.place] += view.alpha() * (view.T(Q) - Q[view.place])
    return after


VARIANT = Variant(
    "robust Q-learning with momentum",
    "control",
    HeavyBallLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "symmetric"),
    options={"expected": expected, "delay": "visited", "schedule": "steps"},
)
