"""Local adversary (a Wasserstein ball of order ∞): the mass of every next state moves within its neighbourhood.

Each state sends its mass to the best state within reach: sigma(v) = Σ_i p_i max {v_j : d_ij <= r}. It is affine in p.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from robust_core.mdp import MDP
from robust_core.sets.base import RowSolver
from robust_core.sets.metrics import MetricBall
from robust_core.sets.rows import weights
from robust_core.validate import Floats, Ints


@dataclass(frozen=True)
class LocalAdversary(MetricBall):
    """Local adversary: the distributions of s'', where s' ~ p and nature moves s' to any state s'' with
    metric[s', s''] <= r, possibly at random."""

    kind: ClassVar[str] = "local_adversary"

    def best_in_reach(self, v: Floats) -> Floats:
        """The largest value within reach of each state."""
        return np.where(self.metric <= self.radius, v, -np.inf).max(axis=-1)

    def row_support(self, rows: Floats, v: Floats) -> Floats:
        """Σ_i p_i max {v_j : d_ij <= r}."""
        best = self.best_in_reach(v)
        return best.max() + weights(rows) @ (best - best.max())

    def row_worst_case(self, rows: Floats, v: Floats) -> Floats:
        """Every state sends its mass to the best state within reach."""
        target = np.where(self.metric <= self.radius, v, -np.inf).argmax(axis=-1)
        return weights(rows) @ np.eye(len(v))[target]

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds: a product, after one pass over the metric."""
        from robust_core.kernels.affine_rows import AffineSolver

        if self.pairs:
            raise ValueError(
                f"radius of {type(self).__name__} must be one number for planning, which finds the states within reach "
                f"once for all rows, got shape {np.shape(self.radius)}; iterate bellman(mdp, uncertainty_set, Q)"
            )
        return AffineSolver(mdp, near=self.near)

    @cached_property
    def near(self) -> tuple[Ints, Ints]:
        """Offsets and the states within reach of each state: they serve every v."""
        source, states = np.nonzero(self.metric <= self.radius)
        return np.searchsorted(source, np.arange(len(self.metric) + 1)), states

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel: a product, after one pass over the metric."""
        if self.pairs:
            return self.by_pairs(mdp.P, v)
        best = self.best_in_reach(v)
        return best.max() + mdp.expectation(best - best.max())
