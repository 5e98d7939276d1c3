"""Planted problems of linear evaluation: the zero of J is known, so nothing has to be solved for.

cost = V − gamma(1−R)PV − gamma R smax(V), for a V = Phi theta* in the span of the features, makes V the fixed point of
the smoothed operator, so J(theta*) = 0.
"""

import numpy as np

from oracles.linear.msprbe import MSPRBE
from robust_core.learners.schedules import StepSize
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.problem import Problem
from robust_core.sampler import alias_table
from robust_core.sets import Contamination
from robust_core.smoothing import Mellowmax, Smoothing
from robust_core.trajectory import Walk
from robust_core.validate import Floats


def on_grid(x: Floats, grid: float) -> Floats:
    """The nearest multiples of `grid`, a power of two.

    >>> on_grid(np.array([0.3, 0.4]), 0.25)
    array([0.25, 0.5 ])
    """
    return np.rint(x / grid) * grid


class PlantedProblem:
    """A model with planted costs, two features, the zero theta* of J, and J itself, under the uniform policy.

    With `grids` the features and the costs are rounded to grids far coarser than the last bits of cosines, exponentials
    and sums: a learner is then told the same numbers on every machine, and theta* is the zero of J up to that grid.

    The oracle smooths by LSE. Mellow-max differs from it by the constant log(S)/varrho, so mellow-max with cost c is
    LSE with c − gamma R log(S)/varrho: the oracle is given that cost.
    """

    def __init__(
        self,
        model: MDP,
        radius: float,
        smoothing: Smoothing,
        *,
        projection: float,
        grids: tuple[float, float] | None = None,
    ) -> None:
        self.radius, self.smoothing, self.projection = radius, smoothing, projection
        S, gamma = model.n_states, model.gamma
        angle = np.pi * np.arange(S) / S
        features = np.stack((np.cos(angle), np.sin(angle)), axis=1)
        self.features: Floats = features if grids is None else on_grid(features, grids[0])
        self.theta_star, self.theta_0 = np.array([1.0, -0.5]), np.array([-1.0, 1.0])
        V = self.features @ self.theta_star
        cost = V[:, None] - gamma * (1.0 - radius) * model.P @ V - gamma * radius * smoothing.value(V)
        cost = cost if grids is None else on_grid(cost, grids[1])
        self.mdp = MDP(model.kernel, cost, gamma)
        self.policy = uniform(S, model.n_actions)
        self.table = alias_table(self.mdp, self.policy)
        varrho = smoothing.varrho
        self.shift = float(np.log(S) / varrho) if isinstance(smoothing, Mellowmax) else 0.0
        by_lse = MDP(model.kernel, cost - gamma * radius * self.shift, gamma)
        self.oracle = MSPRBE(by_lse, self.policy, self.features, radius=radius, varrho=varrho)

    def problem(self, step_size: StepSize, second_step_size: StepSize, *, initial: Floats | None = None) -> Problem:
        """What a learner is told, by default started at theta_0, away from theta*."""
        return Problem.of(
            self.mdp,
            Contamination(self.radius),
            step_size=step_size,
            second_step_size=second_step_size,
            initial=self.theta_0 if initial is None else initial,
            policy=self.policy,
            features=self.features,
            smoothing=self.smoothing,
            projection=self.projection,
        )

    def walk(self, seed: bytes) -> Walk:
        """A trajectory under the policy."""
        return Walk(self.mdp, self.policy, seed=seed, table=self.table)
