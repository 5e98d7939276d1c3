"""The uncertainty sets by their vertices, exactly: the support function by enumeration, for small S.

Nothing orders the values: a vertex is described by where mass goes and where it comes from, and membership is tested
against the definition of the set.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.arithmetic.exact import Number, Vector
from oracles.sets.registration import oracle_of
from robust_core import validate
from robust_core.sets import UncertaintySet

LARGEST = 10
"""The most states enumerated: a total-variation ball has up to S² 2^(S−1) candidates."""


def contains(uncertainty_set: UncertaintySet, p: Vector, q: Vector) -> bool:
    """Whether the distribution q lies in the set around the distribution p, by the definition of the set.

    >>> from robust_core.sets import TotalVariation
    >>> half, quarter = Fraction(1, 2), Fraction(1, 4)
    >>> contains(TotalVariation(0.25), (half, half), (quarter, 3 * quarter))
    True
    """
    definition = oracle_of(type(uncertainty_set)).contains
    if definition is None:
        raise TypeError(f"no definition is registered for {type(uncertainty_set).__name__}")
    return definition(uncertainty_set, p, q)


def vertices(uncertainty_set: UncertaintySet, p: Sequence[Number]) -> tuple[Vector, ...]:
    """Distributions of the set around p, all its vertices among them, without repetition.

    That they are all is proved where the set is registered; that they are members is checked here.

    >>> from robust_core.sets import Contamination
    >>> vertices(Contamination(0.5), [1.0, 0.0])
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(1, 2), Fraction(1, 2)))
    """
    if len(p) > LARGEST:
        raise ValueError(f"vertices are enumerated for at most {LARGEST} states, got {len(p)}")
    candidates = oracle_of(type(uncertainty_set)).vertices
    if candidates is None:
        raise TypeError(f"no vertices are registered for {type(uncertainty_set).__name__}")
    centre = exact.distribution(p).fractions()
    points = tuple(dict.fromkeys(candidates(uncertainty_set, centre)))
    outside = [point for point in points if not contains(uncertainty_set, centre, point)]
    if outside:
        raise ArithmeticError(f"{outside[0]} is not in {uncertainty_set} around {centre}")
    return points


def sigma(uncertainty_set: UncertaintySet, p: Sequence[Number], v: Sequence[Number]) -> Fraction:
    """max_{q in the set around p} q·v over the vertices, exactly.

    >>> from robust_core.sets import TotalVariation
    >>> sigma(TotalVariation(0.25), [0.5, 0.5], [0.0, 1.0])
    Fraction(3, 4)
    """
    if len(v) != len(p):
        raise ValueError(f"v must have {len(p)} entries, one per state, got {len(v)}")
    values = [Fraction(x) for x in v]
    return max(sum((x * y for x, y in zip(q, values, strict=True)), Fraction(0)) for q in vertices(uncertainty_set, p))


def support(uncertainty_set: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Certified:
    """`sigma` of one float row p, rounded to a float.

    >>> from robust_core.sets import Contamination
    >>> support(Contamination(0.5), [0.5, 0.5], [0.0, 1.0])
    Certified(value=array(0.75), error_bound=0.0, method='vertex enumeration')
    """
    row = validate.array("p", p, shape=(None,))
    validate.distribution_rows("p", row)
    truth = sigma(uncertainty_set, row.tolist(), validate.array("v", v, shape=row.shape).tolist())
    value = exact.nearest_float(truth)
    error = exact.round_up(abs(truth - Fraction(value)))
    return Certified(np.array(value), error, "vertex enumeration")
