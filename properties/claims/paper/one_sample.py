"""Claims of Sections 1, 5 and 7 about what one sample can do: divergence on policy, two samples, other algorithms.

**off-kernel.** One feature, states drawn independently from mu: for theta > 0 the mean step of robust TD(0) is
theta·slope, slope = E[phi](gamma(1−R)E[phi] + gamma R max phi) − E[phi²]. It is linear, so a positive slope is
divergence, although the samples are on policy. Nature's maximum sits on a rare state with a large feature.

**non-robust.** The mean step of TD(0) is linear in theta. Without cost theta·step = gamma V·DPV − V·DV, and V·DPV <=
V·DV by Cauchy-Schwarz and Jensen, since mu is stationary: so theta·step <= −(1−gamma)‖V‖²_mu, whatever the features.

**double-sampling.** −½∇J = −E[∇delta phiᵀ]C⁻¹E[delta phi] is a product of means. Two independent transitions give it as
the mean of a product; one transition gives E[∇delta phiᵀC⁻¹ delta phi], another number. R = 0 keeps it rational.

**extends.** TD: the target c + gamma R max V + gamma(1−R)V(s') with V of the policy. SARSA: the same with Q(s',a') for
V(s'), where max is over V(s) = Σ_a pi(a|s)Q(s,a). Both are unbiased for a gamma-contraction, so Theorem 2's proof is
theirs. GTD2: the mean step (phi − jump)phiᵀomega at omega(theta) is −½∇J, as for TDC.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.arithmetic import exact
from oracles.arithmetic.ball import Ball
from oracles.arithmetic.exact import Vector
from properties.cases.case import Case
from properties.claims.claim import Claim, Statement
from properties.claims.paper import linear_cases
from properties.claims.paper.linear import differs, number, problem_of
from properties.claims.rationals import Matrix, Rationals, fraction_array, inverse
from properties.claims.sides import at_most, dot, equal, first, fractions, readable
from properties.judging.verdict import Finding
from properties.strategies import q_tables
from robust_core.mdp import MDP
from robust_core.validate import Floats

# extends.


@st.composite
def _evaluations(draw: st.DrawFn) -> Case:
    case = draw(linear_cases.in_the_ball("theta"))
    return case | {"Q": draw(q_tables(case["mdp"]))}


def _policy(policy: Floats) -> list[Vector]:
    return [exact.distribution(row).fractions() for row in policy.tolist()]


def _sarsa_mean(mdp: MDP, policy: Floats, radius: float, Q: Floats, *, over_pairs: bool) -> tuple[Matrix, Matrix]:
    """E[target] of robust SARSA over (s', a'), and T_pi Q; `over_pairs`: with max over Q for max over V."""
    gamma, R, pi = Fraction(mdp.gamma), Fraction(radius), _policy(policy)
    table = [fractions(row) for row in Q]
    V = tuple(dot(weights, row) for weights, row in zip(pi, table, strict=True))
    top = max(map(max, table)) if over_pairs else max(V)
    cost, rows = fraction_array(mdp.cost), exact.kernel(mdp)
    mean, image = np.empty_like(cost), np.empty_like(cost)
    for s, a in np.ndindex(mdp.n_states, mdp.n_actions):
        row = rows[s][a].fractions()
        drawn = [(p * w, table[t][b]) for t, p in enumerate(row) for b, w in enumerate(pi[t])]
        mean[s, a] = sum(weight * (cost[s, a] + gamma * R * top + gamma * (1 - R) * next_Q) for weight, next_Q in drawn)
        image[s, a] = cost[s, a] + gamma * ((1 - R) * dot(row, V) + R * max(V))
    return mean, image


def _td(mdp: MDP, policy: Floats, radius: float, Q: Floats) -> Finding | None:
    """TD: unbiased for T_pi, which contracts by gamma (against the zero function)."""
    gamma, R, pi = Fraction(mdp.gamma), Fraction(radius), _policy(policy)
    V, cost, rows = fractions(Q[:, 0]), fraction_array(mdp.cost), exact.kernel(mdp)
    findings = []
    for s in range(mdp.n_states):
        drawn = [
            (w * p, cost[s, a] + gamma * R * max(V) + gamma * (1 - R) * V[t])
            for a, w in enumerate(pi[s])
            for t, p in enumerate(rows[s][a].fractions())
        ]
        at_zero = sum(w * cost[s, a] for a, w in enumerate(pi[s]))
        mixed = exact.mixture(exact.Rational.of(pi[s]), rows[s]).fractions()
        image = at_zero + gamma * ((1 - R) * dot(mixed, V) + R * max(V))
        findings.append(equal(f"E[TD target] in {s} against T_pi V", sum(w * x for w, x in drawn), image))
        findings.append(at_most("|T_pi V − T_pi 0|", abs(image - at_zero), gamma * max(map(abs, V))))
    return first(findings)


def _gtd2(case: Case) -> Finding | None:
    problem, theta = problem_of(case), Ball.exact(case["theta"])
    mean = -(problem.M(theta) @ problem.omega(theta))
    truth = problem.oracle.complex_gradient(case["theta"])
    gradient = Ball(truth.value, np.full_like(truth.value, truth.error_bound))
    return differs("E[(phi − jump)phiᵀomega(theta)] of GTD2 against −½∇J", mean, number(-0.5) * gradient)


def _extends(*, over_pairs: bool = False, **case: Any) -> Finding | None:
    tabular = {name: case[name] for name in ("mdp", "policy", "radius", "Q")}
    mean, image = _sarsa_mean(**tabular, over_pairs=over_pairs)
    return first([_td(**tabular), equal("E[SARSA target] against T_pi Q", mean, image), _gtd2(case)])


EXTENDS = Claim(
    "extends",
    "Section 4, Section 7",
    "E",
    "the approach can be readily extended to robustify TD, SARSA and other GTD algorithms",
    "evaluation of a fixed policy that the learner knows",
    printed=Statement(
        "robust TD and robust SARSA have mean target T_π V and T_π Q, γ-contractions; the mean step of robust GTD2 at "
        "ω(θ) is −½∇J(θ)",
        _evaluations,
        _extends,
    ),
    broken=Statement(
        "SARSA with max_{s,a} Q(s,a) in place of max_s Σ_a π(a|s)Q(s,a)",
        _evaluations,
        lambda **case: _extends(**case, over_pairs=True),
    ),
    note="SARSA needs V(s) = Σ_a π(a|s)Q(s,a), hence the policy and not only the next action; with Q for V nature "
    "moves the agent's action too. Robust TD with features is not among the extensions: it can diverge (off-kernel).",
)


# off-kernel.


@st.composite
def _rare_features(draw: st.DrawFn) -> Case:
    """mu = (95, 5)/100, phi = (.2, 1), gamma = .9, R = .5, and neighbours of it."""
    return {
        "rare": draw(st.sampled_from((5, 4, 6))),
        "small": draw(st.sampled_from((20, 19, 21, 25))),
        "gamma": draw(st.sampled_from((90, 95))),
        "radius_percent": draw(st.sampled_from((50, 60, 75))),
    }


def slope(rare: int, small: int, gamma: int, radius_percent: int) -> Fraction:
    """The slope of the mean step of robust TD(0) for theta > 0; all arguments in hundredths.

    >>> slope(5, 20, 90, 50), slope(5, 20, 90, 0)
    (Fraction(287, 6250), Fraction(-113, 3125))
    """
    e, x, g, R = (Fraction(k, 100) for k in (rare, small, gamma, radius_percent))
    mean, square = (1 - e) * x + e, (1 - e) * x**2 + e
    return mean * (g * (1 - R) * mean + g * R) - square


def _diverges(rare: int, small: int, gamma: int, radius_percent: int) -> Finding | None:
    """A positive slope, and a negative one at R = 0: TD without robustness converges on these samples."""
    robust, plain = slope(rare, small, gamma, radius_percent), slope(rare, small, gamma, 0)
    if robust <= 0:
        return Finding("slope of the mean step of robust TD", readable(robust), "above 0")
    return at_most("slope of TD at R = 0", plain, 0)


OFF_KERNEL = Claim(
    "off-kernel",
    "Sections 1 and 5",
    "E",
    "robust TD with function approximation may diverge although the samples are on policy",
    "one feature, two states, independent draws from μ",
    printed=Statement(
        "μ = (.95, .05), φ = (.2, 1), γ = .9, R = .5 and neighbours: the mean step of θ > 0 is θ·slope, slope > 0 "
        "(287/6250), while it is negative at R = 0",
        _rare_features,
        _diverges,
        exact=True,
    ),
    broken=Statement("the same at R = 0.1", _rare_features, lambda **case: _diverges(**case | {"radius_percent": 10})),
    note="So the paper gives a right reason for gradient methods. The cause is not the behaviour policy but the "
    "maximum over states: no on-policy distribution bounds the weight of the state that attains it.",
)


# non-robust.


def _shrinks(
    mdp: MDP, policy: Floats, features: Floats, theta: Floats, *, on_policy: bool = True, **_: Any
) -> Finding | None:
    """theta·(mean step of TD(0) without cost) against −(1−gamma)‖V‖²; off policy the states are uniform."""
    model, gamma = Rationals(mdp, policy, features), Fraction(mdp.gamma)
    weights = model.mu if on_policy else np.array([Fraction(1, mdp.n_states)] * mdp.n_states, dtype=object)
    V = model.Phi @ fraction_array(theta)
    pushed = (model.pi * (model.P @ V)).sum(axis=1)
    growth = (weights * V * (gamma * pushed - V)).sum()
    return at_most("theta·(mean step)", growth, -(1 - gamma) * (weights * V * V).sum())


NON_ROBUST = Claim(
    "non-robust",
    "Sections 1 and 5",
    "E",
    "the problem is off-transition-kernel, and therefore non-robust methods with function approximation may diverge",
    "linear functions; one trajectory, as in the paper; for TDC: Figure 3 and docs/experiments.md",
    amended=Statement(
        "non-robust TD(0) does not diverge in the mean: without cost, θ·(mean step) ≤ −(1−γ)‖V_θ‖²_μ under the "
        "stationary distribution, for all features",
        lambda: linear_cases.in_the_ball("theta"),
        _shrinks,
        exact=True,
    ),
    amendment="substitute",
    broken=Statement(
        "the same with uniform weights of the states",
        lambda: linear_cases.in_the_ball("theta"),
        lambda **case: _shrinks(**case, on_policy=False),
    ),
    note="A non-robust method learns the values of the model that generates its samples, so it is neither off policy "
    "nor off kernel. The robust method is the one that may diverge (claim off-kernel).",
)


# double-sampling.


@st.composite
def _independent(draw: st.DrawFn) -> Case:
    """Two states drawn independently from mu, one feature, R = 0."""
    dyadic = st.sampled_from((0.5, 0.25, 0.75, 0.125))
    return {
        "mass": draw(dyadic),
        "phi": np.array([1.0, draw(st.sampled_from((0.5, 0.25, -0.5, 0.75)))]),
        "cost": np.array([draw(st.sampled_from((1.0, 0.0, 0.5))) for _ in range(2)]),
        "gamma": draw(st.sampled_from((0.5, 0.75, 0.0))),
        "theta": draw(st.sampled_from((0.0, 1.0, -0.5))),
    }


def estimates(
    mass: float, phi: Floats, cost: Floats, gamma: float, theta: float
) -> tuple[Fraction, Fraction, Fraction]:
    """(−½J', the mean of the product over two independent transitions, the mean over one).

    >>> estimates(0.5, np.array([1.0, 0.5]), np.array([1.0, 0.0]), 0.5, 0.0)
    (Fraction(11, 40), Fraction(11, 40), Fraction(1, 2))
    """
    mu, x, c = (Fraction(mass), 1 - Fraction(mass)), fractions(phi), fractions(cost)
    g, point = Fraction(gamma), Fraction(theta)
    over_C = inverse(np.array([[sum(m * y**2 for m, y in zip(mu, x, strict=True))]], dtype=object))[0, 0]
    every = [
        (mu[s] * mu[t], (g * x[t] - x[s]) * x[s], (c[s] + g * x[t] * point - x[s] * point) * x[s])
        for s in range(2)
        for t in range(2)
    ]
    slopes, moments = (sum(w * part[k] for w, *part in every) for k in range(2))
    two = sum(w * v * slope_of * over_C * moment for w, slope_of, _ in every for v, _, moment in every)
    one = sum(w * slope_of * over_C * moment for w, slope_of, moment in every)
    return -slopes * over_C * moments, -two, -one


def _doubled(*, single: bool = False, **case: Any) -> Finding | None:
    truth, two, one = estimates(**case)
    return equal("mean of the estimate of −½∇J", one if single else two, truth)


def _one_is_biased(**case: Any) -> Finding | None:
    """Two are unbiased on every case; one is biased on the smallest of them."""
    truth, _, one = estimates(0.5, np.array([1.0, 0.5]), np.array([1.0, 0.0]), 0.5, 0.0)
    return _doubled(**case) or equal("one sample is biased", one != truth, True)


DOUBLE_SAMPLING = Claim(
    "double-sampling",
    "Section 5",
    "E",
    "two independent samples are needed for an unbiased estimate of ∇J; one is biased",
    "R = 0, one feature, states drawn independently",
    printed=Statement(
        "the mean of −∇δ φᵀC⁻¹δ'φ' over two independent transitions is −½∇J; over one it is 1/2 against 11/40 for "
        "μ uniform, φ = (1, ½), c = (1, 0), γ = ½, θ = 0",
        _independent,
        _one_is_biased,
        exact=True,
    ),
    broken=Statement("one transition is enough", _independent, lambda **case: _doubled(**case, single=True)),
    note="Both estimates know C; without the factor C⁻¹ = 8/5 they are 5/16 and 11/64.",
)

CLAIMS = (EXTENDS, OFF_KERNEL, NON_ROBUST, DOUBLE_SAMPLING)
