"""Claims of Appendix D about delta: its size, its Lipschitz constant, its Hessian (lemma:delta)."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from oracles.arithmetic.ball import Ball
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper import linear_cases
from properties.claims.paper.linear import (
    Side,
    above,
    differs,
    dot,
    exceeds,
    inequality,
    largest,
    number,
    problem_of,
    row_norms,
    smooth_maximum,
)
from properties.claims.paper.smoothing import directional
from properties.claims.sides import first
from properties.judging.verdict import Finding

FAR = (1.0, 64.0)
"""How far beyond K a point may lie where the text says "for any theta"."""


def in_ball(*names: str, **options: Any) -> Any:
    """Cases with points in the ball under the given names."""
    return lambda: linear_cases.in_the_ball(*names, **options)


def point(case: Case, name: str = "theta") -> Ball:
    """A point of a case, exactly."""
    return Ball.exact(case[name])


def distance(case: Case, left: str = "theta", right: str = "other") -> float:
    """The distance of two points of a case, rounded up."""
    return above(math.hypot(*(case[left] - case[right])))


def where_inside(sides: Any, *names: str) -> Any:
    """The sides of those cases whose points lie in the ball of radius K."""
    return lambda **case: sides(**case) if all(math.hypot(*case[name]) <= case["K"] for name in names) else []


# delta: its size, its slope, the slope's slope.


def _delta(source: Any = "list", lost: float = 0.0) -> Any:
    """`lost` takes that many times K away from C_delta."""

    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        bound = problem.constants(case["K"], source=source).C_delta - lost * case["K"]
        yield f"|delta| against C_delta ({source})", largest(problem.delta(point(case))), above(bound)

    return sides


DELTA_BOUND = Claim(
    "delta-bound",
    "Appendix D (lemma:delta) and its list of constants",
    "E",
    "|δ| ≤ C_δ, with both values of C_δ",
    "‖φ‖ ≤ 1, |c| ≤ c_max",
    printed=inequality(
        "for any θ: |δ| ≤ c_max + γ R(K + log S/ϱ) + (1+γ)K",
        in_ball("theta", reach=FAR),
        _delta("lemma"),
    ),
    amended=inequality(
        "for ‖θ‖ ≤ K: |δ| ≤ c_max + γ R log S/ϱ + (1+γ)K (the list of constants)",
        in_ball("theta"),
        where_inside(_delta(), "theta"),
    ),
    amendment="hypothesis",
    broken=inequality("the same with γ K for (1+γ)K", in_ball("theta"), _delta(lost=1.0)),
    note='The lemma says "for any θ" but K bounds only projected ones. On the ball both printed values hold; the '
    "lemma counts γ R K twice. The list counts it once, which is enough.",
)


def _delta_increment(factor: Any) -> Any:
    """|delta(theta) − delta(theta')| against factor(gamma)·‖theta − theta'‖."""

    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        gap = problem.delta(point(case)) - problem.delta(point(case, "other"))
        yield "|δ(θ) − δ(θ')|", largest(gap), above(factor(case["mdp"].gamma) * distance(case))

    return sides


DELTA_LIP = Claim(
    "delta-lip",
    "Appendix D (lemma:delta)",
    "E",
    "δ is (1+γ)-Lipschitz",
    "‖φ‖ ≤ 1; any θ",
    printed=inequality(
        "|δ(θ) − δ(θ')| ≤ (1+γ)‖θ − θ'‖",
        in_ball("theta", "other", reach=FAR),
        _delta_increment(lambda gamma: 1 + gamma),
    ),
    broken=inequality("δ is 1-Lipschitz", in_ball("theta", "other"), _delta_increment(lambda gamma: 1.0)),
    note="The constant is attained by φ_s = −φ_{s'} = −g.",
)


def _slope_increment(factor: float) -> Any:
    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        gap = problem.slope(point(case)) - problem.slope(point(case, "other"))
        bound = factor * case["mdp"].gamma * case["radius"] * case["varrho"] * distance(case)
        yield "‖∇δ(θ) − ∇δ(θ')‖", largest(row_norms(gap)), above(bound)

    return sides


DELTA_GRAD_LIP = Claim(
    "delta-grad-lip",
    "Appendix D (lemma:delta)",
    "E",
    "∇δ is 2 γ R ϱ-Lipschitz",
    "‖φ‖ ≤ 1; any θ",
    printed=inequality(
        "‖∇δ(θ) − ∇δ(θ')‖ ≤ 2 γ R ϱ‖θ − θ'‖",
        in_ball("theta", "other", reach=FAR),
        _slope_increment(2.0),
    ),
    broken=inequality("∇δ is γ R ϱ/2-Lipschitz", in_ball("theta", "other"), _slope_increment(0.5)),
    note="The constant γ R ϱ is enough, because a covariance of vectors in the unit ball has norm at most 1. "
    "Features ±1 approach it near θ = 0.",
)


def _hessian(outer: bool) -> Any:
    """delta's second derivative along x against the display: with phi phiᵀ (`outer`) or phiᵀphi, a number."""

    def judge(**case: Any) -> Finding | None:
        x, features = case["x"], case["features"]
        truth = directional(features @ case["theta"], features @ x, case["varrho"], 2)
        weights = smooth_maximum(Ball.exact(features @ case["theta"]), case["varrho"])[1]
        factor = number(case["mdp"].gamma) * number(case["radius"])
        if outer:
            along = Ball.exact(features @ x)
            spread = dot(weights, along * along) - dot(weights, along) * dot(weights, along)
        else:
            Phi = Ball.exact(features)
            centre = Phi.T @ weights
            squares = (Phi * Phi) @ Ball.exact(np.ones(features.shape[1]))
            spread = (dot(weights, squares) - dot(centre, centre)) * number(float(x @ x))
        bound = case["mdp"].gamma * case["radius"] * case["varrho"] * float(x @ x)
        return first(
            [
                differs("xᵀ∇²delta x", factor * truth, factor * number(case["varrho"]) * spread),
                exceeds("xᵀ∇²delta x against its bound", factor * truth, above(bound if outer else 2 * bound)),
            ]
        )

    return judge


DELTA_HESS = Claim(
    "delta-hess",
    "Appendix D (eq:nndelta)",
    "E",
    "the displayed Hessian of δ and its bound 2 γ R ϱ",
    "‖φ‖ ≤ 1; any θ",
    printed=Statement(
        "∇²δ = γ R ϱ (Σ_{ij} e_i e_j φ_iᵀφ_i − Σ_{ij} e_i e_j φ_iᵀφ_j)/(Σ_j e_j)² ≤ 2 γ R "
        "ϱ (the number read as a multiple of the identity)",
        in_ball("theta", "x"),
        _hessian(outer=False),
    ),
    amended=Statement(
        "∇²δ = γ R ϱ (Σ_{ij} e_i e_j (φ_i φ_iᵀ − φ_i φ_jᵀ))/(Σ_j e_j)² ≤ γ R ϱ I",
        in_ball("theta", "x"),
        _hessian(outer=True),
    ),
    amendment="correction",
    note="φᵀφ is printed for φ φᵀ: the display is the trace of the Hessian. It agrees for one feature. The bound 2 γ "
    "R ϱ is right; γ R ϱ is enough.",
)

CLAIMS = (DELTA_BOUND, DELTA_LIP, DELTA_GRAD_LIP, DELTA_HESS)

SHARPER = {
    "delta-grad-lip": inequality("∇δ is γ R ϱ-Lipschitz", in_ball("theta", "other", reach=FAR), _slope_increment(1.0)),
}
"""Statements that say more than the paper, by the claim they sharpen."""
