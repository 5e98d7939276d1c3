"""Pairs (p, v) of nominal rows and value vectors, checked: what every support function takes."""

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.validate import Floats


def checked_pairs(p: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
    """`p` and `v` as float arrays of one shape, the states on the last axis; an error names what is wrong.

    Either may be a single row or a batch of rows.

    >>> rows, values = checked_pairs([0.5, 0.5], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> rows.shape, values.shape
    ((3, 2), (3, 2))
    """
    rows, values = _batch("p", p), _batch("v", v)
    validate.distribution_rows("p", rows)
    if rows.shape[-1] != values.shape[-1]:
        raise ValueError(f"p has {rows.shape[-1]} states and v has {values.shape[-1]}: they must agree")
    try:
        rows, values = np.broadcast_arrays(rows, values)
    except ValueError:
        raise ValueError(f"p {rows.shape} and v {values.shape} do not broadcast to one batch") from None
    return rows, values


def _batch(name: str, values: ArrayLike) -> Floats:
    try:
        dimensions = max(np.ndim(values), 1)
    except ValueError:
        raise ValueError(f"{name} must be a row or a batch of rows of one length") from None
    return validate.array(name, values, shape=(None,) * dimensions)
