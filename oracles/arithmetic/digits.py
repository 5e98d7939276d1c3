"""Numbers of many decimal digits that numpy can compute with, in arrays of objects.

`np.sqrt`, `np.log`, `np.exp`, `np.log1p` and `np.expm1` of such an array call the methods of its entries, sums,
products and comparisons their operators. So a formula that is written for arrays of floats is evaluated to as many
digits as one likes, and its rounding is far below everything that is compared.
"""

import decimal
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

Objects: TypeAlias = np.ndarray[Any, np.dtype[np.object_]]


@contextmanager
def precision(digits: int) -> Iterator[None]:
    """Compute with so many digits; what overflows is infinite, what has no value is NaN."""
    context = decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
    with decimal.localcontext(context):
        yield


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, Digits):
        return value.value
    if isinstance(value, (int, float, np.integer, np.floating)):
        return Decimal(value if isinstance(value, int) else float(value))
    return Decimal(value.numerator) / Decimal(value.denominator) if isinstance(value, Fraction) else None


class Digits:
    """A decimal number of the precision in force.

    >>> with precision(30):
    ...     print(np.sqrt(array([2.0]))[0])
    1.41421356237309504880168872421
    """

    __slots__ = ("value",)

    def __init__(self, value: "int | float | Fraction | Digits | Decimal") -> None:
        self.value = value if isinstance(value, Decimal) else _decimal(value) or Decimal(0)

    def __add__(self, other: Any) -> Any:
        x = _decimal(other)
        return NotImplemented if x is None else Digits(self.value + x)

    def __sub__(self, other: Any) -> Any:
        x = _decimal(other)
        return NotImplemented if x is None else Digits(self.value - x)

    def __rsub__(self, other: Any) -> Any:
        x = _decimal(other)
        return NotImplemented if x is None else Digits(x - self.value)

    def __mul__(self, other: Any) -> Any:
        x = _decimal(other)
        return NotImplemented if x is None else Digits(self.value * x)

    def __truediv__(self, other: Any) -> Any:
        x = _decimal(other)
        return NotImplemented if x is None else Digits(self.value / x)

    def __rtruediv__(self, other: Any) -> Any:
        x = _decimal(other)
        return NotImplemented if x is None else Digits(x / self.value)

    def __pow__(self, other: Any) -> Any:
        x = _decimal(other)
        return NotImplemented if x is None else Digits(self.value**x)

    def __rpow__(self, other: Any) -> Any:
        x = _decimal(other)
        return NotImplemented if x is None else Digits(x**self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> "Digits":
        return Digits(-self.value)

    def __abs__(self) -> "Digits":
        return Digits(abs(self.value))

    def __eq__(self, other: object) -> bool:
        x = _decimal(other)
        return x is not None and self.value == x

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: Any) -> bool:
        x = _decimal(other)
        return x is not None and not (self.value.is_nan() or x.is_nan()) and self.value < x

    def __le__(self, other: Any) -> bool:
        return self < other or self == other

    def __gt__(self, other: Any) -> bool:
        x = _decimal(other)
        return x is not None and not (self.value.is_nan() or x.is_nan()) and self.value > x

    def __ge__(self, other: Any) -> bool:
        return self > other or self == other

    def __bool__(self) -> bool:
        return bool(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return str(self.value)

    def sqrt(self) -> "Digits":
        """The square root."""
        return Digits(self.value.sqrt())

    def exp(self) -> "Digits":
        """The exponential."""
        return Digits(self.value.exp())

    def expm1(self) -> "Digits":
        """exp(x) − 1."""
        return Digits(self.value.exp() - 1)

    def log(self) -> "Digits":
        """The natural logarithm; −infinity at 0."""
        return Digits(self.value.ln())

    def log1p(self) -> "Digits":
        """log(1 + x)."""
        return Digits((1 + self.value).ln())

    @property
    def finite(self) -> bool:
        """Whether it is a number."""
        return self.value.is_finite()

    def fraction(self) -> Fraction:
        """The same number, exactly."""
        return Fraction(self.value)


def array(values: Any) -> Objects:
    """The numbers of a sequence, each as `Digits`."""
    given = list(values)
    result = np.empty(len(given), dtype=object)
    result[:] = [Digits(value) for value in given]
    return result
