"""Robust planning for every (s,a)-rectangular set: V* or V^pi between certified bounds, a policy, the worst kernel.

One mechanism for all sets: modified policy iteration (`robust_core.iteration`) on the rows of nature that a set gives,
and one certified backup at its end. A set supplies a `RowSolver` (`UncertaintySet.row_solver`): about sigma of all
rows, the worst rows of some pairs, and bounds on sigma. Only these bounds enter the result: with lower <= sigma <=
upper,

    min over a of c(s,a) + gamma lower(s,a)  <=  (Tv)(s)  <=  c(s,pi(s)) + gamma upper(s,pi(s)),

each side rounded outwards, in MacQueen's inequality. The upper bound holds for the policy too: T_pi v is below it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.iteration import Counts, Point, bounds, iterate
from robust_core.mdp import MDP, SparseRows
from robust_core.sets.base import RowSolver, UncertaintySet
from robust_core.validate import EPS, Floats, Ints

DIRECT = 256
"""States up to which a chain is solved by elimination, which takes less time than some tens of sweeps."""
DENSE = 0.25
"""The share of a matrix from which a chain is stored as one."""
ATTEMPTS, FINER = 8, 0.5
"""Where the certificate is wider than the iteration believed, another attempt has so much of the goal."""


class Chain(Protocol):
    """The Markov chain of a policy and rows of nature."""

    def sweep(self, gamma: float, v: Floats, most: int, goal: float) -> int:
        """Sweeps v in place until the span of a change is at most the goal; how many there were."""


@dataclass(frozen=True)
class Matrix:
    """A chain as a matrix with its costs."""

    kernel: Floats
    costs: Floats

    def sweep(self, gamma: float, v: Floats, most: int, goal: float) -> int:
        """Sweeps with a shift by the middle of the change; the solution of the chain itself if it is small."""
        if len(v) <= DIRECT:
            v[:] = np.linalg.solve(np.eye(len(v)) - gamma * self.kernel, self.costs)
            return 1
        for number in range(most):
            image = self.costs + gamma * (self.kernel @ v)
            change = image - v
            low, high = float(change.min()), float(change.max())
            v[:] = image + gamma / (1.0 - gamma) * 0.5 * (low + high)
            if high - low <= goal:
                return number + 1
        return most


@dataclass(frozen=True)
class Backup:
    """Tv (S,) in floats, and the chain of policy and rows of nature."""

    values: Floats
    chain: Chain


@dataclass(frozen=True, eq=False)
class Plan:
    """lower <= V <= upper of the best policy, or of the given one, and how they were found.

    The robust value of `policy` (S, A) is at most `upper`.
    """

    lower: Floats
    upper: Floats
    policy: Floats
    counts: Counts
    v: Floats
    """The point of the last backup: `worst_kernel` is nature's answer to it."""
    solver: RowSolver
    shape: tuple[int, int]

    @property
    def width(self) -> float:
        """The largest distance of the bounds."""
        return float((self.upper - self.lower).max())

    @property
    def values(self) -> Floats:
        """The middle of the bounds."""
        return self.lower + (self.upper - self.lower) / 2.0

    def worst_kernel(self) -> SparseRows:
        """The rows of nature of all pairs at the last backup, up to rounding members of their sets.

        >>> from robust_core.sets import TotalVariation
        >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
        >>> worst = plan(mdp, TotalVariation(0.25)).worst_kernel()
        >>> worst.successors, worst.probabilities
        (array([0, 1, 0, 1]), array([0.75, 0.25, 0.25, 0.75]))
        """
        S, A = self.shape
        rows = self.solver.rows(self.v, np.arange(S * A))
        filled = int(rows.ends[-1])
        row = np.repeat(np.arange(S * A), np.diff(rows.ends, prepend=0))
        key, where = np.unique(row * S + rows.places[:filled], return_inverse=True)
        offsets = np.searchsorted(key, np.arange(S * A + 1) * S)
        return SparseRows(offsets, key % S, _sums(where, rows.shares[:filled], len(key)))


def plan(mdp: MDP, uncertainty_set: UncertaintySet, *, accuracy: float = 1e-6) -> Plan:
    """V* between bounds that are at most `accuracy` from their middle, if rounding allows it.

    >>> from robust_core.sets import ChiSquare
    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    >>> found = plan(mdp, ChiSquare(0.25))
    >>> abs(found.values.round(6)), bool(found.width <= 2e-6)
    (array([1.6, 0. ]), True)
    """
    return _planned(mdp, uncertainty_set, None, accuracy)


def evaluate(mdp: MDP, uncertainty_set: UncertaintySet, policy: ArrayLike, *, accuracy: float = 1e-6) -> Plan:
    """V^pi, the worst case over the set for a policy pi[s, a], between bounds as those of `plan`."""
    validate.instance("mdp", mdp, MDP)
    return _planned(mdp, uncertainty_set, validate.policy(policy, mdp.n_states, mdp.n_actions), accuracy)


