"""The visit counts of an ergodic chain with an explicit constant (docs/theorems.md, T6): 8 or 23.32 for 443.

All that the proof uses is judged in rationals: the hitting times, the test function u = 1 + s·g/τ*, the drift
inequality that makes exp(−θK_t + rt)u(X_t) a supermartingale, and μ(y)τ* <= 2t_mix. The probability itself is computed
by dynamic programming on the first steps.
"""

import math
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from oracles.chains import chain, hitting, mixing
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sides import at_most, dot, equal, first
from properties.judging.verdict import Finding
from properties.laws.rounding import operations_bound
from properties.strategies import mdps, policies
from robust_core.mdp import MDP
from robust_core.validate import Floats

ROOTS = (0.5, 0.75)
"""Roots of the share of mu·t that a pair must be visited."""
STEPS = 8


@st.composite
def _chains(draw: st.DrawFn) -> Case:
    mdp = draw(mdps(max_states=3, max_actions=2, ergodic=True))
    return {
        "mdp": mdp,
        "policy": draw(policies(mdp, exploring=True)),
        "root": draw(st.sampled_from(ROOTS)),
        "t": draw(st.integers(1, STEPS)),
    }


@st.composite
def _quick_pairs(draw: st.DrawFn) -> Case:
    """One state: the chain of states has mixed before it starts."""
    mdp = draw(mdps(max_states=1, max_actions=2, ergodic=True))
    return {"mdp": mdp, "policy": draw(policies(mdp, exploring=True)), "root": 0.5, "t": draw(st.integers(1, STEPS))}


def _drift(rows: Any, times: Any, mu: Fraction, y: int, s: Fraction) -> Finding | None:
    """exp(−θ1_y)·Pu <= exp(−r)·u for u = 1 + s g/τ*, in rationals: exp(−r) and exp(θ) are rational."""
    longest = max(times)
    u = tuple(1 + s * g / longest for g in times)
    shrinkage = 1 - s / (longest * (1 + s))
    reward = (1 + s * (1 / mu - 1) / longest) / shrinkage
    left = [dot(row, u) / (reward if x == y else 1) for x, row in enumerate(rows)]
    return at_most(f"drift of the test function, target {y}", left, tuple(shrinkage * value for value in u))


def _lemma(
    mdp: MDP, policy: Floats, root: float, t: int, *, clock: str = "pairs", mixing_factor: int = 2, rate: int = 1
) -> Finding | None:
    pairs = chain.pair_chain(mdp, policy)
    if pairs.size == 1 or not pairs.is_ergodic or not pairs.is_irreducible:
        return None
    t_mix = mixing.pair_t_mix(mdp, policy) if clock == "pairs" else mixing.t_mix(chain.state_chain(mdp, policy))
    mu, rows = chain.stationary_exact(pairs), [row.fractions() for row in pairs.exact_rows()]
    share, s = Fraction(root) ** 2, 1 / Fraction(root) - 1
    for y in range(pairs.size):
        times = hitting.hitting_times(pairs, y)
        longest = max(times)
        exponent = float(rate * (1 - Fraction(root)) ** 2 * t / longest)
        bound = math.exp(-exponent) / root
        allowed = Fraction(operations_bound(8, bound * (1.0 + exponent)))
        found = first(
            [
                equal(f"Kac: mean return to {y}", 1 + dot(rows[y], times), 1 / mu[y]),
                at_most(f"mu·(largest mean hitting time) of pair {y}", mu[y] * longest, mixing_factor * t_mix),
                _drift(rows, times, mu[y], y, s),
                at_most(
                    f"P(pair {y} has fewer than {share}·mu·t visits at some time from t = {t} to {STEPS})",
                    hitting.too_few(pairs, y, share * mu[y], t, STEPS),
                    Fraction(bound) + allowed,
                ),
            ]
        )
        if found is not None:
            return found
    return None


VISIT_CONSTANT = Claim(
    "visit-constant",
    "Theorem T6 (docs/theorems.md), in place of the lemma quoted in Appendix B",
    "E",
    "K_t(x) ≥ κ μ(x) t for all pairs and all t ≥ 2/(1−√κ)²·t_mix/μ_min·log(SA/(√κ δ)), with probability at least 1−δ",
    "the chain of pairs is ergodic and has all pairs; 0 < κ < 1; t_mix of the chain of pairs",
    printed=Statement(
        "without the hypothesis: t_mix of the chain of states, as Section 4 defines it",
        _quick_pairs,
        lambda **case: _lemma(**case, clock="states"),
        exact=True,
    ),
    amended=Statement(
        "with τ* the largest mean hitting time of x: μ(x)τ* ≤ 2t_mix; P(some t' ≥ t has K_{t'}(x) < κμ(x)t') ≤ "
        "exp(−(1−√κ)²t/τ*)/√κ",
        _chains,
        _lemma,
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement("μ(x)τ* ≤ t_mix", _chains, lambda **case: _lemma(**case, mixing_factor=1)),
    note="κ = ½ gives 12 + 8√2 < 23.32 in place of 443, without T in the logarithm and for all times at once; κ = ¼ "
    "gives 8. With one state t_mix of the states is 0 and the counts are still random. Two states that swap rarely "
    "force 10.7 for κ = ½ (the exponent is known there in closed form).",
)

CLAIMS = (VISIT_CONSTANT,)

FASTER = Statement(
    "the same with forty times the exponent", _chains, lambda **case: _lemma(**case, rate=40)
)  # fmt: skip
"""The probability is compared, too: this must fail."""
