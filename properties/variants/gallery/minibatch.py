"""Robust Q-learning by minibatches: two steps are collected, and their mean error is learned from at once."""

from typing import Any

from properties.laws.view import View
from properties.variants.target_learner import TargetLearner
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
    Q, before = view.estimate, view.estimate
    if (view.t + 1) % BATCH:
        return Q
    V, share = view.values(before), view.alpha() / BATCH
    for step in view.transitions[view.t + 1 - BATCH :]:
        following = 0 if step.terminal else V[step.s_next]
        target = step.cost + view.gamma * view.radius * max(V) + view.b * following
        Q[step.s, step.a] += share * (target - before[step.s, step.a])
    Q[view.place] += share * (view.T(before) - before[view.place])
    return Q


VARIANT = Variant(
    "robust Q-learning by minibatches",
    "control",
    MinibatchLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "scale", "shift", "symmetric", "bounded"),
    options={"expected": expected, "delay": BATCH, "schedule": "steps"},
)
