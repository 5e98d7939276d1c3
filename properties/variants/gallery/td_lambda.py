"""Robust TD(lambda) with accumulating traces, which decay by b·lambda, b = gamma(1−R), and end with the episode."""

from typing import Any

import numpy as np

from properties.laws.view import View, to_rationals
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats

LAMBDA = 0.75


class TraceLearner:
    """All entries move by their trace times the error of the visited one."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.V, self.t = problem, problem.initial.copy(), 0
        self.radius = float(getattr(problem.uncertainty_set, "radius"))  # noqa: B009 (any set with a radius)
        self.traces = np.zeros_like(self.V)

    @property
    def decay(self) -> float:
        """By what a trace falls in one step."""
        return LAMBDA * self.problem.gamma * (1.0 - self.radius)

    def update(self, transition: Transition) -> None:
        """One step."""
        s, _, cost, s_next, _, terminal = transition
        gamma, R = self.problem.gamma, self.radius
        self.mark(s)
        following = 0.0 if terminal else self.V[s_next]
        delta = cost + gamma * (R * self.V.max() + (1.0 - R) * following) - self.V[s]
        self.V = self.V + self.problem.step_size.at(self.t) * delta * self.traces
        self.t += 1
        if terminal:
            self.forget()

    def mark(self, s: int) -> None:
        """Let all traces decay and add to that of a state."""
        self.traces *= self.decay
        self.traces[s] += 1.0

    def forget(self) -> None:
        """An episode has ended."""
        self.traces[:] = 0.0

    def estimate(self) -> Floats:
        """A copy of V."""
        return self.V.copy()


def expected(view: View) -> Any:
    """V + alpha e (T V(s) − V(s)) with the traces e of the episode."""
    decay, V = to_rationals(LAMBDA).item() * view.b, view.estimate
    traces = 0 * V
    for step in view.transitions:
        traces = decay * traces
        traces[step.s] += 1
        if step.terminal:
            traces = 0 * traces
    traces = decay * traces
    traces[view.s] += 1
    return V + view.alpha() * (view.T(V) - V[view.s]) * traces


VARIANT = Variant(
    "robust TD(lambda)",
    "evaluation",
    TraceLearner,
    (Contamination,),
    ("mean update", "fixed point", "fixed point in the mean", "asynchronous", "scale", "symmetric"),
    options={"estimates": "V", "expected": expected, "delay": "visited", "schedule": "steps"},
)
