"""Support functions of uncertainty sets."""

from dataclasses import dataclass

from properties.cases.case import LawCase
from properties.cases.choices import Choices
from properties.cases.scope import Scope
from properties.kinds import Canary, Example, KindOfVariant
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class SupportCase(LawCase):
    """A set around the row p, or around each of several, and values."""

    uncertainty_set: UncertaintySet
    p: Floats
    v: Floats


def support_case(choices: Choices, variant: Variant) -> SupportCase:
    """A row and values."""
    n, scale = choices.size("outcomes", Scope.of(variant).states), choices.scale(variant)
    choice = choices.set_choice(variant)
    p, v = choices.row_for(choice.kind, n), scale * choices.values((n,))
    return SupportCase(uncertainty_set=choices.uncertainty_set(choice, p, v), p=p, v=v)


KIND = KindOfVariant(
    case=SupportCase,
    generate=support_case,
    promises={
        "support function": "the function is the support function of the set",
        "rows": "the function takes many rows p at once",
    },
    canary=Canary("support:L1_RADIUS", ("support value", "support axioms")),
    example=Example(
        called="a function `(uncertainty_set, p, v) -> max of q·v`; with the promise `rows`, p may have further axes",
        right="np.argsort(v)",
        wrong="np.argsort(-v)",
    ),
    shape=lambda uncertainty_set, p, v: p.shape[:-1],
)
