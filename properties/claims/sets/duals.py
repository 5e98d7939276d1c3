"""One-dimensional duals as the papers that use them print them, turned to costs: nature maximises q·v.

A dual is right if it is above sigma at every multiplier (weak duality) and reaches it at one. Piecewise linear duals
are minimised exactly over their breakpoints; the others at a multiplier that floats propose, evaluated in fractions or
fifty digits.
"""

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.digits import precision
from oracles.arithmetic.exact import Vector
from oracles.planning.truth import Bracket
from oracles.sets.rationals import enclose_root
from oracles.sets.roots import decimal
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sets.rows import (
    RADII,
    agree,
    check_reached,
    distribution,
    least,
    line,
    nominal,
    point,
    rows,
    shares,
    sigma,
    span,
)
from properties.claims.sides import dot, first, fractions
from properties.judging.verdict import Finding
from robust_core.sets import BoundedDensity, ChiSquare, KullbackLeibler, TotalVariation, Wasserstein
from robust_core.validate import Floats

POSITIVE = tuple(radius for radius in RADII if radius > 0.0)
ROUNDING = Fraction(1, 10**40)
"""More than the error of the few dozen operations of fifty digits behind a value, relative to span·(1 + radius)."""


def _positive() -> st.SearchStrategy[Case]:
    return rows(POSITIVE)


def _mean(p: Vector, values: Iterable[Fraction]) -> Fraction:
    return dot(p, tuple(values))


# Total variation.


def _tv(p: Floats, v: Floats, radius: float, *, inside: bool = False) -> Finding | None:
    row, V, R = distribution(p), fractions(v), Fraction(radius)
    top = max(x for x, mass in zip(V, row, strict=True) if mass > 0 or not inside)
    dual = min(_mean(row, (max(x, level) for x in V)) + R * (top - min(level, top)) for level in V)
    return agree("dual of total variation", point(dual), sigma(TotalVariation(radius), p, v))


DUAL_TV = Claim(
    "dual-tv",
    "Iyengar 2005; Shi, Li, Wei, Chen, Geist and Chi 2023",
    "E",
    "σ = min over α of E_p[max(v, α)] + R (max v − α)",
    "d_TV = ½‖·‖₁ ≤ R, α between min v and max v, max v over all states",
    printed=Statement("the minimum over the breakpoints of the dual is σ", shares, _tv, exact=True),
    broken=Statement("with max v over the support of p", shares, lambda **case: _tv(**case, inside=True), exact=True),
)


def _fail_state(p: Floats, v: Floats, radius: float, *, shifted: bool) -> Finding | None:
    """With values V = −v >= 0 as rewards: inf q·V = max over eta of eta(1−R) − E(eta − V)⁺."""
    costs = v - v.max() if shifted else -np.abs(v)
    row, V, R = distribution(p), fractions(costs), Fraction(radius)
    dual = min(_mean(row, (max(x - level, Fraction(0)) for x in V)) + level * (1 - R) for level in V)
    return agree("dual of total variation", point(dual), sigma(TotalVariation(radius), p, costs))


DUAL_TV_FAIL_STATE = Claim(
    "dual-tv-fail-state",
    "Panaganti, Xu, Kalathil and Ghavamzadeh 2022 (RFQI)",
    "E",
    "σ = min over α of E_p[(v − α)⁺] + α(1−R), for rewards V = −v ≥ 0",
    "printed: with the assumption of a fail state; code that uses the formula mostly has none",
    printed=Statement("for any v ≤ 0", shares, lambda **case: _fail_state(**case, shifted=False), exact=True),
    amended=Statement(
        "if some state has the worst possible value, 0 (max v = 0, a fail state)",
        shares,
        lambda **case: _fail_state(**case, shifted=True),
        exact=True,
    ),
    amendment="hypothesis",
    note="The term R max v of claim dual-tv is missing: without a fail state the formula is the value of a nature that "
    "moves R of the mass to an outcome of reward 0 that the model does not have.",
)


# Kullback-Leibler. Values are taken about their maximum on the support and divided by their span there.


def _on_support(p: Floats, v: Floats) -> tuple[list[Fraction], list[Fraction], Fraction, Fraction]:
    """Masses and values (v − top)/size of the states of positive mass, top, and size, which is 0 if v is constant."""
    pairs = [(x, y) for x, y in zip(distribution(p), fractions(v), strict=True) if x > 0]
    top = max(y for _, y in pairs)
    size = top - min(y for _, y in pairs)
    return [x for x, _ in pairs], [(y - top) / (size or 1) for _, y in pairs], top, size


