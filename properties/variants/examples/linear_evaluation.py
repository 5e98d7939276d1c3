"""Robust TDC (Algorithm 2) with linear features: the estimate is the pair (theta, omega)."""

import numpy as np

from robust_core import Contamination, Variant


class TDCLearner:
    def __init__(self, problem):
        self.problem, self.theta, self.t = problem, problem.initial.copy(), 0
        self.omega = np.zeros_like(self.theta)

    def update(self, step):
        p, R, phi = self.problem, self.problem.uncertainty_set.radius, self.problem.features
        V, phi_next = phi @ self.theta, phi[step.s_next] * (not step.terminal)
        delta = step.cost + p.gamma * ((1 - R) * phi_next @ self.theta + R * p.smoothing.value(V)) - V[step.s]
        gradient = p.gamma * ((1 - R) * phi_next + R * p.smoothing.gradient(V) @ phi)
        tracked = phi[step.s] @ self.omega
        alpha, beta = p.step_size.at(self.t), p.second_step_size.at(self.t)
        self.theta = self.projected(self.theta + alpha * (delta * phi[step.s] - tracked * gradient))
        self.omega = self.projected(self.omega + beta * (delta - tracked) * phi[step.s])
        self.t += 1

    def projected(self, x):
        norm = np.linalg.norm(x)
        return x if norm <= self.problem.projection else x * (self.problem.projection / norm)

    def estimate(self):
        return self.theta.copy(), self.omega.copy()


VARIANT = Variant("my TDC", "linear evaluation", TDCLearner, (Contamination,), ("TDC", "projected", "scale"))
