"""Planners of the optimal robust average cost, which exists for every model once nature has some freedom (R > 0)."""

from properties.cases.case import Case
from properties.cases.choices import Choices, SetChoice, radii_of
from properties.cases.entry_rules import RULES, require
from properties.kinds import Canary, Example, KindOfVariant
from properties.kinds.planner import GAMMAS, PlannerCase
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet

LEAST = 1 / 64
"""The smallest radius that is drawn: a planner may need log(1/accuracy)/R sweeps, whatever the model."""


def average_case(choices: Choices, variant: Variant) -> PlannerCase:
    """A model, whose discount means nothing, and a set with a positive radius."""
    mdp = choices.mdp(variant, scale=choices.scale(variant), gammas=GAMMAS, sparse=True)
    return PlannerCase(mdp=mdp, uncertainty_set=positive_set(choices, variant, choices.set_kind(variant), mdp))


def positive_set(choices: Choices, variant: Variant, kind: type[UncertaintySet], mdp: MDP) -> UncertaintySet:
    """A set with a positive radius, with which the gain exists whatever the chains are."""
    levels = [level for level in radii_of(variant, kind) if isinstance(level, float) and level >= LEAST]
    chosen = SetChoice(kind, choices.pick(levels or [1.0]))
    return choices.uncertainty_set(chosen, mdp.P, mdp.cost.min(axis=1))


def _set(name: str, case: Case) -> None:
    RULES[name](name, case)
    radius = getattr(case[name], "radius", None)
    require(isinstance(radius, float) and radius > 0.0, name, "have one positive radius", case[name])


KIND = KindOfVariant(
    case=PlannerCase,
    generate=average_case,
    promises={
        "average cost": "the planner returns the optimal robust average cost for R > 0, to options['accuracy'] times"
        " max|c| (default: to rounding); the discount of the model is not used"
    },
    canary=Canary("average_cost_planner:WITHOUT_RADIUS", ("average cost", "average cost order")),
    example=Example(
        called="a function `(mdp, uncertainty_set) -> gain`, a number",
        right="W = Q.min(axis=1)",
        wrong="W = Q.mean(axis=1)",
    ),
    rules={"uncertainty_set": _set},
    shape=lambda mdp, uncertainty_set: (),
)
