"""sigma(v) as a certified enclosure, by whatever is registered for a set: the one home of that choice.

The exact rule of base polytopes comes first, then the enclosure in fractions, the two formulas of `multiplier`, the
convex program. If the first does not enclose sigma to `WIDEST`, the others are asked too, and what they say is
intersected. Where nothing is narrow enough, `TooWide` says so: the case is set aside, and nobody is blamed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic import exact
from oracles.arithmetic.certified import Certified
from oracles.arithmetic.exact import Number
from oracles.planning import rational
from oracles.planning.rational import NoExactSupport
from oracles.sets import programs
from oracles.sets.multiplier import NoDistance
from oracles.sets.registration import oracle_of
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats

WIDEST = 2.0**-30
"""A wider enclosure, as a share of max|v|, is no truth to judge by: wrong forms show at 1e-9."""


class TooWide(ArithmeticError):
    """An enclosure that is right, but too wide to judge by."""


@dataclass(frozen=True)
class Bracket:
    """lower <= truth <= upper.

    >>> Bracket(Fraction(1), Fraction(2)).middle
    Fraction(3, 2)
    """

    lower: Fraction
    upper: Fraction

    @property
    def middle(self) -> Fraction:
        """The middle."""
        return (self.lower + self.upper) / 2

    @property
    def radius(self) -> Fraction:
        """How far the truth is from the middle at most."""
        return (self.upper - self.lower) / 2


def is_exact(kind: type) -> bool:
    """Whether sigma of the sets of a class is a rational that the greedy rule gives."""
    return oracle_of(kind).largest_mass is not None


def width_of(uncertainty_set: UncertaintySet, found: Certified) -> float:
    """The width of an enclosure of values under a set; 0 where they are rational and `found` has the nearest floats."""
    return 0.0 if is_exact(type(uncertainty_set)) else found.error_bound


def sigma(uncertainty_set: UncertaintySet, p: Sequence[Number], v: Sequence[Number]) -> Bracket:
    """max of q·v over the set around p, enclosed.

    >>> from robust_core.sets import Contamination
    >>> sigma(Contamination(0.25), [0.5, 0.5], [0.0, 1.0])
    Bracket(lower=Fraction(5, 8), upper=Fraction(5, 8))
    """
    if len(v) != len(p):
        raise ValueError(f"v must have {len(p)} entries, one per state, got {len(v)}")
    lower, upper = None, None
    size = max(abs(Fraction(x)) for x in v)
    for low, high in _enclosures(uncertainty_set, p, v):
        lower = low if lower is None else max(lower, low)
        upper = high if upper is None else min(upper, high)
        if lower > upper:
            raise NoExactSupport(_not_one(uncertainty_set, p, v, lower, upper))
        if upper - lower <= Fraction(WIDEST) * size:
            return Bracket(lower, upper)
    if lower is None or upper is None:
        raise rational.unknown(type(uncertainty_set))
    raise TooWide(
        f"enclosure too wide: sigma(v) of {uncertainty_set!r:.80} lies between {float(lower)!r} and {float(upper)!r}"
        f" around p = {[float(x) for x in p]} at v = {[float(x) for x in v]}"
    )


def _enclosures(
    uncertainty_set: UncertaintySet, p: Sequence[Number], v: Sequence[Number]
) -> Iterator[tuple[Fraction, Fraction]]:
    """What each oracle of the set says, the cheapest and most exact first."""
    oracle: Any = oracle_of(type(uncertainty_set))
    if oracle.largest_mass is not None:
        value = rational.sigma(uncertainty_set, p, v)
        yield value, value
    row, values = exact.distribution(p).fractions(), tuple(Fraction(x) for x in v)
    if oracle.enclose is not None:
        yield oracle.enclose(uncertainty_set, row, values)
    if oracle.multiplier is not None:
        try:
            yield oracle.multiplier.enclose(uncertainty_set, row, values)
        except NoDistance as failure:
            raise NoExactSupport(
                f"no exact support function is known of {type(uncertainty_set).__name__}: {failure}"
            ) from None
    if oracle.program is not None:
        yield _by_program(uncertainty_set, p, values)


def _by_program(
    uncertainty_set: UncertaintySet, p: Sequence[Number], v: Sequence[Fraction]
) -> tuple[Fraction, Fraction]:
    """The bounds of the convex program, widened by the distance of v from floats; sigma moves by that at most."""
    if min(v) == max(v):  # every distribution has the same mean
        return v[0], v[0]
    values = [exact.nearest_float(x) for x in v]
    off = max(abs(x - Fraction(y)) for x, y in zip(v, values, strict=True))
    try:
        lower, upper = programs.enclosures(uncertainty_set, [float(x) for x in p], values)
    except programs.Contradiction as failure:
        raise NoExactSupport(
            f"no exact support function is known of {type(uncertainty_set).__name__}: {failure}"
        ) from None
    except programs.SolverFailure as failure:
        raise TooWide(f"enclosure too wide: {failure}") from None
    return Fraction(float(lower)) - off, Fraction(float(upper)) + off


def propose(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
    """A distribution of about the largest mean over the set around p, in floats, for planning."""
    oracle: Any = oracle_of(type(uncertainty_set))
    if oracle.propose is not None:
        return np.asarray(oracle.propose(uncertainty_set, p, v), dtype=np.float64)
    if oracle.largest_mass is not None:
        return np.array([float(x) for x in rational.worst_distribution(uncertainty_set, p.tolist(), v.tolist())])
    if oracle.multiplier is not None:
        return np.asarray(oracle.multiplier.propose(uncertainty_set, p, v))
    return _slopes(uncertainty_set, p, v)


def _slopes(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Floats:
    """The gradient of sigma by differences: the maximiser, where there is one."""
    step = 2.0**-20 * (float(np.ptp(v)) or 1.0)
    q = np.empty(len(v))
    for state in range(len(v)):
        shift = np.where(np.arange(len(v)) == state, step, 0.0)
        ends = [float(sigma(uncertainty_set, p.tolist(), (v + sign * shift).tolist()).middle) for sign in (1.0, -1.0)]
        q[state] = max((ends[0] - ends[1]) / (2.0 * step), 0.0)
    return q / q.sum() if q.sum() > 0.0 else p


def _not_one(uncertainty_set: UncertaintySet, p: Any, v: Any, lower: Fraction, upper: Fraction) -> str:
    return (
        f"no exact support function is known of {type(uncertainty_set).__name__}: what is registered is not of one set."
        f" {uncertainty_set!r:.80} around p = {[float(x) for x in p]} has a member of mean {float(lower)!r} and the"
        f" bound {float(upper)!r} at v = {[float(x) for x in v]}"
    )
