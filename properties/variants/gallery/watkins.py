"""Robust Q(lambda) of Watkins: traces decay by b·lambda, b = gamma(1−R), and end before an action that is not best."""

from fractions import Fraction
from typing import Any

import numpy as np

from properties.laws.view import View
from properties.variants.target_learner import TargetLearner
from robust_core import Contamination, Problem, Transition, Variant

LAMBDA = 0.75


class WatkinsLearner(TargetLearner):
    """All entries move by their trace times the error of the visited one."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.traces = np.zeros_like(self.Q)

    def update(self, transition: Transition) -> None:
        """One step; an episode that ends takes the traces with it."""
        place = transition.s, transition.a
        error = self.target(transition, self.Q) - self.Q[place]
        greedy = self.is_greedy(transition)
        self.traces *= LAMBDA * self.problem.gamma * (1.0 - self.radius) * greedy
        self.traces[place] += 1.0
        self.Q = self.Q + self.step_size() * error * self.traces
        if transition.terminal:
            self.traces[:] = 0.0

    def is_greedy(self, transition: Transition) -> bool:
        """Whether the action is one of the best."""
        return bool(self.Q[transition.s, transition.a] == self.Q[transition.s].min())


def expected(view: View) -> Any:
    """Q + alpha e (TQ − Q)(s,a), with the traces e that the estimates so far determine."""
    decay, traces = Fraction(LAMBDA) * view.b, 0 * view.estimate
    for step, Q in zip(view.transitions, view.estimates, strict=False):
        traces = decay * traces * int(Q[step.s, step.a] == min(Q[step.s]))
        traces[step.s, step.a] += 1
        traces = traces * (not step.terminal)
    Q = view.estimate
    traces = decay * traces * int(Q[view.place] == min(Q[view.s]))
    traces[view.place] += 1
    return Q + view.alpha() * (view.T(Q) - Q[view.place]) * traces


VARIANT = Variant(
    "robust Watkins Q(lambda)",
    "control",
    WatkinsLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "scale", "symmetric"),
    options={"expected": expected, "delay": "visited", "schedule": "steps"},
)
