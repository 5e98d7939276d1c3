"""Robust evaluation by least squares (LSTD with a feature a state): V solves the robust equation of all steps so far.

V(s) = mean cost of s + gamma((1−R) mean of V(s') + R max V) at states that were seen; an end has the value 0, and
states that were not seen stay where they started. The equation is a contraction, solved by sweeps from the start when
the estimate is read, so that reading changes nothing. There is no step size. It is consistent: empirical means
converge, and V with them.
"""

import numpy as np

from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats

NEAR = 2.0**-48


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
        while True:
            image = cost + gamma * ((1.0 - R) * (rows @ self.V) + R * self.V.max())
            moved = float(np.abs(image - self.V[seen]).max())
            if moved <= NEAR * (float(np.abs(self.V).max()) + float(np.abs(cost).max())):
                self.solved = True
                return
            self.V[seen] = image


VARIANT = Variant(
    "robust least-squares evaluation",
    "evaluation",
    LeastSquaresEvaluation,
    (Contamination,),
    ("fixed point", "scale", "symmetric", "converges"),
    {"schedule": "own", "delay": "visited"},
)
