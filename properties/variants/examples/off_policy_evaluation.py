"""Robust TDC from transitions of another policy: importance ratios, and a ball of its own for each vector."""

import numpy as np

from robust_core import Contamination, Variant


class OffPolicyTDC:
    def __init__(self, problem):
        self.problem, self.t = problem, 0
        self.theta, self.omega = (np.array(part) for part in problem.initial)

    def ratio(self, step):
        return self.problem.policy[step.s, step.a] / self.problem.behaviour[step.s, step.a]

    def update(self, step):
        p, R, phi = self.problem, self.problem.uncertainty_set.radius, self.problem.features
        V, phi_next = phi @ self.theta, phi[step.s_next] * (not step.terminal)
        delta = step.cost + p.gamma * ((1 - R) * phi_next @ self.theta + R * p.smoothing.value(V)) - V[step.s]
        gradient = p.gamma * ((1 - R) * phi_next + R * p.smoothing.gradient(V) @ phi)
        tracked = phi[step.s] @ self.omega
        alpha, beta = p.step_size.at(self.t), p.second_step_size.at(self.t)
        theta = self.theta + alpha * self.ratio(step) * (delta * phi[step.s] - tracked * gradient)
        omega = self.omega + beta * (self.ratio(step) * delta - tracked) * phi[step.s]
        self.theta, self.omega = projected(theta, p.projection), projected(omega, p.second_projection)
        self.t += 1

    def estimate(self):
        return self.theta.copy(), self.omega.copy()


def projected(x, K):
    norm = np.linalg.norm(x)
    return x if norm <= K else x * (K / norm)


VARIANT = Variant(
    "my off-policy TDC",
    "off-policy evaluation",
    OffPolicyTDC,
    (Contamination,),
    ("mean update", "fixed point", "projected onto two balls"),
)
