"""Laws of planners of policies: (mdp, uncertainty_set) -> pi.

A policy is judged by its robust value V^pi, which an oracle evaluates with a certified error, and never by its entries:
optimal policies are not unique.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from oracles.planning import enclosed, s_rectangular
from oracles.planning.truth import TooWide, width_of
from properties.cases.choices import Choices, Reader, radius_of, sets_beside
from properties.cases.enlarged import respellings
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.planner import PlannerCase, planner_case, state_values
from properties.laws.comparison import below
from properties.laws.law import Law
from properties.laws.planner import no_values, true_optimum
from properties.laws.rounding import UNIT, fixed_point_bound, stated_accuracy
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import SRectangular, UncertaintySet

CLOSE = (2.0**-6, 2.0**-10, 2.0**-14, 0.0)
"""What an action that is not the best loses at once, as a part of max|c|, if the variant may not lose more."""
AT_ONCE = (True, False)
"""Whether it loses more than the variant may at once, or only where it is taken for ever: a mixed policy does."""


def allowed_loss(variant: Variant, mdp: MDP, Q: np.ndarray) -> float:
    """The loss that the variant allows itself, relative to max|c|/(1−gamma), and that of rounding.

    A policy that is greedy for Q with |Q − Q*| <= e loses at most 2e/(1−gamma): T_pi V* − V* <= 2e, and T_pi is a
    monotone gamma-contraction, so V^pi − V* <= max(T_pi V* − V*)/(1−gamma).
    """
    scale = float(np.abs(mdp.cost).max()) / (1.0 - mdp.gamma)
    rounding = 2.0 * fixed_point_bound(mdp, Q) / (1.0 - mdp.gamma)
    return stated_accuracy(variant.options, scale) + rounding


def _malformed(policy: Any, mdp: MDP) -> Finding | None:
    """The finding that the rows are no distributions; a row sums to 1 up to the rounding of A additions."""
    shape = (mdp.n_states, mdp.n_actions)
    values = np.array(policy)
    if values.shape != shape or values.dtype != np.float64:
        return Finding("shape and type of pi", (values.shape, str(values.dtype)), (shape, "float64"))
    error = 4.0 * mdp.n_actions * UNIT
    if not (np.isfinite(values).all() and (values >= 0.0).all() and (np.abs(values.sum(axis=1) - 1.0) <= error).all()):
        return Finding("pi", values.tolist(), "rows that are distributions", error)
    return None


def _loss(variant: Variant, mdp: MDP, uncertainty_set: UncertaintySet, what: str) -> Finding | None:
    policy = variant.make(mdp, uncertainty_set)
    if (finding := _malformed(policy, mdp)) is not None:
        return finding
    Q, error = true_optimum(mdp, uncertainty_set)
    if isinstance(uncertainty_set, SRectangular):
        V = s_rectangular.evaluate(mdp, uncertainty_set, np.array(policy))
    else:
        V, _ = enclosed.evaluate(mdp, uncertainty_set, np.array(policy))
    allowed = allowed_loss(variant, mdp, Q) + error + width_of(uncertainty_set, V) + UNIT * float(np.abs(V.value).max())
    return below(V.value, state_values(Q), allowed, what, columns=("V of the policy", "V*"))


def _optimal(variant: Variant, case: PlannerCase) -> Finding | None:
    """One after the other for several sets: nothing but the arguments counts."""
    for chosen in sets_beside(variant, case.uncertainty_set):
        same = chosen == case.uncertainty_set
        what = "robust value of the policy: state " if same else f"then with radius {radius_of(chosen)}: state "
        if (finding := _loss(variant, case.mdp, chosen, what)) is not None:
            return finding
    return None


def _of_case(variant: Variant, case: PlannerCase) -> Finding | None:
    """For the set of the case alone: with another radius its actions are not close."""
    return _loss(variant, case.mdp, case.uncertainty_set, "robust value of the policy: state ")


def read_close(choices: Choices, variant: Variant) -> PlannerCase:
    """A case in which every action is nearly as good as the best, so that a small error of Q changes the policy.

    The cost of an action that is not the best is lowered until it loses little, but more than the variant may: V* stays
    as it is, and with it the backup of every other pair.
    """
    case = planner_case(choices, variant)
    mdp, part, at_once = case.mdp, choices.pick(CLOSE), choices.any_of(AT_ONCE)
    if case.uncertainty_set.by_state:
        return case
    try:
        Q, _ = true_optimum(mdp, case.uncertainty_set)
    except TooWide:
        return case
    horizon = 1.0 / (1.0 - mdp.gamma) if at_once else 1.0
    part = max(part, 4.0 * stated_accuracy(variant.options, 1.0) * horizon)
    gaps = Q - Q.min(axis=1, keepdims=True)
    cost = np.where(gaps > 0.0, mdp.cost - gaps + part * np.abs(mdp.cost).max(), mdp.cost)
    close = MDP(mdp.kernel, cost, mdp.gamma)
    return replace(case, mdp=close) if Scope.of(variant).has(close) else case


def _invariant(variant: Variant, case: PlannerCase) -> Finding | None:
    mdp, uncertainty_set = case.mdp, case.uncertainty_set
    for same, chosen in respellings(variant, mdp, uncertainty_set, no_values(mdp, uncertainty_set)):
        what = f"robust value of the policy in the model {same.what}: state "
        if (finding := _loss(variant, same.mdp, chosen, what)) is not None:
            return finding
    return None


def _law(name: str, statement: str, judge: Any, *after: str, read: Reader = planner_case) -> Law:
    return Law(name, ("policy planner",), "optimal policy", statement, Generated(read), judge, after=after)


LAWS = (
    _law("optimal policy", "V^π(s) = V*(s) in every state, V^π by exact rational evaluation (Theorem 1)", _optimal),
    _law(
        "optimal policy, close",
        "the same where every action is nearly as good as the best",
        _of_case,
        "optimal policy",
        read=read_close,
    ),
    _law(
        "optimal policy invariance",
        "the same with duplicate and dominated actions, split states and new names",
        _invariant,
        "optimal policy",
    ),
)
