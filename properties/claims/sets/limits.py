"""Monotone limits of the radius: the nominal problem at 0, and the largest value within reach at the other end."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from oracles.planning.truth import Bracket
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sets.rows import agree, line, nominal, point, rows, sigma, span, upward, within
from properties.claims.sides import at_most, first
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
    UncertaintySet,
    Wasserstein,
)
from robust_core.validate import Floats

SMALL = (0.25, 2.0**-6, 2.0**-12, 2.0**-20, 0.0)


def _small() -> st.SearchStrategy[Case]:
    return rows(SMALL)


def _moduli(n: int, r: float, *, linear: bool) -> Iterator[tuple[UncertaintySet, UncertaintySet, float]]:
    """A set, the same with half the radius, and a bound of (sigma − p·v)/span v."""
    root = r if linear else upward(math.sqrt(r))
    for kind, modulus in (
        (Contamination, r), (TotalVariation, r), (BoundedDensity, r), (L1, r / 2), (LInfinity, n * r / 2),
        (L2, upward(math.sqrt(n)) * r / 2), (ChiSquare, root / 2), (KullbackLeibler, upward(root / math.sqrt(2))),
        (ReverseKullbackLeibler, upward(root / math.sqrt(2))),
    ):  # fmt: skip
        yield kind(r), kind(r / 2), modulus
    yield Wasserstein(r, line(n)), Wasserstein(r / 2, line(n)), r
    yield LocalAdversary(r, line(n)), LocalAdversary(r / 2, line(n)), 0.0


def _to_zero(p: Floats, v: Floats, radius: float, *, linear: bool = False) -> Finding | None:
    mean, size = nominal(p, v), span(v)
    for ball, smaller, modulus in _moduli(len(p), radius, linear=linear):
        value = sigma(ball, p, v)
        name = type(ball).__name__
        finding = first(
            (
                at_most(f"p·v against sigma of {name}", mean, value.upper),
                at_most(f"sigma of {name} − p·v", value.lower - mean, Fraction(modulus) * size),
                within(smaller, ball, p, v),
            )
        )
        if finding is not None:
            return finding
    return None


RADIUS_ZERO = Claim(
    "radius-zero",
    "continuity at the nominal model; Iyengar 2005, Nilim and El Ghaoui 2005 (all sets)",
    "E",
    "as r falls to 0, σ falls to p·v: linearly in r for contamination, total variation, densities, norm balls and W1, "
    "with √r for chi-square and both KL balls",
    "r ≤ ¼; distances of the metric at least 1",
    printed=Statement(
        "0 ≤ σ − p·v ≤ m(r) span v and σ rises with r; m = R, R, R, r/2, √S r/2, S r/2, r for the linear ones, √r/2 "
        "for chi-square, √(r/2) for KL",
        _small,
        _to_zero,
    ),
    broken=Statement(
        "linearly in r for every set: m = r/2 and r/√2 for chi-square and KL",
        _small,
        lambda **case: _to_zero(**case, linear=True),
    ),
    note="√r is attained: σ = p·v + √(r Var) for small r (claim regularised-chi2).",
)


def _everything(n: int) -> Iterator[tuple[UncertaintySet, bool]]:
    """Sets of a huge radius, and whether mass must stay on the support of p."""
    yield from ((Contamination(1.0), False), (TotalVariation(1.0), False), (L1(2.0), False), (L2(2.0), False))
    yield from ((LInfinity(1.0), False), (Wasserstein(float(n), line(n)), False), (LocalAdversary(n, line(n)), False))
    yield from ((L1(2.0, True), True), (L2(2.0, True), True), (LInfinity(1.0, True), True))
    yield from ((KullbackLeibler(64.0), True), (ChiSquare(2.0**24), True), (BoundedDensity(1.0 - 2.0**-24), True))


def _to_infinity(p: Floats, v: Floats, radius: float, *, support: bool) -> Finding | None:
    top, inside = Fraction(float(v.max())), Fraction(float(v[p > 0.0].max()))
    for ball, stays in _everything(len(p)):
        limit = inside if support and stays else top
        finding = agree(f"sigma of {type(ball).__name__} of a huge radius", sigma(ball, p, v), point(limit))
        if finding is not None:
            return finding
    burg = sigma(ReverseKullbackLeibler(radius), p, v)
    kept = Fraction(float(np.exp(-radius))) * (1 + Fraction(1, 2**50)) * (top - nominal(p, v))
    return _between("sigma of KL(p‖q)", burg, top - kept, top)


def _between(what: str, found: Bracket, low: Fraction, high: Fraction) -> Finding | None:
    return first((at_most(f"lower bound of {what}", low, found.upper), at_most(what, found.lower, high)))


RADIUS_INFINITY = Claim(
    "radius-infinity",
    "often said of any ball: for a large radius it is the whole simplex (the worst case is the worst state)",
    "E",
    "for a large radius σ is max v",
    printed=Statement(
        "σ = max v for every set of a huge radius", rows, lambda **case: _to_infinity(**case, support=False)
    ),
    amended=Statement(
        "σ = max v where mass may leave the support of p; the maximum over the support for KL(q‖p), chi-square, "
        "densities and the norm balls on the support, from a finite radius on; for KL(p‖q) only in the limit: "
        "max v − e^{−r}(max v − p·v) ≤ σ ≤ max v",
        rows,
        lambda **case: _to_infinity(**case, support=True),
    ),
    amendment="correction",
    note="With an empirical p, the balls of KL(q‖p) and chi-square put no mass on a state that was not sampled, for "
    "every r. Thresholds: −log p* and 1/p* − 1, where p* is the mass of the worst states of the support (masses "
    "here are at least 2^-20).",
)

CLAIMS = (RADIUS_ZERO, RADIUS_INFINITY)
