"""Claims of the k_2 lemma (Appendix B): the form of the noise, its variance, its increments, its tail."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from properties.claims.claim import Claim, Statement
from properties.claims.exact_run import STEP_SIZES, Objects, Run, norm, runs
from properties.claims.sides import at_most, equal, first, of_sides
from properties.law import Case
from properties.strategies import mdps, radii
from properties.verdict import Finding
from robust_core.mdp import MDP

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
        "k_{2,t}(s,a) = gamma(1−R)Σ_{i<=K} alpha(1−alpha)^{K−i}(P_{t_i+1}−P)V* + gamma R Σ … w*",
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
    "the weighted sum over K visits has variance alpha·Var_P[V*]; the w* sum has variance 0",
    "K fixed, samples independent",
    printed=Statement(
        "Var[Σ_{i<=K} alpha(1−alpha)^{K−i}(P_{t_i+1}−P)V*] = alpha Var_P[V*]",
        _weighted_sums,
        lambda **case: _k2_var(**case, printed=True),
        exact=True,
    ),
    amended=Statement(
        "… = alpha(1−(1−alpha)^{2K})/(2−alpha)·Var_P[V*], so at most alpha/(2−alpha)·Var_P[V*]",
        _weighted_sums,
        lambda **case: _k2_var(**case, printed=False),
        exact=True,
    ),
    amendment="correction",
    note="As an inequality (<= alpha Var) the line is true and is all that the Bernstein step uses; for small alpha "
    "it is loose by the factor 2 − alpha.",
)


# k2-incr: |V(s') − p·V| <= (1−p(s')) span V <= span V <= 2‖V‖.


def _increments(*, factor: int = 2, **case: Any) -> tuple[Fraction, Fraction]:
    run = Run(**case)
    _, _, alpha = run.numbers
    spread = [abs(run.V_star[s] - row.dot(run.V_star)) for row in run.P for s in range(len(run.V_star)) if row[s] > 0]
    return alpha * max(spread), factor * alpha * norm(run.V_star)


K2_INCR = Claim(
    "k2-incr",
    "Appendix B, k_2 lemma",
    "P",
    "each increment is at most D = 2 alpha‖V*‖",
    "0 <= alpha <= 1",
    printed=Statement(
        "|alpha(1−alpha)^{K−i}(P_{t_i+1}−P)V*| <= 2 alpha‖V*‖ (and 0 for w*)",
        lambda: runs(max_length=0),
        lambda **case: at_most("increment against D", *_increments(**case)),
        of_sides(_increments),
        exact=True,
    ),
    broken=Statement(
        "the same with D = alpha‖V*‖, right for costs of one sign only",
        lambda: runs(max_length=0),
        lambda **case: at_most("increment against D/2", *_increments(**case, factor=1)),
    ),
    note="alpha·span(V*) is the sharp form: for costs of one sign D is loose by at least 2.",
)


CLAIMS = (K2_FORM, K2_VAR, K2_INCR)
