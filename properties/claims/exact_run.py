"""Robust Q-learning (Algorithm 1) on one path in exact rationals, and the quantities of Appendix B along it.

Pairs are numbered s·A + a. Matrices follow the appendix: Lambda_i is diagonal and kept as its diagonal, P_i has a
single 1 at (visited pair, next state), and both belong to the transition O_{i−1} (i = 1 … t).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.planning import rational
from properties.cases.case import Case
from properties.strategies import mdps, policies, q_tables, radii, trajectories
from robust_core.mdp import MDP
from robust_core.sets import Contamination
from robust_core.validate import Floats, Ints

Objects = np.ndarray  # of fractions

STEP_SIZES = (0.5, 1.0, 0.25, 0.75, 0.0625, 0.0)
"""Constant steps, all dyadic; alpha = 0 must change nothing and alpha = 1 must forget the old entry."""


@st.composite
def runs(
    draw: st.DrawFn,
    *,
    min_states: int = 1,
    max_states: int = 3,
    max_actions: int = 2,
    min_length: int = 0,
    max_length: int = 8,
) -> Case:
    """A model, a radius, a first table, a constant step and a path (rows s, a, s') that the model can take."""
    mdp = draw(mdps(min_states=min_states, max_states=max_states, max_actions=max_actions, cost_range=(-1.0, 1.0)))
    everything = draw(policies(mdp, exploring=True))
    path = draw(trajectories(mdp, everything, min_length=min_length, max_length=max_length))
    return {
        "mdp": mdp,
        "radius": draw(radii()),
        "Q": draw(q_tables(mdp)),
        "alpha": draw(st.sampled_from(STEP_SIZES)),
        "path": np.array([(s, a, s_next) for s, a, _, s_next, _, _ in path], dtype=np.int64).reshape(-1, 3),
    }


def norm(x: Objects) -> Fraction:
    """‖x‖∞."""
    return Fraction(np.abs(x).max())


def _exact(values: object) -> Objects:
    return np.vectorize(Fraction, otypes=[object])(np.asarray(values))


@dataclass(frozen=True, eq=False)
class Run:
    """Algorithm 1 with constant step alpha from table Q along a path; t runs over 0 … len(path)."""

    mdp: MDP
    radius: float
    Q: Floats
    alpha: float
    path: Ints

    @cached_property
    def steps(self) -> list[tuple[int, int]]:
        """(visited pair, next state) of O_0, O_1, …"""
        return [(s * self.mdp.n_actions + a, s_next) for s, a, s_next in self.path.reshape(-1, 3).tolist()]

    @cached_property
    def numbers(self) -> tuple[Fraction, Fraction, Fraction]:
        """(gamma, R, alpha)."""
        return Fraction(self.mdp.gamma), Fraction(self.radius), Fraction(self.alpha)

    @cached_property
    def P(self) -> Objects:
        """The kernel matrix (SA, S)."""
        return np.array([row.fractions() for rows in exact.kernel(self.mdp) for row in rows], dtype=object)

    @cached_property
    def cost(self) -> Objects:
        """c as a vector (SA,)."""
        return _exact(self.mdp.cost.ravel())

    @cached_property
    def optimum(self) -> rational.Optimum:
        """Q* and V*."""
        return rational.solve(self.mdp, Contamination(self.radius))

    @cached_property
    def Q_star(self) -> Objects:
        """Q* as a vector (SA,)."""
        return np.array(self.optimum.Q, dtype=object).ravel()

    @cached_property
    def V_star(self) -> Objects:
        """V* (S,)."""
        return np.array(self.optimum.V, dtype=object)

    def V(self, table: Objects) -> Objects:
        """min_a of a table (SA,)."""
        values: Objects = table.reshape(self.mdp.n_states, self.mdp.n_actions).min(axis=1)
        return values

    def step(self, table: Objects, pair: int, s_next: int, alpha: Fraction | None = None) -> Objects:
        """eq:Qupdate at one pair."""
        gamma, R, constant = self.numbers
        a = constant if alpha is None else alpha
        V = self.V(table)
        after = table.copy()
        after[pair] = (1 - a) * table[pair] + a * (self.cost[pair] + gamma * R * V.max() + gamma * (1 - R) * V[s_next])
        return after

    @cached_property
    def tables(self) -> list[Objects]:
        """Q_0, Q_1, … as vectors (SA,)."""
        found = [_exact(self.Q.ravel())]
        for pair, s_next in self.steps:
            found.append(self.step(found[-1], pair, s_next))
        return found

    @cached_property
    def psi(self) -> list[Objects]:
        """psi_t = Q_t − Q*."""
        return [table - self.Q_star for table in self.tables]

    def Lambda(self, i: int) -> Objects:
        """The diagonal of Lambda_i."""
        diagonal = np.full(len(self.cost), Fraction(0), dtype=object)
        diagonal[self.steps[i - 1][0]] = self.numbers[2]
        return diagonal

    def sample(self, i: int) -> Objects:
        """The sample transition matrix P_i: one 1, all other rows zero."""
        matrix = np.full(self.P.shape, Fraction(0), dtype=object)
        matrix[self.steps[i - 1]] = Fraction(1)
        return matrix

    def visits(self, t: int) -> Ints:
        """K_t: how often each pair was visited before time t."""
        return np.bincount([pair for pair, _ in self.steps[:t]], minlength=len(self.cost))

    def decay(self, i: int, t: int) -> Objects:
        """The diagonal of ∏_{j=i+1}^t (I − Lambda_j)."""
        product = np.full(len(self.cost), Fraction(1), dtype=object)
        for pair, _ in self.steps[i:t]:
            product[pair] *= 1 - self.numbers[2]
        return product

    def noise(self, i: int) -> Objects:
        """gamma(1−R)(P_i − P)V* + gamma R max V* (P_i − P)1, before Lambda_i."""
        gamma, R, _ = self.numbers
        change = self.sample(i) - self.P
        return gamma * (1 - R) * change.dot(self.V_star) + gamma * R * self.V_star.max() * change.sum(axis=1)

    def drift(self, i: int) -> Objects:
        """gamma(1−R)P_i(V_{i−1} − V*) + gamma R(max V_{i−1} − max V*)P_i 1, before Lambda_i."""
        gamma, R, _ = self.numbers
        V, sampled = self.V(self.tables[i - 1]), self.sample(i)
        worst = V.max() - self.V_star.max()
        return gamma * (1 - R) * sampled.dot(V - self.V_star) + gamma * R * worst * sampled.sum(axis=1)

    def k_1(self, t: int) -> Objects:
        """k_{1,t} = ∏(I − Lambda_j) psi_0."""
        return self.decay(0, t) * self.psi[0]

    def k_2(self, t: int) -> Objects:
        """k_{2,t} = Σ_i ∏(I − Lambda_j) Lambda_i noise_i."""
        terms = [self.decay(i, t) * self.Lambda(i) * self.noise(i) for i in range(1, t + 1)]
        return sum(terms, 0 * self.cost)

    def k_3(self, t: int) -> Objects:
        """k_{3,t} = Σ_i ∏(I − Lambda_j) Lambda_i drift_i."""
        terms = [self.decay(i, t) * self.Lambda(i) * self.drift(i) for i in range(1, t + 1)]
        return sum(terms, 0 * self.cost)

    def k_3_bound(self, t: int) -> Objects:
        """gamma Σ_i ‖psi_{i−1}‖ ∏(I − Lambda_j) Lambda_i 1."""
        terms = [norm(self.psi[i - 1]) * self.decay(i, t) * self.Lambda(i) for i in range(1, t + 1)]
        return self.numbers[0] * sum(terms, 0 * self.cost)

    @cached_property
    def noise_sizes(self) -> list[Fraction]:
        """‖k_{2,t}‖ for t = 0, 1, …, by its recursion (equal to the sum, claim `unrolled`)."""
        k_2, sizes = 0 * self.cost, [Fraction(0)]
        for i in range(1, len(self.steps) + 1):
            k_2 = k_2 + self.Lambda(i) * (self.noise(i) - k_2)
            sizes.append(norm(k_2))
        return sizes
