"""Robust evaluation by least squares (LSTD with a feature a state): V solves the robust equation of all steps so far.

V(s) = mean cost of s + gamma((1−R) mean of V(s') + R max V) at states that were seen; an end has the value 0, and
states that were not seen stay where they started. For a given M = max V the equation is linear, V = x + My with y < 1,
so M is the largest of x/(1−y) and of the values of the other states. It is solved when the estimate is read. There is
no step size. It is consistent: empirical means converge, and V with them.
"""

import numpy as np

from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


class LeastSquaresEvaluation:
    """Counts of steps, sums of costs, and the solution for them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.V: Floats = problem.initial.copy()
        self.nexts = np.zeros((problem.n_states, problem.n_states))
        self.visits, self.costs = np.zeros(problem.n_states), np.zeros(problem.n_states)
        self.solved = True

    def update(self, step: Transition) -> None:
        """Count the step."""
        self.visits[step.s] += 1.0
        self.costs[step.s] += step.cost
        if not step.terminal:
            self.nexts[step.s, step.s_next] += 1.0
        self.solved = False

    def estimate(self) -> Floats:
        """The solution for all steps so far."""
        if not self.solved:
            self._solve()
        return self.V.copy()

    def _solve(self) -> None:
        R, gamma, seen = (
            float(getattr(self.problem.uncertainty_set, "radius", 0.0)),
            self.problem.gamma,
            self.visits > 0.0,
        )
        cost, rows = self.costs[seen] / self.visits[seen], self.nexts[seen] / self.visits[seen, None]
        self.V = self.problem.initial.copy()
        b, unseen = gamma * (1.0 - R), self.V[~seen]
        sides = np.stack([cost + b * (rows[:, ~seen] @ unseen), np.full(len(cost), gamma * R)], axis=1)
        x, y = np.linalg.solve(np.eye(len(cost)) - b * rows[:, seen], sides).T
        top = max([float((x / (1.0 - y)).max()), *unseen.tolist()])
        self.V[seen] = x + top * y
        self.solved = True


VARIANT = Variant(
    "robust least-squares evaluation",
    "evaluation",
    LeastSquaresEvaluation,
    (Contamination,),
    ("fixed point", "scale", "symmetric", "converges"),
    {"schedule": "own", "delay": "visited"},
)