def _tilt(masses: list[Fraction], d: list[Fraction], b: float) -> tuple[Fraction, Fraction]:
    """log Σ p e^{bd} and the mean of d under q ∝ p e^{bd}, in fifty digits; e^{−2000} stands for anything smaller."""
    with precision(50):
        weights = [
            decimal(x) * max(Decimal(b) * decimal(y), Decimal(-2000)).exp() for x, y in zip(masses, d, strict=True)
        ]
        total = sum(weights, Decimal(0))
        mean = sum((w * decimal(y) for w, y in zip(weights, d, strict=True)), Decimal(0)) / total
        return Fraction(total.ln()), Fraction(mean)


def _best_tilt(masses: list[Fraction], d: list[Fraction], radius: float) -> float:
    """b at which (r + log Σ p e^{bd})/b is about least, by floats."""
    pairs = [(float(x), float(y)) for x, y in zip(masses, d, strict=True)]

    def bound(exponent: float) -> float:
        b = math.exp(exponent)
        inner = sum(x * math.expm1(b * y) for x, y in pairs)
        return (radius + math.log1p(max(inner, -1.0 + 1e-300))) / b

    return math.exp(least(bound, -20.0, 30.0))


def _kl(p: Floats, v: Floats, radius: float, *, factor: float = 1.0) -> Finding | None:
    """h(beta) = beta r + beta log E e^{v/beta}: above sigma on a grid, and at its minimum equal to it."""
    masses, d, top, size = _on_support(p, v)
    if size == 0:
        return None
    wanted = sigma(KullbackLeibler(radius), p, v)

    def h(b: float) -> Bracket:
        value = (Fraction(radius) * Fraction(factor) + _tilt(masses, d, b)[0]) / Fraction(b)
        margin = ROUNDING * (1 + Fraction(radius)) / Fraction(b) * size
        return Bracket(top + size * value - margin, top + size * value + margin)

    best = min((h(_best_tilt(masses, d, radius)), point(top)), key=lambda found: found.upper)  # beta = 0: the maximum
    grid = (h(2.0**k) for k in range(-6, 7, 3))
    below = (found for found in grid if found.upper < wanted.lower)
    return first(
        [
            *(Finding("dual of KL below sigma", float(found.upper), float(wanted.lower)) for found in below),
            check_reached("dual of KL", best, wanted, size),
        ]
    )


DUAL_KL = Claim(
    "dual-kl",
    "Nilim and El Ghaoui 2005; Hu and Hong 2013; Zhou et al. 2021",
    "E",
    "σ = min over β ≥ 0 of β log E_p e^{v/β} + βr",
    "β = 0 stands for its limit, the maximum over the support of p",
    printed=Statement("above σ at every β, and equal to it at the best one", _positive, _kl),
    broken=Statement("with r/2 in place of r", _positive, lambda **case: _kl(**case, factor=0.5)),
)


def _kl_range(p: Floats, v: Floats, radius: float, *, wide: Callable[[float], float]) -> Finding | None:
    """h'(beta) = r − KL(q_beta‖p) at beta = span·wide(r): the minimum is to the left if it is not negative."""
    masses, d, _, size = _on_support(p, v)
    if size == 0:
        return None
    b = 1.0 / wide(radius)
    log, mean = _tilt(masses, d, b)
    slope = Fraction(radius) - (Fraction(b) * mean - log)
    if slope >= -ROUNDING * (1 + Fraction(b)):
        return None
    return Finding("h'(beta) at the end of the range", float(slope), "at least 0")


KL_RANGE = Claim(
    "kl-range",
    "Zhou et al. 2021; Panaganti and Kalathil 2022",
    "E",
    "the best β lies in [0, span(v)/r]",
    "1/((1−γ)r) in place of span(v)/r in the papers, as span V ≤ 1/(1−γ)",
    printed=Statement(
        "the dual does not fall at β = span(v)/r", _positive, lambda **case: _kl_range(**case, wide=lambda r: 1.0 / r)
    ),
    broken=Statement("in [0, r span(v)]", _positive, lambda **case: _kl_range(**case, wide=lambda r: r)),
    note="Proof: KL(q_β‖p) ≤ (max v − p·v)/β ≤ r at β = span(v)/r. Hoeffding gives span/√(8r), which is smaller "
    "for r < 8.",
)


