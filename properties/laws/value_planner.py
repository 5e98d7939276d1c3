"""Laws of planners of values: (mdp, uncertainty_set) -> V*."""

from typing import Any

from properties.cases.sources import Generated
from properties.kinds.planner import planner_case, state_values
from properties.laws.law import Law
from properties.laws.planner import Optimum

_V_STAR = Optimum("V*", "state", state_values)


def _law(name: str, statement: str, judge: Any, *after: str) -> Law:
    return Law(name, ("value planner",), "optimal value", statement, Generated(planner_case), judge, after=after)


LAWS = (
    _law(
        "optimal value",
        "the result is V* = min_a Q*, against exact rational policy iteration (Theorem 1)",
        _V_STAR.matches,
    ),
    _law(
        "optimal value order",
        "V* rises with R, and by k/(1−γ) if all costs rise by k",
        _V_STAR.ordered,
        "optimal value",
    ),
    _law(
        "optimal value invariance",
        "duplicate and dominated actions, split states and a new numbering do not change V*",
        _V_STAR.invariant,
        "optimal value",
    ),
)
