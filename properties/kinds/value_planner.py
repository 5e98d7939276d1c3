"""Planners that return the optimal values of the states alone."""

from properties.kinds import Canary, Example, KindOfVariant
from properties.kinds.planner import PlannerCase, planner_case

KIND = KindOfVariant(
    case=PlannerCase,
    generate=planner_case,
    promises={
        "optimal value": "the planner returns V*, to options['accuracy'] times max|c|/(1−gamma) (default: to rounding)"
    },
    canary=Canary("value_planner:WITHOUT_CONSTANT", ("optimal value", "optimal value order")),
    example=Example(
        called="a function `(mdp, uncertainty_set) -> V*`, an array (S,)",
        right="R * V.max()",
        wrong="R * V.mean()",
    ),
    shape=lambda mdp, uncertainty_set: (mdp.n_states,),
)
