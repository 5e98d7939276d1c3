"""Theorem T1 for the Kullback-Leibler ball: what fails, certified by enclosures, and what is left of it.

Proofs: docs/theorems.md, T1. Around a Dirac the ball is the Dirac, so a sure action is not moved by nature, and a risky
one is: the robust policy pays for reliability, which no discount expresses.
"""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic.certified import Certified
from oracles.planning import enclosed, rational
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.ours.discounts import optimal_for_no_discount
from properties.claims.sides import at_most, equal
from properties.judging.verdict import Finding
from properties.strategies import mdps
from robust_core.mdp import MDP
from robust_core.sets import Contamination, KullbackLeibler

RADII = (0.25, 0.125, 0.5, 0.0625, 1.0)


@st.composite
def _sure_or_risky(draw: st.DrawFn) -> Case:
    """State 0 is free for ever. In state 1 the cheap action may stay there, the dear one moves to state 0."""
    stay = draw(st.sampled_from((0.375, 0.25, 0.5)))
    cheap, dear = draw(st.sampled_from((0.5, 0.25))), draw(st.sampled_from((1.0, 0.75)))
    mdp = MDP(
        [[[1.0, 0.0], [1.0, 0.0]], [[1.0 - stay, stay], [1.0, 0.0]]],
        [[0.0, 0.25], [cheap, dear]],
        draw(st.sampled_from((0.9375, 0.5, 0.75))),
    )
    return {"mdp": mdp, "uncertainty_set": KullbackLeibler(draw(st.sampled_from(RADII)))}


@st.composite
def _deterministic(draw: st.DrawFn) -> Case:
    """Every pair moves to one state for sure."""
    mdp = draw(mdps(max_states=3, max_actions=2, cost_range=(-1.0, 1.0)))
    sure = np.eye(mdp.n_states)[mdp.P.argmax(axis=-1)]
    return {
        "mdp": MDP(sure, mdp.cost, mdp.gamma),
        "uncertainty_set": KullbackLeibler(draw(st.sampled_from(RADII))),
    }


def only_policy(Q: Certified) -> list[int] | None:
    """The optimal policy if the enclosure of Q* shows that there is one only."""
    best = Q.value.argmin(axis=1)
    others = np.where(np.eye(Q.value.shape[1], dtype=bool)[best], np.inf, Q.value).min(axis=1)
    gaps = others - Q.value.min(axis=1)
    return best.tolist() if (gaps > 4.0 * Q.error_bound).all() else None


def _some_discount(mdp: MDP, uncertainty_set: KullbackLeibler) -> Finding | None:
    policy = only_policy(enclosed.solve(mdp, uncertainty_set))
    if policy is not None and optimal_for_no_discount(mdp, policy):
        return Finding(f"discounts at which the robust policy {policy} is optimal", "none", "at least one")
    return None


def _ordinary(mdp: MDP, uncertainty_set: KullbackLeibler, *, discount: Fraction = Fraction(1)) -> Finding | None:
    """Q* against the ordinary optimum at discount·gamma, and the policy that is optimal there."""
    short = MDP(mdp.P, mdp.cost, float(discount * Fraction(mdp.gamma)))
    found, truth = enclosed.solve(mdp, uncertainty_set), rational.solve(short, Contamination(0.0))
    for place in np.ndindex(mdp.cost.shape):
        error = abs(Fraction(float(found.value[place])) - truth.Q[place[0]][place[1]])
        finding = at_most(f"|Q* − ordinary Q*| at {list(place)}", error, Fraction(found.error_bound))
        if finding is not None:
            return finding
    policy = only_policy(found)
    if policy is None:
        return None
    return equal("optimal actions", tuple((a,) for a in policy), tuple(map(tuple, truth.optimal_actions)))


SOME_DISCOUNT_KL = Claim(
    "some-discount-kl",
    "Theorem T1, its limit (docs/theorems.md)",
    "E",
    "a policy that is optimal for the Kullback-Leibler ball is optimal in the nominal model at some discount",
    "deterministic transitions: around a Dirac the ball is the Dirac",
    printed=Statement(
        "without the hypothesis: for the ball {q : KL(q‖p) ≤ r} of one radius and any kernel",
        _sure_or_risky,
        _some_discount,
    ),
    amended=Statement(
        "for deterministic transitions: Q* is that of the ordinary problem at γ, and its policy is optimal there",
        _deterministic,
        _ordinary,
    ),
    amendment="hypothesis",
    broken=Statement(
        "for deterministic transitions Q* is that of the ordinary problem at γ/2",
        _deterministic,
        lambda **case: _ordinary(**case, discount=Fraction(1, 2)),
    ),
    note="Two states are enough. That the robust policy is the only one follows from enclosures of Q*, that it is "
    "optimal for no discount from Bernstein coefficients.",
)

CLAIMS = (SOME_DISCOUNT_KL,)
