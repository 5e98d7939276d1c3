"""Whether the greedy rule gives a set's worst distribution: the set must be a base polytope.

Let g(x) be the largest mass that the distributions of a set around p give to an event of nominal mass x. Every q of the
set then lies in

    B = {q : q(J) <= g(p(J)) for every event J},

and if g is concave the greedy rule maximises q·v over B (Edmonds: J ↦ g(p(J)) is submodular and B its base polytope).
It is the support function of the set only if the set is *all* of B. So it is for

    contamination     q >= (1−R)p:      the complement of J keeps (1−R)(1−p(J)), which is q(J) <= (1−R)p(J) + R;
    total variation   ½‖q−p‖₁ <= R:     the largest q(J) − p(J) is half the 1-norm;
    bounded density   (1−R)q <= p:      the sum of its inequalities over J,

and in general for the sets whose support function adds up where v and w order the states alike, sigma(v + w) =
sigma(v) + sigma(w): the distorted expectations. The balls of chi-square, of the Kullback-Leibler divergence and of
the Euclidean norm have a concave g too, but are smaller than B, and the rule's value is too large. With p uniform on
three states, v = (0, 1, 2) and R = 1/4 it gives 1.4714 for the chi-square ball Σ(q−p)²/p <= R; the truth is 1.4082.

A set that is proved here, with the g of its `largest_mass`, is registered with `is_base_polytope`. For every other set
each answer of the rule is checked against the definition, `vertices.contains`.
"""

from fractions import Fraction

from oracles.arithmetic.exact import Rational, Vector
from oracles.sets.vertices import contains
from robust_core.sets import UncertaintySet

HALVINGS = 20
"""Of two states every convex set is an interval; halving finds its end to 2^-20."""


def objection(uncertainty_set: UncertaintySet, p: Rational, v: Rational, q: Rational) -> str | None:
    """Why q, which the greedy rule gives for v, is not a worst distribution of the set around p; None if nothing is.

    If q is in the set, q·v <= sigma(v): that is checked of every answer. If g is nowhere smaller than the largest mass,
    sigma(v) <= q·v: that is checked of two states, where the largest mass is found by halving.

    >>> from robust_core.sets import TotalVariation
    >>> half, v = Rational((1, 1), 2), Rational((0, 1), 1)
    >>> print(objection(TotalVariation(0.25), half, v, Rational((1, 3), 4)))
    None
    >>> objection(TotalVariation(0.25), half, v, Rational((0, 1), 1))
    'the greedy rule gives (0, 1) around (1/2, 1/2), which is not in TotalVariation(radius=0.25)'
    """
    centre, given = p.fractions(), q.fractions()
    answer = f"the greedy rule gives {_shown(given)} around {_shown(centre)}"
    if min(given) < 0 or not contains(uncertainty_set, centre, given):
        return f"{answer}, which is not in {uncertainty_set}"
    if len(centre) == 2 and v.numerators[0] != v.numerators[1]:
        top = v.numerators.index(max(v.numerators))
        worse = _furthest(uncertainty_set, centre, top)
        if worse[top] > given[top]:
            return f"{answer}, but {_shown(worse)} is in {uncertainty_set} too"
    return None


def _furthest(uncertainty_set: UncertaintySet, p: Vector, top: int) -> Vector:
    """The member of the set furthest from p towards the state `top`, to 2^-HALVINGS of the way."""

    def moved(share: Fraction) -> Vector:
        return tuple((1 - share) * x + share * (s == top) for s, x in enumerate(p))

    low, high = Fraction(0), Fraction(1)
    if contains(uncertainty_set, p, moved(high)):
        return moved(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if contains(uncertainty_set, p, moved(middle)) else (low, middle)
    return moved(low)


def _shown(row: Vector) -> str:
    return f"({', '.join(map(str, row))})"
