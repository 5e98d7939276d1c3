"""Which balls lie in which: Pinsker, Bretagnolle and Huber, chi-square and KL, likelihood ratios, norms, transport.

All radii that are not rational are rounded up, so an inclusion that holds is never refuted by their rounding.
"""

import math

import numpy as np

from properties.claims.claim import Claim, Statement
from properties.claims.sets.rows import agree, line, rows, shares, sharpness, sigma, upward, within
from properties.claims.sides import first
from properties.judging.verdict import Finding
from robust_core.sets import (
    L1,
    L2,
    BoundedDensity,
    ChiSquare,
    Contamination,
    KullbackLeibler,
    LInfinity,
    LocalAdversary,
    ReverseKullbackLeibler,
    TotalVariation,
    Wasserstein,
)
from robust_core.validate import Floats


def _pinsker(radius: float) -> TotalVariation:
    return TotalVariation(upward(math.sqrt(radius / 2), 1.0))


KL_IN_TV = Claim(
    "kl-in-tv",
    "Pinsker's inequality; Csiszár and Körner, Information Theory, problem 3.17",
    "E",
    "the KL ball of radius r lies in the total variation ball of radius √(r/2)",
    "KL(q‖p) in nats; d_TV = ½‖·‖₁",
    printed=Statement(
        "σ_KL(v) ≤ σ_TV(v) with TV radius √(r/2)",
        rows,
        lambda p, v, radius: within(KullbackLeibler(radius), _pinsker(radius), p, v),
        lambda p, v, radius: sharpness(KullbackLeibler(radius), _pinsker(radius), p, v),
    ),
    broken=Statement(
        "with TV radius r/2",
        rows,
        lambda p, v, radius: within(KullbackLeibler(radius), TotalVariation(min(radius / 2, 1.0)), p, v),
    ),
    note="The same holds for KL(p‖q): claim pinsker.",
)


def _huber(radius: float, power: float = 0.5) -> TotalVariation:
    return TotalVariation(upward((-math.expm1(-radius)) ** power, 1.0))


BRETAGNOLLE_HUBER = Claim(
    "bretagnolle-huber",
    "Bretagnolle and Huber 1979; Tsybakov 2009",
    "E",
    "the KL ball of radius r lies in the total variation ball of radius √(1 − e^{−r})",
    "both directions of KL",
    printed=Statement(
        "σ_KL(v) ≤ σ_TV(v) with TV radius √(1 − e^{−r}), for KL(q‖p) and for KL(p‖q)",
        rows,
        lambda p, v, radius: first(
            within(ball(radius), _huber(radius), p, v) for ball in (KullbackLeibler, ReverseKullbackLeibler)
        ),
        lambda p, v, radius: sharpness(ReverseKullbackLeibler(radius), _huber(radius), p, v),
    ),
    broken=Statement(
        "with TV radius 1 − e^{−r}",
        rows,
        lambda p, v, radius: within(KullbackLeibler(radius), _huber(radius, 1.0), p, v),
    ),
    note="It is smaller than Pinsker's radius for r > 1.6 and always below 1; Pinsker's radius is at least 1 for r ≥ "
    "2.",
)


CHI_SQUARE_IN_KL = Claim(
    "chi2-in-kl",
    "Gibbs and Su 2002",
    "E",
    "the chi-square ball of radius r lies in the KL ball of radius log(1 + r), hence in that of radius r",
    "χ² = Σ(q−p)²/p without a factor ½",
    printed=Statement(
        "σ_χ²(v) ≤ σ_KL(v) with KL radius log(1 + r)",
        rows,
        lambda p, v, radius: within(ChiSquare(radius), KullbackLeibler(upward(math.log1p(radius))), p, v),
        lambda p, v, radius: sharpness(ChiSquare(radius), KullbackLeibler(upward(math.log1p(radius))), p, v),
    ),
    broken=Statement(
        "with KL radius r/2, the limit for small r",
        rows,
        lambda p, v, radius: within(ChiSquare(radius), KullbackLeibler(radius / 2), p, v),
    ),
    note="Proof: KL(q‖p) = E_q log(q/p) ≤ log E_q (q/p) = log(1 + χ²), by Jensen.",
)


def _least_mass(p: Floats) -> float:
    return float(p[p > 0.0].min())


def _reverse(p: Floats, v: Floats, radius: float, *, stays: bool) -> Finding | None:
    """Total variation in chi-square: Σ(q−p)²/p <= Σ(q−p)²/p_min <= 2R²/p_min, as Σd = 0 gives Σd² <= ½(Σ|d|)²."""
    inner = L1(2.0 * radius, True) if stays else TotalVariation(radius)
    return within(inner, ChiSquare(upward(2.0 * radius**2 / _least_mass(p))), p, v)


