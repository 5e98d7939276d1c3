"""Support functions by their one-dimensional duals: one multiplier per row instead of a distribution.

For the total-variation ball, linear programming duality gives

    sigma(v) = min_{lam <= max v}  R (max v − lam) + Σ_s p(s) max(v(s), lam):

v <= max(v, lam), and moving mass R cannot raise the mean of a vector by more than R times its span; equality
holds at the optimal multiplier of the constraint Σ(q−p)⁺ <= R. The function is convex and piecewise linear
with breaks at the entries of v and falls up to min v, so the least of its values at those entries is the
minimum: a rounding error is the only error. For contamination the dual is min {(1−R) p·v + R lam : lam >= v},
with the obvious solution.
"""

from functools import singledispatch

import numpy as np
from numpy.typing import ArrayLike

from oracles.arithmetic.certified import Certified
from oracles.sets.pairs import checked_pairs
from robust_core.uncertainty import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import EPS, Floats

OPERATIONS = 12
"""More roundings than any branch below needs beside its inner product, each of at most EPS times max |v|."""


def support(uset: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Certified:
    """sigma(v) = max_{q in the set around p} q·v (Section 2) by the one-dimensional dual.

    `p` and `v` are rows or batches of rows and broadcast against each other. The error: a float inner product
    of n terms is off by n EPS/2 and a row stands for itself over its exact sum, which is within (2n+1) EPS of
    1 (a float sum within (n+1) EPS, itself off by n EPS/2); all relative to max |v|.

    >>> support(TotalVariation(0.25), [0.5, 0.5], [0.0, 1.0]).value
    array(0.75)
    """
    rows, values = checked_pairs(p, v)
    # A power of two scales without rounding and keeps sums of huge values finite.
    exponent = np.frexp(np.abs(values).max())[1]
    scaled = np.ldexp(values, -exponent)
    error = (3 * rows.shape[-1] + OPERATIONS) * EPS * np.abs(scaled).max()
    value = np.ldexp(_dual(uset, rows, scaled), exponent)
    return Certified(value, float(np.nextafter(np.ldexp(error, exponent), np.inf)), "one-dimensional dual")


@singledispatch
def _dual(uset: UncertaintySet, p: Floats, v: Floats) -> Floats:
    raise TypeError(f"no one-dimensional dual is registered for {type(uset).__name__}")


@_dual.register
def _(uset: Contamination, p: Floats, v: Floats) -> Floats:
    result: Floats = (1.0 - uset.radius) * np.einsum("...s,...s->...", p, v) + uset.radius * v.max(axis=-1)
    return result


@_dual.register
def _(uset: TotalVariation, p: Floats, v: Floats) -> Floats:
    lifted = np.maximum(v[..., :, None], v[..., None, :])  # [..., lam, s]
    means = np.einsum("...s,...ls->...l", p, lifted)
    result: Floats = (uset.radius * (v.max(axis=-1, keepdims=True) - v) + means).min(axis=-1)
    return result
