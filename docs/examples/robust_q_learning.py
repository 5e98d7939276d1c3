"""Robust Q-learning for contamination sets: the learner of the README without its bug.

To verify it: robust-core verify robust_q_learning.py
"""

import numpy as np

from robust_core import Contamination, Variant


class Learner:
    def __init__(self, problem):
        self.problem, self.Q, self.t = problem, problem.initial.copy(), 0
        self.visits = np.zeros(self.Q.shape, dtype=int)

    def update(self, step):
        p, pair, V = self.problem, (step.s, step.a), self.Q.min(axis=1)
        alpha = p.step_size.at(self.visits[pair] if p.step_size.clock == "visits" else self.t)
        R, V_next = p.uncertainty_set.radius, 0.0 if step.terminal else V[step.s_next]
        target = step.cost + p.gamma * ((1 - R) * V_next + R * V.max())
        self.Q[pair] += alpha * (target - self.Q[pair])
        self.visits[pair] += 1
        self.t += 1

    def estimate(self):
        return self.Q.copy()


MINE = Variant("my Q-learning", "control", Learner, (Contamination,), ("unbiased", "asynchronous"))