REVERSE_PINSKER = Claim(
    "reverse-pinsker",
    "reverse Pinsker inequality; Sason and Verdú 2016",
    "E",
    "the total variation ball of radius R lies in the chi-square ball of radius 2R²/p_min",
    "printed: p_min the least positive mass; hence in the KL ball of radius log(1 + 2R²/p_min)",
    printed=Statement(
        "for the ball of all q with ½‖q−p‖₁ ≤ R",
        shares,
        lambda **case: _reverse(**case, stays=False),
    ),
    amended=Statement(
        "for those q that stay on the support of p (or if p is positive everywhere)",
        shares,
        lambda **case: _reverse(**case, stays=True),
    ),
    amendment="hypothesis",
    note="Mass outside the support of p has infinite divergence: bounds in terms of p_min need absolute continuity.",
)


def _ratios(p: Floats, v: Floats, radius: float, *, logarithm: bool = True) -> Finding | None:
    outer = upward(-math.log1p(-radius)) if logarithm else radius
    return first(
        (
            within(Contamination(radius), ReverseKullbackLeibler(outer), p, v),
            within(BoundedDensity(radius), KullbackLeibler(outer), p, v),
            within(BoundedDensity(radius), TotalVariation(radius), p, v),
            within(Contamination(radius), TotalVariation(radius), p, v),
        )
    )


RATIO_BALLS = Claim(
    "ratio-balls",
    "bounds on likelihood ratios; Wang and Zou 2021, Section 3 (contamination in total variation)",
    "E",
    "contamination (q ≥ (1−R)p) and bounded densities (q ≤ p/(1−R)) lie in the ball of total variation R; the first "
    "in KL(p‖q) ≤ −log(1−R), the second in KL(q‖p) ≤ −log(1−R)",
    "R < 1",
    printed=Statement("σ of the inner set is at most that of the outer one, all four", shares, _ratios),
    broken=Statement("with KL radius R", shares, lambda **case: _ratios(**case, logarithm=False)),
    note="Proof: log(p/q) ≤ −log(1−R) everywhere, so its mean is too; Σ(p−q)⁺ ≤ R Σp.",
)


def _norms(p: Floats, v: Floats, radius: float, *, factor: float | None = None) -> Finding | None:
    n = len(p)
    root = math.sqrt(n) if factor is None else factor
    return first(
        (
            within(L1(radius), L2(upward(radius / math.sqrt(2))), p, v),
            within(L1(radius), LInfinity(radius / 2), p, v),
            within(L2(radius), L1(upward(root * radius)), p, v),
            within(LInfinity(radius), L1(n * radius), p, v),
            within(LInfinity(radius), L2(upward(math.sqrt(n) * radius)), p, v),
        )
    )


NORM_BALLS = Claim(
    "norm-balls",
    "equivalence of norms on differences of distributions",
    "E",
    "on the simplex L1(r) lies in L2(r/√2) and in L∞(r/2), L2(r) in L1(√S r), L∞(r) in L1(S r) and L2(√S r)",
    "Σ(q−p) = 0, which gives the factors ½ and 1/√2",
    printed=Statement("σ of the inner ball is at most that of the outer one, all five", rows, _norms),
    broken=Statement("L2(r) lies in L1(r)", rows, lambda **case: _norms(**case, factor=1.0)),
)


def _transport(p: Floats, v: Floats, radius: float, *, convention: float = 1.0) -> Finding | None:
    n, share = len(p), min(radius, 1.0)
    discrete = 1.0 - np.eye(n)
    same = sigma(TotalVariation(min(radius * convention, 1.0)), p, v)
    return first(
        (
            agree("sigma of W1 with the discrete metric", sigma(Wasserstein(radius, discrete), p, v), same),
            within(TotalVariation(share), Wasserstein(share * max(n - 1, 1), line(n)), p, v),
            within(Wasserstein(share, line(n)), TotalVariation(share), p, v),
            within(LocalAdversary(radius, line(n)), Wasserstein(radius, line(n)), p, v),
        )
    )


W1_BALLS = Claim(
    "w1-balls",
    "Villani 2009; Gibbs and Su 2002",
    "E",
    "with the discrete metric the W1 ball is the total variation ball; d_min·TV ≤ W1 ≤ diam·TV; the local adversary "
    "(W∞) lies in the W1 ball of its radius",
    "checked on the line, d_min = 1",
    printed=Statement("all four, by their support functions", rows, _transport),
    broken=Statement(
        "with the discrete metric the W1 ball is the L1 ball of its radius",
        rows,
        lambda **case: _transport(**case, convention=0.5),
    ),
)

CLAIMS = (KL_IN_TV, BRETAGNOLLE_HUBER, CHI_SQUARE_IN_KL, REVERSE_PINSKER, RATIO_BALLS, NORM_BALLS, W1_BALLS)
