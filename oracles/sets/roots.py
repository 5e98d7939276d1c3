"""What the enclosures of sets with logarithms share: sixty digits, and a root of a monotone function in floats.

`decimal` rounds sums, products, quotients, exp and ln correctly, and its exponents do not underflow. So a value that a
few dozen operations on numbers of at most 1 make is within 1e-50 of the truth, and margins of 1e-45 and more, which the
callers state, need no finer derivation.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

DIGITS = 60
LEAST_RADIUS = Decimal("1e-36")
"""For a smaller radius sigma is enclosed by the mean and a bound for this one: at most 1e-18 of the span apart."""
NARROW = Decimal("1e-18")
"""An enclosure is narrow enough at this share of the span."""


def decimal(value: Fraction) -> Decimal:
    """The fraction, rounded to the precision in force."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def dot(left: list[Decimal], right: list[Decimal]) -> Decimal:
    """Σ left·right."""
    return sum((x * y for x, y in zip(left, right, strict=True)), Decimal(0))


def root(function: Callable[[float], float], low: float, high: float, steps: int = 100) -> float:
    """Where a monotone function changes sign between `low` and `high`, to about the rounding of its values.

    Illinois' regula falsi, halving the interval where that gains too little.

    >>> round(root(lambda x: x * x - 2.0, 0.0, 2.0), 12)
    1.414213562373
    """
    at_low, at_high = function(low), function(high)
    if (at_low < 0.0) == (at_high < 0.0):  # rounding: one of the ends is the root
        return low if abs(at_low) <= abs(at_high) else high
    kept = 0
    for step in range(steps):
        width = high - low
        middle = low + 0.5 * width
        if at_high != at_low and step % 3:
            guess = low - at_low * width / (at_high - at_low)
            middle = guess if low < guess < high else middle
        at_middle = function(middle)
        if at_middle == 0.0 or width <= 4e-16 * max(abs(low), abs(high)):
            return middle
        if (at_middle < 0.0) == (at_low < 0.0):
            low, at_low = middle, at_middle
            at_high *= 0.5 if kept == 1 else 1.0
            kept = 1
        else:
            high, at_high = middle, at_middle
            at_low *= 0.5 if kept == -1 else 1.0
            kept = -1
    return low + 0.5 * (high - low)
