"""Small problems of linear evaluation whose stationary point is known and shows every part of an algorithm.

∇J = 2 M omega, so J > 0 at a stationary point only where omega is in the kernel of M(theta). A planted problem, with
J = 0 and omega = 0 there, cannot tell a learner that never moves omega from a right one. At R = 0 M is constant; with
the smoothed maximum it is not. With one feature M(theta*) = 0 where

    g(theta*) = (C − gamma(1−R) E[phi phi']) / (gamma R E[phi]),     g between min phi and max phi,

and as b = E[delta phi] is strictly convex with a positive minimum here, theta* is the only stationary point:
semi-gradient TD (omega = 0 for ever) diverges to the ball. theta* depends on chain, features, gamma, R and varrho,
omega* = b/C on the costs and on constants in the smooth maximum too: both are compared.

Costs and K times 2^k with varrho times 2^−k scale theta* and omega* by 2^k, to the bit: a run takes k from its seed, so
no constant is the answer of all runs.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from oracles.linear.msprbe import MSPRBE
from robust_core import Contamination, LogSumExp, Mellowmax, polynomial
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.problem import Problem
from robust_core.sampler import AliasTable, alias_table
from robust_core.trajectory import Walk
from robust_core.validate import Floats

GAMMA, RADIUS = 15.0 / 16.0, 0.75
NEWTON_STEPS = 40
"""Far more than the quadratic convergence from `near` needs."""
POWER = 0.75
"""Both step sizes fall like t^−POWER."""


@dataclass(frozen=True, eq=False)
class StationaryProblem:
    """One action, a chain, features, costs, and a point `near` the stationary one.

    Where the ball is `active` the free stationary point lies outside, and the limit is the point of the ball next to
    it: with one feature K or −K.
    """

    name: str
    chain: Floats
    features: Floats
    cost: Floats
    varrho: float
    projection: float
    near: Floats
    step: float
    rate: float
    active: bool = False
    mellowmax: bool = False

    @cached_property
    def oracle(self) -> MSPRBE:
        """J, ∇J and omega with certified errors."""
        mdp = MDP(self.chain[:, None, :], self.cost[:, None], GAMMA)
        return MSPRBE(mdp, self.policy, self.features, radius=RADIUS, varrho=self.varrho)

    @cached_property
    def limit(self) -> Floats:
        """(theta*, omega(theta*)), one after the other."""
        theta = self.projection * np.sign(self.near) if self.active else self._stationary()
        return np.concatenate((theta, self.oracle.omega(theta).value))

    def _stationary(self) -> Floats:
        theta = self.near
        for _ in range(NEWTON_STEPS):
            theta = theta - np.linalg.solve(self.oracle.hessian(theta).value, self.oracle.gradient(theta).value)
        return theta

    @cached_property
    def policy(self) -> Floats:
        """The only one."""
        return uniform(len(self.chain), 1)

    @cached_property
    def mdp(self) -> MDP:
        """The model that is walked. Mellow-max is LSE less log(S)/varrho: its costs are higher by gamma R of that."""
        shift = GAMMA * RADIUS * np.log(len(self.chain)) / self.varrho if self.mellowmax else 0.0
        return MDP(self.chain[:, None, :], (self.cost + shift)[:, None], GAMMA)

    @cached_property
    def table(self) -> AliasTable:
        """The alias table of the walk, built once."""
        return alias_table(self.mdp, self.policy)

    @cached_property
    def problem(self) -> Problem:
        """What a learner is told; it starts at theta = 0."""
        alpha, beta = (polynomial(scale, rate=self.rate, power=POWER) for scale in (self.step, 1.0))
        return Problem.of(
            self.mdp,
            Contamination(RADIUS),
            step_size=alpha,
            second_step_size=beta,
            policy=self.policy,
            features=self.features,
            smoothing=(Mellowmax if self.mellowmax else LogSumExp)(self.varrho),
            projection=self.projection,
        )

    def walk(self, seed: bytes) -> Walk:
        """A trajectory."""
        return Walk(self.mdp, self.policy, seed=seed, table=self.table)

    def rescale(self, k: int) -> "StationaryProblem":
        """The problem whose answer is 2^k times as large."""
        factor = 2.0**k
        return replace(
            self,
            cost=factor * self.cost,
            varrho=self.varrho / factor,
            projection=factor * self.projection,
            near=factor * self.near,
        )


_CYCLE = np.roll(np.eye(3), 1, axis=1)
_ONE_FEATURE = np.array([[0.375], [1.0], [0.5]])
CYCLE = StationaryProblem(
    "cycle", _CYCLE, _ONE_FEATURE, np.array([1.0, 1.25, 1.5]),
    varrho=4.0, projection=4.0, near=np.array([0.8]), step=0.25, rate=1.0 / 64.0,
)  # fmt: skip
"""A deterministic walk: a run is a number."""
EDGE = StationaryProblem(
    "edge of the ball", _CYCLE, _ONE_FEATURE, np.array([0.25, 0.0, 0.0]),
    varrho=1.0, projection=1.0, near=np.array([1.0]), step=0.25, rate=1.0 / 64.0, active=True,
)  # fmt: skip
"""The free stationary point is at 3.28, the ball ends at 1."""
TWO_FEATURES = StationaryProblem(
    "two features", _CYCLE, np.array([[-0.875, 0.875], [-0.125, 0.875], [-0.75, -0.125]]), np.array([1.625, 2.0, 1.0]),
    varrho=4.0, projection=4.0, near=np.array([-0.5, 0.5]), step=0.25, rate=1.0 / 64.0,
)  # fmt: skip
"""One feature cannot show components that are mixed up."""
NOISY = StationaryProblem(
    "noisy", np.array([[0.75, 0.25], [0.375, 0.625]]), np.array([[0.375], [1.0]]), np.array([1.75, 1.5]),
    varrho=4.0, projection=4.0, near=np.array([0.55]), step=0.5, rate=1.0 / 16.0,
)  # fmt: skip
"""A random walk: what noise does to a learner shows nowhere else."""
