"""Robust Q-learning with a simulator and a plug-in: sigma of the set around the empirical row of two draws.

For sets that are not affine in the row the plug-in is biased, always from below, for sigma is concave in the row. It
promises its own operator, the mean of the backups around empirical rows, and the law checks that bias exactly.
"""

from typing import Any

import numpy as np

from robust_core import ChiSquare, KullbackLeibler, Problem, TotalVariation, Variant, sigma
from robust_core.validate import Floats

SAMPLES = 2


class PlugInQ:
    """Every entry moves to the backup around its empirical row."""

    def __init__(self, problem: Problem, simulator: Any) -> None:
        self.problem, self.simulator = problem, simulator
        self.Q, self.count = np.array(problem.initial), 0

    def iterate(self) -> None:
        """Every entry once, at the table before."""
        V, alpha = self.Q.min(axis=1), self.problem.step_size.at(self.count)
        for s, a in np.ndindex(*self.Q.shape):
            row = np.bincount(self.simulator.draw(s, a, SAMPLES), minlength=V.size) / SAMPLES
            worst = float(sigma(self.problem.uncertainty_set, row, V))
            self.Q[s, a] += alpha * (self.simulator.cost(s, a) + self.problem.gamma * worst - self.Q[s, a])
        self.count += 1

    def estimate(self) -> Floats:
        """A copy of the table."""
        return self.Q.copy()


VARIANT = Variant(
    "plug-in robust Q-learning",
    "simulator",
    PlugInQ,
    (TotalVariation, KullbackLeibler, ChiSquare),
    ("mean iteration", "expected draws"),
    {"samples": SAMPLES, "draws": SAMPLES},
)
