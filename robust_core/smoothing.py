"""Smooth stand-ins for max_s V(s) (Section 5), safe from overflow for any finite V and varrho > 0."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.validate import Floats


@dataclass(frozen=True)
class LogSumExp:
    """LSE(V) = log(Σ_s exp(varrho V(s))) / varrho; max V <= LSE(V) <= max V + log(S)/varrho.

    >>> LogSumExp(1.0).value([1000.0, -1000.0])
    1000.0
    >>> LogSumExp(2.0).gradient([0.0, 0.0])
    array([0.5, 0.5])
    """

    varrho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "varrho", validate.positive("varrho", self.varrho))

    def value(self, V: ArrayLike) -> float:
        """LSE(V)."""
        values, weights = _exponentials(V, self.varrho)
        return float(values.max() + np.log(weights.sum()) / self.varrho)

    def gradient(self, V: ArrayLike) -> Floats:
        """∇LSE = softmax(varrho V)."""
        _, weights = _exponentials(V, self.varrho)
        return weights / weights.sum()


@dataclass(frozen=True)
class Mellowmax:
    """mm(V) = log(mean_s exp(varrho V(s))) / varrho; max V − log(S)/varrho <= mm(V) <= max V.

    >>> Mellowmax(1e300).value([1.0, 2.0])
    2.0
    """

    varrho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "varrho", validate.positive("varrho", self.varrho))

    def value(self, V: ArrayLike) -> float:
        """mm(V)."""
        values, weights = _exponentials(V, self.varrho)
        return float(values.max() + np.log(weights.mean()) / self.varrho)

    def gradient(self, V: ArrayLike) -> Floats:
        """∇mm = softmax(varrho V), as for LSE: the two differ by a constant."""
        _, weights = _exponentials(V, self.varrho)
        return weights / weights.sum()


Smoothing = LogSumExp | Mellowmax


def _exponentials(V: ArrayLike, varrho: float) -> tuple[Floats, Floats]:
    """V and exp(varrho (V − max V)), each in [0, 1] with at least one 1."""
    values = validate.array("V", V, shape=(None,))
    with np.errstate(under="ignore", over="ignore"):
        # An exponent that overflows to −inf belongs to a weight below every float: exp gives the right 0.
        return values, np.exp(varrho * (values - values.max()))
