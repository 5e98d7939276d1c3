"""What the oracles know of an uncertainty set: one registration a set, made in a file of its own in this package.

An oracle reads the fields of a set. It never calls the methods of a set, which are what is verified.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from oracles.arithmetic.exact import Vector
from oracles.sets.multiplier import Multiplier
from robust_core.sets import DistanceBall, UncertaintySet
from robust_core.validate import Floats

SetType = TypeVar("SetType", bound=UncertaintySet)


@dataclass(frozen=True)
class Cut(Generic[SetType]):
    """The set K that cuts the simplex, in the three forms a certified program needs. Rows are the last axis.

    `constraints(q, p)`: the cvxpy constraints on the variable q, and a function that writes (uncertainty_set, p) into
    their parameters (they must be parametrised by the rules of DPP).
    `price(uncertainty_set, p, y)`: y moved to where sigma_K is finite, and sigma_K there.
    `attained(uncertainty_set, p, q, v)`: the value q'·v of some q' that is certainly in the set around p, near q >= 0.
    """

    constraints: Callable[[Any, Any], tuple[list[Any], Callable[[SetType, Floats], None]]]
    price: Callable[[SetType, Floats, Floats], tuple[Floats, Floats]]
    attained: Callable[[SetType, Floats, Floats, Floats], Floats]


@dataclass(frozen=True, kw_only=True)
class SetOracle(Generic[SetType]):
    """The independent truths about a set. Each is optional; a method that needs a missing one refuses the set.

    All speak of the set of one row (`UncertaintySet.at`).

    `contains(uncertainty_set, p, q)`: whether q is in the set around p by its definition, in fractions.
    `enclose(uncertainty_set, p, v)`: fractions lower <= sigma(v) <= upper, equal where sigma is rational; p sums to 1.
    `multiplier`: the set by a distance and a dual bound, from which such an enclosure follows (`multiplier`).
    `propose(uncertainty_set, p, v)`: floats, a distribution of about the largest mean; nothing about it is believed.
    `threshold(uncertainty_set, p, v)`: floats, the radius at which sigma reaches its largest value, for generators.
    `program`: the set as a convex program with its certificate (`programs`).
    `vertices(uncertainty_set, p)`: distributions of the set around p, all its vertices among them.
    `largest_mass(uncertainty_set, mass, whole)`: the largest mass of an event (`rational.largest_mass`).
    `is_base_polytope`: `base_polytope` proves that the set is one; otherwise every exact answer is checked.
    """

    contains: Callable[[SetType, Vector, Vector], bool] | None = None
    enclose: Callable[[SetType, Vector, Vector], tuple[Fraction, Fraction]] | None = None
    multiplier: Multiplier | None = None
    propose: Callable[[SetType, Floats, Floats], Floats] | None = None
    threshold: Callable[[SetType, Floats, Floats], float | None] | None = None
    program: Cut[SetType] | None = None
    vertices: Callable[[SetType, Vector], Iterable[Vector]] | None = None
    largest_mass: Callable[[SetType, int, int], int] | None = None
    is_base_polytope: bool = False

    def __post_init__(self) -> None:
        if self.contains is None and (self.largest_mass is not None or self.vertices is not None):
            raise ValueError(
                "largest_mass and vertices are checked against the definition of the set: give `contains` beside them"
            )


_ORACLES: dict[type[UncertaintySet], SetOracle[Any]] = {}
_UNKNOWN: SetOracle[Any] = SetOracle()


def register(kind: type[SetType], oracle: SetOracle[SetType]) -> None:
    """Make the truths about the sets of a class known to the oracles; a second registration replaces the first."""
    _ORACLES[kind] = oracle


def oracle_of(kind: type) -> SetOracle[Any]:
    """The truths about the sets of a class, or those of the class it derives from; without any if there are none.

    >>> from robust_core.sets import Contamination
    >>> oracle_of(Contamination).is_base_polytope, oracle_of(object).program
    (True, None)
    """
    known = _ORACLES.get(kind)  # mostly: tests ask a hundred thousand times
    if known is None and issubclass(kind, DistanceBall):
        known = _ORACLES[kind] = SetOracle(
            multiplier=Multiplier(kind.bound, kind.distance, kind.power, kind.within_support)
        )
    return known or next((_ORACLES[cls] for cls in kind.__mro__ if cls in _ORACLES), _UNKNOWN)


def is_base_polytope(kind: type) -> bool:
    """Whether it is proved of this very class, not of one that it derives from."""
    return kind in _ORACLES and _ORACLES[kind].is_base_polytope
