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
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.iteration import Counts, Point, bounds, iterate
from robust_core.mdp import MDP, SparseRows
from robust_core.sets.base import RowSolver, UncertaintySet, WorstRows
from robust_core.validate import EPS, Floats, Ints

DENSE = 0.25
"""The share of a matrix from which a chain is stored as one."""
FEW = 2
"""Pairs that are left for each state up to which a backup looks at these alone."""
ATTEMPTS, SHARE, FINER = 8, 0.9, 0.5
"""The first attempt has this share of the goal, the rest is for rounding; where the certificate is wider than the
iteration believed, another one has so much of the last."""


class Chain(Protocol):
    """The Markov chain of a policy and rows of nature."""

    def sweep(self, gamma: float, v: Floats, most: int, goal: float) -> int:
        """Sweeps v in place until the span of a change is at most the goal; how many there were."""


@dataclass(frozen=True)
class Backup:
    """Tv (S,) in floats, and the chain of policy and rows of nature, which is made when it is swept."""

    values: Floats
    made: Callable[[], Chain]

    @property
    def chain(self) -> Chain:
        """The chain, made anew."""
        return self.made()


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
    if uncertainty_set.by_state:
        raise TypeError(f"uncertainty_set must be (s,a)-rectangular, got {uncertainty_set!r:.80}; use plan_states")
    goal = validate.positive("accuracy", accuracy)
    uncertainty_set.require_fit(mdp.n_states, mdp.cost.shape)
    solver = uncertainty_set.row_solver(mdp)
    # T0, which is the same for every set: of a constant nature has no rows to choose.
    start = mdp.cost.min(axis=1) if policy is None else (policy * mdp.cost).sum(axis=1)
    backup, aim = Backups(mdp, solver, policy), SHARE * goal
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(ATTEMPTS):
            point, counts = iterate(backup, mdp.gamma, start, aim)
            found = _certified(mdp, solver, policy, point, counts)
            if found.width <= 2.0 * goal or point.half > aim:
                break
            start, aim = point.v, FINER * aim
    return found


@dataclass
class Backups:
    """Backups in floats with the chains of their policies.

    From one backup of all pairs to the next values v the sigma of every pair moves by what v moves: by at least the
    minimum of the difference and at most its maximum (monotone, and sigma(v+k) = sigma(v) + k). A pair whose Q is above
    the least of its state by more than gamma times the span of the difference is not the best at v. If few pairs are
    left on a sparse model, their rows give sigma and the chain at once.
    """

    mdp: MDP
    solver: RowSolver
    policy: Floats | None
    last: tuple[Floats, Floats] | None = None
    """The values and the gaps Q − min Q (S, A) of the last backup of all pairs."""

    def __call__(self, v: Floats) -> Backup:
        """The backup at v."""
        S, A = self.mdp.cost.shape
        if self.policy is not None:
            pairs = np.flatnonzero(self.policy)
            rows, weights = self.solver.rows(v, pairs), self.policy.reshape(-1)[pairs]
            values = _sums(pairs // A, weights * self._q(rows, pairs), S)
            return Backup(values, partial(_chain, self.mdp, rows, pairs, weights))
        if len(pairs := self._left(v)) <= FEW * S:
            rows = self.solver.rows(v, pairs)
            Q, first = self._q(rows, pairs), np.searchsorted(pairs, np.arange(S) * A)
            values = np.minimum.reduceat(Q, first)
            least = np.flatnonzero(~(values[pairs // A] < Q))  # where values overflow, all that are not numbers
            best = least[np.searchsorted(pairs[least], np.arange(S) * A)]
            kept, chosen = _selected(rows, best), pairs[best]
            return Backup(values, lambda: _chain(self.mdp, kept, chosen, np.ones(S)))
        table: Floats = self.mdp.cost + self.mdp.gamma * self.solver.support(v).reshape(S, A)
        actions = table.argmin(axis=1)
        values, pairs = table[np.arange(S), actions], np.arange(S) * A + actions
        self.last = v, table - values[:, None]
        return Backup(values, lambda: _chain(self.mdp, self.solver.rows(v, pairs), pairs, np.ones(S)))

    def _q(self, rows: WorstRows, pairs: Ints) -> Floats:
        found: Floats = self.mdp.cost.reshape(-1)[pairs] + self.mdp.gamma * rows.sigma
        return found

    def _left(self, v: Floats) -> Ints:
        """The pairs that may be the best at v; all of them if nothing is known, and on dense models."""
        if self.last is None or not self.mdp.is_sparse:
            return np.arange(self.mdp.cost.size)
        moved = self.mdp.gamma * float(np.ptp(v - self.last[0]))
        return np.flatnonzero(self.last[1] <= moved * (1.0 + 1e-9))


def _selected(rows: WorstRows, which: Ints) -> WorstRows:
    """Some of the rows, moved together in place."""
    from robust_core.kernels.rows import together

    if len(which) == len(rows.ends):
        return rows
    ends = np.empty(len(which), dtype=np.int64)
    together(rows.ends, rows.places, rows.shares, which, ends)
    return WorstRows(ends, rows.places, rows.shares, rows.sigma[which])


def _chain(mdp: MDP, rows: WorstRows, pairs: Ints, weights: Floats) -> Chain:
    """The chain of the rows of some pairs, several of a state with their weights."""
    from robust_core.kernels import chains

    S, A = mdp.cost.shape
    states = pairs // A
    costs = _sums(states, weights * mdp.cost.reshape(-1)[pairs], S)
    filled = int(rows.ends[-1])
    places, shares = rows.places[:filled], rows.shares[:filled]
    if len(pairs) != S or filled > DENSE * S * S:
        lengths = np.diff(rows.ends, prepend=0)
        shares = shares * np.repeat(weights, lengths)
        if filled > DENSE * S * S:
            at = np.repeat(states, lengths) * S + places
            return chains.Matrix(_sums(at, shares, S * S).reshape(S, S), costs)
    ends = rows.ends[np.searchsorted(states, np.arange(S), side="right") - 1]
    return chains.Chain(ends, places, shares, costs)


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
