"""Laws of planners of values: (mdp, uncertainty_set) -> V*."""

from typing import Any

import numpy as np

from properties.cases.choices import radius_of, sets_beside
from properties.cases.enlarged import equivalent_by_state, equivalent_models
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.planner import PlannerCase, planner_case, state_values
from properties.laws.comparison import below, compare
from properties.laws.law import Law
from properties.laws.planner import allowed_error, dearer_model, true_optimum, wider_set
from robust_core.problem import Variant


def _matches(variant: Variant, case: PlannerCase) -> Finding | None:
    """One after the other for several sets: nothing but the arguments counts."""
    mdp = case.mdp
    for chosen in sets_beside(variant, case.uncertainty_set):
        Q, error = true_optimum(mdp, chosen)
        said = "V*" if chosen == case.uncertainty_set else f"V*, then with radius {radius_of(chosen)}: entry "
        allowed = allowed_error(variant, mdp, Q) + error
        finding = compare(variant.make(mdp, chosen), state_values(Q), allowed, said)
        if finding is not None:
            return finding
    return None


def _ordered(variant: Variant, case: PlannerCase) -> Finding | None:
    mdp, uncertainty_set = case.mdp, case.uncertainty_set
    V = np.asarray(variant.make(mdp, uncertainty_set))
    dearer, k = dearer_model(mdp)
    shifted = V + k / (1.0 - mdp.gamma)
    allowed = allowed_error(variant, mdp, V) + allowed_error(variant, dearer, np.abs(V) + k / (1.0 - mdp.gamma))
    if Scope.of(variant).allows(wider := wider_set(uncertainty_set)):
        larger = "V* against V* of a larger set: state "
        finding = below(V, variant.make(mdp, wider), allowed, larger, columns=("V*", "larger set"))
        if finding is not None:
            return finding
    what = f"V* with all costs {k:g} higher: state "
    return compare(variant.make(dearer, uncertainty_set), shifted, allowed, what, columns=("dearer", "V* + k"))


def _invariant(variant: Variant, case: PlannerCase) -> Finding | None:
    mdp, uncertainty_set = case.mdp, case.uncertainty_set
    V = np.asarray(variant.make(mdp, uncertainty_set))
    by_state, spell = uncertainty_set.by_state, equivalent_by_state if uncertainty_set.by_state else equivalent_models
    scope = Scope.of(variant)
    for same in spell(mdp, np.zeros(V.shape if by_state else mdp.cost.shape), splits=uncertainty_set.splits):
        if not scope.has(same.mdp):
            continue
        got = np.asarray(variant.make(same.mdp, uncertainty_set.select(*same.origin)))
        allowed = allowed_error(variant, mdp, V) + allowed_error(variant, same.mdp, V)
        what = f"V* of the model {same.what}: state "
        if got.shape != (same.mdp.n_states,):
            return Finding("shape of V*", got.shape, (same.mdp.n_states,))
        finding = compare(got[same.states], V, allowed, what, columns=(same.what, "before"))
        if finding is not None:
            return finding
    return None


def _law(name: str, statement: str, judge: Any, *after: str) -> Law:
    return Law(name, ("value planner",), "optimal value", statement, Generated(planner_case), judge, after=after)


LAWS = (
    _law("optimal value", "the result is V* = min_a Q*, against exact rational policy iteration (Theorem 1)", _matches),
    _law("optimal value order", "V* rises with R, and by k/(1−γ) if all costs rise by k", _ordered, "optimal value"),
    _law(
        "optimal value invariance",
        "duplicate and dominated actions, split states and new names leave V* as it is",
        _invariant,
        "optimal value",
    ),
)
