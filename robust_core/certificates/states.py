"""Proposals for certificates of s-rectangular sets, in floats: values, random policies, rows of nature, multipliers.

A plan gives V; one backup at V gives the policy, the price of the budget and the values that nature reaches in each
state. The checker verifies what follows from them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from robust_core.certificates.multipliers import least, level_and_scale
from robust_core.kernels import s_rectangular as kernel
from robust_core.mdp import MDP
from robust_core.s_rectangular import FORMS, compiled_backup, plan_outcomes
from robust_core.sets import L2, SRectangular
from robust_core.validate import EPS, Floats

LOWER_VALUES = (0.0, 2.0, 8.0, 32.0, 128.0, 512.0)
"""How far below its value, in EPS of the scale, rows of a state are tried: distances jump where values nearly tie."""
NEAR = 2.0**-42
"""Rows whose values are as near as that, relative to the scale, are not tried again."""
FREE = 2.0**60
"""A price, relative to the span of values, at which nature uses no budget."""


def plan(mdp: MDP, uncertainty_set: SRectangular, width: float) -> tuple[Floats, Any]:
    """About V*, and the backup there: values, policy and prices."""
    outcomes = kernel.Outcomes.of(mdp)
    rounding = 16.0 * EPS * float(np.abs(mdp.cost).max()) / (1.0 - mdp.gamma) ** 2
    V = plan_outcomes(outcomes, uncertainty_set, accuracy=max(width * 2.0**-20, rounding, 1e-300)).values
    return V, compiled_backup(outcomes, uncertainty_set)(V, True)


def members(
    mdp: MDP, uncertainty_set: SRectangular, V: Floats, values: Floats, pulled: Callable[[int, Floats], Any]
) -> list[Any]:
    """For every state what `pulled` makes of about the best rows (A, S) of nature; its first entry is their value."""
    within, form = bool(getattr(uncertainty_set, "within_support", True)), FORMS[type(uncertainty_set)]
    outcomes = kernel.Outcomes.of(mdp)
    size = float(np.abs(mdp.cost).max() + mdp.gamma * np.abs(V).max())
    best: list[Any] = [None] * mdp.n_states
    left = list(range(mdp.n_states))
    for steps in LOWER_VALUES:
        aims = values - steps * EPS * size
        rows = kernel.members(form, within, outcomes, V, aims)
        rows /= rows.sum(axis=2, keepdims=True)
        for s in left:
            found = pulled(s, rows[s])
            if best[s] is None or found[0] > best[s][0]:
                best[s] = found
        left = [s for s in left if best[s][0] < aims[s] - NEAR * size]
    return best


def multipliers(
    uncertainty_set: SRectangular, P: Floats, V: Floats, gamma: float, policy: Floats, price: float, q: Floats
) -> list[list[float]]:
    """Candidates for the multipliers of a state: with its price, or, where it has none, at no price and at a high one.

    The levels of all actions come first, then the scales of all, then the price; P and q are the rows of the state.
    """
    bounded = gamma > 0.0 and 0.0 < price < np.inf
    prices = [price / gamma] if bounded else [0.0, FREE * (float(np.ptp(V)) or 1.0)]
    return [_multipliers(uncertainty_set, P, V, policy, each, q) for each in prices]


def _multipliers(here: SRectangular, P: Floats, V: Floats, policy: Floats, price: float, q: Floats) -> list[float]:
    if here.kind in ("s_rectangular_l1", "s_rectangular_kullback_leibler"):
        return [price]
    within = bool(getattr(here, "within_support", True))
    reached = [V[row > 0.0] if within else V for row in P]
    tops = [float(v.max()) for v in reached]
    if here.kind == "s_rectangular_l_infinity":
        return [
            *(_level(x, price, *each) for x, *each in zip(policy.tolist(), P, reached, [V] * len(P), strict=True)),
            price,
        ]
    if price == 0.0:
        return [*tops, *(0.0 for _ in tops), 0.0]
    found, prices = [], [0.0]
    for x, row, rows in zip(policy.tolist(), P, q, strict=True):
        p = row / row.sum()
        level, scale = level_and_scale(L2(float(np.sqrt(((rows - p) ** 2).sum())), within), p, V)
        found.append((level, scale))
        raised = np.maximum(V, level - scale * p)[(p > 0.0) | (not within)]
        prices.append(x * float(np.sqrt(((raised - level) ** 2).sum())))
    return [*(level for level, _ in found), *(scale for _, scale in found), max(prices)]


def _level(x: float, price: float, row: Floats, reached: Floats, V: Floats) -> float:
    """The level at which the bound of an L∞ ball on x q·V − price D(q, p) is least; it is convex in the level."""
    if x == 0.0:
        return 0.0
    order = np.flatnonzero(row > 0.0)[np.argsort(row[row > 0.0], kind="stable")]
    masses, v = row[order] / row.sum(), V[order]
    lengths = np.diff(np.concatenate(([0.0], masses, [1.0])))

    def rest(t: float) -> float:
        gaps = np.maximum(t - v, 0.0)
        later = np.concatenate((np.cumsum(gaps[::-1])[::-1], [0.0]))
        slopes = x * (float(np.maximum(reached - t, 0.0).sum()) + later) - price
        return float(np.maximum(slopes, 0.0) @ lengths)

    return least(rest, float(reached.min()), float(reached.max()))
