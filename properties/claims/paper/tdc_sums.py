"""Claims of Appendix D that lie between the lemmas: stationary means, the drift, z, the recursion and its sums.

**M-sum.** With M_t = 2Σ_{j<=t} q^{t−j}(a x_j + w y_j + r), x = E‖z‖², y = E‖∇J‖², the exchange of sums gives
ΣM_t <= 2/(1−e^{−u beta})·(aΣx + wΣy + rT). The condition 2a/(1−e^{−u beta}) <= ½ leaves 2ΣM_t/T <= mean x + feedback +
remainder. The display before K_1 drops mean x, "from eq:trackingbound", which bounds x and not M: at a stationary point
with R = 0 its right side is 0. The step is not needed: the square root may be taken of the bound on mean x itself.

**root-trick.** ((V+√(V²+4U))/2)² <= V²+2U, since V²(V²+4U) <= (V²+2U)². 1−e^{−u beta} = O(beta) is an upper bound, but
it stands in denominators; u = 2λ−3beta goes to 0 as beta → 2λ/3, so a bound from below needs beta away from there.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.ball import Ball
from oracles.bounds.tdc_rate import remainder
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper import linear_cases, tdc_attained
from properties.claims.paper.linear import Side, above, differs, inequality, norm, number, problem_of, upper
from properties.claims.paper.tdc_drift import drift, noise
from properties.claims.paper.tdc_paths import tree_of
from properties.claims.paper.tdc_step import step_of
from properties.claims.sides import at_most, first, ratio
from properties.judging.verdict import Finding
from properties.laws.rounding import operations_bound


def _cases(*names: str, **options: Any) -> Any:
    return lambda: linear_cases.in_the_ball(*names, **options)


# zero-means.


def _zero_means(*, uniform: bool = False, **case: Any) -> Finding | None:
    """E_mu of f, g and zeta; `uniform`: under the uniform distribution of the transitions."""
    problem, theta, z = problem_of(case), Ball.exact(case["theta"]), Ball.exact(case["z"])
    weights = (
        Ball.exact(np.full(len(problem.weights.mid), 1.0 / len(problem.weights.mid))) if uniform else problem.weights
    )
    along = problem.phi @ z
    f = (z * (problem.C @ z)).sum() - weights @ (along * along)
    g = weights @ ((problem.delta(theta) - problem.phi @ problem.omega(theta)) * along)
    zeta = weights @ (noise(problem, theta) @ problem.gradient(theta))
    named = (("f", f), ("g", g), ("zeta", zeta))
    return first(differs(f"E_mu[{name}]", mean, number(0.0)) for name, mean in named)


ZERO_MEANS = Claim(
    "zero-means",
    "Appendix D.2 and D.3",
    "E",
    "E_μ[f] = E_μ[g] = E_μ[ζ] = 0 under the stationary distribution",
    "any θ and z; S ~ μ, A ~ π, S' ~ p",
    printed=Statement("the three means over all transitions vanish", _cases("theta", "z"), _zero_means),
    broken=Statement(
        "the same under the uniform distribution of the transitions",
        _cases("theta", "z"),
        lambda **case: _zero_means(**case, uniform=True),
    ),
    note="These are C = E[φφᵀ], Cω(θ) = E[δφ] and E[G(θ, ω(θ))] = −½∇J(θ). Together with h-zero they are the means "
    "that the ergodicity argument needs.",
)


# z-bound.


def _z_bound(*, lost: bool = False) -> Any:
    """‖omega − omega(theta)‖ <= K + C_delta/λ; `lost`: without K."""

    def sides(**case: Any) -> Iterable[Side]:
        problem = problem_of(case)
        c = problem.constants(case["K"])
        z = Ball.exact(case["omega"]) - problem.omega(Ball.exact(case["theta"]))
        yield "‖z‖ against K_z", norm(z), above((0.0 if lost else case["K"]) + c.C_delta / c.lam)

    return sides


Z_BOUND = Claim(
    "z-bound",
    "Appendix D.2 (after eq:glip)",
    "P",
    "‖z_t‖ ≤ K_z = K + C_δ/λ on every path",
    "Algorithm 2 projects θ and ω, so every point of a path lies in the ball of radius K",
    printed=inequality("‖ω − ω(θ)‖ ≤ K + C_δ/λ for all ‖θ‖, ‖ω‖ ≤ K", _cases("theta", "omega"), _z_bound()),
    broken=inequality("‖ω − ω(θ)‖ ≤ C_δ/λ", _cases("theta", "omega"), _z_bound(lost=True)),
    note="K + C_δ/√λ is enough, by Bessel's inequality. One state with γ = 0 attains it.",
)


# mean-drift.


def _mean_drift(*, without_C: bool = False, **case: Any) -> Finding | None:
    """The implementation's mean step, and both displayed means; ∇J by complex step."""
    problem, theta, omega = problem_of(case), Ball.exact(case["theta"]), Ball.exact(case["omega"])
    truth = problem.oracle.complex_gradient(case["theta"])
    gradient = Ball(truth.value, np.full_like(truth.value, truth.error_bound))
    z = omega - problem.omega(theta)
    return first(
        [
            drift(**case),
            differs("E[G(θ, ω(θ))]", problem.mean(problem.G(theta, problem.omega(theta))), number(-0.5) * gradient),
            differs("E[H(θ, ω)]", problem.mean(problem.H(theta, omega)), -(z if without_C else problem.C @ z)),
        ]
    )


