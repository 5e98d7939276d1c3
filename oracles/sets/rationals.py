"""Exact arithmetic that several sets share: the best filling of a box, and enclosures of a + √b."""

from fractions import Fraction
from math import isqrt

from oracles.arithmetic.exact import Vector

ROOT_BITS = 256
"""An enclosure of √b is at most 2^-ROOT_BITS/2 of √b wide."""


def fill(lower: Vector, upper: Vector, v: Vector) -> Fraction:
    """max q·v over lower <= q <= upper, Σq = 1 (a fractional knapsack: by falling v, as much as there is room).

    >>> half = Fraction(1, 2)
    >>> fill((Fraction(0),) * 2, (half, half), (Fraction(3), Fraction(1)))
    Fraction(2, 1)
    """
    left = 1 - sum(lower)
    if left < 0 or sum(upper) < 1:
        raise ValueError(f"no distribution lies between {lower} and {upper}")
    value = sum((x * y for x, y in zip(lower, v, strict=True)), Fraction(0))
    for y, low, high in sorted(zip(v, lower, upper, strict=True), reverse=True):
        added = min(left, high - low)
        value += added * y
        left -= added
        if not left:
            break
    return value


def enclose_root(a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on a + √b, equal where √b is rational with a small denominator, else 2^-128 √b apart at most.

    >>> enclose_root(Fraction(1), Fraction(9, 4))
    (Fraction(5, 2), Fraction(5, 2))
    """
    if b < 0:
        raise ValueError(f"b must not be negative, got {b}")
    product = b.numerator * b.denominator
    shift = max(0, ROOT_BITS - product.bit_length() + 1) // 2
    root = isqrt(product << (2 * shift))
    exact = root * root == product << (2 * shift)
    unit = Fraction(1, b.denominator << shift)
    return a + root * unit, a + (root if exact else root + 1) * unit
