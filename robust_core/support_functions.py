"""Support functions sigma(v) = max over the set of q·v and a distribution that attains it, for checked arguments.

The mathematics of a set stands in its own file in `robust_core/sets`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.mdp import MDP
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats


def sigma(uncertainty_set: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Floats:
    """The support function at v around each row of p (last axis: states).

    >>> from robust_core import Contamination, TotalVariation
    >>> sigma(Contamination(0.5), [0.5, 0.5, 0.0], [0.0, 2.0, 4.0])
    array(2.5)
    >>> sigma(TotalVariation(0.5), [0.5, 0.5, 0.0], [0.0, 2.0, 4.0])
    array(3.)
    """
    validate.instance("uncertainty_set", uncertainty_set, UncertaintySet)
    rows, values = _checked(p, v)
    uncertainty_set.require_fit(len(values), rows.shape[:-1])
    return _finite(uncertainty_set.by_pairs if uncertainty_set.pairs else uncertainty_set.row_support, rows, values)


def worst_case(uncertainty_set: UncertaintySet, p: ArrayLike, v: ArrayLike) -> Floats:
    """A distribution in the set around each row of p at which sigma is attained.

    >>> from robust_core import TotalVariation
    >>> worst_case(TotalVariation(0.5), [0.5, 0.5, 0.0], [0.0, 2.0, 4.0])
    array([0. , 0.5, 0.5])
    """
    validate.instance("uncertainty_set", uncertainty_set, UncertaintySet)
    rows, values = _checked(p, v)
    uncertainty_set.require_fit(len(values), rows.shape[:-1])
    if not uncertainty_set.pairs:
        return np.asarray(uncertainty_set.row_worst_case(rows, values))
    worst = np.empty_like(rows)
    for s, a in np.ndindex(*uncertainty_set.pairs):
        worst[s, a] = uncertainty_set.at(s, a).row_worst_case(rows[s, a], values)
    return worst


def support(mdp: MDP, uncertainty_set: UncertaintySet, v: ArrayLike) -> Floats:
    """sigma around every row p(.|s,a) of the kernel: an array (S, A); the sort of v is shared by all rows."""
    validate.instance("mdp", mdp, MDP)
    validate.instance("uncertainty_set", uncertainty_set, UncertaintySet)
    values = validate.array("v", v, shape=(mdp.n_states,))
    uncertainty_set.require_fit(mdp.n_states, mdp.cost.shape)
    return _finite(uncertainty_set.kernel_support, mdp, values)


def _finite(form: Callable[..., Floats], *arguments: object) -> Floats:
    """What a closed form gives, unless it overflows on the way (values near the end of the range of float64)."""
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.asarray(form(*arguments))
    if not np.isfinite(result).all():
        raise OverflowError("the support function of v leaves the range of float64: rescale v")
    return result


def _checked(p: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
    values = validate.array("v", v, shape=("S",))
    shape = np.shape(p)
    if not shape or shape[-1] != len(values):
        raise ValueError(f"p must have {len(values)} entries in its last axis (as v has), got shape {shape}")
    rows = validate.array("p", p, shape=shape)
    validate.distribution_rows("p", rows)
    return rows, values
