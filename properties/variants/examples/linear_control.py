"""Robust Q-learning, linear in features of pairs of state and action, for contamination: the estimate is theta."""

from robust_core import Contamination, Variant


class LinearQ:
    def __init__(self, problem):
        self.problem, self.theta, self.t = problem, problem.initial.copy(), 0

    def update(self, step):
        p, R = self.problem, self.problem.uncertainty_set.radius
        Q = p.features @ self.theta
        V = Q.min(axis=1)
        following = 0.0 if step.terminal else V[step.s_next]
        delta = step.cost + p.gamma * ((1 - R) * following + R * V.max()) - Q[step.s, step.a]
        self.theta = self.theta + p.step_size.at(self.t) * delta * p.features[step.s, step.a]
        self.t += 1

    def estimate(self):
        return self.theta.copy()


VARIANT = Variant("my linear Q-learning", "linear control", LinearQ, (Contamination,), ("semi-gradient",))