def _tilted(p: Floats, v: Floats, radius: float, *, below_threshold: bool) -> Finding | None:
    """Whether some q_b ∝ p e^{bv}, b = 1/beta, has the divergence r, and then the mean sigma.

    Divergence and mean rise with b. Halving ends at two b next to each other, one on either side of r.
    """
    masses, d, top, size = _on_support(p, v)
    if size == 0:
        return None
    best = sum(float(x) for x, y in zip(masses, d, strict=True) if y == 0)
    if below_threshold and radius >= -math.log(best) * (1.0 - 1e-9):
        return None

    def divergence(b: float) -> Fraction:
        log, mean = _tilt(masses, d, b)
        return Fraction(b) * mean - log

    low, high = 2.0**-30, 2.0**40
    if divergence(high) < Fraction(radius):
        return Finding("largest divergence of q ∝ p e^{v/β}", float(divergence(high)), f"r = {radius}")
    while (middle := math.sqrt(low * high)) not in (low, high) and high - low > 2.0**-50 * low:
        low, high = (middle, high) if divergence(middle) < Fraction(radius) else (low, middle)
    value, margin = sigma(KullbackLeibler(radius), p, v), ROUNDING * (1 + Fraction(high))
    below, above = (top + size * (_tilt(masses, d, b)[1] + sign * margin) for b, sign in ((low, -1), (high, 1)))
    return agree("mean of the tilted distribution of divergence r", Bracket(below, above), value)


KL_TILTED = Claim(
    "kl-tilted",
    "Nilim and El Ghaoui 2005; Hu and Hong 2013",
    "E",
    "the worst case of the KL ball is q ∝ p e^{v/β} for a β > 0",
    "r > 0, v not constant on the support",
    printed=Statement("for every r > 0", _positive, lambda **case: _tilted(**case, below_threshold=False)),
    amended=Statement(
        "for r < −log p*, p* the mass of the worst states of the support; from there on it is p restricted to them, "
        "and the best β is 0",
        _positive,
        lambda **case: _tilted(**case, below_threshold=True),
    ),
    amendment="hypothesis",
    note="Code that bounds β away from 0 or divides by it is wrong from that radius on. A Dirac and a row with two "
    "equal values have small thresholds.",
)


# Chi-square.


def _chi_square(p: Floats, v: Floats, radius: float, *, factor: Fraction = Fraction(1)) -> Finding | None:
    row, V, r = distribution(p), fractions(v), Fraction(radius)
    low, high = float(v.min()), float(v.max())
    wide = (high - low) * (2.0 + 2.0 / math.sqrt(radius))

    def clipped(level: float) -> Bracket:
        y = [max(x, Fraction(level)) for x in V]
        centre = _mean(row, y)
        return Bracket(*enclose_root(centre, factor * r * _mean(row, ((x - centre) ** 2 for x in y))))

    def excess(level: float) -> Bracket:
        square = _mean(row, (max(x - Fraction(level), Fraction(0)) ** 2 for x in V))
        return Bracket(*enclose_root(Fraction(level), factor * (1 + r) * square))

    wanted, size = sigma(ChiSquare(radius), p, v), span(v)
    return first(
        [
            check_reached("E max(v,α) + √(r Var max(v,α))", clipped(_minimiser(clipped, low, high)), wanted, size),
            check_reached("η + √((1+r) E((v−η)⁺)²)", excess(_minimiser(excess, low - wide, high)), wanted, size),
        ]
    )


def _minimiser(dual: Callable[[float], Bracket], low: float, high: float) -> float:
    return least(lambda level: float(dual(level).middle), low, high) if low < high else low


DUAL_CHI_SQUARE = Claim(
    "dual-chi2",
    "Iyengar 2005; Shi et al. 2023; Duchi and Namkoong 2021",
    "E",
    "σ = min over α of E_p[max(v,α)] + √(r Var_p max(v,α)) = min over η of η + √((1+r) E_p((v−η)⁺)²)",
    "χ² = Σ(q−p)²/p ≤ r, r > 0",
    printed=Statement("both minima are σ", _positive, _chi_square),
    broken=Statement(
        "with ½Σ(q−p)²/p ≤ r in one place and Σ(q−p)²/p in the other",
        _positive,
        lambda **case: _chi_square(**case, factor=Fraction(1, 2)),
    ),
    note="At r = 0 the second one has no minimum: its infimum is the limit η → −∞.",
)


# CVaR.


def _tail(p: Floats, v: Floats, radius: float, *, uryasev: bool) -> Finding | None:
    row, V, R = distribution(p), fractions(v), Fraction(radius)
    wanted = sigma(BoundedDensity(radius), p, v)
    if uryasev:
        dual = min(t + _mean(row, (max(x - t, Fraction(0)) for x in V)) / (1 - R) for t in V)
        return agree("t + E(v−t)⁺/(1−R) at its minimum", point(dual), wanted)
    level = min(t for t in V if sum(m for m, x in zip(row, V, strict=True) if x <= t) >= R)
    tail = [(m, x) for m, x in zip(row, V, strict=True) if x >= level]
    mean = sum((m * x for m, x in tail), Fraction(0)) / sum((m for m, _ in tail), Fraction(0))
    return agree("E[v | v >= VaR]", point(mean), wanted)


