"""Support functions sigma(v) = max over the set of q·v, in closed form, and a distribution that attains it.

Contamination (Section 3): sigma(v) = (1−R) p·v + R max v, attained by (1−R)p + R·(the best state).
Total variation: nature takes mass R from the states of lowest v and gives it to the best state; in the order
of ascending v, state i keeps k_i = p_i − min(p_i, R left), so sigma(v) = Σ k_i v_i + (1 − Σ k_i) max v.

A further set registers its forms with `row_support.register` and `row_worst_case.register`; nothing else changes.
"""

from collections.abc import Callable
from functools import singledispatch

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.uncertainty import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import Floats


def sigma(uncertainty_set: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Floats:
    """The support function at v around each row of p (last axis: states).

    >>> sigma(Contamination(0.5), [0.5, 0.5, 0.0], [0.0, 2.0, 4.0])
    array(2.5)
    >>> sigma(TotalVariation(0.5), [0.5, 0.5, 0.0], [0.0, 2.0, 4.0])
    array(3.)
    """
    rows, values = _checked(p, v)
    return _finite(row_support, uncertainty_set, rows, values)


def worst_case(uncertainty_set: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Floats:
    """A distribution in the set around each row of p at which sigma is attained.

    >>> worst_case(TotalVariation(0.5), [0.5, 0.5, 0.0], [0.0, 2.0, 4.0])
    array([0. , 0.5, 0.5])
    """
    rows, values = _checked(p, v)
    return np.asarray(row_worst_case(uncertainty_set, rows, values))


def support(mdp: MDP, uncertainty_set: UncertaintySet, v: ArrayLike) -> Floats:
    """sigma around every row p(.|s,a) of the kernel: an array (S, A); the sort of v is shared by all rows."""
    validate.instance("mdp", mdp, MDP)
    values = validate.array("v", v, shape=(mdp.n_states,))
    return _finite(kernel_support, uncertainty_set, mdp, values)


def _finite(form: Callable[..., Floats], *arguments: object) -> Floats:
    """What a closed form gives, unless it overflows on the way (values near the end of the range of float64)."""
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.asarray(form(*arguments))
    if not np.isfinite(result).all():
        raise OverflowError("the support function of v leaves the range of float64: rescale v")
    return result


def _checked(p: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
    values = validate.array("v", v, shape=(None,))
    shape = np.shape(p)
    if not shape or shape[-1] != len(values):
        raise ValueError(f"p must have {len(values)} entries in its last axis (as v has), got shape {shape}")
    rows = validate.array("p", p, shape=shape)
    validate.distribution_rows("p", rows)
    return rows, values


def _unknown(uncertainty_set: object) -> TypeError:
    return TypeError(f"no closed-form support function is registered for {uncertainty_set!r}")


@singledispatch
def row_support(uncertainty_set: UncertaintySet, rows: Floats, v: Floats) -> Floats:
    """sigma for valid rows (…, S) and finite v (S,)."""
    raise _unknown(uncertainty_set)


@singledispatch
def row_worst_case(uncertainty_set: UncertaintySet, rows: Floats, v: Floats) -> Floats:
    """An attaining distribution for valid rows (…, S) and finite v (S,)."""
    raise _unknown(uncertainty_set)


@singledispatch
def kernel_support(uncertainty_set: UncertaintySet, mdp: MDP, v: Floats) -> Floats:
    """sigma around all rows of a kernel; by default row by row on the dense kernel."""
    return row_support(uncertainty_set, mdp.P, v)


@row_support.register
def _(uncertainty_set: Contamination, rows: Floats, v: Floats) -> Floats:
    radius = uncertainty_set.radius
    return (1.0 - radius) * (rows @ v) + radius * v.max()


@kernel_support.register
def _(uncertainty_set: Contamination, mdp: MDP, v: Floats) -> Floats:
    radius = uncertainty_set.radius
    return (1.0 - radius) * mdp.expectation(v) + radius * v.max()


@row_worst_case.register
def _(uncertainty_set: Contamination, rows: Floats, v: Floats) -> Floats:
    worst = (1.0 - uncertainty_set.radius) * rows
    worst[..., v.argmax()] += uncertainty_set.radius
    return worst


@row_support.register
def _(uncertainty_set: TotalVariation, rows: Floats, v: Floats) -> Floats:
    if uncertainty_set.radius == 1.0:  # the whole simplex: exactly the maximum
        return np.full(rows.shape[:-1], v.max())
    order, kept = _kept_mass(uncertainty_set, rows, v)
    return kept @ v[order] + (1.0 - kept.sum(axis=-1)) * v.max()


@kernel_support.register
def _(uncertainty_set: TotalVariation, mdp: MDP, v: Floats) -> Floats:
    from robust_core.kernels import support as compiled

    return compiled.total_variation(mdp, uncertainty_set.radius, v)


@row_worst_case.register
def _(uncertainty_set: TotalVariation, rows: Floats, v: Floats) -> Floats:
    order, kept = _kept_mass(uncertainty_set, rows, v)
    worst = np.empty_like(rows)
    worst[..., order] = kept
    worst[..., v.argmax()] += 1.0 - kept.sum(axis=-1)
    return worst


def _kept_mass(uncertainty_set: TotalVariation, rows: Floats, v: Floats) -> tuple[np.ndarray, Floats]:
    """The order of ascending v and, in that order, the mass each state keeps when R is taken from the bottom."""
    order = np.argsort(v, kind="stable")
    ascending = rows[..., order]
    before = np.cumsum(ascending, axis=-1) - ascending
    taken = np.clip(uncertainty_set.radius - before, 0.0, ascending)
    return order, ascending - taken
