"""Gradients of the robust value of a policy."""

from dataclasses import dataclass

import numpy as np

from properties.cases.case import Case
from properties.cases.choices import Choices
from properties.cases.entry_rules import check_full_policy, check_number, require
from properties.kinds import Canary, Example, KindOfVariant
from properties.kinds.planner import GAMMAS, PlannerCase
from robust_core.problem import Variant
from robust_core.validate import Floats

# In eighths: a small move of probability from one action to another is exact.
EIGHTHS = {
    1: ((8,),),
    2: ((4, 4), (1, 7), (6, 2), (7, 1)),
    3: ((2, 2, 4), (1, 1, 6), (3, 4, 1), (5, 1, 2)),
}
WHOLE = 32
"""Units of a row of more actions: one for each, and the rest for one of them."""
# With the last one, states that only few starts reach are rare, but not negligible.
SPREADS = (0.0, 1.0, 0.5, 0.25, 2.0**-10)


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientCase(PlannerCase):
    """A model, a set, a policy that takes every action, and a start: a state, or mass `spread` over all of them."""

    policy: Floats
    start: int
    spread: float

    def rho(self) -> Floats:
        """The distribution of the first state."""
        rho = np.full(self.mdp.n_states, self.spread / self.mdp.n_states)
        rho[self.start] += 1.0 - self.spread
        return rho


def gradient_case(choices: Choices, variant: Variant) -> GradientCase:
    """A model, a set, a policy and a start."""
    mdp = choices.mdp(variant, scale=choices.scale(variant), gammas=GAMMAS, sparse=True)
    chosen = choices.set_of(variant, mdp)
    rows = [_row(choices, mdp.n_actions) for _ in range(mdp.n_states)]
    return GradientCase(
        mdp=mdp,
        uncertainty_set=chosen,
        policy=np.array(rows),
        start=choices.index(mdp.n_states),
        spread=choices.pick(SPREADS),
    )


def _row(choices: Choices, n_actions: int) -> Floats:
    """A distribution on all actions, in parts of a power of 2."""
    if n_actions in EIGHTHS:
        return np.array(choices.pick(EIGHTHS[n_actions])) / 8.0
    return (np.ones(n_actions) + (WHOLE - n_actions) * np.eye(n_actions)[choices.index(n_actions)]) / WHOLE


def _spread(name: str, case: Case) -> None:
    check_number(name, case[name])
    require(0.0 <= case[name] <= 1.0, name, "be between 0 and 1", case[name])


KIND = KindOfVariant(
    case=GradientCase,
    generate=gradient_case,
    promises={
        "policy gradient": "the function returns the gradient of rho·V^pi by options['parameters']: the entries of the"
        " policy (default; a constant for each state is free) or softmax parameters, to options['accuracy'] times"
        " max|c|/(1−gamma)² (default: to rounding); where the worst state changes, any subgradient of the maximum"
    },
    canary=Canary("policy_gradient:VANILLA", ("policy gradient", "policy gradient by differences")),
    example=Example(
        called="a function `(mdp, uncertainty_set, policy, rho) -> gradient`, an array (S, A); rho is the"
        " distribution of the first state, and the policy takes every action",
        right="W.argmax()",
        wrong="W.argmin()",
    ),
    rules={"policy": check_full_policy, "spread": _spread},
    shape=lambda mdp, uncertainty_set, policy, rho: mdp.cost.shape,
)
