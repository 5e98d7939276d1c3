"""Sets around sampled rows: balls around a Dirac, and the sign of the bias of the plug-in."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from oracles.planning.truth import Bracket
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sets.rows import SHARES, agree, distribution, line, sigma
from properties.claims.sides import at_most, first
from properties.judging.verdict import Finding
from properties.strategies import policies, values
from robust_core.sets import (
    L1,
    L2,
    BoundedDensity,
    ChiSquare,
    Contamination,
    KullbackLeibler,
    LInfinity,
    ReverseKullbackLeibler,
    TotalVariation,
    UncertaintySet,
    Wasserstein,
)
from robust_core.validate import Floats


@st.composite
def _diracs(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 4))
    return {"n": n, "state": draw(st.integers(0, n - 1)), "v": draw(values(n)), "radius": draw(st.sampled_from(SHARES))}


def _around_dirac(n: int, state: int, v: Floats, radius: float, *, norms: bool = False) -> Finding | None:
    p = np.eye(n)[state]
    wanted, nothing = sigma(Contamination(radius), p, v), sigma(Contamination(0.0), p, v)
    pairs: list[tuple[UncertaintySet, Bracket]] = [
        (TotalVariation(radius), wanted), (L1(2.0 * radius), wanted), (KullbackLeibler(1.0 + radius), nothing),
        (ChiSquare(1.0 + radius), nothing), (BoundedDensity(radius), nothing), (L1(2.0 * radius, True), nothing),
    ]  # fmt: skip
    if norms:
        pairs += [(LInfinity(radius), wanted), (L2(radius), wanted)]
    # The radius −log(1−R) is rounded: its neighbours enclose it, and sigma rises with it.
    log = -math.log1p(-radius)
    low, high = (sigma(ReverseKullbackLeibler(log * factor), p, v) for factor in (1.0 - 2.0**-50, 1.0 + 2.0**-50))
    return first(
        [
            *(agree(f"sigma of {type(ball).__name__} around a Dirac", sigma(ball, p, v), to) for ball, to in pairs),
            agree("sigma of KL(p‖q) <= −log(1−R) around a Dirac", Bracket(low.lower, high.upper), wanted),
        ]
    )


DIRAC_BALLS = Claim(
    "dirac-balls",
    "theorem one-sample (docs/theorems.md, T5); Wang and Zou 2021, Section 4",
    "E",
    "around a Dirac, total variation R, L1 2R and KL(p‖q) ≤ −log(1−R) are the contamination set of radius R; KL(q‖p), "
    "chi-square, densities and balls on the support are the Dirac alone",
    printed=Statement("by their support functions", _diracs, _around_dirac),
    broken=Statement(
        "and so are the L2 and L∞ balls of radius R", _diracs, lambda **case: _around_dirac(**case, norms=True)
    ),
    note="So a one-sample update with any of these sets learns contamination, or the ordinary problem: claim plug-in.",
)


def _ball(kind: int, radius: float, n: int) -> UncertaintySet:
    balls = (
        TotalVariation(radius), ChiSquare(radius), KullbackLeibler(radius), ReverseKullbackLeibler(radius),
        L2(radius), LInfinity(radius), BoundedDensity(radius), L1(radius, True), Wasserstein(radius, line(n)),
        Contamination(radius),
    )  # fmt: skip
    return balls[kind]


@st.composite
def _plug_ins(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 3))
    return {
        "p": draw(policies((1, n)))[0],
        "v": draw(values(n)),
        "radius": draw(st.sampled_from(SHARES)),
        "kind": draw(st.integers(0, 9)),
    }


def _plug_in(p: Floats, v: Floats, radius: float, kind: int) -> tuple[Bracket, Bracket]:
    """E sigma around the empirical row of two samples, and sigma around p."""
    row, n, ball = distribution(p), len(p), _ball(kind, radius, len(p))
    lower = upper = Fraction(0)
    for i, j in product(range(n), repeat=2):
        if row[i] * row[j] > 0:
            found = sigma(ball, (np.eye(n)[i] + np.eye(n)[j]) / 2.0, v)
            lower, upper = lower + row[i] * row[j] * found.lower, upper + row[i] * row[j] * found.upper
    return Bracket(lower, upper), sigma(ball, p, v)


def _optimistic(**case: object) -> Finding | None:
    found, wanted = _plug_in(**case)  # type: ignore[arg-type]
    return at_most("E sigma around the empirical row against sigma", found.lower, wanted.upper)


def _pessimistic(**case: object) -> Finding | None:
    found, wanted = _plug_in(**case)  # type: ignore[arg-type]
    return at_most("sigma against E sigma around the empirical row", wanted.lower, found.upper)


PLUG_IN_OPTIMISTIC = Claim(
    "plug-in-optimistic",
    "joint convexity of divergences and norms (Csiszár 1967) with Jensen's inequality",
    "E",
    "the plug-in underestimates the worst case: E σ around the empirical distribution ≤ σ around p",
    "{(p, q) : q in U(p)} convex, which holds for every ball of a jointly convex distance; equality for all v and p "
    "exactly if σ is affine in p (theorem one-sample)",
    printed=Statement("two samples, enumerated; ten sets", _plug_ins, _optimistic),
    broken=Statement("it overestimates it: ≥", _plug_ins, _pessimistic),
    note="Proof: for q_i in U(p_i), the mean of the q_i is in U of the mean of the p_i, so σ is concave in p. More "
    "samples make the bias smaller but do not change its sign: robust learners with a plug-in are optimistic on "
    "average.",
)

CLAIMS = (DIRAC_BALLS, PLUG_IN_OPTIMISTIC)
