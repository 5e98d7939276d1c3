"""Functions that compute the objective of linear evaluation: J, its gradient and omega(theta) (Section 5)."""

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from oracles.linear.msprbe import MSPRBE
from properties.cases.case import Case, LawCase
from properties.cases.choices import FEATURES, Choices
from properties.cases.entry_rules import check_floats, require
from properties.kinds import Canary, Example, KindOfVariant
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination, UncertaintySet
from robust_core.smoothing import LogSumExp, Smoothing
from robust_core.validate import Floats

PARTS = ("objective", "objective gradient", "tracked weights")
"""The promises, in the order in which their parts are returned."""
GAMMAS = (0.5, 0.0, 0.75, 0.875, 0.25, 0.9375, 0.9)
VARRHOS = (1.0, 2.0, 0.5, 8.0)
# In one case of four the smooth maximum is nearly a mean: what is taken for one there, shows.
FLAT = (1.0,) * 6 + (2.0**-16, 2.0**-28)


def terms_of(uncertainty_set: UncertaintySet, smoothing: Smoothing) -> Any:
    """What an oracle of J is told of contamination and of a smooth maximum."""
    return {
        "radius": cast(Contamination, uncertainty_set).radius,
        "varrho": smoothing.varrho,
        "smoothing": "lse" if isinstance(smoothing, LogSumExp) else "mellowmax",
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class ObjectiveCase(LawCase):
    """A model, a set, a policy, features that are independent, a smooth maximum, and a theta."""

    mdp: MDP
    uncertainty_set: UncertaintySet
    policy: Floats
    features: Floats
    smoothing: Smoothing
    theta: Floats

    def objective(self) -> MSPRBE | None:
        """J by the oracle; None where it is not defined, or too badly conditioned."""
        try:
            return MSPRBE(self.mdp, self.policy, self.features, **terms_of(self.uncertainty_set, self.smoothing))
        except (ValueError, ArithmeticError):
            return None


def objective_case(choices: Choices, variant: Variant) -> ObjectiveCase:
    """A chain that forgets its start quickly, and features with a triangle of ones and others."""
    scale = choices.scale(variant)
    drawn = choices.mdp(variant, scale=scale, gammas=GAMMAS)
    S = drawn.n_states
    ring = np.zeros((S, 1, S))
    ring[np.arange(S), 0, (np.arange(S) + 1) % S] += 0.25
    ring[:, 0, 0] += 0.25
    mdp = MDP(0.5 * drawn.P + ring, drawn.cost, drawn.gamma)
    N = min(S, choices.size("features"))
    features = choices.array((S, N), FEATURES)
    features[:N] = np.tril(features[:N])
    corner = np.arange(N)
    features[corner, corner] = np.where(features[corner, corner] == 0.0, 1.0, features[corner, corner])
    smoothing = choices.smoothing(variant)
    case = ObjectiveCase(
        mdp=mdp,
        uncertainty_set=choices.set_of(variant, mdp),
        policy=choices.policy(mdp),
        features=features,
        smoothing=replace(smoothing, varrho=choices.pick(VARRHOS) / scale),
        theta=scale * choices.values((N,)),
    )
    return replace(case, smoothing=replace(smoothing, varrho=case.smoothing.varrho * choices.any_of(FLAT)))


def _theta(name: str, case: Case) -> None:
    check_floats(name, case[name], case["features"].shape[1:])
    known = ObjectiveCase.of({key: case[key] for key in ObjectiveCase.names()}).objective() is not None
    require(known, "features", "be independent on the states that the policy visits", case["features"])


KIND = KindOfVariant(
    case=ObjectiveCase,
    generate=objective_case,
    promises={
        "objective": "J(theta) = E[delta phi]ᵀ C⁻¹ E[delta phi] under the stationary distribution of the policy, to"
        " rounding or to options['accuracy'] times the size of its terms",
        "objective gradient": "the gradient of J, likewise",
        "tracked weights": "omega(theta) = C⁻¹ E[delta phi], likewise",
    },
    canary=Canary("objective:VANILLA", ("objective", "tracked weights")),
    example=Example(
        called="a function `(mdp, uncertainty_set, policy, features, smoothing, theta)` that returns what it promises,"
        " in this order: J, its gradient, omega(theta); one of them alone, or a tuple of two or three",
        right="2.0 * slope @ omega",
        wrong="slope @ omega",
    ),
    rules={"theta": _theta},
)
