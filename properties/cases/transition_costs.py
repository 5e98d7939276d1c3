"""Costs c(s,a,s') of transitions whose mean is the cost of the pair: for learners that are told one sample of it.

Nature changes the successor, and the cost that is paid is that of the sampled transition: the problem, and its truth,
are those of the mean cost c(s,a) = Σ p(s'|s,a) c(s,a,s'). One number, the swing, makes such costs of any model:
c(s,a,i) = c(s,a) + swing·p(j) at the first successor i of a pair and c(s,a,j) = c(s,a) − swing·p(i) at the last one.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.validate import Floats

SWINGS = (1.0, -1.0, 0.5, 2.0, -0.25)
"""Powers of two: a dyadic probability times one of them is a float."""


def are_paid_by(variant: Variant) -> bool:
    """Whether the cost of a step is that of its transition: options['cost per']."""
    return bool(variant.options.get("cost per") == "transition")


def cost_of(mdp: MDP, swing: float | None, s: int, a: int, s_next: int) -> float:
    """c(s,a,s'); that of the pair without a swing, with one successor, and where a sum would be rounded.

    >>> from robust_core import models
    >>> mdp = models.two_states(gamma=0.5)
    >>> mdp.P[0, 1].tolist(), float(mdp.cost[0, 1]), [cost_of(mdp, 1.0, 0, 1, s) for s in (0, 1)]
    ([0.25, 0.75], 0.25, [1.0, 0.0])
    """
    cost = float(mdp.cost[s, a])
    if not swing:
        return cost
    row = mdp.P[s, a]
    support = np.flatnonzero(row)
    first, last = int(support[0]), int(support[-1])
    if first == last or s_next not in (first, last):
        return cost
    parts = {first: swing * float(row[last]), last: -swing * float(row[first])}
    if any(Fraction(cost + part) != Fraction(cost) + Fraction(part) for part in parts.values()):
        return cost
    return cost + parts[s_next]


def costs_of(mdp: MDP, swing: float) -> Floats:
    """All of them, an array (S, A, S)."""
    found = [cost_of(mdp, swing, s, a, s_next) for s, a, s_next in np.ndindex(mdp.P.shape)]
    return np.array(found).reshape(mdp.P.shape)


def at_cost(step: Any, mdp: MDP, swing: float | None) -> Any:
    """The step at the cost that the model has."""
    return (*step[:2], cost_of(mdp, swing, step[0], step[1], step[3]), *step[3:])