def _planned(mdp: MDP, uncertainty_set: UncertaintySet, policy: Floats | None, accuracy: float) -> Plan:
    validate.instance("mdp", mdp, MDP)
    validate.instance("uncertainty_set", uncertainty_set, UncertaintySet)
    goal = validate.positive("accuracy", accuracy)
    uncertainty_set.require_fit(mdp.n_states, mdp.cost.shape)
    solver = uncertainty_set.row_solver(mdp)
    start, aim = np.zeros(mdp.n_states), 0.5 * goal
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(ATTEMPTS):
            point, counts = iterate(_backup(mdp, uncertainty_set, solver, policy), mdp.gamma, start, aim)
            found = _certified(mdp, solver, policy, point, counts)
            if found.width <= 2.0 * goal or point.half > aim:
                break
            start, aim = point.v, FINER * aim
    if not np.isfinite(found.width):
        raise OverflowError("the values leave the range of float64: rescale the cost")
    return found


def _backup(
    mdp: MDP, uncertainty_set: UncertaintySet, solver: RowSolver, policy: Floats | None
) -> Callable[[Floats], Backup]:
    """Backups in floats with the chains of their policies."""
    S, A = mdp.cost.shape
    taken = np.empty(0, dtype=np.int64) if policy is None else np.flatnonzero(policy)

    def backup(v: Floats) -> Backup:
        sigma = solver.support(v)
        Q = mdp.cost + mdp.gamma * (uncertainty_set.kernel_support(mdp, v) if sigma is None else sigma.reshape(S, A))
        if policy is None:
            actions = Q.argmin(axis=1)
            pairs, weights = np.arange(S) * A + actions, np.ones(S)
            values: Floats = np.take_along_axis(Q, actions[:, None], axis=1)[:, 0]
        else:
            pairs, weights = taken, policy.reshape(-1)[taken]
            values = (policy * Q).sum(axis=1)
        return Backup(values, _chain(mdp, solver, v, pairs, weights))

    return backup


def _chain(mdp: MDP, solver: RowSolver, v: Floats, pairs: Ints, weights: Floats) -> Chain:
    """The chain of some pairs, several of a state with their weights, under nature's answer to v."""
    from robust_core.kernels.s_rectangular import Chain as SparseChain

    S, A = mdp.cost.shape
    rows, states = solver.rows(v, pairs), pairs // A
    costs = _sums(states, weights * mdp.cost.reshape(-1)[pairs], S)
    filled = int(rows.ends[-1])
    places, shares = rows.places[:filled], rows.shares[:filled]
    if len(pairs) != S or filled > DENSE * S * S:
        lengths = np.diff(rows.ends, prepend=0)
        shares = shares * np.repeat(weights, lengths)
        if filled > DENSE * S * S:
            at = np.repeat(states, lengths) * S + places
            return Matrix(_sums(at, shares, S * S).reshape(S, S), costs)
    ends = rows.ends[np.searchsorted(states, np.arange(S), side="right") - 1]
    return SparseChain(ends, places, shares, costs)


def _sums(places: Ints, weights: Floats, size: int) -> Floats:
    """The sum of the weights at each place."""
    return np.asarray(np.bincount(places, weights=weights, minlength=size), dtype=np.float64)


def _certified(mdp: MDP, solver: RowSolver, policy: Floats | None, point: Point, counts: Counts) -> Plan:
    """Bounds from one backup at the centred point; the policy is greedy there, or the given one.

    c + gamma sigma is rounded twice, an average over A actions (4A+8) times, each by EPS of its size and by
    underflow at most; what cancels in c + gamma sigma is covered by the bounds of the iteration.
    """
    S, A = mdp.cost.shape
    v = point.v - 0.5 * (point.v.max() + point.v.min())
    low, high = (mdp.cost + mdp.gamma * side.reshape(S, A) for side in solver.bounds(v))
    slack = (4.0 * A + 8.0) * EPS * float(np.maximum(np.abs(low), np.abs(high)).max()) + 2.0**-1022
    if policy is None:
        actions = high.argmin(axis=1)
        pi = np.zeros((S, A))
        pi[np.arange(S), actions] = 1.0
        below, above = low.min(axis=1), high[np.arange(S), actions]
    else:
        pi, below, above = policy, (policy * low).sum(axis=1), (policy * high).sum(axis=1)
    lower, upper = bounds(mdp.gamma, v, below - slack, above + slack)
    return Plan(lower, upper, pi, Counts(counts.backups + 1, counts.sweeps, counts.falls), v, solver, (S, A))
