"""Robust Greedy-GQ: gradient Q-learning, linear in features of pairs, with the features of greedy actions.

It follows the gradient of an objective that is neither convex nor smooth, so it promises its mean step and no limit.
"""

from typing import Any

import numpy as np

from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


class GreedyGQ:
    """theta follows the corrected gradient at the greedy actions, omega the mean of delta psi."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.t = problem, 0
        self.theta, self.omega = (np.array(part) for part in problem.initial)

    def update(self, transition: Transition) -> None:
        """Learn from one step."""
        p: Any = self.problem
        s, a, R = transition.s, transition.a, p.uncertainty_set.radius
        Q = p.features @ self.theta
        greedy = p.features[np.arange(p.n_states), Q.argmin(axis=1)]
        V, psi, following = Q.min(axis=1), p.features[s, a], greedy[transition.s_next] * (not transition.terminal)
        target = p.gamma * ((1.0 - R) * following @ self.theta + R * p.smoothing.value(V))
        gradient = p.gamma * ((1.0 - R) * following + R * p.smoothing.gradient(V) @ greedy)
        delta, tracked = transition.cost + target - Q[s, a], psi @ self.omega
        self.theta = self.theta + p.step_size.at(self.t) * (delta * psi - tracked * gradient)
        self.omega = self.omega + p.second_step_size.at(self.t) * (delta - tracked) * psi
        self.t += 1

    def estimate(self) -> tuple[Floats, Floats]:
        """(theta, omega)."""
        return self.theta.copy(), self.omega.copy()


VARIANT = Variant("Greedy-GQ", "linear control", GreedyGQ, (Contamination,), ("mean update",), {"tables": 2})
