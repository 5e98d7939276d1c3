"""The robust policy gradient (docs/theorems.md, T4): an ordinary one at discount gamma(1−R), other weights."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.planning import rational
from oracles.planning.policy_gradient import policy_gradient
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.sides import at_most, dot, equal, first, fractions
from properties.judging.verdict import Finding
from properties.strategies import mdps, radii
from robust_core.mdp import MDP
from robust_core.sets import Contamination
from robust_core.validate import Floats

STEP = 2.0**-24
"""Policies of multiples of 1/8 moved by this are still floats."""


@st.composite
def _policies_and_moves(draw: st.DrawFn) -> Case:
    """A policy of two actions in eighths, off the boundary, a move that keeps row sums, and a start distribution."""
    mdp = draw(mdps(max_states=3, min_actions=2, max_actions=2))
    first_action = [draw(st.integers(1, 7)) / 8 for _ in range(mdp.n_states)]
    move = [float(draw(st.sampled_from((1, 0, -1)))) for _ in range(mdp.n_states)]
    weights = [draw(st.sampled_from((1.0, 0.0))) for _ in range(mdp.n_states)]
    start = np.eye(mdp.n_states)[0] if not any(weights) else np.array(weights) / sum(weights)
    return {
        "mdp": mdp,
        "radius": draw(radii()),
        "policy": np.array([[x, 1.0 - x] for x in first_action]),
        "move": np.array([[x, -x] for x in move]),
        "start": start,
    }


@st.composite
def _ties(draw: st.DrawFn) -> Case:
    """Two equal states that never meet: both attain max W, until the policy moves in one of them."""
    x, cost = draw(st.integers(1, 7)) / 8, draw(st.sampled_from((1.0, 0.5)))
    rows = [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]]
    return {
        "mdp": MDP(rows, [[cost, 0.0], [cost, 0.0]], draw(st.sampled_from((0.5, 0.75)))),
        "radius": draw(st.sampled_from((0.5, 0.25))),
        "policy": np.array([[x, 1.0 - x], [x, 1.0 - x]]),
        "move": np.array([[0.0, 0.0], draw(st.sampled_from(([1.0, -1.0], [-1.0, 1.0])))]),
        "start": np.array([1.0, 0.0]),
    }


def _quotient(mdp: MDP, radius: float, policy: Floats, move: Floats, start: Floats, step: float) -> Fraction:
    """(f(pi + step·move) − f(pi))/step by the rational solver of robust evaluation, which knows no gradient."""
    rho = exact.distribution(start.tolist()).fractions()
    ends = [rational.evaluate(mdp, Contamination(radius), policy + h * move).V for h in (step, 0.0)]
    return (dot(rho, ends[0]) - dot(rho, ends[1])) / Fraction(step)


def _slack(mdp: MDP, radius: float) -> Fraction:
    """A bound on |quotient − derivative|/|step|, for moves with entries in [−1, 1] and two actions.

    The quotient of the ordinary value from weights w is wᵀ(I − bP')⁻¹g with g(s) = Σ_a move(a|s) q(s,a), the derivative
    the same with P for P'; they differ by step·wᵀ(I − bP')⁻¹ b(P_move)(I − bP)⁻¹ g, and |g| <= 2 max|c|/(1−b).
    """
    gamma, R = Fraction(mdp.gamma), Fraction(radius)
    b = gamma * (1 - R)
    largest = Fraction(float(np.abs(mdp.cost).max()))
    return (1 + gamma * R / (1 - gamma)) * 2 * b * 2 * largest / (1 - b) ** 3


def _gradient(
    mdp: MDP, radius: float, policy: Floats, move: Floats, start: Floats, *, unique: bool, lost: bool = False
) -> Finding | None:
    """`unique`: only where one state attains max W, by a gap that the step keeps; `lost`: without nature's start."""
    found = policy_gradient(mdp, radius, policy, start)
    rho = exact.distribution(start.tolist()).fractions()
    truth = rational.evaluate(mdp, Contamination(radius), policy).V
    value = equal("rho·V_R against W and its maximum", dot(rho, truth), found.value)
    if value is not None:
        return value
    forward, backward = (_quotient(mdp, radius, policy, move, start, h) for h in (STEP, -STEP))
    if unique and len(found.maximisers) > 1:
        return None
    derivative = found.derivative(move)
    if lost:
        derivative = policy_gradient(MDP(mdp.P, mdp.cost, mdp.gamma * (1 - radius)), 0.0, policy, start).derivative(
            move
        )
    # Where the second largest W is within 2·STEP·slack of the largest the step may change the maximiser.
    room = Fraction(STEP) * _slack(mdp, radius)
    W = sorted(fractions(np.array([float(x) for x in truth])))
    if unique and len(W) > 1 and W[-1] - W[-2] < Fraction(1, 2**10):
        return None
    return first(
        [
            at_most("|forward quotient − derivative|", abs(forward - derivative), room),
            at_most("|backward quotient − derivative|", abs(backward - derivative), room),
        ]
    )


