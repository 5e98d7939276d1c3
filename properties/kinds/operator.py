"""Robust Bellman operators."""

from dataclasses import dataclass

from properties.cases.choices import Choices
from properties.kinds import Canary, Example, KindOfVariant
from properties.kinds.planner import PER_PAIR, PlannerCase, state_values
from robust_core.problem import Variant
from robust_core.validate import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class OperatorCase(PlannerCase):
    """A model, a set and two tables; for an s-rectangular set they are values V of the states."""

    Q: Floats
    other: Floats


def operator_case(choices: Choices, variant: Variant) -> OperatorCase:
    """A model, a set and two tables."""
    scale = choices.scale(variant)
    mdp = choices.mdp(variant, scale=scale, sparse=True)
    choice = choices.set_choice(variant)
    shape = (mdp.n_states,) if choice.kind.by_state else mdp.cost.shape
    Q, other = scale * choices.values(shape), scale * choices.values(shape)
    uncertainty_set = choices.uncertainty_set(choice, mdp.P, state_values(Q))
    return OperatorCase(mdp=mdp, uncertainty_set=uncertainty_set, Q=Q, other=other)


KIND = KindOfVariant(
    case=OperatorCase,
    generate=operator_case,
    promises={"bellman": "the operator is the robust Bellman operator T", "radii per pair": PER_PAIR},
    canary=Canary("operator:NO_DISCOUNT", ("bellman backup", "contraction")),
    example=Example(
        called="a function `(mdp, uncertainty_set, Q) -> TQ`; for an s-rectangular set of values V, `-> TV`",
        right="V, R = Q.min(axis=1)",
        wrong="V, R = Q.max(axis=1)",
    ),
    shape=lambda mdp, uncertainty_set, Q: Q.shape,
)
