"""A value together with a proof of how wrong it can be."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Certified:
    """`value` differs from the truth by at most `error_bound` in every entry; `method` says how it was found.

    The bound covers everything: truncation, solver gap and the rounding of the computation itself.

    >>> Certified(np.array([1.0]), 0.5, "by hand").agrees_with(Certified(np.array([1.75]), 0.25, "by foot"))
    True
    """

    value: NDArray[np.float64]
    error_bound: float
    method: str

    def __post_init__(self) -> None:
        value = np.array(self.value, dtype=np.float64)
        if not np.isfinite(value).all() or not np.isfinite(self.error_bound) or self.error_bound < 0:
            raise ValueError(f"{self.method}: value and error bound must be finite, got bound {self.error_bound}")
        value.setflags(write=False)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "error_bound", float(self.error_bound))

    @property
    def lower(self) -> NDArray[np.float64]:
        """A lower bound on the truth, rounded outwards."""
        return np.nextafter(self.value - self.error_bound, -np.inf)

    @property
    def upper(self) -> NDArray[np.float64]:
        """An upper bound on the truth, rounded outwards."""
        return np.nextafter(self.value + self.error_bound, np.inf)

    def agrees_with(self, other: "Certified") -> bool:
        """Whether the two enclosures meet in every entry, as two certificates of one truth must."""
        return bool(((self.lower <= other.upper) & (other.lower <= self.upper)).all())
