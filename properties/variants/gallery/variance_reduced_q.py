"""Robust Q-learning with a simulator and a control variate (as in variance-reduced Q-learning), for contamination.

A reference table is kept for EPOCH iterations. The target of an entry is the difference of the sampled backups of the
table and of the reference at one draw, plus the mean of the reference's backup over BATCH further draws. Backups are
affine in the row, so both differ from their means by noise that is independent of the table given the past: the mean is
the robust backup of the table, in every iteration. Near the reference the noise of one draw cancels.

All draws are made in the iteration that uses them. A reference whose mean is kept for a whole epoch has the same limit,
but another mean given the past.
"""

from typing import Any

import numpy as np

from robust_core import Contamination, Problem, Variant
from robust_core.validate import Floats

EPOCH, BATCH = 4, 2


class VarianceReducedQ:
    """Table, reference, and the iterations since the reference was taken."""

    def __init__(self, problem: Problem, simulator: Any) -> None:
        self.problem, self.simulator = problem, simulator
        self.Q, self.count = np.array(problem.initial), 0
        self.reference = self.Q.copy()

    def iterate(self) -> None:
        """Every entry once, at the table before."""
        if self.count % EPOCH == 0:
            self.reference = self.Q.copy()
        R, gamma = float(getattr(self.problem.uncertainty_set, "radius", 0.0)), self.problem.gamma
        V, U, alpha = self.Q.min(axis=1), self.reference.min(axis=1), self.problem.step_size.at(self.count)
        for s, a in np.ndindex(*self.Q.shape):
            (near,) = self.simulator.draw(s, a, 1)
            centre = U[self.simulator.draw(s, a, BATCH)].mean()
            following = V[near] - U[near] + centre
            target = self.simulator.cost(s, a) + gamma * ((1.0 - R) * following + R * V.max())
            self.Q[s, a] += alpha * (target - self.Q[s, a])
        self.count += 1

    def estimate(self) -> Floats:
        """A copy of the table."""
        return self.Q.copy()


VARIANT = Variant(
    "variance-reduced robust Q-learning",
    "simulator",
    VarianceReducedQ,
    (Contamination,),
    ("mean iteration", "expected draws"),
    {"draws": 1 + BATCH},
)
