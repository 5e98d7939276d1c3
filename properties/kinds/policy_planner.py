"""Planners that return a policy, which is judged by its certified robust value."""

from properties.kinds import Canary, Example, KindOfVariant
from properties.kinds.planner import PlannerCase, planner_case

KIND = KindOfVariant(
    case=PlannerCase,
    generate=planner_case,
    promises={
        "optimal policy": "the robust value of the policy is V* in every state,"
        " to options['accuracy'] times max|c|/(1−gamma) (default: to rounding)"
    },
    canary=Canary("policy_planner:LARGEST_COST", ("optimal policy", "optimal policy invariance")),
    example=Example(
        called="a function `(mdp, uncertainty_set) -> pi`, an array (S, A) whose rows are distributions",
        right="Q.argmin(axis=1)",
        wrong="mdp.cost.argmin(axis=1)",
    ),
    shape=lambda mdp, uncertainty_set: mdp.cost.shape,
)
