"""Robust TDC for a policy that is not followed: every term of a transition is weighted by its importance ratio.

A second form weights only the terms that depend on the action. The others have the same mean, since E[ratio | s] = 1.
"""

from typing import Any

import numpy as np

from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


class OffPolicyTDC:
    """theta follows the corrected gradient, omega the mean of delta phi, each in a ball of its own."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.t = problem, 0
        self.theta, self.omega = (np.array(part) for part in problem.initial)

    def step(self, transition: Transition) -> tuple[Floats, Floats]:
        """The directions of theta and of omega."""
        ratio, fixed, delta, gradient = self.parts(transition)
        phi = self.problem.features[transition.s]  # type: ignore[index]
        tracked = phi @ self.omega
        delta = ratio * (fixed + delta)
        return delta * phi - ratio * tracked * gradient.sum(axis=0), (delta - tracked) * phi

    def parts(self, transition: Transition) -> tuple[float, float, float, Floats]:
        """The ratio, the terms of delta of the state alone, those of the action, and both gradients of the target."""
        p: Any = self.problem
        s, a, R = transition.s, transition.a, p.uncertainty_set.radius
        V, following = p.features @ self.theta, p.features[transition.s_next] * (not transition.terminal)
        fixed = p.gamma * R * p.smoothing.value(V) - V[s]
        delta = transition.cost + p.gamma * (1.0 - R) * following @ self.theta
        gradients = p.gamma * np.array([(1.0 - R) * following, R * p.smoothing.gradient(V) @ p.features])
        return p.policy[s, a] / p.behaviour[s, a], fixed, delta, gradients

    def update(self, transition: Transition) -> None:
        """Learn from one step of the behaviour policy."""
        p: Any = self.problem
        theta, omega = self.step(transition)
        self.theta = _projected(self.theta + p.step_size.at(self.t) * theta, p.projection)
        self.omega = _projected(self.omega + p.second_step_size.at(self.t) * omega, p.second_projection)
        self.t += 1

    def estimate(self) -> tuple[Floats, Floats]:
        """(theta, omega)."""
        return self.theta.copy(), self.omega.copy()


class ActionTermsOnly(OffPolicyTDC):
    """The ratio weights the cost, the next value and its gradient: what depends on the action."""

    def step(self, transition: Transition) -> tuple[Floats, Floats]:
        """The directions of theta and of omega."""
        ratio, fixed, delta, gradient = self.parts(transition)
        phi = self.problem.features[transition.s]  # type: ignore[index]
        tracked = phi @ self.omega
        error = fixed + ratio * delta
        return error * phi - tracked * (ratio * gradient[0] + gradient[1]), (error - tracked) * phi


def _projected(x: Floats, K: float) -> Floats:
    norm = float(np.linalg.norm(x))
    return x if norm <= K else x * (K / norm)


VARIANT = Variant(
    "off-policy TDC",
    "off-policy evaluation",
    OffPolicyTDC,
    (Contamination,),
    ("mean update", "fixed point", "projected onto two balls"),
)
ACTION_TERMS = Variant(
    "off-policy TDC, ratios on terms of the action",
    "off-policy evaluation",
    ActionTermsOnly,
    (Contamination,),
    ("mean update", "projected onto two balls"),
)