MEAN_DRIFT = Claim(
    "mean-drift",
    "Section 5, Appendix D",
    "E",
    "E_μ G(θ, ω(θ)) = −½∇J(θ) and E_μ H(θ, ω) = −C(ω − ω(θ))",
    "no projection",
    printed=Statement(
        "both means over all transitions, of the formulas and of one step of the implementation",
        _cases("theta", "omega", max_states=2),
        _mean_drift,
    ),
    broken=Statement(
        "E_μ H(θ, ω) = −(ω − ω(θ))",
        _cases("theta", "omega", max_states=2),
        lambda **case: _mean_drift(**case, without_C=True),
    ),
    note="So the limit of the fast scale is ω(θ), and the slow scale follows −½∇J there: the two "
    "time scales of Theorem 5.",
)


# tracking-recursion (eq:trackingrecur), by enumeration of all paths.


@st.composite
def _runs(draw: st.DrawFn, /, **options: Any) -> Case:
    shape = {"min_states": 1, "max_states": 2, "max_actions": 1, "max_features": 1} | options
    case = draw(linear_cases.in_the_ball("theta", "omega", **shape))
    case["s"] = draw(st.integers(0, case["mdp"].n_states - 1))
    case["t"] = draw(st.integers(0, 2))
    case["beta"] = draw(st.sampled_from((0.125, 0.5, 1.0, 2.0**-7)))
    case["alpha"] = case["beta"] * draw(st.sampled_from((1.0, 0.5)))
    return case


def _recursion(*, corrected: bool, without_C_1: bool = False) -> Any:
    """E‖z_{t+1}‖² against the display; `corrected`: paths without an active projection, C_1 by Bessel."""

    def sides(**case: Any) -> Iterable[Side]:
        tree, t, beta = tree_of(case), case["t"], case["beta"]
        if corrected and not tree.free(t + 1):
            return
        c = tree.problem.constants(
            case["K"], corrected=corrected, **({"ratio": case["alpha"] / beta} if corrected else {})
        )
        q = 1 + 3 * beta**2 - 2 * beta * c.lam
        right = number(q ** (t + 1)) * tree.expected(tree.square, 0)
        for j in range(t + 1):
            noise_j = number(beta) * (tree.expected(tree.f, j) + tree.expected(tree.g, j)) + tree.drift(j)
            extra = number(0.0 if without_C_1 else beta**2 * c.C_1)
            right = right + number(q ** (t - j)) * (number(2.0) * noise_j + extra)
        yield f"E‖z_{t + 1}‖²", tree.expected(tree.square, t + 1), above(upper(right))

    return sides


TRACKING_RECURSION = Claim(
    "tracking-recursion",
    "Appendix D.2 (eq:trackingrecur)",
    "E",
    "the recursion of E‖z_t‖² before it is summed and averaged",
    "α ≤ β ≤ 1; all paths up to t = 3 enumerated",
    printed=inequality(
        "E‖z_{t+1}‖² ≤ q^{t+1}‖z_0‖² + 2Σ_j q^{t−j}(β E[f_j] + β E[g_j] + E⟨z_j, ω(θ_j) − ω(θ_{j+1})⟩) "
        "+ β²C_1Σ_j q^{t−j}",
        lambda: _runs(costs=(1.0, -1.0), scales=(0.25, 2.0**-6)),
        _recursion(corrected=False),
    ),
    amended=inequality(
        "the same with the corrected C_1 (claim eq-1), if no projection is active",
        lambda: tdc_attained.free_runs() | _runs(scales=(4.0, 64.0, 1.0), reach=(0.5,)),
        _recursion(corrected=True),
    ),
    amendment="hypothesis",
    broken=inequality(
        "the amended recursion without β²C_1Σq^{t−j}",
        lambda: tdc_attained.free_runs() | _runs(scales=(4.0, 64.0, 1.0), reach=(0.5,)),
        _recursion(corrected=True, without_C_1=True),
    ),
    note="The expectation of the inner product is missing in the display. Before summation the recursion is nearly "
    "sharp (see tightest), so eq:trackingbound becomes loose in the steps after it.",
)


