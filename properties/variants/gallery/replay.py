"""Robust Q-learning with experience replay: each step is stored, then two stored steps are drawn and learned from.

Both draws are learned from at the table before the step, so the mean update is alpha times the mean error over what is
stored; the newest step enters with its exact backup.
"""

from typing import Any

import numpy as np

from properties.laws.view import View
from properties.variants.target_learner import TargetLearner, expected_of_mean
from robust_core import Contamination, Problem, Transition, Variant

DRAWS = 2


class ReplayLearner(TargetLearner):
    """Uniform draws with replacement from all steps so far."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        if problem.rng is None:
            raise ValueError("replay draws from its memory: the problem needs an rng")
        self.rng = problem.rng
        self.memory: list[Transition] = []

    def update(self, transition: Transition) -> None:
        """Store, draw, learn."""
        self.memory.append(transition)
        alpha, before = self.step_size(), self.Q.copy()
        for number in self.draw():
            step = self.memory[number]
            place = step.s, step.a
            self.Q[place] += alpha / DRAWS * (self.target(step, before) - before[place])

    def draw(self) -> Any:
        """The numbers of the steps to learn from."""
        return np.asarray(self.rng.integers(len(self.memory), size=DRAWS))


def expected(view: View) -> Any:
    """Q + (alpha/n) Σ over the n stored steps of (target − entry), the newest with its backup."""
    return expected_of_mean(view, view.transitions, view.alpha() / (view.t + 1))


VARIANT = Variant(
    "robust Q-learning with replay",
    "control",
    ReplayLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "scale", "shift", "bounded"),
    options={"expected": expected, "delay": "visited", "schedule": "steps"},
)