CVAR_TAIL = Claim(
    "cvar-tail",
    "Rockafellar and Uryasev 2000, equation (2); Chow, Tamar, Mannor and Pavone 2015",
    "E",
    "the worst case over q ≤ p/(1−R) is the mean of the tail, E[v | v ≥ VaR_R]",
    "VaR_R the smallest t with P(v ≤ t) ≥ R; printed for continuous distributions",
    printed=Statement("for finite distributions", shares, lambda **case: _tail(**case, uryasev=False), exact=True),
    amended=Statement(
        "σ = min over t of t + E(v−t)⁺/(1−R) (Rockafellar and Uryasev 2002): the atom at VaR is split",
        shares,
        lambda **case: _tail(**case, uryasev=True),
        exact=True,
    ),
    amendment="correction",
)


# Wasserstein.


def _slopes(v: Vector, d: list[list[Fraction]]) -> set[Fraction]:
    """0 and every lambda >= 0 at which two of the lines v_j − lambda d_ij cross."""
    found = {Fraction(0)}
    for row in d:
        for j, x in enumerate(v):
            found |= {(x - y) / (row[j] - row[k]) for k, y in enumerate(v) if row[j] > row[k] and x > y}
    return found


def _w1(p: Floats, v: Floats, radius: float, *, power: int = 1) -> Finding | None:
    row, V, r = distribution(p), fractions(v), Fraction(radius)
    d = [[Fraction(x) for x in distances] for distances in line(len(p)).tolist()]
    dual = min(
        slope * r**power + _mean(row, (max(x - slope * c for x, c in zip(V, costs, strict=True)) for costs in d))
        for slope in _slopes(V, d)
    )
    return agree("dual of W1", point(dual), sigma(Wasserstein(radius, line(len(p))), p, v))


DUAL_W1 = Claim(
    "dual-w1",
    "Gao and Kleywegt 2023; Blanchet and Murthy 2019",
    "E",
    "σ = min over λ ≥ 0 of λr + Σ p_i max_j (v_j − λ d_ij)",
    "order 1; checked on the line",
    printed=Statement("the minimum over the breakpoints is σ", rows, _w1, exact=True),
    broken=Statement(
        "with λr² for λr, as for order 2",
        rows,
        lambda **case: _w1(**case, power=2),
        exact=True,
    ),
)


def _lipschitz(p: Floats, v: Floats, radius: float, *, equality: bool) -> Finding | None:
    V, r, mean, row = fractions(v), Fraction(radius), nominal(p, v), distribution(p)
    pairs = [(i, j) for i in range(len(V)) for j in range(len(V)) if V[j] > V[i]]
    steepest = max((Fraction(V[j] - V[i]) / abs(j - i) for i, j in pairs), default=Fraction(0))
    found = sigma(Wasserstein(radius, line(len(p))), p, v)
    regularised = mean + r * steepest
    sharp = any((V[j] - V[i]) == steepest * abs(j - i) and r <= row[i] * abs(j - i) for i, j in pairs) or not pairs
    if equality or sharp:
        return agree("sigma of W1 against p·v + r Lip(v)", found, point(regularised))
    if found.lower > min(regularised, max(V)):
        return Finding("sigma of W1", float(found.lower), f"at most {float(min(regularised, max(V)))}")
    return None


W1_LIPSCHITZ = Claim(
    "w1-lipschitz",
    "Mohajerin Esfahani and Kuhn 2018; Gao, Chen and Kleywegt 2022 (Wasserstein robustness is Lipschitz "
    "regularisation)",
    "E",
    "σ = p·v + r Lip(v)",
    "printed: for unbounded spaces and convex v",
    printed=Statement("on finite states", rows, lambda **case: _lipschitz(**case, equality=True), exact=True),
    amended=Statement(
        "σ ≤ min(p·v + r Lip(v), max v); equal to p·v + r Lip(v) if the steepest rise v_j − v_i = Lip(v) d_ij starts "
        "at an i with p_i d_ij ≥ r",
        rows,
        lambda **case: _lipschitz(**case, equality=False),
        exact=True,
    ),
    amendment="correction",
    note="Mass cannot be moved where there is none, and not beyond the worst state: the regularised value is an upper "
    "bound only.",
)

CLAIMS = (
    DUAL_TV, DUAL_TV_FAIL_STATE, DUAL_KL, KL_RANGE, KL_TILTED, DUAL_CHI_SQUARE, CVAR_TAIL, DUAL_W1, W1_LIPSCHITZ
)  # fmt: skip
