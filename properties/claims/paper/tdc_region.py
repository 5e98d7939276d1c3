"""Claims of Appendix D about the step sizes: where q is a contraction, where alpha and beta are admissible."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.ball import Ball
from oracles.bounds.tdc import PrintedConstants
from oracles.bounds.tdc_rate import largest_alpha
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper import linear_cases
from properties.claims.paper.linear import upper
from properties.claims.sides import at_most, equal, first
from properties.judging.verdict import Finding
from robust_core.validate import Floats

# q-range, in rationals.


@st.composite
def _q_cases(draw: st.DrawFn) -> Case:
    return {
        "lam": draw(st.sampled_from((0.5, 1.0, 0.25, 2.0**-6))),
        "beta": draw(st.sampled_from((0.25, 0.5, 1.0, 2.0**-4, 2.0**-10, 0.3125))),
        "t": draw(st.integers(0, 6)),
    }


def _q(lam: float, beta: float, t: int, *, guarded: bool) -> Finding | None:
    """`guarded`: only for beta < 2λ/3."""
    rate, step = Fraction(lam), Fraction(beta)
    u = 2 * rate - 3 * step
    q = 1 + 3 * step**2 - 2 * step * rate
    found = equal("q against 1 − u beta", q, 1 - u * step)
    x = float(u * step)
    exponential = Ball.exact(-x).exp()
    if found is None and float(q) > upper(exponential):
        found = Finding("q", float(q), f"at most e^(−u beta) = {float(exponential.mid)}")
    if found is not None or (guarded and u <= 0):
        return found
    if u == 0:
        return Finding("1/(u beta) at beta = 2λ/3", "a division by zero", "a bound on Σ q^j")
    powers = sum((q**j for j in range(t + 1)), Fraction(0))
    return first(
        [
            at_most("Σ_{j<=t} q^j against 1/(u beta)", powers, 1 / (u * step)),
            None if not guarded else at_most("1 − λ²/3 <= q", 1 - rate**2 / 3, q),
            None if not guarded else at_most("q < 1", q, 1 - Fraction(1, 2**60)),
        ]
    )


Q_RANGE = Claim(
    "q-range",
    "Appendix D.2 (after C_z)",
    "E",
    "q = 1+3β²−2β λ = 1−u β ≤ e^{−u β}, and the geometric sums in which it is used",
    "β > 0",
    printed=Statement(
        "q = 1 − u β ≤ e^{−u β}, u = 2λ − 3β, and Σ_{j≤t} q^j ≤ 1/(u β) as in eq:tracking1",
        _q_cases,
        lambda **case: _q(**case, guarded=False),
        exact=True,
    ),
    amended=Statement(
        "the same for 0 < β < 2λ/3; there, and only there, 1 − λ²/3 ≤ q < 1",
        _q_cases,
        lambda **case: _q(**case, guarded=True),
        exact=True,
    ),
    amendment="hypothesis",
    note="The identity and the inequality always hold. q is a contraction if and only if 0 < β < 2λ/3, a condition "
    "that the paper does not state. The best factor is 1 − λ²/3, at β = λ/3, so the error needs at least 3/λ² ≥ 3N² "
    "steps to fall by a factor e.",
)

# admissible.


@st.composite
def constants(draw: st.DrawFn) -> Case:
    """What the constants of Appendix D are made of."""
    return {
        "c_max": draw(st.sampled_from((1.0, 0.0))),
        "gamma": draw(st.sampled_from(linear_cases.GAMMAS)),
        "radius": draw(st.sampled_from(linear_cases.RADII)),
        "n_states": draw(st.integers(1, 4)),
        "varrho": draw(st.sampled_from(linear_cases.VARRHOS)),
        "K": draw(st.sampled_from(linear_cases.SCALES)),
        "lam": draw(st.sampled_from((0.5, 1.0, 0.25, 2.0**-6))),
    }


@st.composite
def _betas(draw: st.DrawFn) -> Case:
    return draw(constants()) | {"fraction": draw(st.sampled_from((1.0, 0.5, 2.0**-4, 2.0**-10)))}


NEAR = 2.0**-30
"""A relative distance from the edge of the region, far above the rounding of its formula."""


def _conditions(c: PrintedConstants, alpha: float, beta: float) -> float:
    """The larger of the two quantities that the text asks to be at most ½."""
    u = 2 * c.lam - 3 * beta
    forget = -math.expm1(-u * beta)
    G = c.gamma + 2 * c.gamma * c.radius * c.varrho * c.K
    speed = ((1 + c.gamma) / c.lam) ** 2
    tracking = 2 / forget * (c.lam * beta / 8 + 6 * alpha**2 / (c.lam * beta) * speed * G**2)
    K_1 = 2 * G * math.sqrt(2 / forget * 3 * alpha**2 / (c.lam * beta) * speed)
    return max(tracking, K_1)


def _admissible(fraction: float, *, reach: float = 1 / 3, **case: Any) -> Finding | None:
    """Every beta <= reach·λ has a positive alpha, and `largest_alpha` is the edge."""
    c = PrintedConstants(**case)
    beta = reach * c.lam * fraction
    alpha = largest_alpha(c, beta)
    if alpha <= 0.0:
        return Finding(f"an admissible alpha for beta = {beta}", "none", "a positive one")
    inside, outside = _conditions(c, alpha * (1 - NEAR), beta), _conditions(c, alpha * (1 + NEAR), beta)
    if inside > 0.5:
        return Finding("the conditions just below the largest alpha", inside, "at most 1/2")
    if alpha < beta and outside <= 0.5:
        return Finding("the conditions just above the largest alpha", outside, "above 1/2")
    return None


ADMISSIBLE = Claim(
    "admissible",
    "Appendix D.2 and D.3",
    "E",
    "α and β can be chosen such that the tracking condition and K_1 are at most ½",
    printed=Statement(
        "for every β ≤ λ/3 there is α > 0 with 2/(1−e^{−u β})(λβ/8 + 6α²/(λβ)(L_δ/λ)²(γ + "
        "2γ R ϱ K)²) ≤ ½ and K_1 ≤ ½; `largest_alpha` is the edge of that region",
        _betas,
        _admissible,
    ),
    broken=Statement("the same for every β ≤ 0.66λ", _betas, lambda **case: _admissible(**case, reach=0.66)),
    note="The region is β < 2λ/3, E = 1 − e^{−u β} > λβ/2 and α² ≤ λβ/(L_δ G/λ)²·min((E/4 − λβ/8)/6, E/96), G = γ + "
    "2 γ R ϱ K. For small β it is about α/β ≤ λ²/(7 L_δ G). With a = b in Theorem 5 the ratio of the two step sizes "
    "must be below this bound, a condition that the theorem does not state.",
)

# figure-steps: the step sizes of Figure 3 against the region of the proof, in rationals.


@st.composite
def _five_features(draw: st.DrawFn) -> Case:
    """Five features of length at most 1 in every state, and a distribution of the states (weights, not all 0)."""
    S = draw(st.integers(1, 5))
    rows = []
    for _ in range(S):
        unit = [0.0] * 5
        unit[draw(st.integers(0, 4))] = 1.0
        even = [draw(st.sampled_from((0.25, 0.0, -0.375))) for _ in range(5)]
        rows.append(draw(st.sampled_from((unit, even))))
    weights = [float(draw(st.integers(1, 4))) for _ in range(S)]
    return {"features": np.array(rows), "weights": np.array(weights)}


def _least_diagonal(features: Floats, weights: Floats) -> Fraction:
    """The smallest diagonal entry of C = E[phi phiᵀ], which is at least λ."""
    law = exact.distribution(weights.tolist()).fractions()
    columns = [[Fraction(x) for x in column] for column in features.T.tolist()]
    return min(sum((m * x * x for m, x in zip(law, column, strict=True)), Fraction(0)) for column in columns)


def _figure_step(features: Floats, weights: Floats) -> Finding | None:
    """beta = 1/2 is in the region only if λ > 3/4."""
    edge = Fraction(2, 3) * _least_diagonal(features, weights)
    return None if Fraction(1, 2) < edge else Finding("β = 1/2", 0.5, f"below 2λ/3, which is at most {float(edge)}")


def _largest_step(features: Floats, weights: Floats, *, share: Fraction = Fraction(1)) -> Finding | None:
    bound = share * Fraction(1, features.shape[1])
    return at_most("the smallest diagonal entry of C, at least λ", _least_diagonal(features, weights), bound)


FIGURE_STEPS = Claim(
    "figure-steps",
    "Section 6.2 with Theorem 5",
    "E",
    "the step sizes of Figure 3, α = 0.1 and β = 0.5, lie in the region of the proof of Theorem 5",
    "five features, ‖φ_s‖ ≤ 1 (Assumption 2)",
    printed=Statement(
        "β = 0.5 < 2λ/3 for some five features of length at most 1", _five_features, _figure_step, exact=True
    ),
    amended=Statement(
        "λ ≤ 1/N for N features, so the region asks for β < 2/(3N), 2/15 for five features",
        _five_features,
        _largest_step,
        lambda **case: float(_least_diagonal(**case) * 5),
        exact=True,
    ),
    amendment="correction",
    broken=Statement(
        "λ ≤ 1/(4N)", _five_features, lambda **case: _largest_step(**case, share=Fraction(1, 4)), exact=True
    ),
    note="N λ ≤ trace C = E‖φ‖² ≤ 1, with equality for unit vectors visited equally often. The paper does not print "
    "this claim; it is implied because Figure 3 illustrates Theorem 5. The features of Figure 3 are drawn from "
    "(0, 1)⁵ and can also be longer than 1.",
)

CLAIMS = (Q_RANGE, ADMISSIBLE, FIGURE_STEPS)
