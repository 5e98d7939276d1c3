"""Robust problems whose episodes end, in exact rationals: ending is one more outcome, of value 0.

`ends[s, a, s']` is the probability that the transition to s' is the last one of its episode; terminal states are
`ends[s']`. The model gets one more state, the end, which nothing leaves and which costs nothing; its value is 0. With
`nature_ends` the set of a pair is that around its row on S + 1 outcomes; without, the mass that nature moves goes to
states only:

    contamination    q = (1−R) p + R (a distribution on the states): the end keeps (1−R) p†, whatever the values
    total variation  q† <= p†: where max V >= 0 that binds nobody, and where max V < 0 the end keeps p†

(moving mass from the end, whose value 0 is then the largest, to a state would lower q·v).
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.arithmetic.exact import Number, Rational
from oracles.planning import rational, truth
from oracles.planning.rational import Evaluation, Model, NoExactSupport, Optimum
from oracles.planning.truth import Bracket
from robust_core.mdp import MDP
from robust_core.sets import Contamination, TotalVariation, UncertaintySet

Ends = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _ends(mdp: MDP, ends: ArrayLike) -> Ends:
    """The probabilities of ending as an array (S, A, S)."""
    shape = (mdp.n_states, mdp.n_actions, mdp.n_states)
    given = np.asarray(ends, dtype=np.float64)
    if given.shape not in (shape, shape[:1]) or not ((given >= 0.0) & (given <= 1.0)).all():
        raise ValueError(f"ends must be probabilities of shape {shape} or {shape[:1]}, got {given!r:.80}")
    return np.broadcast_to(given, shape)


def _extended(row: Rational, ends: Sequence[float]) -> Rational:
    """The row (p(s')(1−e(s')), p†) on S + 1 outcomes."""
    shares = [(Fraction(p, row.denominator), Fraction(e)) for p, e in zip(row.numerators, ends, strict=True)]
    return Rational.of([*(p * (1 - e) for p, e in shares), sum((p * e for p, e in shares), Fraction(0))])


def _worst_row(uncertainty_set: UncertaintySet, p: Rational, v: Rational, *, nature_ends: bool) -> Rational:
    """The worst row on S + 1 outcomes, the last of which is the end."""
    if nature_ends or (isinstance(uncertainty_set, TotalVariation) and max(v.numerators[:-1]) >= 0):
        return rational.worst_row(uncertainty_set, p, v)
    if not isinstance(uncertainty_set, Contamination | TotalVariation):
        name = type(uncertainty_set).__name__
        raise NoExactSupport(f"what it means that nature stays is not known of {name}; she may end (options['ends'])")
    whole = rational.largest_mass(uncertainty_set, p.denominator, p.denominator)
    most = whole  # of all states together
    if isinstance(uncertainty_set, TotalVariation):
        most = whole - p.numerators[-1] * (whole // p.denominator)
    weights, mass, given = [0] * len(p.numerators), 0, 0
    for state in sorted(range(len(weights) - 1), key=lambda s: -v.numerators[s]):
        mass += p.numerators[state]
        allowed = min(rational.largest_mass(uncertainty_set, mass, p.denominator), most)
        weights[state], given = allowed - given, allowed
    weights[-1] = whole - given
    return Rational(tuple(weights), whole)


class EndingModel(Model):
    """A model, a set and the ends of its episodes, with the end as the last state."""

    def __init__(self, mdp: MDP, uncertainty_set: UncertaintySet, ends: ArrayLike, *, nature_ends: bool) -> None:
        super().__init__(mdp, uncertainty_set)
        self.nature_ends, probabilities = nature_ends, _ends(mdp, ends).tolist()
        end = Rational((*(0 for _ in self.states), 1), 1)
        self.kernel = (
            *(
                tuple(_extended(row, e) for row, e in zip(rows, chances, strict=True))
                for rows, chances in zip(self.kernel, probabilities, strict=True)
            ),
            tuple(end for _ in self.actions),
        )
        self.cost = (*self.cost, tuple(Fraction(0) for _ in self.actions))
        self.states = range(mdp.n_states + 1)

    def start(self, s: int, a: int) -> Rational:
        """The worst row for V = 0: the nominal one is none of the set where nature moves mass to states only."""
        return self.worst(s, a, Rational((0,) * len(self.states), 1))

    def worst(self, s: int, a: int, V: Rational) -> Rational:
        """The worst row of a pair; nothing leaves the end."""
        if s == self.states[-1]:
            return self.kernel[s][a]
        return _worst_row(self.sets[s][a], self.kernel[s][a], V, nature_ends=self.nature_ends)


def sigma(
    uncertainty_set: UncertaintySet,
    p: Sequence[Number],
    ends: Sequence[float],
    V: Sequence[Number],
    *,
    nature_ends: bool,
) -> Bracket:
    """max q·(V, 0) over nature's choices around one row, `ends[s']` being the probability that a move to s' ends.

    >>> sigma(Contamination(0.5), [0.5, 0.5], [0.0, 1.0], [-2.0, -4.0], nature_ends=False)
    Bracket(lower=Fraction(-3, 2), upper=Fraction(-3, 2))
    >>> sigma(Contamination(0.5), [0.5, 0.5], [0.0, 1.0], [-2.0, -4.0], nature_ends=True).middle
    Fraction(-1, 2)
    >>> sigma(TotalVariation(0.25), [0.5, 0.5], [0.0, 1.0], [-2.0, -4.0], nature_ends=False).middle
    Fraction(-1, 1)
    """
    if not (nature_ends or any(ends)):
        return truth.sigma(uncertainty_set, p, V)
    row = _extended(exact.distribution(p), ends)
    if nature_ends and not truth.is_exact(type(uncertainty_set)):
        return truth.sigma(uncertainty_set, row.fractions(), [*V, 0])
    values = Rational.of([*V, 0])
    found = _worst_row(uncertainty_set, row, values, nature_ends=nature_ends).dot(values)
    return Bracket(found, found)


def solve(mdp: MDP, uncertainty_set: UncertaintySet, ends: ArrayLike, *, nature_ends: bool) -> Optimum:
    """Q*, V* and all optimal actions of the states where episodes end, by robust policy iteration.

    >>> mdp = MDP([[[0.0, 1.0]], [[0.0, 1.0]]], [[1.0], [3.0]], 0.5)
    >>> solve(mdp, Contamination(0.5), [0.0, 1.0], nature_ends=False).V
    (Fraction(2, 1), Fraction(4, 1))
    """
    found = rational.optimum(EndingModel(mdp, uncertainty_set, ends, nature_ends=nature_ends))
    return Optimum(found.V[:-1], found.Q[:-1], found.optimal_actions[:-1], found.kernel[:-1])


def evaluate(
    mdp: MDP, uncertainty_set: UncertaintySet, policy: ArrayLike, ends: ArrayLike, *, nature_ends: bool
) -> Evaluation:
    """V^pi and Q^pi of the states where episodes end."""
    model = EndingModel(mdp, uncertainty_set, ends, nature_ends=nature_ends)
    # At the end any action will do.
    weights = [*rational.integer_weights(mdp, policy), {0: 1}]
    found = rational.evaluation(model, weights)
    return Evaluation(found.V[:-1], found.Q[:-1], found.kernel[:-1])


def enclose(
    mdp: MDP, uncertainty_set: UncertaintySet, policy: ArrayLike | None, ends: ArrayLike, *, nature_ends: bool
) -> tuple[Certified, Certified]:
    """(V, Q) of a policy, or the optimal ones without it, as floats with the rounding to floats as their error.

    >>> mdp = MDP([[[1.0]]], [[1.0]], 0.5)
    >>> enclose(mdp, Contamination(0.5), None, [1.0], nature_ends=False)[0].value
    array([1.33333333])
    """
    found: Evaluation | Optimum = (
        solve(mdp, uncertainty_set, ends, nature_ends=nature_ends)
        if policy is None
        else evaluate(mdp, uncertainty_set, policy, ends, nature_ends=nature_ends)
    )
    return rational.certified_values(found.V, _METHOD), rational.certified_values(found.Q, _METHOD)


_METHOD = "exact with ends, rounded once"
