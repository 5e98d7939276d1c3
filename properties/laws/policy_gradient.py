"""Laws of gradients of the robust value of a policy: (mdp, uncertainty_set, policy, rho) -> (S, A).

rho·V^pi is the largest of rho·V^pi over the kernels of the set, each of them smooth in pi. At a policy where several
kernels attain it, every mean of their gradients is a subgradient of the maximum, and all of them are right. Derivatives
by the entries of a policy are meant along directions that keep Σ_a pi(a|s) = 1: a constant for each state is free.
"""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from oracles.planning import enclosed
from oracles.planning.policy_gradient import policy_gradient
from oracles.planning.truth import width_of
from properties.cases.choices import Choices
from properties.cases.scope import Scope
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.policy_gradient import GradientCase, gradient_case
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.rounding import UNIT, elimination_residual, operations_bound, stated_accuracy, step_bound
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import Contamination
from robust_core.validate import Floats

RARE = 2.0**-10
"""The probability of an action at the edge of the policies."""
STEP = 2.0**-24
"""Of a difference: half of the digits, and exact for policies in eighths."""


def near_worst(variant: Variant) -> list[GradientCase]:
    """The worst state and another differ by little, in either order: only one of them has mass of nature.

    The radius is the largest of the variant's: with 0 nature has no mass.
    """
    cost = np.array([[1.0, 1.5], [1.0, 1.5], [0.0, 0.0]])
    P = np.repeat((0.75 * np.eye(3) + 0.25 * np.eye(3)[2])[:, None], 2, axis=1)
    radius = float(max(variant.options.get("radii", (0.25,))))
    cases = []
    for worse in (0, 1):
        near = cost.copy()
        near[1 - worse] -= 2.0**-24
        mdp = MDP(P, near, Scope.of(variant).gamma(0.5))
        if Scope.of(variant).has(mdp):
            cases += [
                GradientCase(
                    mdp=mdp, uncertainty_set=Contamination(radius), policy=np.full((3, 2), 0.5), start=2, spread=0.5
                )
                for kind in variant.sets
                if kind is Contamination
            ]
    return cases


def _value_error(mdp: MDP) -> float:
    """How far a float value of a policy may be off: its residual over 1−gamma, of a backup or of S equations."""
    S, size = mdp.n_states, float(np.abs(mdp.cost).max()) / (1.0 - mdp.gamma)
    return (step_bound(S, mdp.n_actions, 2.0 * size) + elimination_residual(S, 1.0, S * size)) / (1.0 - mdp.gamma)


def allowed_error(variant: Variant, mdp: MDP) -> float:
    """The error the variant allows itself, relative to max|c|/(1−gamma)², and rounding.

    The visits d sum to 1/(1−gamma) and q is at most max|c|/(1−gamma); each solves S equations with entries of at most 1
    and an inverse of norm 1/(1−gamma), in the 1-norm for d and in the maximum norm for q. With r the residual of
    solutions that sum to 1, d errs by S r/(1−gamma)² and V by S r max|c|/(1−gamma)²; so d q errs by 2 S r
    max|c|/(1−gamma)³ and by the product of the two errors, which is less than half as large. q and the product itself
    are backups of numbers of twice the size.
    """
    scale = float(np.abs(mdp.cost).max()) / (1.0 - mdp.gamma) ** 2
    solved = 3.0 * mdp.n_states * elimination_residual(mdp.n_states, 1.0, scale) / (1.0 - mdp.gamma)
    return stated_accuracy(variant.options, scale) + solved + step_bound(mdp.n_states, mdp.n_actions, 2.0 * scale)


def _answer(variant: Variant, case: GradientCase) -> Floats:
    return np.array(variant.make(case.mdp, case.uncertainty_set, case.policy.copy(), case.rho()), dtype=np.float64)


def _softmax(variant: Variant) -> bool:
    return variant.options.get("parameters") == "softmax"


def _centred(gradient: Floats) -> Floats:
    return np.asarray(gradient - gradient.mean(axis=1, keepdims=True))


def _by_parameters(gradient: Floats, policy: Floats) -> Floats:
    """The chain rule: ∂pi(a|s)/∂x(s,a') = pi(a|s)(1_{a = a'} − pi(a'|s))."""
    return np.asarray(policy * (gradient - (policy * gradient).sum(axis=1, keepdims=True)))


def nearest(gradients: list[Floats], point: Floats) -> Floats:
    """The mean of the gradients that is closest to a point: the closest of those on every face."""
    best, distance = gradients[0], np.inf
    for count in range(1, len(gradients) + 1):
        for first, *others in combinations(gradients, count):
            edges = np.array([(other - first).reshape(-1) for other in others]).reshape(len(others), first.size)
            weights = np.linalg.lstsq(edges.T, (point - first).reshape(-1), rcond=None)[0] if others else np.zeros(0)
            if (weights < 0.0).any() or weights.sum() > 1.0:
                continue
            mean = first + (weights @ edges).reshape(first.shape)
            if np.abs(mean - point).max() < distance:
                best, distance = mean, float(np.abs(mean - point).max())
    return best


