"""Comparing arrays with a derived tolerance: the first entry that is wrong, in words."""

from typing import Any

import numpy as np

from properties.verdict import Finding


def compared(got: Any, wanted: np.ndarray, allowed: float, what: str) -> Finding | None:
    """A finding if `got` has another shape or an entry further than `allowed` from `wanted` (NaN always is)."""
    values = np.asarray(got)
    if values.shape != wanted.shape:
        return Finding(f"shape of {what}", values.shape, wanted.shape)
    wrong = ~(np.abs(values - wanted) <= allowed)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return Finding(f"{what}{list(place) if place else ''}", float(values[place]), float(wanted[place]), allowed)


def below(lower: Any, upper: Any, allowed: float, what: str) -> Finding | None:
    """A finding if an entry of `lower` exceeds that of `upper` by more than `allowed`."""
    small, large = np.broadcast_arrays(np.asarray(lower), np.asarray(upper))
    wrong = ~(small <= large + allowed)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = list(place) if place else ""
    return Finding(f"{what}{where}", float(small[place]), f"at most {float(large[place])!r}", allowed)
