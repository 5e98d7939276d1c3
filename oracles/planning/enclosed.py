"""Backups, optima and values of policies for every set whose support function can be enclosed.

Where sigma is a rational, the answers are exact rationals, rounded once. Elsewhere one backup, whose entries are
enclosed one by one, encloses the solution: T is monotone and T(Q+k) = TQ + gamma k, so with lower <= TQ <= upper,
d = lower − Q and D = upper − Q (MacQueen)

    lower + gamma/(1−gamma) min d  <=  Q*  <=  upper + gamma/(1−gamma) max D,

for any Q, whatever its origin. It comes from policy iteration in floats with the distributions that `truth.propose`
gives, and from Newton's steps; their only part is to make the enclosure narrow. Policies have their own backup.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.planning import rational, truth
from oracles.planning.truth import TooWide
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets import UncertaintySet
from robust_core.validate import EPS, Floats

ROUNDS, FAILURES, REFINEMENTS = 60, 3, 8
"""Of policy iteration in floats, rounds of it without success, and of Newton's steps with enclosed residuals."""
EXACT = "exact, rounded once"
Fractions = np.ndarray[Any, np.dtype[np.object_]]


def backup(mdp: MDP, uncertainty_set: UncertaintySet, Q: ArrayLike) -> Certified:
    """TQ(s,a) = c(s,a) + gamma sigma(min_a Q(·,a)), enclosed.

    >>> from robust_core.sets import Contamination
    >>> backup(MDP([[[1.0]]], [[1.0]], 0.5), Contamination(0.5), [[3.0]]).value
    array([[2.5]])
    """
    if truth.is_exact(type(uncertainty_set)):
        return rational.certified_values(rational.backup(mdp, uncertainty_set, Q), EXACT)
    table = validate.array("Q", Q, shape=mdp.cost.shape)
    return _middle(*_backed_up(mdp, uncertainty_set, table.min(axis=1).tolist()), "backup of enclosures")


def backup_of(mdp: MDP, uncertainty_set: UncertaintySet, Q: ArrayLike, pairs: Sequence[tuple[int, int]]) -> Certified:
    """The entries of TQ at some pairs, in their order: one row of a large model takes an enclosure some time."""
    V = validate.array("Q", Q, shape=mdp.cost.shape).min(axis=1).tolist()
    found = [_entry(mdp, uncertainty_set.at(s, a), s, a, V) for s, a in pairs]
    ends = [np.array(side, dtype=object) for side in zip(*found, strict=True)]
    return _middle(ends[0], ends[1], "backup of enclosures")


def solve(mdp: MDP, uncertainty_set: UncertaintySet) -> Certified:
    """Q*, enclosed.

    >>> from robust_core.sets import TotalVariation
    >>> solve(MDP([[[1.0]]], [[1.0]], 0.5), TotalVariation(0.5)).value
    array([[2.]])
    """
    if truth.is_exact(type(uncertainty_set)):
        return rational.certified_values(rational.solve(mdp, uncertainty_set).Q, EXACT)
    return _narrow(mdp, *_enclosed(mdp, uncertainty_set, None)[1])


def evaluate(mdp: MDP, uncertainty_set: UncertaintySet, policy: ArrayLike) -> tuple[Certified, Certified]:
    """(V^pi, Q^pi), enclosed.

    >>> from robust_core.sets import TotalVariation
    >>> evaluate(MDP([[[1.0]]], [[1.0]], 0.5), TotalVariation(0.5), [[1.0]])[0].value
    array([2.])
    """
    if truth.is_exact(type(uncertainty_set)):
        found = rational.evaluate(mdp, uncertainty_set, policy)
        return rational.certified_values(found.V, EXACT), rational.certified_values(found.Q, EXACT)
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    V, Q = _enclosed(mdp, uncertainty_set, pi)
    return _narrow(mdp, *V), _narrow(mdp, *Q)


def _backed_up(mdp: MDP, uncertainty_set: UncertaintySet, V: Sequence[float]) -> tuple[Fractions, Fractions]:
    """Enclosures of c + gamma sigma(V) in fractions."""
    sets = rational.sets_of(mdp, uncertainty_set)
    lower, upper = np.empty(mdp.cost.shape, dtype=object), np.empty(mdp.cost.shape, dtype=object)
    known: dict[Any, tuple[Fraction, Fraction]] = {}
    for s, a in np.ndindex(*mdp.cost.shape):
        key = (sets[s][a], mdp.P[s, a].tobytes(), mdp.cost[s, a])
        if key not in known:
            known[key] = _entry(mdp, sets[s][a], s, a, V)
        lower[s, a], upper[s, a] = known[key]
    return lower, upper


def _entry(mdp: MDP, row_set: UncertaintySet, s: int, a: int, V: Sequence[float]) -> tuple[Fraction, Fraction]:
    """c(s,a) + gamma sigma(V), enclosed."""
    cost, gamma = Fraction(float(mdp.cost[s, a])), Fraction(mdp.gamma)
    found = truth.sigma(row_set, mdp.P[s, a].tolist(), V)
    return cost + gamma * found.lower, cost + gamma * found.upper