def _matches(variant: Variant, case: GradientCase) -> Finding | None:
    mdp, policy = case.mdp, case.policy
    chosen: Any = case.uncertainty_set
    if chosen.pairs or policy.min() <= 0.0:
        return None
    got = _answer(variant, case)
    if got.shape != mdp.cost.shape:
        return Finding("shape of the gradient", got.shape, mdp.cost.shape)
    # A float argmax may take any state whose W is the largest up to rounding.
    found = policy_gradient(mdp, chosen.radius, policy, case.rho(), slack=2.0 * _value_error(mdp))
    exact = [np.array([[float(x) for x in row] for row in gradient]) for gradient in found.gradients]
    if _softmax(variant):
        wanted, shown = [_by_parameters(gradient, policy) for gradient in exact], got
    else:
        wanted, shown = [_centred(gradient) for gradient in exact], _centred(got)
    what = "gradient" if _softmax(variant) else "gradient less its mean over the actions: "
    return compare(shown, nearest(wanted, shown), allowed_error(variant, mdp), what)


def _read_edge(choices: Choices, variant: Variant) -> GradientCase:
    """A policy whose other actions are rare, where the state after the worst one is its twin."""
    case = gradient_case(choices, variant)
    mdp, (S, A) = case.mdp, case.mdp.cost.shape
    policy = RARE + (1.0 - A * RARE) * np.eye(A)[case.policy.argmax(axis=1)]
    P, cost, worst = mdp.P.copy(), mdp.cost.copy(), int(_robust(case, policy)[0].argmax())
    for rows in (P, cost, policy):
        rows[(worst + 1) % S] = rows[worst]
    return replace(case, mdp=MDP(P, cost, mdp.gamma), policy=policy)


def _differences(variant: Variant, case: GradientCase) -> Finding | None:
    """A gradient g of the maximum: g·d <= (f(pi + hd) − f(pi))/h + hM/2 for every d, where |f''| <= M for each kernel.

    With W(P) = (I − gammaP)⁻¹c, W'' = 2 gamma (I − gammaP)⁻¹P_d(I − gammaP)⁻¹(c_d + gammaP_dW), and a move of
    probability h from one action to another has Σ_a|d| = 2: M = 8 gamma max|c|/(1−gamma)³. A kernel that is the worst
    up to rounding adds the error of its value, over h.
    """
    mdp, policy = case.mdp, case.policy
    if policy.min() <= STEP:
        return None
    got = _answer(variant, case)
    if got.shape != mdp.cost.shape:
        return Finding("shape of the gradient", got.shape, mdp.cost.shape)
    allowed = allowed_error(variant, mdp)
    if _softmax(variant):
        sums = got.sum(axis=1)
        finding = compare(sums, np.zeros(mdp.n_states), mdp.n_actions * allowed, "sum of the gradient over the actions")
        if finding is not None:
            return finding
        got, allowed = got / policy, allowed / float(policy.min())
    value, error = _value(case, policy)
    largest = float(np.abs(mdp.cost).max())
    curvature = 8.0 * mdp.gamma * largest / (1.0 - mdp.gamma) ** 3
    for s in range(mdp.n_states):
        for a, b in zip(range(mdp.n_actions), range(1, mdp.n_actions), strict=False):
            for up, down in ((a, b), (b, a)):
                moved = policy.copy()
                moved[s, up] += STEP
                moved[s, down] -= STEP
                after, other = _value(case, moved)
                slope = (after - value) / STEP
                slack = 2.0 * allowed + STEP * curvature / 2.0 + (error + other + 2.0 * _value_error(mdp)) / STEP
                if got[s, up] - got[s, down] > slope + slack:
                    what = f"derivative in state {s} towards action {up} from action {down}"
                    return Finding(what, float(got[s, up] - got[s, down]), f"at most {slope!r}", slack)
    return None


def _robust(case: GradientCase, policy: Floats) -> tuple[Floats, float]:
    """V^pi, and the width of its enclosure."""
    V, _ = enclosed.evaluate(case.mdp, case.uncertainty_set, policy)
    return V.value, width_of(case.uncertainty_set, V)


def _value(case: GradientCase, policy: Floats) -> tuple[float, float]:
    """rho·V^pi, and how far it may be off."""
    V, width = _robust(case, policy)
    size = float(np.abs(V).max())
    return float(case.rho() @ V), width + operations_bound(case.mdp.n_states + 2, size) + UNIT * size


PROMISE = "policy gradient"
LAWS = (
    Law(
        "policy gradient",
        ("policy gradient",),
        PROMISE,
        "under contamination the result is d(s) q(s,a) at the discount b = γ(1−R), in exact rationals; where several "
        "states are worst, a mean of the gradients of each",
        Generated(gradient_case),
        _matches,
        sets=(Contamination,),
    ),
    Law(
        "policy gradient, edge",
        ("policy gradient",),
        PROMISE,
        "the same where actions are rare and two states are alike, the worst one among them",
        Generated(_read_edge),
        _matches,
        after=("policy gradient",),
        sets=(Contamination,),
    ),
    Law(
        "policy gradient by differences",
        ("policy gradient",),
        PROMISE,
        "g·d <= (f(π + hd) − f(π))/h + O(h) for every small move d of probability, f the robust value by certified "
        "evaluation",
        Generated(gradient_case),
        _differences,
        after=("policy gradient",),
    ),
)