# M-sum.


@st.composite
def _sequences(draw: st.DrawFn) -> Case:
    T = draw(st.integers(1, 5))
    sizes = st.sampled_from((0.0, 1.0, 0.25, 4.0))
    return {
        "lam": draw(st.sampled_from((0.5, 1.0, 0.125))),
        "share": draw(st.sampled_from((0.25, 0.0625, 2.0**-8))),
        "room": draw(st.sampled_from((1.0, 0.5, 0.0))),
        "x": np.array([draw(sizes) for _ in range(T)]),
        "y": np.array([draw(sizes) for _ in range(T)]),
        "w": draw(st.sampled_from((0.0, 0.125))),
        "r": draw(st.sampled_from((0.0, 0.125))),
    }


def _M_sides(
    lam: float, share: float, room: float, x: Any, y: Any, w: float, r: float, *, with_x: bool
) -> tuple[float, float]:
    """2ΣM_t/T and its bound; the coefficient of x is λbeta/8 plus `room` of what the condition <= ½ leaves."""
    beta = lam * share
    decay = 3 * beta**2 - 2 * beta * lam
    forget = -math.expm1(-(2 * lam - 3 * beta) * beta)
    least = lam * beta / 8
    a = least + room * max(0.0, forget / 4 - least)
    M, total = 0.0, 0.0
    for x_t, y_t in zip(x.tolist(), y.tolist(), strict=True):
        M = (1 + decay) * M + 2 * (a * x_t + w * y_t + r)
        total += M
    bound = 4 / forget * (w * float(y.mean()) + r) + (float(x.mean()) if with_x else 0.0)
    return 2 * total / len(x), bound


def _M_sum(*, with_x: bool, **case: Any) -> Finding | None:
    left, right = _M_sides(**case, with_x=with_x)
    return at_most("2ΣM_t/T", left - operations_bound(32 * len(case["x"]), abs(left)), right)


M_SUM = Claim(
    "M-sum",
    "Appendix D.3, before K_1",
    "E",
    "2ΣM_t/T is bounded by the feedback of ‖∇J‖² and the R_2 term",
    "any sequences ‖z_t‖², ‖∇J(θ_t)‖² ≥ 0; β < 2λ/3 and the condition ≤ ½ of the section before",
    printed=Statement(
        "2ΣM_t/T ≤ 2/(1−e^{−uβ})·3α²/(λβ)·L_δ²/λ²·mean‖∇J‖² + 6/(λβ)·4/(1−e^{−uβ})·‖R_2‖²",
        _sequences,
        lambda **case: _M_sum(**case, with_x=False),
    ),
    amended=Statement(
        "the same plus mean‖z_t‖²",
        _sequences,
        lambda **case: _M_sum(**case, with_x=True),
        lambda **case: ratio(*_M_sides(**case, with_x=True)),
    ),
    amendment="correction",
    note="eq:trackingbound bounds mean‖z_t‖², not M_t. The constants that follow are still right: put the bound on "
    "mean‖z_t‖² under the root of eq:main; then M_t is not needed.",
)


# R2-order.


def _remainder(*, factor: float = 1.0) -> Any:
    """R_2 = omega(theta) − omega(theta') − ∇omega(theta)(theta − theta') of one step."""

    def sides(**case: Any) -> Iterable[Side]:
        step = step_of(case)
        c = step.problem.constants(case["K"], corrected=True)
        linear = step.problem.jacobian(step.theta) @ (step.theta - step.theta_next)
        rest = step.target - step.target_next - linear
        yield "‖R_2‖", norm(rest), above(remainder(c, case["alpha"]) * factor)

    return sides


