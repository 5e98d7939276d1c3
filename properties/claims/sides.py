"""The two sides of an equation or inequality, compared exactly; and their ratio."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.arithmetic.exact import Vector
from properties.judging.verdict import Finding


def readable(value: Any) -> Any:
    """A fraction as a person reads it: exactly if it is short, otherwise as a float."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value) if len(str(value)) <= 16 else float(value)
    return value


def equal(what: str, left: Any, right: Any) -> Finding | None:
    """A finding unless both sides, numbers or arrays of them, are the same.

    >>> print(equal("1/2 against 1/3", Fraction(1, 2), Fraction(1, 3)))
    1/2 against 1/3: got 1/2, wanted 1/3
    """
    got, wanted = np.asarray(left, dtype=object), np.asarray(right, dtype=object)
    if got.shape != wanted.shape:
        return Finding(f"shape of {what}", got.shape, wanted.shape)
    for place in np.ndindex(got.shape):
        if got[place] != wanted[place]:
            return Finding(at_place(what, place), readable(got[place]), readable(wanted[place]))
    return None


def at_most(what: str, left: Any, right: Any) -> Finding | None:
    """A finding unless left <= right, entry by entry if they are arrays (a number stands for all entries).

    >>> at_most("x", Fraction(1, 3), Fraction(1, 2)) is None
    True
    """
    got, bound = np.broadcast_arrays(np.asarray(left, dtype=object), np.asarray(right, dtype=object))
    for place in np.ndindex(got.shape):
        if not got[place] <= bound[place]:
            return Finding(at_place(what, place), readable(got[place]), f"at most {readable(bound[place])}")
    return None


def dot(q: Vector, v: Vector) -> Fraction:
    """Σ q_i v_i."""
    return sum((x * y for x, y in zip(q, v, strict=True)), Fraction(0))


def fractions(row: np.ndarray) -> Vector:
    """A float vector as the dyadic fractions that its entries are."""
    return tuple(map(Fraction, row.tolist()))


def at_place(what: str, place: tuple[int, ...]) -> str:
    """The quantity with the entry that is meant; a number has none."""
    return f"{what} at {list(place)}" if place else what


def first(findings: Iterable[Finding | None]) -> Finding | None:
    """The first finding there is."""
    return next((finding for finding in findings if finding is not None), None)


def ratio(left: Any, right: Any) -> float:
    """The largest left/right over the entries, 0 where both sides vanish."""
    pairs = np.broadcast(np.asarray(left, dtype=object), np.asarray(right, dtype=object))
    return max((float(x / y) for x, y in pairs if y), default=0.0)


def of_sides(sides: Callable[..., tuple[Any, Any]]) -> Callable[..., float]:
    """The tightness of an inequality given by its two sides."""
    return lambda **case: ratio(*sides(**case))
