"""Compare arrays with a derived tolerance; a finding names the first wrong entry and holds both arrays."""

from typing import Any

import numpy as np

from properties.judging.side_by_side import Tables, entry
from properties.judging.verdict import Finding

# Columns where two runs of the variant are compared, not the variant with an oracle.
RUNS = ("this run", "by the other")


def compare(
    got: Any, wanted: np.ndarray, allowed: float, what: str, *, after: str = "", **shown: Any
) -> Finding | None:
    """A finding if `got` has another shape or an entry further than `allowed` from `wanted` (NaN always is).

    `what` names the array and goes before the entry, `after` says when; `shown` (columns, axes) goes to `Tables`.

    >>> print(compare([[1.0, 2.0]], np.array([[1.0, 3.0]]), 0.5, "Q", after=" after 2 steps"))
    Q(s=0, a=1) after 2 steps: got 2.0, wanted 3.0 within 0.5
    """
    values = np.array(got)  # a copy: what it is shown as must not change with the variant's buffer
    if values.shape != wanted.shape:
        return Finding(f"shape of {what}{after}", values.shape, wanted.shape)
    tables = Tables(values, wanted, **shown)
    place = tables.first(allowed)
    if place is None:
        return None
    said = f"{what}{entry(place, tables.axes)}{after}"
    return Finding(said, values[place], wanted[place], allowed, tables if place else None)


def below(lower: Any, upper: Any, allowed: float, what: str, *, after: str = "", **shown: Any) -> Finding | None:
    """A finding if an entry of `lower` exceeds that of `upper` by more than `allowed`.

    >>> print(below([1.0, 2.0], np.array([1.0, 1.0]), 0.0, "V"))
    V(s=1): got 2.0, wanted at most 1.0
    """
    small, large = np.broadcast_arrays(np.array(lower), np.array(upper))
    tables = Tables(small, large, bound=True, **shown)
    place = tables.first(allowed)
    if place is None:
        return None
    said = f"{what}{entry(place, tables.axes)}{after}"
    return Finding(said, small[place], f"at most {float(large[place])!r}", allowed, tables if place else None)