_CURVED: dict[str, Any] = {
    "min_states": 2, "max_states": 2, "max_actions": 1, "max_features": 1, "radii": (1.0, 0.5), "ratios": (1.0,),
    "vectors": ((1.0,), (-1.0,), (0.5,)), "gammas": (0.9375, 1.0 - 2.0**-7), "scales": (2.0**-6, 0.25),
}  # fmt: skip

R2_ORDER = Claim(
    "R2-order",
    "Appendix D.2, the Taylor expansion of ω",
    "E",
    "‖R_2‖ = O(α²)",
    "‖θ‖, ‖ω‖ ≤ K",
    amended=inequality(
        "‖R_2‖ ≤ γ R ϱ α²C_G²/(2√λ) after every step, projected or not",
        lambda: linear_cases.one_step(**_CURVED) | linear_cases.one_step(),
        _remainder(),
    ),
    amendment="substitute",
    broken=inequality(
        "the same divided by 64", lambda: linear_cases.one_step(**_CURVED), _remainder(factor=1.0 / 64.0)
    ),
    note="∇ω = C⁻¹E[φ∇δᵀ], and of ∇δ only the softmax depends on θ, with a Jacobian of norm at most ϱ (a variance of "
    "numbers in [−1, 1]); Bessel gives 1/√λ. A projection only shortens the step. R_2 = 0 for R = 0: ω is then affine.",
)


# root-trick.


@st.composite
def _roots(draw: st.DrawFn) -> Case:
    T = draw(st.integers(1, 4))
    return {
        "V": draw(st.sampled_from((0, 1, 3, 1000))),
        "U": draw(st.sampled_from((0, 1, 2, 1000))),
        "x": np.array([draw(st.sampled_from((0.0, 1.0, 0.25))) for _ in range(T)]),
        "decay": draw(st.sampled_from((0.5, 0.0, 1 - 2.0**-10))),
        "lam": draw(st.sampled_from((0.5, 1.0, 2.0**-6))),
        "share": draw(st.sampled_from((0.25, 1 / 3, 0.5, 2.0**-10, 2 / 3 - 2.0**-10))),
    }


def _root_trick(
    V: int, U: int, x: Any, decay: float, lam: float, share: float, *, away: bool, lost: bool = False
) -> Finding | None:
    """`away`: beta <= λ/3 only; `lost`: without the factor 1/(1−decay)."""
    r, values = Fraction(decay), [Fraction(value) for value in x.tolist()]
    double = sum((r ** (t - i) * values[i] for t in range(len(values)) for i in range(t + 1)), Fraction(0))
    beta = lam * share
    forget = -math.expm1(-(2 * lam - 3 * beta) * beta)
    # V√(V²+4U) <= V²+2U by squares, which are whole numbers.
    return first(
        [
            at_most("V²(V²+4U) against (V²+2U)²", V**2 * (V**2 + 4 * U), (V**2 + 2 * U) ** 2),
            at_most("the double sum", double, sum(values, Fraction(0)) / (1 if lost else 1 - r)),
            None
            if away and share > 1 / 3
            else at_most("λbeta/2 against 1 − e^{−u beta}", lam * beta / 2 - operations_bound(16, beta), forget),
        ]
    )


ROOT_TRICK = Claim(
    "root-trick",
    "Appendix D.2 and D.3",
    "E",
    "((V+√(V²+4U))/2)² ≤ V²+2U; the exchange of the double sum; 1−e^{−uβ} of order β, from below too",
    "U, V, x_t ≥ 0; β < 2λ/3",
    printed=Statement(
        "the two inequalities, and 1−e^{−uβ} ≥ λβ/2 for all β < 2λ/3",
        _roots,
        lambda **case: _root_trick(**case, away=False),
    ),
    amended=Statement(
        "the same, the last one for β ≤ λ/3 (then u ≥ λ)", _roots, lambda **case: _root_trick(**case, away=True)
    ),
    amendment="hypothesis",
    broken=Statement(
        "the same without 1/(1−e^{−uβ}) in the double sum",
        _roots,
        lambda **case: _root_trick(**case, away=True, lost=True),
    ),
    note="The printed 1−e^{−uβ} = O(β) is a bound in the wrong direction, because the term stands in denominators. u "
    "= 2λ−3β vanishes at β = 2λ/3.",
)

DRIFT_CLAIMS = (ZERO_MEANS, Z_BOUND, MEAN_DRIFT)
CLAIMS = (TRACKING_RECURSION, M_SUM, R2_ORDER, ROOT_TRICK)
