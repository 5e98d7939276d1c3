"""Laws of the objective of linear evaluation: J, its gradient and omega(theta) against the oracle.

The tolerance is that of a float implementation that solves for the stationary distribution and for omega. Every state
of a case goes to state 0 with probability of at least d, so a distribution with a residual r in the 1-norm is within
r/d of the stationary one (Dobrushin): d = 1/4, and in the chains of hard cases d = 2^-9, so a few hundred steps are not
enough. Of chains with a smaller d, which files may hold, these laws say nothing.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from oracles.linear.msprbe import MSPRBE
from properties.cases.choices import Choices
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.objective import PARTS, ObjectiveCase, objective_case
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.linear import COMPONENTS
from properties.laws.rounding import UNIT, elimination_residual, stated_accuracy
from robust_core.mdp import MDP
from robust_core.problem import Kind, Variant
from robust_core.sets import Contamination

KIND: tuple[Kind, ...] = ("objective",)
SLOW = 2.0**-7
"""The share of the steps of a slow chain that are not those of a ring."""
SMALLER = 2.0**-8
"""The size of a feature over that of the last one, in hard cases: what is cut off in C shows."""
FORGETTING = 0.25 * SLOW
"""The least probability with which every state goes to one of them."""
NAMES = ("J", "gradient", "omega")


@dataclass(frozen=True)
class Errors:
    """How far J, its gradient and omega may be from the truth by rounding, and how large their terms can be."""

    allowed: tuple[float, float, float]
    sizes: tuple[float, float, float]


def rounding_errors(case: ObjectiveCase, J: MSPRBE) -> Errors:
    """With f = max|phi|, D >= |delta| and the error e of mu in the 1-norm:

    mu solves S equations, one of which says that it sums to 1 and stands in the place of one of the chain's, whose
    residual is less the sum of the others: 2 S residuals r of `elimination_residual`, entries and Σ mu being at most 1.
    With the roundings of the sums over states, actions and features, e = 2 S r/d + 16 (S + N + A) u.
    E[delta phi] errs by e f D, C by e f², omega by (√N of the first + N|omega| times the second + the residual of N
    equations in the 2-norm)/λ, λ the least eigenvalue of C; softmax weights err by the factor exp(2 varrho N u v),
    v = max Σ|phi theta|.
    """
    S, N = case.features.shape
    f, theta = float(np.abs(case.features).max()), case.theta
    v = float((np.abs(case.features) @ np.abs(theta)).max())
    D = float(np.abs(case.mdp.cost).max()) + 2.0 * (2.0 * v + np.log(S + 1) / case.smoothing.varrho)
    e = 2 * S * elimination_residual(S, 1.0, 1.0) / _forgetting(case.mdp) + 16 * (S + N + case.mdp.n_actions) * UNIT
    omega, slope = J.omega(theta), J.slope(theta)
    o, m, floor = float(np.abs(omega.value).max()), float(np.abs(slope.value).max()), J.floor
    moment = e * f * D
    solved = np.sqrt(N) * elimination_residual(N, f * f, N * o)
    weights = (np.sqrt(N) * moment + N * e * f * f * o + solved) / floor
    bend = e * f * f * 3.0 + 4.0 * case.smoothing.varrho * (N + 2) * v * UNIT * f * f
    value = N * (moment * o + (f * D) * weights)
    gradient = 2.0 * N * (bend * o + m * weights)
    allowed = value, gradient, weights
    sizes = N * (f * D) ** 2 / floor, 2.0 * N * m * f * D / floor, f * D / floor
    return Errors(allowed, sizes)


def judged_errors(case: ObjectiveCase) -> Errors | None:
    """The errors; None if nothing is known of them."""
    J = case.objective()
    return None if J is None or _forgetting(case.mdp) < FORGETTING else rounding_errors(case, J)


def _forgetting(mdp: MDP) -> float:
    """d."""
    return float(mdp.P.min(axis=(0, 1)).max())


def _answer(variant: Variant, case: ObjectiveCase) -> dict[str, Any]:
    """What the variant returns, by promise."""
    result = variant.make(
        case.mdp, case.uncertainty_set, case.policy, case.features, case.smoothing, case.theta
    )  # fmt: skip
    made = [promise for promise in PARTS if promise in variant.promises]
    parts = result if isinstance(result, tuple) else (result,)
    return dict(zip(made, parts, strict=False)) if len(parts) == len(made) else {}


def _matches(promise: str, variant: Variant, case: ObjectiveCase) -> Finding | None:
    J = case.objective()
    if J is None or _forgetting(case.mdp) < FORGETTING:
        return None
    found, place = _answer(variant, case), PARTS.index(promise)
    if promise not in found:
        made = [each for each in PARTS if each in variant.promises]
        return Finding("the result", "another number of parts", f"one for each of {', '.join(made)}")
    right = (J.J, J.gradient, J.omega)[place](case.theta)
    errors = rounding_errors(case, J)
    allowed = errors.allowed[place] + stated_accuracy(variant.options, errors.sizes[place]) + right.error_bound
    return compare(found[promise], np.asarray(right.value), allowed, NAMES[place], axes=COMPONENTS)


def _read_hard(choices: Choices, variant: Variant) -> ObjectiveCase:
    """The case on a chain that goes round a ring most of the time, with features of different sizes."""
    case = objective_case(choices, variant)
    mdp, ring = case.mdp, np.roll(np.eye(case.mdp.n_states), 1, axis=1)[:, None, :]
    slow = MDP(SLOW * mdp.P + (1.0 - SLOW) * ring, mdp.cost, mdp.gamma)
    return replace(case, mdp=slow, features=case.features * SMALLER ** np.arange(case.features.shape[1]))


def read_large(choices: Choices, variant: Variant) -> ObjectiveCase:
    """The case on a chain that visits every state, with a feature of the last state and one of all others.

    With as many features as are drawn, the least eigenvalue of C is so small, and the bound on the rounding of an
    elimination so large, that a wrong term cannot be told from rounding.
    """
    case = objective_case(choices, variant)
    S, scale = case.mdp.n_states, float(np.abs(case.theta).max()) or 1.0
    P = 0.5 * case.mdp.P + 0.5 / S
    return replace(
        case,
        mdp=MDP(P / P.sum(axis=-1, keepdims=True), case.mdp.cost, case.mdp.gamma),
        features=np.eye(2)[(np.arange(S) == S - 1).astype(int)],
        theta=scale * np.array([1.0, 2.0]),
    )


def _laws(promise: str, statement: str) -> tuple[Law, Law]:
    judge = partial(_matches, promise)
    law = Law(promise, KIND, promise, statement, Generated(objective_case), judge, sets=(Contamination,))
    hard = f"{statement}; where the chain is nearly periodic and features differ in size"
    return law, replace(law, name=f"{promise}, hard", statement=hard, cases=Generated(_read_hard), after=(promise,))


LAWS = (
    *_laws(PARTS[0], "J(θ) is E[δφ]ᵀC⁻¹E[δφ], against ball arithmetic"),
    *_laws(PARTS[2], "ω(θ) is C⁻¹E[δφ], against ball arithmetic"),
    *_laws(PARTS[1], "∇J(θ) is 2 M ω(θ), against ball arithmetic"),
)
