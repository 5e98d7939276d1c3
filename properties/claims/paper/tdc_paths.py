"""All paths of robust TDC from one start, enumerated: expectations of the real implementation without sampling.

On chains of two or three states a few steps can be followed path by path; what Appendix D bounds in expectation is
then known up to the rounding of the balls.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from oracles.arithmetic.ball import UNIT, Ball
from oracles.chains.mixing import geometric_ergodicity
from properties.cases.case import Case
from properties.claims.paper.linear import Linear, dot, learner, number, problem_of, remember_last
from properties.claims.paper.tdc_drift import h_vectors, noise
from robust_core.trajectory import Transition
from robust_core.validate import Floats


def ergodicity(problem: Linear, m: float, rho: float) -> tuple[float, float]:
    """A valid pair (m, rho) for Assumption 5 with the given rate and multiplier, or the next larger ones.

    Two states: d(t) = max(mu)·e^t exactly, e = |1 − p_01 − p_10|, so m = max(mu)·e/rho serves every t >= 1 if rho >= e.
    """
    chain = problem.oracle.chain
    if chain.size == 1:
        return m, rho
    if chain.size > 2:
        pair = geometric_ergodicity(chain)
        return max(m, pair.m), max(rho, pair.rho)
    e = abs(1.0 - chain.kernel[0, 1] - chain.kernel[1, 0])
    rate = rho if rho >= e else (1.0 + e) / 2
    return max(m, float(problem.oracle.mu.max()) * e / rate * (1.0 + 64 * UNIT)), rate


@dataclass(frozen=True, eq=False)
class Node:
    """A state of the chain and the iterates after some path, with the probability of the path."""

    probability: float
    s: int
    theta: Floats
    omega: Floats
    free: bool


@dataclass(frozen=True, eq=False)
class Tree:
    """All paths of the implementation from one start; probabilities are products of a few dyadic numbers."""

    problem: Linear
    K: float
    alpha: float
    beta: float
    start: Node

    @cached_property
    def _levels(self) -> list[list[Node]]:
        return [[self.start]]

    def level(self, t: int) -> list[Node]:
        """The nodes at time t."""
        while len(self._levels) <= t:
            self._levels.append([child for node in self._levels[-1] for child in self._children(node)])
        return self._levels[t]

    def _children(self, node: Node) -> Iterable[Node]:
        mdp, policy = self.problem.mdp, self.problem.policy
        for a, s_next in np.ndindex(mdp.n_actions, mdp.n_states):
            robust = learner(
                mdp, self.problem.features, self.problem.radius, self.problem.varrho, self.K, node.theta, self.alpha,
                self.beta,
            )  # fmt: skip
            robust.theta, robust.omega = node.theta, node.omega
            robust.update(Transition(node.s, a, float(mdp.cost[node.s, a]), s_next, 0, False))
            theta, omega = robust.estimate()
            p = float(policy[node.s, a] * mdp.P[node.s, a, s_next])
            inside = max(math.hypot(*theta), math.hypot(*omega)) < self.K * (1.0 - 64 * UNIT)
            yield Node(node.probability * p, s_next, theta, omega, node.free and inside)

    def free(self, t: int) -> bool:
        """Whether no projection was active up to time t, on any path."""
        return all(node.free for node in self.level(t))

    def expected(self, value: Callable[[Ball, Ball], Ball], t: int) -> Ball:
        """E[value(theta_t, z_t)(s_t, a_t, s_{t+1})], value given for every transition."""
        total = number(0.0)
        S, A = self.problem.mdp.n_states, self.problem.mdp.n_actions
        for node in self.level(t):
            theta = Ball.exact(node.theta)
            every = value(theta, Ball.exact(node.omega) - self.problem.omega(theta))
            first = self.problem.index(node.s, 0, 0)
            weights = (self.problem.policy[node.s][:, None] * self.problem.mdp.P[node.s]).ravel()
            total = total + number(node.probability) * dot(Ball.exact(weights), every[first : first + A * S])
        return total

    def drift(self, t: int) -> Ball:
        """E⟨z_t, omega(theta_t) − omega(theta_{t+1})⟩."""
        total = number(0.0)
        for node in self.level(t):
            theta = Ball.exact(node.theta)
            target = self.problem.omega(theta)
            for child in self._children(node):
                moved = target - self.problem.omega(Ball.exact(child.theta))
                total = total + number(child.probability) * dot(Ball.exact(node.omega) - target, moved)
        return total

    # The functions of the lemmas, for every transition.

    def f(self, theta: Ball, z: Ball) -> Ball:
        """⟨z, (C − phi phiᵀ)z⟩."""
        del theta
        along = self.problem.phi @ z
        return dot(z, self.problem.C @ z) - along * along

    def g(self, theta: Ball, z: Ball) -> Ball:
        """⟨z, delta phi − phi phiᵀomega(theta)⟩."""
        p = self.problem
        return (p.delta(theta) - p.phi @ p.omega(theta)) * (p.phi @ z)

    def h(self, theta: Ball, z: Ball) -> Ball:
        """⟨z, −∇omega(G + ½∇J)⟩."""
        return h_vectors(self.problem, theta) @ z

    def zeta(self, theta: Ball, z: Ball) -> Ball:
        """⟨∇J, ½∇J + G⟩."""
        del z
        return noise(self.problem, theta) @ self.problem.gradient(theta)

    def square(self, theta: Ball, z: Ball) -> Ball:
        """‖z‖²."""
        del theta
        return dot(z, z) + number(0.0) * self.problem.weights

    def steepness(self, theta: Ball, z: Ball) -> Ball:
        """‖∇J‖²."""
        del z
        slope = self.problem.gradient(theta)
        return dot(slope, slope) + number(0.0) * self.problem.weights


@remember_last
def tree_of(case: Case) -> Tree:
    """The tree of a case."""
    start = Node(1.0, case["s"], case["theta"], case["omega"], True)
    return Tree(problem_of(case), case["K"], case["alpha"], case["beta"], start)
