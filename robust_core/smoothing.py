"""Smooth stand-ins for max_s V(s) (Section 5), safe from overflow for any finite V and varrho > 0."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.validate import Floats

# Of exponents x within this of 0, log(mean exp(x)) is the mean of x but for the part max|x|/2 of it, below rounding.
# Taken before varrho is multiplied in, it loses nothing to underflow; the others lose 2^-175 of themselves at most.
_TINY = 2.0**-900


@dataclass(frozen=True)
class _SmoothMaximum(ABC):
    varrho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "varrho", validate.positive("varrho", self.varrho))

    def value(self, V: ArrayLike) -> float:
        """The smooth maximum of V."""
        return self._value(*_exponents(V, self.varrho))

    def gradient(self, V: ArrayLike) -> Floats:
        """softmax(varrho V), the gradient of both: they differ by a constant."""
        return _softmax(_exponents(V, self.varrho)[1])

    def value_and_gradient(self, V: ArrayLike) -> tuple[float, Floats]:
        """Both, in half the time."""
        values, exponents = _exponents(V, self.varrho)
        return self._value(values, exponents), _softmax(exponents)

    @abstractmethod
    def _value(self, values: Floats, exponents: Floats) -> float:
        """The smooth maximum of values with these exponents."""


class LogSumExp(_SmoothMaximum):
    """LSE(V) = log(Σ_s exp(varrho V(s))) / varrho; max V <= LSE(V) <= max V + log(S)/varrho.

    >>> LogSumExp(1.0).value([1000.0, -1000.0])
    1000.0
    >>> LogSumExp(2.0).gradient([0.0, 0.0])
    array([0.5, 0.5])
    """

    def _value(self, values: Floats, exponents: Floats) -> float:
        return _sum(values.max(), math.log(np.exp(exponents).sum()) / self.varrho)


class Mellowmax(_SmoothMaximum):
    """mm(V) = log(mean_s exp(varrho V(s))) / varrho; max V − log(S)/varrho <= mm(V) <= max V.

    >>> Mellowmax(1e300).value([1.0, 2.0])
    2.0
    """

    def _value(self, values: Floats, exponents: Floats) -> float:
        if exponents.min() > -_TINY:
            return _sum(values.max(), (values - values.max()).mean())
        mean_less_1 = np.expm1(exponents).mean()
        # For small varrho the mean is so close to 1 that only its distance from 1 has digits to spare.
        log_mean = math.log1p(mean_less_1) if mean_less_1 > -0.5 else math.log(np.exp(exponents).mean())
        return _sum(values.max(), log_mean / self.varrho)


Smoothing = LogSumExp | Mellowmax


def _exponents(V: ArrayLike, varrho: float) -> tuple[Floats, Floats]:
    """V and varrho (V − max V): none is positive, at least one is 0."""
    values = validate.array("V", V, shape=("S",))
    top = values.max()
    with np.errstate(under="ignore", over="ignore"):
        gaps = values - top
        if gaps.min() == -math.inf:  # beyond the range of floats: halves are within, and doubling is exact
            return values, 2.0 * (varrho * (0.5 * values - 0.5 * top))
        # An exponent that overflows to −inf belongs to a weight below every float: exp gives the right 0.
        return values, varrho * gaps


def _softmax(exponents: Floats) -> Floats:
    weights = np.exp(exponents)
    return weights / weights.sum()


def _sum(top: float, correction: float) -> float:
    total = float(top) + correction
    if not math.isfinite(total):
        raise OverflowError(f"the smooth maximum leaves the range of float64: raise varrho or rescale V (max {top})")
    return total
