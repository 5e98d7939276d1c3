"""Robust averaged Q-learning (Anschel, Baram and Shimkin, 2017): targets come from the mean of the last tables."""

from collections import deque
from typing import Any

import numpy as np

from properties.laws.view import View
from properties.variants.target_learner import TargetLearner
from robust_core import Contamination, Problem, Transition, Variant

KEPT = 4


class AveragedLearner(TargetLearner):
    """The last tables are kept, that before this step among them."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.tables = deque([self.Q.copy()], maxlen=KEPT)

    def update(self, transition: Transition) -> None:
        """One step."""
        place = transition.s, transition.a
        target = self.target(transition, np.mean(self.tables, axis=0))
        self.Q[place] += self.step_size() * (target - self.Q[place])
        self.tables.append(self.Q.copy())


def expected(view: View) -> Any:
    """(1−alpha)Q + alpha T of the mean of the last estimates at the visited entry."""
    Q, tables = view.estimate, view.estimates[-KEPT:]
    Q[view.place] += view.alpha() * (view.T(sum(tables) / len(tables)) - Q[view.place])
    return Q


VARIANT = Variant(
    "robust averaged Q-learning",
    "control",
    AveragedLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "scale", "shift", "symmetric", "bounded"),
    options={"expected": expected, "schedule": "steps"},
)
