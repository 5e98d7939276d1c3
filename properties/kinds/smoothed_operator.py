"""Smoothed robust Bellman operators of a policy (Theorem 4)."""

from dataclasses import dataclass

from properties.cases.case import Case
from properties.cases.choices import Choices
from properties.cases.entry_rules import check_floats
from properties.kinds import Canary, Example, KindOfVariant
from properties.kinds.planner import PlannerCase
from robust_core.problem import Variant
from robust_core.smoothing import Smoothing
from robust_core.validate import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class SmoothedCase(PlannerCase):
    """A model, a set, a policy, a smooth maximum and two vectors of values."""

    policy: Floats
    smoothing: Smoothing
    V: Floats
    other: Floats


def smoothed_case(choices: Choices, variant: Variant) -> SmoothedCase:
    """A model, a set, a policy, a smooth maximum and two vectors of values."""
    scale = choices.scale(variant)
    mdp = choices.mdp(variant, scale=scale)
    return SmoothedCase(
        mdp=mdp,
        uncertainty_set=choices.set_of(variant, mdp),
        policy=choices.policy(mdp),
        smoothing=choices.smoothing(variant),
        V=scale * choices.values((mdp.n_states,)),
        other=scale * choices.values((mdp.n_states,)),
    )


def _values(name: str, case: Case) -> None:
    check_floats(name, case[name], (case["mdp"].n_states,))


KIND = KindOfVariant(
    case=SmoothedCase,
    generate=smoothed_case,
    promises={"smoothed bellman": "the operator is the smoothed robust Bellman operator of the policy (Theorem 4)"},
    canary=Canary("smoothed_operator:MINIMUM", ("smoothed backup", "smoothing gap")),
    example=Example(
        called="a function `(mdp, uncertainty_set, policy, smoothing, V) -> TV`, an array (S,)",
        right="R * smoothing.value(V)",
        wrong="R * V.max()",
    ),
    rules={"V": _values, "other": _values},
    tables=("V",),
    shape=lambda mdp, uncertainty_set, policy, smoothing, V: V.shape,
)
