"""Planners, which solve a model."""

from dataclasses import dataclass

from properties.cases.case import LawCase
from properties.cases.choices import Choices
from properties.kinds import Canary, Example, KindOfVariant
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats

# A planner that iterates needs about 1/(1−gamma) sweeps for each digit: one horizon in thirteen is long, more would
# only cost time.
GAMMAS = (0.0, 0.5, 0.75, 0.875, 0.25, 0.9) * 2 + (0.99,)

PER_PAIR = (
    "the radius may be an array with one for each pair of state and action; of an s-rectangular set, each state;"
    " of an interval set, the bounds"
)


def state_values(table: Floats) -> Floats:
    """V(s) = min_a Q(s,a) of a table; values of states as they are."""
    return table if table.ndim == 1 else table.min(axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannerCase(LawCase):
    """A model and a set."""

    mdp: MDP
    uncertainty_set: UncertaintySet


def planner_case(choices: Choices, variant: Variant) -> PlannerCase:
    """A model and a set."""
    mdp = choices.mdp(variant, scale=choices.scale(variant), gammas=GAMMAS, sparse=True)
    return PlannerCase(mdp=mdp, uncertainty_set=choices.set_of(variant, mdp))


KIND = KindOfVariant(
    case=PlannerCase,
    generate=planner_case,
    promises={
        "optimal": "the planner returns Q*, to options['accuracy'] times max|c|/(1−gamma) (default: to rounding)",
        "radii per pair": PER_PAIR,
    },
    canary=Canary("planner:WITHOUT_CONSTANT", ("optimum", "optimum order")),
    example=Example(
        called="a function `(mdp, uncertainty_set) -> Q*`; for an s-rectangular set, which has no Q*, it returns V*",
        right="* np.abs(mdp.cost).max()",
        wrong="/ (1 - mdp.gamma)",
    ),
    shape=lambda mdp, uncertainty_set: (mdp.n_states,) if uncertainty_set.by_state else mdp.cost.shape,
)
