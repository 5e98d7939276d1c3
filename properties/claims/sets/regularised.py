"""Robust values as regularised ones, and where q >= 0 breaks them."""

from fractions import Fraction
from statistics import median

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.exact import Vector
from oracles.planning.truth import Bracket
from oracles.sets.rationals import enclose_root
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sets.rows import agree, distribution, nominal, rows, sigma
from properties.claims.sides import at_most, dot, first, fractions
from properties.judging.verdict import Finding
from properties.strategies import values
from robust_core.sets import L1, L2, ChiSquare, LInfinity
from robust_core.validate import Floats


def _squares(v: Vector, centre: Fraction) -> Fraction:
    return sum(((x - centre) ** 2 for x in v), Fraction(0))


def _mean_value(v: Vector) -> Fraction:
    return sum(v, Fraction(0)) / len(v)


def _with_norm(p: Floats, v: Floats, radius: float, centre: Fraction) -> Bracket:
    """p·v + r‖v − centre‖₂."""
    return Bracket(*enclose_root(nominal(p, v), Fraction(radius) ** 2 * _squares(fractions(v), centre)))


def _ball(p: Floats, v: Floats, radius: float, *, centred: bool) -> Finding | None:
    V, found = fractions(v), sigma(L2(radius), p, v)
    plain = _with_norm(p, v, radius, Fraction(0))
    if not centred:
        return agree("sigma of L2 against p·v + r‖v‖", found, plain)
    middle = _mean_value(V)
    bound = _with_norm(p, v, radius, middle)
    # q = p + r(v − mean)/‖v − mean‖ is a distribution if p‖v − mean‖ >= r(mean − v) everywhere: compare squares.
    gaps = [(x, middle - y) for x, y in zip(distribution(p), V, strict=True) if y < middle]
    free = all(x**2 * _squares(V, middle) >= Fraction(radius) ** 2 * gap**2 for x, gap in gaps)
    return first(
        [
            at_most("sigma of L2 against p·v + r‖v − mean‖", found.lower, bound.upper),
            at_most("p·v + r‖v − mean‖ against p·v + r‖v‖", bound.lower, plain.upper),
            agree("sigma of L2 where q >= 0 does not bind", found, bound) if free else None,
        ]
    )


REGULARISED_BALL = Claim(
    "regularised-ball",
    "Derman, Geist and Mannor 2021 (Twice regularized MDPs)",
    "E",
    "with kernels in a ball P = P₀ + {‖·‖₂ ≤ r}, the robust value is the nominal one regularised by r‖v‖₂",
    "printed: the ball is not cut by the simplex",
    printed=Statement(
        "σ = p·v + r‖v‖₂ over the distributions of the ball", rows, lambda **case: _ball(**case, centred=False)
    ),
    amended=Statement(
        "σ ≤ p·v + r‖v − mean v‖₂ ≤ p·v + r‖v‖₂, the first with equality if p(s)‖v − mean v‖ ≥ r(mean v − v(s)) for "
        "all s",
        rows,
        lambda **case: _ball(**case, centred=True),
    ),
    amendment="correction",
    note="Because Σq = 1, the mean of v must be subtracted: a constant v has no risk, but r‖v‖ charges it r√S|v|. The "
    "relaxed operator contracts only if γ(1 + r√S) < 1.",
)


@st.composite
def _positive_rows(draw: st.DrawFn) -> Case:
    """Rows without zeros and radii up to the least mass."""
    n = draw(st.integers(1, 4))
    units = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    p = np.array(units) / sum(units)
    share = draw(st.sampled_from((1.0, 0.5, 0.25, 0.0, 0.75)))
    return {"p": p, "v": draw(values(n)), "radius": float(p.min()) * share * (1.0 - 2.0**-50)}


def _norms(p: Floats, v: Floats, radius: float) -> Finding | None:
    V, r, mean = fractions(v), Fraction(radius), nominal(p, v)
    middle = Fraction(median(V))
    exact_forms = (
        (L1(radius), mean + r * (max(V) - min(V)) / 2),
        (LInfinity(radius), mean + r * sum(abs(x - middle) for x in V)),
    )
    return first(
        [
            *(
                agree(f"sigma of {type(ball).__name__}", sigma(ball, p, v), Bracket(form, form))
                for ball, form in exact_forms
            ),
            agree("sigma of L2", sigma(L2(radius), p, v), _with_norm(p, v, radius, _mean_value(V))),
        ]
    )


REGULARISED_NORMS = Claim(
    "regularised-norms",
    "Kumar, Levy, Wang and Mannor 2022 (Efficient policy iteration for robust MDPs via regularization)",
    "E",
    "σ = p·v + r κ(v): κ half the span for L1, ‖v − mean‖₂ for L2, ‖v − median‖₁ for L∞",
    "printed: the radius is small enough that q ≥ 0 need not be asked for; no bound is given",
    printed=Statement("for every radius", rows, _norms),
    amended=Statement("for r ≤ min p(s), p positive everywhere", _positive_rows, _norms),
    amendment="hypothesis",
    note="Proof: the worst cases move at most r in each state, so they are distributions. Sparse kernels (any row with "
    "a zero) have no radius r > 0 that is small enough.",
)


def _variance(p: Floats, v: Floats, radius: float, *, hypothesis: bool) -> Finding | None:
    row, V, r = distribution(p), fractions(v), Fraction(radius)
    mean = nominal(p, v)
    variance = dot(row, tuple((x - mean) ** 2 for x in V))
    lowest = min(x for x, mass in zip(V, row, strict=True) if mass > 0)
    form = Bracket(*enclose_root(mean, r * variance))
    found = sigma(ChiSquare(radius), p, v)
    if hypothesis and r * (mean - lowest) ** 2 > variance:
        return at_most("sigma of chi-square against p·v + √(r Var)", found.lower, form.upper)
    return agree("sigma of chi-square against p·v + √(r Var)", found, form)


REGULARISED_CHI_SQUARE = Claim(
    "regularised-chi2",
    "Duchi and Namkoong 2019 (Variance-based regularization); used as an identity in robust RL",
    "E",
    "σ = p·v + √(r Var_p v) for the chi-square ball",
    printed=Statement("for every radius", rows, lambda **case: _variance(**case, hypothesis=False)),
    amended=Statement(
        "if √r (p·v − min v) ≤ √Var, the minimum over the support; otherwise ≤",
        rows,
        lambda **case: _variance(**case, hypothesis=True),
    ),
    amendment="hypothesis",
    note="The condition says that q = p(1 + √(r/Var)(v − p·v)) is not negative.",
)

CLAIMS = (REGULARISED_BALL, REGULARISED_NORMS, REGULARISED_CHI_SQUARE)