POLICY_GRADIENT = Claim(
    "policy-gradient",
    "Theorem T4 (docs/theorems.md)",
    "E",
    "the robust gradient is the ordinary policy gradient at discount γ(1−R) from ρ + (γR/(1−γ))δ_{s*}",
    "contamination; one state s* attains max W^π",
    printed=Statement(
        "without the hypothesis: ρ·V_R^π is differentiable where several states attain the maximum",
        _ties,
        lambda **case: _gradient(**case, unique=False),
        exact=True,
    ),
    amended=Statement(
        "ρ·V_R^π = ρ·W^π + (γR/(1−γ)) W^π(s*), and its derivative along any move is Σ_s d(s)Σ_a move(a|s)q_b(s,a) with "
        "d the discounted visits at γ(1−R) from those weights; difference quotients agree to their proved error",
        _policies_and_moves,
        lambda **case: _gradient(**case, unique=True),
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "the gradient without nature's start δ_{s*}",
        _policies_and_moves,
        lambda **case: _gradient(**case, unique=True, lost=True),
    ),
    note="At a kink each maximiser gives a subgradient, because the objective is a maximum of smooth functions.",
)

# gradient-domination.


@st.composite
def _policies(draw: st.DrawFn) -> Case:
    case = draw(_policies_and_moves())
    return {name: case[name] for name in ("mdp", "radius", "policy", "start")}


def _domination(mdp: MDP, radius: float, policy: Floats, start: Floats, *, at: str) -> Finding | None:
    """rho·(V_R^pi − V_R*) against (rho + k·1_s)·(W^pi − W*), s a maximiser of W^pi or of W*."""
    b = mdp.gamma * (1.0 - radius)
    gamma, R = Fraction(mdp.gamma), Fraction(radius)
    if Fraction(b) != gamma * (1 - R):
        return None
    rho, k = exact.distribution(start.tolist()).fractions(), gamma * R / (1 - gamma)
    robust, short = Contamination(radius), MDP(mdp.P, mdp.cost, b)
    here, best = rational.evaluate(mdp, robust, policy).V, rational.solve(mdp, robust).V
    W = rational.evaluate(short, Contamination(0.0), policy).V
    W_best = rational.solve(short, Contamination(0.0)).V
    top = W.index(max(W)) if at == "policy" else W_best.index(max(W_best))
    gaps = [w - v for w, v in zip(W, W_best, strict=True)]
    return at_most("rho·(V_R^pi − V_R*)", dot(rho, here) - dot(rho, best), dot(rho, tuple(gaps)) + k * gaps[top])


GRADIENT_DOMINATION = Claim(
    "gradient-domination",
    "Theorem T4, corollary (docs/theorems.md)",
    "E",
    "the robust excess cost is at most the ordinary one at discount γ(1−R) from ρ + (γR/(1−γ))δ_{s*}",
    "contamination; s* a maximiser of W^π",
    printed=Statement(
        "without the hypothesis: s* a maximiser of the optimal W*",
        _policies,
        lambda **case: _domination(**case, at="optimum"),
        exact=True,
    ),
    amended=Statement(
        "ρ·(V_R^π − V_R*) ≤ (ρ + (γR/(1−γ))δ_{s*})·(W^π − W*), s* a maximiser of W^π",
        _policies,
        lambda **case: _domination(**case, at="policy"),
        exact=True,
    ),
    amendment="hypothesis",
    note="So a bound of the ordinary excess cost by a gradient also bounds the robust excess cost. Smoothness does not "
    "carry over: the objective has a kink where the maximiser changes.",
)

CLAIMS = (POLICY_GRADIENT, GRADIENT_DOMINATION)
