"""Laws of planners of the average cost: (mdp, uncertainty_set) -> gain, for R > 0.

For contamination and total variation the gain is R max W with W = min_a (c + sigma(W) − R max W) (T2 of
`docs/theorems.md`), the same from every start whatever the chains; `oracles/planning/average_cost.py` has it in
rationals and, by another method, enclosed.
"""

from typing import Any

import numpy as np

from oracles.planning import average_cost
from properties.cases.enlarged import respellings, size
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.average_cost_planner import average_case
from properties.kinds.planner import PlannerCase
from properties.laws.comparison import below, compare
from properties.laws.law import Law
from properties.laws.rounding import UNIT, elimination_residual, stated_accuracy, step_bound
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination, TotalVariation, UncertaintySet

DISCOUNTS = (0.5, 0.0, 1.0 - 2.0**-20)
"""None of which is used."""


def allowed_error(variant: Variant, mdp: MDP, radius: float) -> float:
    """The error the variant allows itself, relative to max|c|, and rounding.

    A float bias W is at most 2 max|c|/R in size, and a residual of rounding in Tv − v is the error of the gain:
    min(Tv − v) <= gain <= max(Tv − v); it is that of one backup. One that solves for W errs by its residual over R
    there, and by R times that in the gain; one that solves for bias and gain errs by its residual. Both have at most
    S + 1 equations with entries of at most 1.
    """
    largest = float(np.abs(mdp.cost).max())
    size, n = largest * (1.0 + 2.0 / radius), mdp.n_states + 1
    rounding = step_bound(mdp.n_states, mdp.n_actions, size) + elimination_residual(n, 1.0, n * size)
    return stated_accuracy(variant.options, largest) + 2.0 * rounding


def _radius(case: PlannerCase) -> float:
    return float(np.min(getattr(case.uncertainty_set, "radius", 0.0)))


def _matches(variant: Variant, case: PlannerCase) -> Finding | None:
    mdp, R = case.mdp, _radius(case)
    if not R:
        return None
    gain = float(average_cost.solve(mdp, case.uncertainty_set).gain)  # type: ignore[arg-type]
    allowed = allowed_error(variant, mdp, R) + UNIT * abs(gain)
    return compare(variant.make(mdp, case.uncertainty_set), np.array(gain), allowed, "average cost")


def _ordered(variant: Variant, case: PlannerCase) -> Finding | None:
    """Relations between answers of the variant: none of them uses an oracle."""
    mdp, chosen, R = case.mdp, case.uncertainty_set, _radius(case)
    if not R:
        return None
    k, gain = size(mdp.cost), float(variant.make(mdp, chosen))
    dearer = MDP(mdp.P, mdp.cost + k, mdp.gamma)
    others = [MDP(mdp.P, mdp.cost, gamma) for gamma in DISCOUNTS if gamma != mdp.gamma]
    allowed = allowed_error(variant, mdp, R)
    wider = chosen.with_radius((1.0 + R) / 2.0)
    low, high = float(mdp.cost.min(axis=1).min()), float(mdp.cost.min(axis=1).max())
    free = "radii" not in variant.options
    return (
        compare(
            variant.make(dearer, chosen),
            np.array(gain + k),
            allowed + allowed_error(variant, dearer, R),
            f"average cost with all costs {k:g} higher",
        )
        or (
            below(gain, variant.make(mdp, wider), 2.0 * allowed, "average cost against a larger set's")
            if free
            else None
        )
        or below(low, gain, allowed, "the smallest cost against the average cost")
        or below(gain, high, allowed, "the average cost against the cost of the dearest state")
        or (
            compare(variant.make(mdp, chosen.with_radius(1.0)), np.array(high), allowed, "average cost with R = 1")
            if free
            else None
        )
        or next(filter(None, (_same(variant, chosen, other, gain, 2.0 * allowed) for other in others)), None)
    )


def _same(variant: Variant, chosen: UncertaintySet, other: MDP, gain: float, allowed: float) -> Finding | None:
    if not Scope.of(variant).has(other):
        return None
    return compare(variant.make(other, chosen), np.array(gain), allowed, f"average cost with discount {other.gamma:g}")


def _invariant(variant: Variant, case: PlannerCase) -> Finding | None:
    mdp, chosen, R = case.mdp, case.uncertainty_set, _radius(case)
    if not R:
        return None
    gain = float(variant.make(mdp, chosen))
    for same, own in respellings(variant, mdp, chosen, np.zeros(mdp.cost.shape)):
        got = variant.make(same.mdp, own)
        allowed = allowed_error(variant, mdp, R) + allowed_error(variant, same.mdp, R)
        finding = compare(got, np.array(gain), allowed, f"average cost of the model {same.what}")
        if finding is not None:
            return finding
    return None


def _law(name: str, statement: str, judge: Any, *after: str) -> Law:
    return Law(
        name,
        ("average cost planner",),
        "average cost",
        statement,
        Generated(average_case),
        judge,
        after=after,
        sets=(Contamination, TotalVariation),
    )


LAWS = (
    _law("average cost", "the result is the optimal robust average cost, against exact strategy iteration", _matches),
    _law(
        "average cost order",
        "the average cost does not use γ, rises by k if all costs do, rises with R, and is max_s min_a c at R = 1",
        _ordered,
        "average cost",
    ),
    _law(
        "average cost invariance",
        "duplicate and dominated actions, split states and a new numbering do not change the average cost",
        _invariant,
        "average cost",
    ),
)
