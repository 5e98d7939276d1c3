"""Robust Q-learning by minibatches: two steps are collected, and their mean error is learned from at once."""

from typing import Any

from properties.laws.view import View
from properties.variants.target_learner import TargetLearner, expected_of_mean
from robust_core import Contamination, Problem, Transition, Variant

BATCH = 2


class MinibatchLearner(TargetLearner):
    """All steps of a batch are judged at the table before it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.batch: list[Transition] = []

    def update(self, transition: Transition) -> None:
        """Collect; learn when the batch is full."""
        alpha = self.step_size()
        self.batch.append(transition)
        if len(self.batch) < BATCH:
            return
        before = self.Q.copy()
        for step in self.batch:
            place = step.s, step.a
            self.Q[place] += alpha / BATCH * (self.target(step, before) - before[place])
        self.batch = []


def expected(view: View) -> Any:
    """Every second step: Q + (alpha/2)((target of the step before) − entry) + (alpha/2)(backup − entry)."""
    if (view.t + 1) % BATCH:
        return view.estimate
    return expected_of_mean(view, view.transitions[view.t + 1 - BATCH :], view.alpha() / BATCH)


VARIANT = Variant(
    "robust Q-learning by minibatches",
    "control",
    MinibatchLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "scale", "shift", "symmetric", "bounded"),
    options={"expected": expected, "delay": BATCH, "schedule": "steps"},
)
