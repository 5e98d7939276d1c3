"""Support functions by their one-dimensional duals: one multiplier per row instead of a distribution.

The duals are a further truth for two sets. A rounding error is their only error.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic.certified import Certified
from oracles.sets.pairs import checked_pairs
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import EPS, Floats

OPERATIONS = 12
"""More roundings than any dual needs beside its inner product, each of at most EPS times max |v|."""


def _contamination(uncertainty_set: Contamination, p: Floats, v: Floats) -> Floats:
    """The dual is min {(1−R) p·v + R lam : lam >= v}, with the obvious solution."""
    return (1.0 - uncertainty_set.radius) * np.einsum("...s,...s->...", p, v) + uncertainty_set.radius * v.max(axis=-1)


def _total_variation(uncertainty_set: TotalVariation, p: Floats, v: Floats) -> Floats:
    """Linear programming duality gives

        sigma(v) = min_{lam <= max v}  R (max v − lam) + Σ_s p(s) max(v(s), lam):

    v <= max(v, lam), and moving mass R cannot raise the mean of a vector by more than R times its span; equality
    holds at the optimal multiplier of the constraint Σ(q−p)⁺ <= R. The function is convex and piecewise linear
    with breaks at the entries of v and falls up to min v, so the least of its values at those entries is the
    minimum: a rounding error is the only error.
    """
    lifted = np.maximum(v[..., :, None], v[..., None, :])  # [..., lam, s]
    means = np.einsum("...s,...ls->...l", p, lifted)
    return (uncertainty_set.radius * (v.max(axis=-1, keepdims=True) - v) + means).min(axis=-1)


DUALS: dict[type[UncertaintySet], Callable[[Any, Floats, Floats], Floats]] = {
    Contamination: _contamination,
    TotalVariation: _total_variation,
}


def support(uncertainty_set: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Certified:
    """sigma(v) = max_{q in the set around p} q·v (Section 2) by the one-dimensional dual.

    `p` and `v` are rows or batches of rows and broadcast against each other. The error: a float inner product
    of n terms is off by n EPS/2 and a row stands for itself over its exact sum, which is within (2n+1) EPS of
    1 (a float sum within (n+1) EPS, itself off by n EPS/2); all relative to max |v|.

    >>> from robust_core.sets import TotalVariation
    >>> support(TotalVariation(0.25), [0.5, 0.5], [0.0, 1.0]).value
    array(0.75)
    """
    rows, values = checked_pairs(p, v)
    # A power of two scales without rounding and keeps sums of huge values finite.
    exponent = np.frexp(np.abs(values).max())[1]
    scaled = np.ldexp(values, -exponent)
    error = (3 * rows.shape[-1] + OPERATIONS) * EPS * np.abs(scaled).max()
    value = np.ldexp(DUALS[type(uncertainty_set)](uncertainty_set, rows, scaled), exponent)
    return Certified(value, float(np.nextafter(np.ldexp(error, exponent), np.inf)), "one-dimensional dual")
