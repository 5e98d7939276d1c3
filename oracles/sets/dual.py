"""Support functions by their one-dimensional duals: one multiplier per row instead of a distribution.

The dual of a set is derived where the set is registered. A rounding error is its only error.
"""

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic.certified import Certified
from oracles.sets.pairs import checked_pairs
from oracles.sets.registration import oracle_of
from robust_core.sets import UncertaintySet
from robust_core.validate import EPS

OPERATIONS = 12
"""More roundings than any registered dual needs beside its inner product, each of at most EPS times max |v|."""


def support(uncertainty_set: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Certified:
    """sigma(v) = max_{q in the set around p} q·v (Section 2) by the one-dimensional dual.

    `p` and `v` are rows or batches of rows and broadcast against each other. The error: a float inner product
    of n terms is off by n EPS/2 and a row stands for itself over its exact sum, which is within (2n+1) EPS of
    1 (a float sum within (n+1) EPS, itself off by n EPS/2); all relative to max |v|.

    >>> from robust_core.sets import TotalVariation
    >>> support(TotalVariation(0.25), [0.5, 0.5], [0.0, 1.0]).value
    array(0.75)
    """
    dual = oracle_of(type(uncertainty_set)).dual
    if dual is None:
        raise TypeError(f"no one-dimensional dual is registered for {type(uncertainty_set).__name__}")
    rows, values = checked_pairs(p, v)
    # A power of two scales without rounding and keeps sums of huge values finite.
    exponent = np.frexp(np.abs(values).max())[1]
    scaled = np.ldexp(values, -exponent)
    error = (3 * rows.shape[-1] + OPERATIONS) * EPS * np.abs(scaled).max()
    value = np.ldexp(dual(uncertainty_set, rows, scaled), exponent)
    return Certified(value, float(np.nextafter(np.ldexp(error, exponent), np.inf)), "one-dimensional dual")
