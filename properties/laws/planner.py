"""Laws of planners: (mdp, uncertainty_set) -> Q*."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oracles.planning import closed_form, enclosed, s_rectangular
from oracles.planning.truth import width_of
from properties.cases.choices import Choices, radius_of, sets_beside, widen
from properties.cases.enlarged import old_entries, respellings, size
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.planner import PlannerCase, planner_case
from properties.laws.comparison import below, compare
from properties.laws.law import Law
from properties.laws.rounding import UNIT, fixed_point_bound, stated_accuracy
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination, SRectangular, UncertaintySet


def true_optimum(mdp: MDP, uncertainty_set: UncertaintySet) -> tuple[np.ndarray, float]:
    """Q* and a bound on its error: rounding, and the width of the enclosure where Q* is not rational.

    An s-rectangular set has no Q*: V*.
    """
    if isinstance(uncertainty_set, SRectangular):
        found = s_rectangular.solve(mdp, uncertainty_set)
    else:
        found = enclosed.solve(mdp, uncertainty_set)
    return found.value, UNIT * float(np.abs(found.value).max()) + width_of(uncertainty_set, found)


def allowed_error(variant: Variant, mdp: MDP, Q: np.ndarray) -> float:
    """The error the variant allows itself, relative to max|c|/(1−gamma), and rounding."""
    scale = float(np.abs(mdp.cost).max()) / (1.0 - mdp.gamma)
    return stated_accuracy(variant.options, scale) + fixed_point_bound(mdp, Q)


@dataclass(frozen=True)
class Optimum:
    """The judges of what a planner returns: its name, the word for a place in it, and how it follows from Q*."""

    name: str
    place: str
    follows: Callable[[np.ndarray], np.ndarray]

    def matches(self, variant: Variant, case: PlannerCase) -> Finding | None:
        """One after the other for several sets: nothing but the arguments counts."""
        mdp, name = case.mdp, self.name
        for chosen in sets_beside(variant, case.uncertainty_set):
            Q, error = true_optimum(mdp, chosen)
            allowed = allowed_error(variant, mdp, Q) + error
            said = name if chosen == case.uncertainty_set else f"{name}, then with radius {radius_of(chosen)}: entry "
            finding = compare(variant.make(mdp, chosen), self.follows(Q), allowed, said)
            if finding is not None:
                return finding
        return None

    def ordered(self, variant: Variant, case: PlannerCase) -> Finding | None:
        """It rises with the radius and by k/(1−gamma) with a cost of k more, k being of the size of the costs."""
        mdp, uncertainty_set, name = case.mdp, case.uncertainty_set, self.name
        Q, wider = np.asarray(variant.make(mdp, uncertainty_set)), wider_set(uncertainty_set)
        dearer, k = dearer_model(mdp)
        allowed = allowed_error(variant, mdp, Q) + allowed_error(variant, dearer, np.abs(Q) + k / (1.0 - mdp.gamma))
        shifted = Q + k / (1.0 - mdp.gamma)
        larger = f"{name} against {name} of a larger set: {self.place} "
        if Scope.of(variant).allows(wider):
            finding = below(Q, variant.make(mdp, wider), allowed, larger, columns=(name, "larger set"))
            if finding is not None:
                return finding
        what = f"{name} with all costs {k:g} higher: {self.place} "
        return compare(variant.make(dearer, uncertainty_set), shifted, allowed, what, columns=("dearer", f"{name} + k"))

    def invariant(self, variant: Variant, case: PlannerCase) -> Finding | None:
        """It is the same for equivalent models."""
        mdp, uncertainty_set = case.mdp, case.uncertainty_set
        Q = np.asarray(variant.make(mdp, uncertainty_set))
        for same, chosen in respellings(variant, mdp, uncertainty_set, no_values(mdp, uncertainty_set)):
            got, shape = np.asarray(variant.make(same.mdp, chosen)), self.follows(same.Q).shape
            if got.shape != shape:
                return Finding(f"shape of {self.name}", got.shape, shape)
            allowed = allowed_error(variant, mdp, Q) + allowed_error(variant, same.mdp, Q)
            what = f"{self.name} of the model {same.what}: {self.place} "
            finding = compare(old_entries(got, same), Q, allowed, what, columns=(same.what, "before"))
            if finding is not None:
                return finding
        return None


Q_STAR = Optimum("Q*", "entry", lambda Q: Q)


def no_values(mdp: MDP, uncertainty_set: UncertaintySet) -> np.ndarray:
    """A table of zeros, or the values of states where a set has no table."""
    return np.zeros(mdp.cost.shape[: 1 if uncertainty_set.by_state else 2])


def _closed_form(variant: Variant, case: PlannerCase) -> Finding | None:
    """Under contamination Q* is the ordinary Q at discount gamma(1−R), plus a constant."""
    mdp, uncertainty_set = case.mdp, case.uncertainty_set
    if not isinstance(uncertainty_set, Contamination) or uncertainty_set.pairs:
        return None
    wanted = closed_form.solve(mdp, uncertainty_set.radius).Q
    allowed = allowed_error(variant, mdp, wanted.value) + wanted.error_bound
    return compare(variant.make(mdp, uncertainty_set), wanted.value, allowed, "Q*")


def dearer_model(mdp: MDP) -> tuple[MDP, float]:
    """The model with all costs higher by k, and k, which is of the size of the costs."""
    k = size(mdp.cost)
    return MDP(mdp.P, mdp.cost + k, mdp.gamma), k


def wider_set(uncertainty_set: UncertaintySet) -> UncertaintySet:
    """The set with a larger radius; half way to 1 stays in [0, 1], where a set has its radius there."""
    radius = np.max(getattr(uncertainty_set, "radius", 0.0))
    return widen(uncertainty_set, float((1.0 + radius) / 2.0 if radius <= 1.0 else 2.0 * radius))


def _read_per_pair(choices: Choices, variant: Variant) -> PlannerCase:
    case = planner_case(choices, variant)
    each = choices.set_per_pair(variant, case.uncertainty_set, case.mdp, case.mdp.cost.min(axis=1))
    return replace(case, uncertainty_set=each)


def _per_pair(variant: Variant, case: PlannerCase) -> Finding | None:
    wanted, error = true_optimum(case.mdp, case.uncertainty_set)
    allowed = allowed_error(variant, case.mdp, wanted) + error
    return compare(variant.make(case.mdp, case.uncertainty_set), wanted, allowed, "Q* with a radius for each pair: ")


def _law(name: str, statement: str, judge: Any, *after: str) -> Law:
    return Law(name, ("planner",), "optimal", statement, Generated(planner_case), judge, after=after)


LAWS = (
    _law(
        "optimum",
        "the result is Q*, against exact rational policy iteration (Theorem 1); s-rectangular: V*",
        Q_STAR.matches,
    ),
    _law(
        "closed form",
        "under contamination Q* = Q_b + (γ R/(1−γ)) max W at the discount b = γ(1−R)",
        _closed_form,
        "optimum",
    ),
    _law("optimum order", "Q* rises with R, and by k/(1−γ) if all costs rise by k", Q_STAR.ordered, "optimum"),
    _law(
        "optimum invariance",
        "duplicate and dominated actions, split states and a new numbering do not change Q*",
        Q_STAR.invariant,
        "optimum",
    ),
    Law(
        "optimum, radii per pair",
        ("planner",),
        "radii per pair",
        "the result is Q* where each pair has a radius of its own",
        Generated(_read_per_pair),
        _per_pair,
        after=("optimum",),
    ),
)
