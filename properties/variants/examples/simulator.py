"""Robust Q-learning with a simulator, for contamination: every entry moves to a mean over two draws."""

import numpy as np

from robust_core import Contamination, Variant

DRAWS = 2


class SimulatorQ:
    def __init__(self, problem, simulator):
        self.problem, self.simulator = problem, simulator
        self.Q, self.count = np.array(problem.initial), 0

    def iterate(self):
        R, V = self.problem.uncertainty_set.radius, self.Q.min(axis=1)
        alpha = self.problem.step_size.at(self.count)
        for s, a in np.ndindex(*self.Q.shape):
            v = V[self.simulator.draw(s, a, DRAWS)].mean()
            target = self.simulator.cost(s, a) + self.problem.gamma * ((1 - R) * v + R * V.max())
            self.Q[s, a] += alpha * (target - self.Q[s, a])
        self.count += 1

    def estimate(self):
        return self.Q.copy()


VARIANT = Variant(
    "my learner with a simulator",
    "simulator",
    SimulatorQ,
    (Contamination,),
    ("mean iteration", "expected draws", "variance"),
    options={"draws": DRAWS},
)