Pair = tuple[Fractions, Fractions]


def _enclosed(mdp: MDP, uncertainty_set: UncertaintySet, policy: Floats | None) -> tuple[Pair, Pair]:
    """Enclosures of V and Q, of the best policy or of a given one.

    From floats, Newton's steps with the enclosed residual of V and the chain of about the worst kernel lead on, until
    they narrow the enclosure no more.
    """
    V, pi, chain = _iterated(mdp, uncertainty_set, policy)
    weights = None if policy is None else np.array([exact.distribution(row).fractions() for row in pi.tolist()])
    gamma, narrowest = Fraction(mdp.gamma), None
    inverse = np.linalg.inv(np.eye(mdp.n_states) - mdp.gamma * chain)
    for _ in range(REFINEMENTS):
        before = _exact(V)
        tables = _backed_up(mdp, uncertainty_set, V.tolist())
        low, high = (table.min(axis=1) if weights is None else (weights * table).sum(axis=1) for table in tables)
        shifts = [gamma / (1 - gamma) * x for x in ((low - before).min(), (high - before).max())]
        width = float(shifts[1] - shifts[0] + (tables[1] - tables[0]).max())
        if narrowest is None or width < narrowest[0]:
            narrowest = width, (low + shifts[0], high + shifts[1]), (tables[0] + shifts[0], tables[1] + shifts[1])
        if width <= truth.WIDEST * 2.0**-14 * _size(mdp):
            break
        residual = ((low + high) / 2 - before).astype(np.float64)
        V = V + inverse @ residual
    assert narrowest is not None
    return narrowest[1:]


def _exact(values: Floats) -> Fractions:
    return np.vectorize(Fraction, otypes=[object])(values)


def _middle(lower: Fractions, upper: Fractions, method: str) -> Certified:
    middle = np.vectorize(exact.nearest_float, otypes=[np.float64])((lower + upper) / 2)
    centre = _exact(middle)
    return Certified(middle, exact.round_up(max((upper - centre).max(), (centre - lower).max())), method)


def _size(mdp: MDP) -> float:
    """A bound on the values of the model, above 0."""
    return (float(np.abs(mdp.cost).max()) or 1.0) / (1.0 - mdp.gamma)


def _narrow(mdp: MDP, lower: Fractions, upper: Fractions) -> Certified:
    """The enclosure of a solution, unless it is too wide to judge by."""
    if float((upper - lower).max()) > truth.WIDEST * _size(mdp):
        raise TooWide(f"enclosure too wide: that of the solution is {float((upper - lower).max()):.2g}")
    return _middle(lower, upper, "one backup of enclosures (MacQueen)")


def _iterated(mdp: MDP, uncertainty_set: UncertaintySet, policy: Floats | None) -> tuple[Floats, Floats, Floats]:
    """About V, the policy and the chain of about the worst kernel, by policy iteration in floats.

    Agent and nature change together, which fails now and then: where the step does not help, a plain backup is made. A
    policy that is new is followed all the same: an improvement may make the residual larger before it becomes small.
    """
    sets, gamma = rational.sets_of(mdp, uncertainty_set), mdp.gamma
    S, A = mdp.cost.shape
    V, narrowest, failures = np.zeros(S), np.inf, 0
    best = V, np.eye(A)[[0] * S] if policy is None else policy, np.eye(S)
    seen: set[bytes] = set() if policy is None else {policy.tobytes()}
    for _ in range(ROUNDS):
        q = _proposed(mdp, sets, V)
        Q = mdp.cost + gamma * q @ V
        pi = np.eye(A)[Q.argmin(axis=1)] if policy is None else policy
        image = (pi * Q).sum(axis=1)
        chain = np.einsum("sa,sat->st", pi, q)
        change = image - V
        width = float(np.ptp(change))
        if width < narrowest:
            best = image + gamma / (1.0 - gamma) * (change.max() + change.min()) / 2.0, pi, chain
            narrowest, failures = width, 0
        elif pi.tobytes() in seen:
            failures += 1
        seen.add(pi.tobytes())
        if width <= 8 * (S + A) * EPS * float(np.abs(Q).max()) or failures == FAILURES:
            break
        V = best[0] if failures else np.linalg.solve(np.eye(S) - gamma * chain, (pi * mdp.cost).sum(axis=1))
    return best


def _proposed(mdp: MDP, sets: list[list[UncertaintySet]], V: Floats) -> Floats:
    """The distributions of about the largest mean of V around every row."""
    q = np.empty(mdp.P.shape)
    known: dict[Any, Floats] = {}
    for s, a in np.ndindex(*mdp.cost.shape):
        key = (sets[s][a], mdp.P[s, a].tobytes())
        if key not in known:
            known[key] = truth.propose(sets[s][a], mdp.P[s, a], V)
        q[s, a] = known[key]
    return q
