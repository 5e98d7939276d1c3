"""Claims of the k_2 lemma (Appendix B): the form of the noise, its variance, its increments, its tail."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.exact_run import STEP_SIZES, Objects, Run, norm, runs
from properties.claims.rationals import fraction_array
from properties.claims.sides import at_most, dot, equal, first, fractions, of_sides
from properties.judging.verdict import Finding
from properties.laws.rounding import operations_bound
from properties.strategies import mdps, policies, radii, values
from robust_core.mdp import MDP
from robust_core.validate import Floats

# k2-form.


def _k2_form(*, late: int = 0, **case: Any) -> Finding | None:
    run = Run(**case)
    gamma, R, alpha = run.numbers
    t = len(run.steps)
    w_star = np.full(len(run.V_star), run.V_star.max(), dtype=object)
    entries = []
    for pair, row in enumerate(run.P):
        successors = [s_next for visited, s_next in run.steps if visited == pair]
        K = len(successors)
        weights = [alpha * (1 - alpha) ** (K - i + late) for i in range(1, K + 1)]
        nominal, constant = row.dot(run.V_star), row.dot(w_star)
        V_sum = sum(w * (run.V_star[s] - nominal) for w, s in zip(weights, successors, strict=True))
        w_sum = sum(w * (w_star[s] - constant) for w, s in zip(weights, successors, strict=True))
        entries.append(gamma * (1 - R) * V_sum + gamma * R * w_sum)
    return equal(f"k_2 at t = {t}", entries, run.k_2(t))


K2_FORM = Claim(
    "k2-form",
    "Appendix B, k_2 lemma",
    "P",
    "each entry of k_{2,t} is a weighted sum over the visits of its pair",
    "t_i is the time of the i-th visit, P_{t_i+1} its sample",
    printed=Statement(
        "k_{2,t}(s,a) = γ(1−R)Σ_{i≤K} α(1−α)^{K−i}(P_{t_i+1}−P)V* + γ R Σ … w*",
        runs,
        _k2_form,
        exact=True,
    ),
    broken=Statement("the same with exponent K−i+1", runs, lambda **case: _k2_form(**case, late=1)),
    note="The w* sum is zero term by term, since (P_t−P)1 = 0 at a visited pair.",
)


# k2-var. The samples at the visits of a pair are independent draws from its row, so the variance of the weighted sum
# is Σ alpha²(1−alpha)^{2(K−i)} Var = alpha (1−(1−alpha)^{2K})/(2−alpha) · Var. It is taken here by enumerating all S^K
# sequences of samples. It equals alpha·Var only if Var = 0, alpha = 0, or alpha = 1 and K >= 1.


@st.composite
def _weighted_sums(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2, cost_range=(-1.0, 1.0)))
    return {
        "mdp": mdp,
        "radius": draw(radii()),
        "alpha": draw(st.sampled_from(STEP_SIZES)),
        "visits": draw(st.integers(1, 4)),
        "pair": draw(st.integers(0, mdp.n_states * mdp.n_actions - 1)),
    }


def _enumerated_variance(row: Objects, values: Objects, weights: list[Fraction]) -> Fraction:
    """Var of Σ w_i (values(s_i) − row·values) over independent s_i, by enumeration of all sequences."""
    mean = row.dot(values)
    support = [s for s, p in enumerate(row) if p]
    first_moment = second = Fraction(0)
    for sequence in product(support, repeat=len(weights)):
        probability = Fraction(1)
        for s in sequence:
            probability *= row[s]
        total = sum((w * (values[s] - mean) for w, s in zip(weights, sequence, strict=True)), Fraction(0))
        first_moment += probability * total
        second += probability * total**2
    return second - first_moment**2


def _k2_var(mdp: MDP, radius: float, alpha: float, visits: int, pair: int, *, printed: bool) -> Finding | None:
    run = Run(mdp, radius, np.zeros((mdp.n_states, mdp.n_actions)), alpha, np.zeros((0, 3), dtype=np.int64))
    _, _, a = run.numbers
    row, V = run.P[pair], run.V_star
    variance = row.dot(V**2) - row.dot(V) ** 2
    weights = [a * (1 - a) ** (visits - i) for i in range(1, visits + 1)]
    factor = a if printed else a * (1 - (1 - a) ** (2 * visits)) / (2 - a)
    w_star = np.full(len(V), V.max(), dtype=object)
    what = f"Var of the weighted sum over {visits} visits of pair {pair}"
    return first(
        [
            equal(what, _enumerated_variance(row, V, weights), factor * variance),
            equal("Var of the w* sum", _enumerated_variance(row, w_star, weights), 0),
        ]
    )


K2_VAR = Claim(
    "k2-var",
    "Appendix B, k_2 lemma",
    "E",
    "the weighted sum over K visits has variance α·Var_P[V*]; the w* sum has variance 0",
    "K fixed, samples independent",
    printed=Statement(
        "Var[Σ_{i≤K} α(1−α)^{K−i}(P_{t_i+1}−P)V*] = α Var_P[V*]",
        _weighted_sums,
        lambda **case: _k2_var(**case, printed=True),
        exact=True,
    ),
    amended=Statement(
        "… = α(1−(1−α)^{2K})/(2−α)·Var_P[V*], so at most α/(2−α)·Var_P[V*]",
        _weighted_sums,
        lambda **case: _k2_var(**case, printed=False),
        exact=True,
    ),
    amendment="correction",
    note="The inequality (≤ α Var) is true, and the Bernstein step uses only this inequality. It is loose by the "
    "factor 2 − α.",
)


# k2-incr: |V(s') − p·V| <= (1−p(s')) span V <= span V <= 2‖V‖.


def _increments(*, factor: Fraction = Fraction(2), **case: Any) -> tuple[Fraction, Fraction]:
    run = Run(**case)
    _, _, alpha = run.numbers
    spread = [abs(run.V_star[s] - row.dot(run.V_star)) for row in run.P for s in range(len(run.V_star)) if row[s] > 0]
    return alpha * max(spread), factor * alpha * norm(run.V_star)


K2_INCR = Claim(
    "k2-incr",
    "Appendix B, k_2 lemma",
    "P",
    "each increment is at most D = 2 α‖V*‖",
    "0 ≤ α ≤ 1",
    printed=Statement(
        "|α(1−α)^{K−i}(P_{t_i+1}−P)V*| ≤ 2 α‖V*‖ (and 0 for w*)",
        lambda: runs(max_length=0),
        lambda **case: at_most("increment against D", *_increments(**case)),
        of_sides(_increments),
        exact=True,
    ),
    broken=Statement(
        "the same with D = ¼α‖V*‖",
        lambda: runs(min_states=2, max_actions=1, max_length=0),
        lambda **case: at_most("increment against D/8", *_increments(**case, factor=Fraction(1, 4))),
    ),
    note="The sharp form is α·span(V*). For costs of one sign D is at least twice as large.",
)


# k2-bound. "There exists ĉ": here is one, with its proof. For K visits of a pair the weighted sum has independent
# centred terms in intervals of lengths alpha(1−alpha)^{K−i}·span, whose squares sum to less than alpha/(2−alpha)·span²:
#
#     P(|Σ_K| >= x) <= 2 exp(−2x²(2−alpha)/(alpha span(V*)²))                                   (Hoeffding).
#
# K_t is random and depends on the samples, so a union over K <= T is needed, and one over the pairs, which the printed
# proof leaves out. With x = span √(alpha L/2), L = log(2(SAT)²/delta), all pairs obey the bound at all t <= T except
# with probability 2SAT e^{−L} = delta/(SAT). As SAT/delta >= 2 wherever the noise is not zero, L <= 3 log(SAT/delta),
# and span(V*) <= 2‖V*‖: |k_2| <= gamma(1−R)·2‖V*‖·√(3 alpha log(SAT/delta)/2), the lemma with 5ĉ = √6.
#
# Judged: Hoeffding's line, at every x, by enumeration of all S^K sequences. Tightness: the ĉ that the exact law of the
# sum needs at level delta/(SAT), as a share of √6/5.

C_HAT = math.sqrt(6.0) / 5.0
"""The universal constant ĉ of the k_2 lemma and of Theorem 6, proved above."""

LEVELS = (0.5, 2.0**-4, 2.0**-10)


def _law_of_sum(run: Run, visits: int, pair: int) -> tuple[Floats, Floats]:
    """|Σ_K| over span(V*) and the probability of every sequence of samples, ascending in the first."""
    row = run.P[pair].astype(float)
    span = run.V_star.max() - run.V_star.min()
    centred = ((run.V_star - run.P[pair].dot(run.V_star)) / (span or 1)).astype(float)
    support = np.flatnonzero(row)
    sums, probabilities = np.zeros(1), np.ones(1)
    for _ in range(visits):
        sums = ((1.0 - run.alpha) * sums[:, None] + run.alpha * centred[support]).ravel()
        probabilities = (probabilities[:, None] * row[support]).ravel()
    order = np.argsort(np.abs(sums))
    return np.abs(sums)[order], probabilities[order]


def _hoeffding(mdp: MDP, radius: float, alpha: float, visits: int, pair: int, *, slack: float = 1.0) -> Finding | None:
    run = Run(mdp, radius, np.zeros((mdp.n_states, mdp.n_actions)), alpha, np.zeros((0, 3), dtype=np.int64))
    sizes, probabilities = _law_of_sum(run, visits, pair)
    tails = np.cumsum(probabilities[::-1])[::-1]
    # The sums are of at most K terms of size 1; smaller x only makes the bound weaker.
    error = operations_bound(6 * visits + 8, 1.0)
    bounds = 2.0 * np.exp(-2.0 * np.maximum(sizes - error, 0.0) ** 2 * (2.0 - alpha) / (slack * alpha))
    allowed = operations_bound(len(tails) + visits + 16, 2.0)
    wrong = np.flatnonzero(tails > bounds + allowed)
    if not len(wrong):
        return None
    k = int(wrong[0])
    return Finding(f"P(|Σ_{visits}| >= {sizes[k]:.6g} span)", float(tails[k]), float(bounds[k]), allowed)


def _needed_constant(mdp: MDP, radius: float, alpha: float, visits: int, pair: int) -> float:
    """The ĉ that the exact distribution needs with T = K visits, over the proved one."""
    run = Run(mdp, radius, np.zeros((mdp.n_states, mdp.n_actions)), alpha, np.zeros((0, 3), dtype=np.int64))
    if norm(run.V_star) == 0:
        return 0.0
    sizes, probabilities = _law_of_sum(run, visits, pair)
    tails = np.cumsum(probabilities[::-1])[::-1]
    scale = float((1 - run.numbers[1]) * (run.V_star.max() - run.V_star.min()) / norm(run.V_star))
    needed = [0.0]
    for delta in LEVELS:
        steps = len(run.cost) * visits / delta
        if alpha * math.log(steps) < 1.0:
            exceeded = sizes[tails > 1.0 / steps]
            needed.append(scale * float(exceeded[-1]) / (5.0 * math.sqrt(alpha * math.log(steps))))
    return max(needed) / C_HAT


@st.composite
def _long_sums(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(min_states=2, max_states=3, max_actions=1, cost_range=(-1.0, 1.0)))
    return {
        "mdp": mdp,
        "radius": draw(radii(max_radius=0.5)),
        "alpha": draw(st.sampled_from((0.25, 0.125, 0.0625, 0.5, 1.0))),
        "visits": draw(st.integers(1, 10 if mdp.n_states == 2 else 6)),
        "pair": draw(st.integers(0, mdp.n_states - 1)),
    }


K2_BOUND = Claim(
    "k2-bound",
    "Appendix B, k_2 lemma",
    "S",
    "|k_{2,t}| ≤ 5 γ ĉ √(α log(SAT/δ))‖V*‖ with probability at least 1−δ/(SAT)",
    "0 < α log(SAT/δ) < 1; ĉ is not given",
    amended=Statement(
        "P(|Σ_K| ≥ x) ≤ 2 exp(−2x²(2−α)/(α span(V*)²)) for all K and x; by the union over K ≤ T and pairs "
        "the lemma holds with ĉ = √6/5 ≈ 0.49, for all pairs and all t ≤ T at once",
        _long_sums,
        _hoeffding,
        _needed_constant,
    ),
    amendment="substitute",
    broken=Statement(
        "the same with span²/4 in place of span²",
        _long_sums,
        lambda **case: _hoeffding(**case, slack=0.25),
    ),
    elsewhere="properties/statistics",
    note="The printed proof applies Bernstein's inequality at the random K_t, and to one entry, but states the result "
    "for the vector. Both need a union bound, which a larger ĉ covers. Tightness is the ĉ that the exact "
    "distribution needs, divided by √6/5.",
)


# bernstein-step. With x = alpha L in (0, 1), L = log(SAT/delta), sigma² = alpha Var <= alpha‖V*‖² and D = 2 alpha‖V*‖,
# the line before is at most (1−R)(√x + 2x)‖V*‖ + 2R x‖V*‖ <= 3√x‖V*‖, since x <= √x. Every vector is the V* of some
# model. The common factor gamma ĉ is left out; √Var is not rational, so the sides are compared by their squares.


@st.composite
def _bernstein_cases(draw: st.DrawFn) -> Case:
    """`root` is √x."""
    n = draw(st.integers(1, 3))
    return {
        "p": draw(policies((1, n)))[0],
        "V": draw(values(n)),
        "radius": draw(radii()),
        "root": draw(st.sampled_from((31 / 32, 0.5, 0.75, 0.125))),
    }


def _variance(p: Floats, V: Floats) -> Fraction:
    row, v = exact.distribution(p.tolist()).fractions(), fractions(V)
    return dot(row, tuple(x * x for x in v)) - dot(row, v) ** 2


def _bernstein(p: Floats, V: Floats, radius: float, root: float, *, constant: int = 5) -> Finding | None:
    """(1−R)²x Var against (constant·√x‖V‖ − 2x‖V‖)²; the number in brackets is not negative for constant >= 2."""
    y = Fraction(root)
    room = (constant * y - 2 * y**2) * norm(fraction_array(V))
    return at_most("the square of (1−R)√(sigma² L)", ((1 - Fraction(radius)) * y) ** 2 * _variance(p, V), room**2)


def _bernstein_ratio(p: Floats, V: Floats, radius: float, root: float) -> float:
    size = float(np.abs(V).max())
    deviation = math.sqrt(_variance(p, V))
    return ((1.0 - radius) * deviation / size + 2.0 * root) / 5.0 if size else 0.0


BERNSTEIN_STEP = Claim(
    "bernstein-step",
    "Appendix B, last line of the k_2 lemma",
    "E",
    "the sum of Bernstein's terms is at most 5γ ĉ√(α log(SAT/δ))‖V*‖",
    "0 < α L < 1, L = log(SAT/δ); σ_K² = α Var[V*] and D = 2α‖V*‖, as printed",
    printed=Statement(
        "(1−R)(√(σ_K² L) + D L) + R D L ≤ 5√(α L)‖V*‖",
        _bernstein_cases,
        _bernstein,
        _bernstein_ratio,
        exact=True,
    ),
    broken=Statement("the same with 2 in place of 5", _bernstein_cases, lambda **case: _bernstein(**case, constant=2)),
    note="3 is enough in place of 5, and sharp: V* = (−1, 1), p = (½, ½) and R = 0 attain it as α L tends to 1.",
)
