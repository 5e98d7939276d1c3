"""Robust TD(0): the value of a policy; the table is V."""

import numpy as np

from robust_core import Contamination, Variant


class TDLearner:
    def __init__(self, problem):
        self.problem, self.V, self.t = problem, problem.initial.copy(), 0
        self.visits = np.zeros(self.V.shape, dtype=int)

    def update(self, step):
        p = self.problem
        alpha = p.step_size.at(self.visits[step.s] if p.step_size.clock == "visits" else self.t)
        following = 0.0 if step.terminal else self.V[step.s_next]
        R = p.uncertainty_set.radius
        target = step.cost + p.gamma * ((1 - R) * following + R * self.V.max())
        self.V[step.s] += alpha * (target - self.V[step.s])
        self.visits[step.s] += 1
        self.t += 1

    def estimate(self):
        return self.V.copy()


VARIANT = Variant(
    "my TD(0)",
    "evaluation",
    TDLearner,
    (Contamination,),
    ("unbiased", "sample form", "non-expansive", "shift"),
    options={"estimates": "V"},
)
