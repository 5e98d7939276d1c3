"""Robust planning in exact rational arithmetic: it arbitrates when two float oracles disagree.

A float is the dyadic fraction it is, a row of the kernel is the row over its exact sum, ties are ties. The
worst distribution comes from one fact that both sets share: the set is {q : q(J) <= g(p(J)) for all events J}
with a concave function g of the nominal mass,

    contamination  g(x) = (1−R)x + R,        total variation  g(x) = min(1, x + R)        (J not empty),

the base polytope of the submodular function J ↦ g(p(J)), so that Edmonds' greedy rule is optimal: go through
the states by falling value and give each the increment of g. A further set *of that form* is registered with
its `largest_mass`. That the largest mass of a set depends on p(J) alone is not enough (it does for the
chi-square ball, which is smaller than its base polytope), so what the rule gives for such a set is checked
against the set's definition: `base_polytope` says how, and which sets have the form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.arithmetic.exact import Matrix, Number, Rational, Vector
from oracles.sets import base_polytope
from oracles.sets.registration import is_base_polytope, oracle_of
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets import UncertaintySet


class NoExactSupport(TypeError):
    """An uncertainty set that `largest_mass` does not know, or not truly: the oracle's lack, nobody's fault."""


def unknown(kind: type) -> NoExactSupport:
    """That nothing is registered for a class of sets."""
    return NoExactSupport(
        f"no exact support function is registered for {kind.__name__}; register its definition and a dual bound, its"
        " enclosure, the largest_mass of a base polytope, or a convex program (oracles.sets.register)"
    )


def largest_mass(uncertainty_set: UncertaintySet, mass: int, whole: int) -> int:
    """The largest mass of a non-empty event with nominal mass `mass` out of `whole`.

    Counted in units of 1/(whole · denominator of the radius), in which it is integral.

    >>> from robust_core.sets import TotalVariation
    >>> largest_mass(TotalVariation(0.25), 1, 2)  # min(1, 1/2 + 1/4) in units of 1/8
    6
    """
    registered = oracle_of(type(uncertainty_set)).largest_mass
    if registered is None:
        raise unknown(type(uncertainty_set))
    return registered(uncertainty_set, mass, whole)


def worst_row(uncertainty_set: UncertaintySet, p: Rational, v: Rational) -> Rational:
    """The greedy maximiser of q·v; among equal values the lower state comes first."""
    weights = [0] * len(p.numerators)
    mass = given = 0
    for state in sorted(range(len(weights)), key=lambda s: -v.numerators[s]):
        mass += p.numerators[state]
        allowed = largest_mass(uncertainty_set, mass, p.denominator)
        weights[state] = allowed - given
        given = allowed
    row = Rational(tuple(weights), given)
    if not is_base_polytope(type(uncertainty_set)):
        objection = base_polytope.objection(uncertainty_set, p, v, row)
        if objection is not None:
            raise NoExactSupport(f"no exact support function is known of {type(uncertainty_set).__name__}: {objection}")
    return row


def worst_distribution(uncertainty_set: UncertaintySet, p: Sequence[Number], v: Sequence[Number]) -> Vector:
    """A distribution of the set around p that attains sigma(v).

    >>> from robust_core.sets import TotalVariation
    >>> worst_distribution(TotalVariation(0.5), [0.5, 0.25, 0.25], [0.0, 1.0, 2.0])
    (Fraction(0, 1), Fraction(1, 4), Fraction(3, 4))
    """
    return worst_row(uncertainty_set, exact.distribution(p), _values("v", v, len(p))).fractions()


def sigma(uncertainty_set: UncertaintySet, p: Sequence[Number], v: Sequence[Number]) -> Fraction:
    """The support function max_{q in the set around p} q·v (Section 2), exactly.

    >>> from robust_core.sets import Contamination
    >>> sigma(Contamination(0.25), [0.5, 0.5], [0.0, 1.0])
    Fraction(5, 8)
    """
    values = _values("v", v, len(p))
    return worst_row(uncertainty_set, exact.distribution(p), values).dot(values)


def _values(name: str, values: Sequence[Number], size: int) -> Rational:
    if len(values) != size:
        raise ValueError(f"{name} must have {size} entries, one per state, got {len(values)}")
    return Rational.of(values)


class Model:
    """An MDP and a set, converted once."""

    def __init__(self, mdp: MDP, uncertainty_set: UncertaintySet) -> None:
        self.sets = sets_of(mdp, uncertainty_set)
        self.kernel = exact.kernel(mdp)
        self.cost = exact.costs(mdp)
        self.gamma = Fraction(mdp.gamma)
        self.states = range(mdp.n_states)
        self.actions = range(mdp.n_actions)

    def start(self, s: int, a: int) -> Rational:
        """Some row of the set: the nominal one."""
        return self.kernel[s][a]

    def worst(self, s: int, a: int, V: Rational) -> Rational:
        """A row of the set that is worst for V."""
        return worst_row(self.sets[s][a], self.kernel[s][a], V)

    def action_value(self, s: int, a: int, V: Rational) -> Fraction:
        """c(s,a) + gamma sigma(V)."""
        return self.cost[s][a] + self.gamma * self.worst(s, a, V).dot(V)

    def action_values(self, V: Rational) -> Matrix:
        """The same for every pair."""
        return tuple(tuple(self.action_value(s, a, V) for a in self.actions) for s in self.states)

    def worst_kernel(self, V: Rational) -> tuple[Matrix, ...]:
        """The worst row of every pair."""
        return tuple(tuple(self.worst(s, a, V).fractions() for a in self.actions) for s in self.states)


def sets_of(mdp: MDP, uncertainty_set: UncertaintySet) -> list[list[UncertaintySet]]:
    """The set around each row."""
    S, A = range(mdp.n_states), range(mdp.n_actions)
    if not uncertainty_set.pairs:
        return [[uncertainty_set for _ in A] for _ in S]
    return [[uncertainty_set.at(s, a) for a in A] for s in S]


def backup(mdp: MDP, uncertainty_set: UncertaintySet, Q: ArrayLike | Matrix) -> Matrix:
    """TQ(s,a) = c(s,a) + gamma sigma(min_a Q(·,a)) (Section 2), exactly.

    >>> from robust_core.sets import Contamination
    >>> backup(MDP([[[1.0]]], [[1.0]], 0.5), Contamination(0.5), [[3.0]])
    ((Fraction(5, 2),),)
    """
    table = _table(mdp, Q)
    return Model(mdp, uncertainty_set).action_values(Rational.of(min(row) for row in table))


def _table(mdp: MDP, Q: ArrayLike | Matrix) -> Matrix:
    """Q[s][a] as fractions; exact entries stay exact, anything else must be a finite float array."""
    given = np.array(Q, dtype=object)
    shape = (mdp.n_states, mdp.n_actions)
    if given.shape == shape and all(isinstance(x, Fraction) for x in given.flat):
        return tuple(map(tuple, given.tolist()))
    floats = validate.array("Q", cast(ArrayLike, Q), shape=shape)
    return tuple(tuple(Fraction(x) for x in row) for row in floats.tolist())


@dataclass(frozen=True)
class Evaluation:
    """V^pi, Q^pi(s,a) = c + gamma sigma(V^pi) and a worst kernel q[s][a] that attains both."""

    V: Vector
    Q: Matrix
    kernel: tuple[Matrix, ...]


@dataclass(frozen=True)
class Optimum:
    """V*, Q*, all optimal actions of each state, and a worst kernel q[s][a] that attains both."""

    V: Vector
    Q: Matrix
    optimal_actions: tuple[tuple[int, ...], ...]
    kernel: tuple[Matrix, ...]


def evaluate(mdp: MDP, uncertainty_set: UncertaintySet, policy: ArrayLike) -> Evaluation:
    """V^pi (eq:value), the fixed point of T_pi (eq:bellman op), for actions pi[s] or probabilities pi[s, a].

    Nature's policy iteration: solve for the value W of the current kernel, then replace each row by the worst
    one for W, but only where that is strictly worse. If no row changes, T_pi W = W, so W = V^pi. Otherwise
    T_pi W >= W with > somewhere and, T_pi being monotone, the next value is at least T_pi W: values rise
    strictly, no kernel returns, and the greedy rule has at most S! distributions per row (the vertices of the
    set), to which the nominal start adds one, so it ends.

    >>> from robust_core.sets import Contamination
    >>> evaluate(MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[0.0], [1.0]], 0.5), Contamination(0.5), [0, 0]).V
    (Fraction(6, 7), Fraction(2, 1))
    """
    return evaluation(Model(mdp, uncertainty_set), integer_weights(mdp, policy))


def evaluation(model: Model, policy: "Policy") -> Evaluation:
    """The same for a model that is converted already."""
    V, _ = _evaluate(model, policy, {})
    return Evaluation(V.fractions(), model.action_values(V), model.worst_kernel(V))


Policy = Sequence[dict[int, int]]  # per state: action -> integer weight, only positive ones
Rows = dict[tuple[int, int], Rational]


def integer_weights(mdp: MDP, policy: ArrayLike) -> Policy:
    """The policy as integer weights of the actions of each state, only positive ones."""
    given = np.asarray(policy)
    if given.ndim == 1 and np.issubdtype(given.dtype, np.integer):
        if len(given) != mdp.n_states:
            raise ValueError(f"policy must name {mdp.n_states} actions, one per state, got {len(given)}")
        return [{validate.index(f"policy[{s}]", a, mdp.n_actions): 1} for s, a in enumerate(given)]
    table = validate.policy(policy, mdp.n_states, mdp.n_actions)
    weights = [Rational.of(row).numerators for row in table.tolist()]
    return [{a: w for a, w in enumerate(row) if w} for row in weights]


def _evaluate(model: Model, policy: Policy, rows: Rows) -> tuple[Rational, Rows]:
    """V^pi and the rows of its worst kernel, from any starting rows of the same pairs (default: `start`)."""
    rows = {(s, a): rows.get((s, a), model.start(s, a)) for s, weights in enumerate(policy) for a in weights}
    mixed = [exact.distribution(weights.values()) for weights in policy]
    cost = [
        mix.dot(Rational.of(model.cost[s][a] for a in weights))
        for s, (mix, weights) in enumerate(zip(mixed, policy, strict=True))
    ]
    while True:
        chain = [
            exact.mixture(mix, [rows[s, a] for a in weights])
            for s, (mix, weights) in enumerate(zip(mixed, policy, strict=True))
        ]
        V = exact.discounted_values(chain, cost, model.gamma)
        worse = {
            pair: candidate for pair, row in rows.items() if (candidate := model.worst(*pair, V)).dot(V) > row.dot(V)
        }
        if not worse:
            return V, rows
        rows |= worse


def solve(mdp: MDP, uncertainty_set: UncertaintySet) -> Optimum:
    """Q* and V* (Theorem 1) by robust policy iteration, exactly, with every optimal action.

    Evaluate the policy exactly, then switch to a better action where there is a strictly better one. If there
    is none, V^pi = T V^pi, so V^pi = V*. Otherwise T V^pi <= V^pi with < somewhere and, T being monotone, the
    next policy's value is at most T V^pi: values fall strictly, no policy returns, and there are A^S of them.

    >>> from robust_core.sets import TotalVariation
    >>> mdp = MDP([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]], [[1.0, 0.0], [0.0, 0.0]], 0.5)
    >>> optimum = solve(mdp, TotalVariation(0.5))
    >>> optimum.V, optimum.optimal_actions
    ((Fraction(0, 1), Fraction(0, 1)), ((1,), (0, 1)))
    """
    return optimum(Model(mdp, uncertainty_set))


def optimum(model: Model) -> Optimum:
    """The same for a model that is converted already."""
    policy = [min(model.actions, key=lambda a, s=s: model.cost[s][a]) for s in model.states]  # type: ignore[misc]
    rows: Rows = {}
    while True:
        V, worst = _evaluate(model, [{a: 1} for a in policy], rows)
        rows |= worst
        Q = model.action_values(V)
        best = [min(row) for row in Q]
        if all(Q[s][policy[s]] == best[s] for s in model.states):
            break
        policy = [a if Q[s][a] == best[s] else Q[s].index(best[s]) for s, a in enumerate(policy)]
    ties = tuple(tuple(a for a in model.actions if Q[s][a] == best[s]) for s in model.states)
    return Optimum(V.fractions(), Q, ties, model.worst_kernel(V))


def certified_values(values: ArrayLike | Matrix | Vector, method: str) -> Certified:
    """Exact values as floats; the bound is the rounding to floats.

    >>> certified_values((Fraction(1, 3),), "by hand").error_bound < 2e-17
    True
    """
    truth = np.asarray(values, dtype=object)
    return _enclosed(truth, truth, method)


def certify(mdp: MDP, uncertainty_set: UncertaintySet, Q: ArrayLike) -> Certified:
    """Q*, enclosed by one exact backup of any Q (MacQueen).

    T is monotone and T(Q+k) = TQ + gamma k, so with d = TQ − Q

        TQ + gamma/(1−gamma) min d  <=  Q*  <=  TQ + gamma/(1−gamma) max d.

    >>> from robust_core.sets import Contamination
    >>> certify(MDP([[[1.0]]], [[1.0]], 0.5), Contamination(0.5), [[7.0]])
    Certified(value=array([[2.]]), error_bound=0.0, method='one exact backup (MacQueen)')
    """
    table = _table(mdp, Q)
    model = Model(mdp, uncertainty_set)
    image = model.action_values(Rational.of(min(row) for row in table))
    lower, upper = _macqueen(np.array(image, dtype=object), np.array(table, dtype=object), model.gamma)
    return _enclosed(lower, upper, "one exact backup (MacQueen)")


def certify_policy(mdp: MDP, uncertainty_set: UncertaintySet, policy: ArrayLike, V: ArrayLike) -> Certified:
    """V^pi, enclosed by one exact application of T_pi to any V (as `certify`).

    >>> from robust_core.sets import TotalVariation
    >>> certify_policy(MDP([[[1.0]]], [[1.0]], 0.5), TotalVariation(0.5), [0], [7.0]).value
    array([2.])
    """
    floats = validate.array("V", V, shape=(mdp.n_states,)).tolist()
    model = Model(mdp, uncertainty_set)
    values = Rational.of(floats)
    image = [
        exact.distribution(weights.values()).dot(Rational.of(model.action_value(s, a, values) for a in weights))
        for s, weights in enumerate(integer_weights(mdp, policy))
    ]
    lower, upper = _macqueen(np.array(image, dtype=object), np.array([Fraction(x) for x in floats]), model.gamma)
    return _enclosed(lower, upper, "one exact backup of the policy (MacQueen)")


_Fractions = np.ndarray[tuple[int, ...], np.dtype[np.object_]]


def _macqueen(image: _Fractions, start: _Fractions, gamma: Fraction) -> tuple[_Fractions, _Fractions]:
    change = image - start
    factor = gamma / (1 - gamma)
    return image + factor * change.min(), image + factor * change.max()


def _enclosed(lower: _Fractions, upper: _Fractions, method: str) -> Certified:
    """The float middle of an exact enclosure, with the distance to its far end as the bound."""
    middle = np.vectorize(exact.nearest_float, otypes=[np.float64])((lower + upper) / 2)
    centre = np.vectorize(Fraction, otypes=[object])(middle)
    return Certified(middle, exact.round_up(max((upper - centre).max(), (centre - lower).max())), method)
