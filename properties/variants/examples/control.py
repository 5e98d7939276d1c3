"""Robust Q-learning (Algorithm 1)."""

import numpy as np

from robust_core import Contamination, Variant


class QLearner:
    def __init__(self, problem):
        self.problem, self.Q, self.t = problem, problem.initial.copy(), 0
        self.visits = np.zeros(self.Q.shape, dtype=int)

    def update(self, step):
        p, pair, V = self.problem, (step.s, step.a), self.Q.min(axis=1)
        alpha = p.step_size.at(self.visits[pair] if p.step_size.clock == "visits" else self.t)
        following = 0.0 if step.terminal else V[step.s_next]
        R = p.uncertainty_set.radius
        target = step.cost + p.gamma * ((1 - R) * following + R * V.max())
        self.Q[pair] += alpha * (target - self.Q[pair])
        self.visits[pair] += 1
        self.t += 1

    def estimate(self):
        return self.Q.copy()


VARIANT = Variant("my Q-learning", "control", QLearner, (Contamination,), ("unbiased", "sample form", "asynchronous"))
