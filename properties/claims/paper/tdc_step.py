"""One step of Algorithm 2 in ball arithmetic, projection included, and what Appendix D says of it: z, G, H, omega."""

from dataclasses import dataclass
from functools import cached_property

from oracles.arithmetic.ball import Ball
from properties.cases.case import Case
from properties.claims.paper.linear import Linear, dot, norm, number, problem_of, project, remember_last, upper
from robust_core.validate import Floats


@dataclass(frozen=True, eq=False)
class Step:
    """One step of Algorithm 2 from (theta, omega) on a transition, in balls."""

    problem: Linear
    K: float
    start: tuple[Floats, Floats]
    transition: int
    alpha: float
    beta: float

    @cached_property
    def theta(self) -> Ball:
        """theta_t."""
        return Ball.exact(self.start[0])

    @cached_property
    def omega(self) -> Ball:
        """omega_t."""
        return Ball.exact(self.start[1])

    @cached_property
    def phi(self) -> Ball:
        """phi_t."""
        return self.problem.phi[self.transition]

    @cached_property
    def G(self) -> Ball:
        """G_t(theta_t, omega_t)."""
        return self.problem.G(self.theta, self.omega)[self.transition]

    @cached_property
    def H(self) -> Ball:
        """H_t(theta_t, omega_t)."""
        return self.problem.H(self.theta, self.omega)[self.transition]

    @cached_property
    def _theta_next(self) -> tuple[Ball, bool | None]:
        return project(self.theta + number(self.alpha) * self.G, self.K)

    @cached_property
    def _omega_next(self) -> tuple[Ball, bool | None]:
        return project(self.omega + number(self.beta) * self.H, self.K)

    @property
    def theta_next(self) -> Ball:
        """theta_{t+1}."""
        return self._theta_next[0]

    @property
    def theta_free(self) -> bool:
        """Whether the projection of theta is certainly inactive."""
        return self._theta_next[1] is False

    @property
    def omega_free(self) -> bool:
        """Whether the projection of omega is certainly inactive."""
        return self._omega_next[1] is False

    @cached_property
    def target(self) -> Ball:
        """omega(theta_t)."""
        return self.problem.omega(self.theta)

    @cached_property
    def target_next(self) -> Ball:
        """omega(theta_{t+1})."""
        return self.problem.omega(self.theta_next)

    @property
    def tracked(self) -> bool:
        """Whether bounds on z survive the projection: inactive, or omega(theta_{t+1}) certainly in the ball."""
        return self.omega_free or upper(norm(self.target_next)) <= self.K

    @cached_property
    def z(self) -> Ball:
        """z_t."""
        return self.omega - self.target

    @cached_property
    def z_next(self) -> Ball:
        """z_{t+1}."""
        return self._omega_next[0] - self.target_next

    @cached_property
    def error(self) -> Ball:
        """delta_t phi_t − phi_t phi_tᵀ omega(theta_t)."""
        delta = self.problem.delta(self.theta)[self.transition]
        return (delta - dot(self.phi, self.target)) * self.phi

    @cached_property
    def displayed(self) -> Ball:
        """The last line of the recursion: the right side for z_{t+1}."""
        beta = number(self.beta)
        shrunk = self.z - beta * dot(self.phi, self.z) * self.phi
        return shrunk + beta * self.error + (self.target - self.target_next)


@remember_last
def step_of(case: Case) -> Step:
    """The step of a case."""
    problem = problem_of(case)
    transition = problem.index(case["s"], case["a"], case["s_next"])
    return Step(problem, case["K"], (case["theta"], case["omega"]), transition, case["alpha"], case["beta"])
