"""Robust Q-learning by multilevel Monte Carlo, for total variation, Kullback-Leibler and chi-square balls.

sigma is not affine in the row, so a plug-in of n draws is biased. A random level n, drawn with probability
p_n = psi(1−psi)^n, makes it unbiased: sigma of one draw plus (sigma of 2^(n+1) draws less the mean of its halves)/p_n.
The expected number of draws is 1 + 2psi/(2psi − 1), finite for psi > 1/2. The second moment is finite for psi < 3/4
where sigma is smooth; at a kink of total variation (a partial sum of p is R) it is not, for any psi of finite cost, so
nothing is promised of the variance.
"""

from typing import Any

import numpy as np

from robust_core import ChiSquare, KullbackLeibler, Problem, TotalVariation, UncertaintySet, Variant, sigma
from robust_core.validate import Floats

PSI = 0.625


class MultilevelQ:
    """Every entry moves to an unbiased estimate of its robust backup."""

    psi = PSI

    def __init__(self, problem: Problem, simulator: Any) -> None:
        self.problem, self.simulator = problem, simulator
        self.Q, self.count = np.array(problem.initial), 0

    def level(self) -> int:
        """A level n with probability psi(1−psi)^n."""
        assert self.problem.rng is not None
        return int(self.problem.rng.geometric(self.psi)) - 1

    def plug_in(self, nexts: Any, V: Floats) -> float:
        """sigma around the empirical row."""
        row = np.bincount(nexts, minlength=self.problem.n_states) / len(nexts)
        return float(sigma(self.problem.uncertainty_set, row, V))

    def sigma(self, s: int, a: int, V: Floats) -> float:
        """The estimate of sigma(V) at a pair."""
        level = self.level()
        nexts = self.simulator.draw(s, a, 2 ** (level + 1))
        halves = self.plug_in(nexts[::2], V) + self.plug_in(nexts[1::2], V)
        rise = self.plug_in(nexts, V) - halves / 2.0
        return self.plug_in(self.simulator.draw(s, a, 1), V) + rise / (self.psi * (1.0 - self.psi) ** level)

    def iterate(self) -> None:
        """Every entry once, at the table before."""
        V, alpha = self.Q.min(axis=1), self.problem.step_size.at(self.count)
        for s, a in np.ndindex(*self.Q.shape):
            target = self.simulator.cost(s, a) + self.problem.gamma * self.sigma(s, a, V)
            self.Q[s, a] += alpha * (target - self.Q[s, a])
        self.count += 1

    def estimate(self) -> Floats:
        """A copy of the table."""
        return self.Q.copy()


def _variant(name: str, cls: type[UncertaintySet]) -> Variant:
    options = {"levels": PSI, "draws": 1.0 + 2.0 * PSI / (2.0 * PSI - 1.0)}
    promises = ("multilevel", "expected draws")
    return Variant(f"multilevel Q-learning for {name}", "simulator", MultilevelQ, (cls,), promises, options)


TOTAL_VARIATION = _variant("total variation", TotalVariation)
KL = _variant("Kullback-Leibler", KullbackLeibler)
CHI_SQUARE = _variant("chi-square", ChiSquare)
