"""Robust Q-learning from minibatches, for contamination: all targets use the table before the batch."""

import numpy as np

from robust_core import Contamination, Variant


class BatchQ:
    def __init__(self, problem):
        self.problem, self.Q, self.count = problem, problem.initial.copy(), 0

    def update(self, batch):
        R, V = self.problem.uncertainty_set.radius, self.Q.min(axis=1)
        alpha, change = self.problem.step_size.at(self.count), np.zeros_like(self.Q)
        for step in batch:
            following = 0.0 if step.terminal else V[step.s_next]
            target = step.cost + self.problem.gamma * ((1 - R) * following + R * V.max())
            change[step.s, step.a] += target - self.Q[step.s, step.a]
        self.Q += alpha * change / len(batch)
        self.count += 1

    def estimate(self):
        return self.Q.copy()


VARIANT = Variant(
    "my learner from batches",
    "batch",
    BatchQ,
    (Contamination,),
    ("batch mean", "batch variance", "batch order"),
)
