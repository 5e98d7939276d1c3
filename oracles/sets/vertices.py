"""The uncertainty sets by their vertices, exactly: the support function by enumeration, for small S.

Nothing here orders the values: a vertex of a total-variation ball is described by where mass goes and where
it comes from, and membership is tested against the definition of the set.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.arithmetic.exact import Number, Vector
from robust_core import validate
from robust_core.uncertainty import Contamination, TotalVariation, UncertaintySet

LARGEST = 10
"""The most states enumerated: a total-variation ball has up to S² 2^(S−1) candidates."""


@singledispatch
def contains(uset: UncertaintySet, p: Vector, q: Vector) -> bool:
    """Whether the distribution q lies in the set around the distribution p, by the definition of the set.

    >>> half, quarter = Fraction(1, 2), Fraction(1, 4)
    >>> contains(TotalVariation(0.25), (half, half), (quarter, 3 * quarter))
    True
    """
    raise TypeError(f"no vertices are registered for {type(uset).__name__}")


@contains.register
def _(uset: Contamination, p: Vector, q: Vector) -> bool:
    kept = 1 - Fraction(uset.radius)
    return sum(q) == 1 and min(q) >= 0 and all(x >= kept * y for x, y in zip(q, p, strict=True))


@contains.register
def _(uset: TotalVariation, p: Vector, q: Vector) -> bool:
    distance = sum(abs(x - y) for x, y in zip(q, p, strict=True)) / 2
    return sum(q) == 1 and min(q) >= 0 and distance <= Fraction(uset.radius)


def vertices(uset: UncertaintySet, p: Sequence[Number]) -> tuple[Vector, ...]:
    """Distributions of the set around p, all its vertices among them, without repetition.

    Contamination is (1−R)p + R·simplex: one vertex per state. In a total-variation ball a maximiser of q·v
    moves m = min(R, 1−p_i) of mass to one state i (a best one: mass moved anywhere else may as well go there)
    out of the others, which is a fractional knapsack: some basic solution takes all of the states in a set J
    and part of at most one more state. Hence every v has a maximiser among the points listed, and a vertex,
    being the only maximiser of some v, is one of them.

    >>> vertices(Contamination(0.5), [1.0, 0.0])
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(1, 2), Fraction(1, 2)))
    """
    if len(p) > LARGEST:
        raise ValueError(f"vertices are enumerated for at most {LARGEST} states, got {len(p)}")
    centre = exact.distribution(p).fractions()
    points = tuple(dict.fromkeys(_candidates(uset, centre)))
    outside = [point for point in points if not contains(uset, centre, point)]
    if outside:
        raise ArithmeticError(f"{outside[0]} is not in {uset} around {centre}")
    return points


@singledispatch
def _candidates(uset: UncertaintySet, p: Vector) -> Iterator[Vector]:
    raise TypeError(f"no vertices are registered for {type(uset).__name__}")


@_candidates.register
def _(uset: Contamination, p: Vector) -> Iterator[Vector]:
    radius = Fraction(uset.radius)
    for receiver in range(len(p)):
        yield tuple((1 - radius) * x + radius * (s == receiver) for s, x in enumerate(p))


@_candidates.register
def _(uset: TotalVariation, p: Vector) -> Iterator[Vector]:
    for receiver in range(len(p)):
        others = [s for s in range(len(p)) if s != receiver]
        moved = min(Fraction(uset.radius), 1 - p[receiver])
        for size in range(len(p)):
            for emptied in combinations(others, size):
                missing = moved - sum(p[s] for s in emptied)
                yield from _completed(p, receiver, emptied, missing)


def _completed(p: Vector, receiver: int, emptied: tuple[int, ...], missing: Fraction) -> Iterator[Vector]:
    """The points that empty some states and take the `missing` rest from one more state."""
    if missing < 0:
        return
    q = list(p)
    for s in emptied:
        q[receiver] += q[s]
        q[s] = Fraction(0)
    if missing == 0:
        yield tuple(q)
        return
    for donor, mass in enumerate(q):
        if donor != receiver and donor not in emptied and mass > missing:
            point = list(q)
            point[donor] -= missing
            point[receiver] += missing
            yield tuple(point)


def sigma(uset: UncertaintySet, p: Sequence[Number], v: Sequence[Number]) -> Fraction:
    """max_{q in the set around p} q·v over the vertices, exactly.

    >>> sigma(TotalVariation(0.25), [0.5, 0.5], [0.0, 1.0])
    Fraction(3, 4)
    """
    if len(v) != len(p):
        raise ValueError(f"v must have {len(p)} entries, one per state, got {len(v)}")
    values = [Fraction(x) for x in v]
    return max(sum((x * y for x, y in zip(q, values, strict=True)), Fraction(0)) for q in vertices(uset, p))


def support(uset: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Certified:
    """`sigma` of one float row p, rounded to a float.

    >>> support(Contamination(0.5), [0.5, 0.5], [0.0, 1.0])
    Certified(value=array(0.75), error_bound=0.0, method='vertex enumeration')
    """
    row = validate.array("p", p, shape=(None,))
    validate.distribution_rows("p", row)
    truth = sigma(uset, row.tolist(), validate.array("v", v, shape=row.shape).tolist())
    value = exact.nearest_float(truth)
    error = exact.round_up(abs(truth - Fraction(value)))
    return Certified(np.array(value), error, "vertex enumeration")
