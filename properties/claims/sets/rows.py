"""What the claims about sets share: rows with values and a radius, enclosures of sigma, and their comparison.

Closed convex sets are nested if and only if their support functions are ordered for every v, so an inclusion is judged
by enclosures of both: a lower bound of the inner one above an upper bound of the outer one refutes it.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Vector
from oracles.planning import truth
from oracles.planning.truth import Bracket
from properties.cases.case import Case
from properties.claims.sides import at_most, dot, fractions
from properties.judging.verdict import Finding
from properties.strategies import policies, values
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats

RADII = (1.0, 0.5, 0.25, 2.0, 0.125, 0.0, 2.0**-10, 8.0)
SHARES = (0.5, 0.25, 0.125, 0.75, 0.0, 2.0**-10)
"""Radii of sets that take a share R < 1."""
REACHED = Fraction(1, 2**30)
"""A minimiser found in floats must reach the minimum of a dual to this share of the span of v.

A dual is convex and flat at its minimum: an error of 1e-8 of the minimiser moves its value by 1e-16.
"""


@st.composite
def rows(draw: st.DrawFn, radii: tuple[float, ...] = RADII, max_states: int = 3) -> Case:
    """A row p, values v and a radius."""
    n = draw(st.integers(1, max_states))
    return {"p": draw(policies((1, n)))[0], "v": draw(values(n)), "radius": draw(st.sampled_from(radii))}


def shares() -> st.SearchStrategy[Case]:
    """Rows with a radius R < 1."""
    return rows(SHARES)


def distribution(p: Floats) -> Vector:
    """The row as fractions that sum to 1."""
    return exact.distribution(p.tolist()).fractions()


def sigma(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> Bracket:
    """max q·v over the set around p, enclosed by the oracles."""
    return truth.sigma(uncertainty_set, p.tolist(), v.tolist())


def nominal(p: Floats, v: Floats) -> Fraction:
    """p·v."""
    return dot(distribution(p), fractions(v))


def span(v: Floats) -> Fraction:
    """max v − min v."""
    return Fraction(float(v.max())) - Fraction(float(v.min()))


def upward(radius: float, most: float = math.inf) -> float:
    """A radius that is not below the number that floats compute (their functions err by less than 2^-50)."""
    return min(radius * (1.0 + 2.0**-50), most)


def within(inner: UncertaintySet, outer: UncertaintySet, p: Floats, v: Floats) -> Finding | None:
    """A finding if sigma of the inner set exceeds that of the outer one."""
    what = f"sigma of {type(inner).__name__} against that of {type(outer).__name__}"
    return at_most(what, sigma(inner, p, v).lower, sigma(outer, p, v).upper)


def sharpness(inner: UncertaintySet, outer: UncertaintySet, p: Floats, v: Floats) -> float:
    """(sigma of the inner set − p·v)/(sigma of the outer set − p·v): 1 if the inclusion is sharp for v."""
    least, most = sigma(inner, p, v), sigma(outer, p, v)
    room = most.upper - nominal(p, v)
    return float((least.lower - nominal(p, v)) / room) if room > 0 else 0.0


def agree(what: str, found: Bracket, wanted: Bracket) -> Finding | None:
    """A finding if two enclosures of one number are apart."""
    if found.lower <= wanted.upper and wanted.lower <= found.upper:
        return None
    return Finding(what, float(found.middle), float(wanted.middle))


def point(value: Fraction) -> Bracket:
    """A number as its own enclosure."""
    return Bracket(value, value)


def check_reached(what: str, found: Bracket, wanted: Bracket, size: Fraction) -> Finding | None:
    """A finding unless `found`, an upper bound of the number `wanted`, is within REACHED of it."""
    if found.upper < wanted.lower:
        return Finding(f"{what}, which must not be below sigma", float(found.upper), float(wanted.lower))
    if found.lower > wanted.upper + REACHED * size:
        return Finding(f"{what} at its minimum", float(found.lower), float(wanted.upper))
    return None


def least(function: Callable[[float], float], low: float, high: float) -> float:
    """About where a convex function is least (golden section in floats); a proposal that nothing relies on."""
    ratio = (5**0.5 - 1) / 2
    for _ in range(90):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if function(left) <= function(right):
            high = right
        else:
            low = left
    return min((low, 0.5 * (low + high), high), key=function)


def line(n: int) -> Floats:
    """The metric of n points on a line."""
    places: Any = np.arange(float(n))
    return np.abs(places[:, None] - places)
