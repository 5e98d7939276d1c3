"""Sentences of Section 6 about the models in which policies are tested, and about RARL's adversary.

**worst-case-test.** By T1 a restart distribution q adds k(q·W) to all values, W = W^pi at discount gamma(1−p), so
nature's best answer to pi is a state of largest W^pi. A table that is not Q* of radius p has its largest value
elsewhere in general.

**rarl-game.** The kernels of an adversary that moves to a state m(s) with probability R are vertices of the
contamination set, and by T1 the worst one is common to all pairs: no other policy of nature is worse.

**tested-stationary.** With one feature that is 1 in all states, V = theta·1, and smax(V) = theta + e for a number
e >= 0. So E_mu[delta phi] = E_mu[c] + gamma R e − (1−gamma)theta, C = 1, and theta is stationary where this is 0.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.exact import Rational, Vector
from oracles.planning import rational
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper.linear_cases import problems
from properties.claims.rationals import Rationals
from properties.claims.sides import equal
from properties.judging.verdict import Finding
from properties.strategies import mdps, q_tables, radii
from robust_core.mdp import MDP
from robust_core.sets import Contamination
from robust_core.validate import Floats

# worst-case-test.


CROSSING = MDP(np.eye(4)[[3, 2, 3, 3]][:, None, :], np.array([[1.0], [37 / 64], [1.0], [0.0]]), 0.5)
"""The worst state is 0 at discount gamma(1−1/4) and 1 at gamma(1−1/16)."""


@st.composite
def _tables(draw: st.DrawFn) -> Case:
    mdp = draw(st.one_of(mdps(max_states=3, max_actions=2), st.just(CROSSING)))
    share, radius = draw(st.sampled_from(((0.125, 0.125), (0.0625, 0.25), (0.125, 0.25), (0.5, 0.5))))
    return {"mdp": mdp, "perturbation": share, "radius": radius, "Q": draw(q_tables(mdp))}


def restarted(mdp: MDP, policy: Sequence[int], share: Fraction, to: Sequence[int]) -> Vector:
    """The values of a policy where each step from s ends in `to[s]` with probability `share`."""
    rows, kernel = [], exact.kernel(mdp)
    for s, a in enumerate(policy):
        row = [(1 - share) * x + share * (k == to[s]) for k, x in enumerate(kernel[s][a].fractions())]
        rows.append(Rational.of(row))
    cost = [Fraction(float(mdp.cost[s, a])) for s, a in enumerate(policy)]
    return exact.discounted_values(rows, cost, Fraction(mdp.gamma)).fractions()


def _worst_case(mdp: MDP, perturbation: float, Q: Sequence[Sequence[Fraction | float]]) -> Finding | None:
    """The test by a table against the worst case of its greedy policy over the contamination set of radius p."""
    policy = [list(row).index(min(row)) for row in Q]
    values = [min(row) for row in Q]
    worst = values.index(max(values))
    tested = restarted(mdp, policy, Fraction(perturbation), [worst] * len(values))
    return equal(
        "values in the test against the worst case",
        tested,
        rational.evaluate(mdp, Contamination(perturbation), policy).V,
    )


def _by_optimum(mdp: MDP, perturbation: float, radius: float) -> Finding | None:
    return _worst_case(mdp, perturbation, rational.solve(mdp, Contamination(radius)).Q)


WORST_CASE_TEST = Claim(
    "worst-case-test",
    "Section 6.3",
    "E",
    "the testing environment is the worst case: it moves to the worst state of the learner's table with probability p",
    "costs: the worst state of a table is argmax_s min_a Q(s,a); the tested policy is greedy for the table",
    printed=Statement(
        "for any table Q: the value of its greedy policy in the test is the robust value of radius p of this policy",
        _tables,
        lambda mdp, perturbation, radius, Q: _worst_case(mdp, perturbation, Q.tolist()),
        exact=True,
    ),
    amended=Statement(
        "the same for the table Q* of the robust problem of radius p, that is after convergence with R = p",
        _tables,
        lambda mdp, perturbation, radius, Q: _by_optimum(mdp, perturbation, perturbation),
        exact=True,
    ),
    amendment="hypothesis",
    broken=Statement(
        "the same for Q* of radius R, also where R ≠ p",
        _tables,
        lambda mdp, perturbation, radius, Q: _by_optimum(mdp, perturbation, radius),
    ),
    note="During training, and in Figure 4(b) and (c) even after convergence, the test can be easier than the worst "
    "case of the tested policy. The worst state for a policy π is the one with the largest W^π at discount γ(1−p).",
)


# rarl-game.


@st.composite
def _games(draw: st.DrawFn) -> Case:
    return {"mdp": draw(mdps(max_states=2, max_actions=2)), "radius": draw(radii())}


def _game(mdp: MDP, radius: float, *, elsewhere: bool = False) -> Finding | None:
    """min over policies of max over maps of states; `elsewhere`: the adversary never chooses the present state."""
    S, A, R = mdp.n_states, mdp.n_actions, Fraction(radius)
    maps = [m for m in product(range(S), repeat=S) if not elsewhere or S == 1 or all(m[s] != s for s in range(S))]

    def worst(policy: Sequence[int]) -> Vector:
        return tuple(map(max, zip(*(restarted(mdp, policy, R, m) for m in maps), strict=True)))

    best = tuple(map(min, zip(*map(worst, product(range(A), repeat=S)), strict=True)))
    return equal("value of the game against V*", best, rational.solve(mdp, Contamination(radius)).V)


RARL_GAME = Claim(
    "rarl-game",
    "Section 6.3",
    "E",
    "nature can be modelled as an adversary whose actions are the states: the step ends there with probability R",
    "stationary deterministic policies of both players",
    printed=Statement("the game has the value V* of the contamination set of radius R", _games, _game, exact=True),
    broken=Statement(
        "the same if the adversary never chooses the present state",
        _games,
        lambda **case: _game(**case, elsewhere=True),
    ),
    note="So robust Q-learning and RARL solve the same problem; they differ in the algorithm and in the samples.",
)


# tested-stationary.


@st.composite
def _perturbed_models(draw: st.DrawFn) -> Case:
    case = draw(problems(min_states=2))
    return {
        "mdp": case["mdp"],
        "policy": case["policy"],
        "radius": case["radius"],
        "perturbation": draw(st.sampled_from((0.125, 0.0625, 0.5))),
        "excess": draw(st.sampled_from((0.0, 0.5, 2.0))),
    }


def _model(mdp: MDP, policy: Floats, share: Fraction) -> tuple[Rationals, Fraction]:
    """The model perturbed by the uniform distribution, with one constant feature, and its mean cost."""
    P = (1.0 - float(share)) * mdp.P + float(share) / mdp.n_states
    model = Rationals(MDP(P, mdp.cost, mdp.gamma), policy, np.ones((mdp.n_states, 1)))
    costs = [[Fraction(c) for c in row] for row in mdp.cost.tolist()]
    return model, (model.mu * (model.pi * np.array(costs, dtype=object)).sum(axis=1)).sum()


def _gradient(model: Rationals, theta: Fraction, radius: float, excess: float) -> Fraction:
    """−½∇J at theta: (1−gamma)C⁻¹E[delta phi], the moment from the operator."""
    V = np.full(len(model.mu), theta, dtype=object)
    moment = (model.mu * (model.operator(V, theta + Fraction(excess), radius) - V)).sum()
    return (1 - Fraction(model.mdp.gamma)) * moment / model.C[0, 0]


def _tested(
    mdp: MDP, policy: Floats, radius: float, perturbation: float, excess: float, *, wanted: str
) -> Finding | None:
    """−½∇J on the tested model at the stationary point of the sampled one."""
    gamma, R, share = Fraction(mdp.gamma), Fraction(radius), Fraction(perturbation)
    sampled, sampled_cost = _model(mdp, policy, share)
    tested, tested_cost = _model(mdp, policy, Fraction(0))
    theta = (sampled_cost + gamma * R * Fraction(excess)) / (1 - gamma)
    found = [_gradient(model, theta, radius, excess) for model in (sampled, tested)]
    gap = (1 - gamma) * (tested_cost - sampled_cost)
    return equal(
        "−½∇J of the sampled and of the tested model",
        found,
        {"zero": [0, 0], "gap": [0, gap], "half": [0, gap / 2]}[wanted],
    )


TESTED_STATIONARY = Claim(
    "tested-stationary",
    "Section 6.2",
    "E",
    "trained on the perturbed MDP, robust TDC converges to a stationary point on the true unperturbed MDP",
    "samples from (1−p)p_0 + p·uniform; one feature, 1 in all states; smax(V) = max V + e",
    printed=Statement(
        "a stationary point of J of the sampled MDP is one of J of the tested MDP",
        _perturbed_models,
        lambda **case: _tested(**case, wanted="zero"),
        exact=True,
    ),
    amended=Statement(
        "there −½∇J of the tested MDP is (1−γ)(E_μ[c] − E_μ'[c]), with the stationary distributions of the tested and "
        "of the sampled MDP",
        _perturbed_models,
        lambda **case: _tested(**case, wanted="gap"),
        exact=True,
    ),
    amendment="correction",
    broken=Statement("half of it", _perturbed_models, lambda **case: _tested(**case, wanted="half")),
    note="Theorem 5 is about the MDP that generates the samples. Figure 3 shows ‖∇J‖² on another MDP, where the limit "
    "is not 0 in general, neither for vanilla TDC (R = 0) nor for robust TDC.",
)

CLAIMS = (TESTED_STATIONARY, RARL_GAME, WORST_CASE_TEST)
