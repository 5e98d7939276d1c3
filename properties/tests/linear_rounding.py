"""How far a compiled step of TDC or GTD2 may be from the plain one, restarted from the same state.

One step in exact arithmetic from (theta, omega), both given as floats, is the truth; each implementation is within e
of it, so the two are within 2e. To first order in u = 2^-53, with N features and S states, where sums may be taken
in any order and products fused (then an n-term product of x and y is off by at most n·u·Σ|x_i y_i|):

- V_s = phi_s·theta: e_V = N u A with A = max_s Σ_i |Phi_si theta_i|.
- Smooth maximum: 1-Lipschitz in V for the sup norm, so e_V. Exponents x = varrho (V − max V) take two roundings, off by
  2u|x|; exp adds E = RELATIVE_ERROR (numpy's is less); |x|e^x <= 1/e; summing S weights adds S u; what exp
  cuts off below −708 is under 4e-308 each. The sum of weights is at least 1, so it is off by
  r = (2S/e + S)u + E + S·4e-308 of itself.
- LSE: the logarithm of that sum is off by r + 2u log S, so
  e_smax = e_V + (r + 5u log S)/varrho + 3u(|max V| + log S/varrho).
- Mellow-max: every error is relative to the correction m = |mm − max V|, however small varrho is. Above a mean of ½ the
  compiled expm1 is off by 7u and by the 2u of its argument (|x|e^x <= 1 − e^x), the mean by (S+10)u, log1p by twice
  that and 2u, the division by u: (2S+23)u. Below, |log mean| > log 2, so (r + u)/log 2 + 3u < (3S+14)u. Plain
  mellow-max is off by (4S+24)u (see test_core_smoothing), which is more: e_smax = e_V + (4S+24)u m + 3u(|max V| + m).
- delta: e_delta = (gamma_b + 1)e_V + gamma_R e_smax + 6u(|c| + gamma_b|V'| + gamma_R|smax| + |V|).
- Softmax: an error e_V of V changes weights by at most the factor exp(±2 varrho e_V), rounding by 2r and a division:
  Σ|Δw| <= e_w = expm1(2 varrho e_V) + 2r + 2u.
- g_i, with F_i = max_s |Phi_si|: e_g = gamma_R F_i (e_w + S u) + 6u(gamma_b|phi'_i| + gamma_R F_i).
- tracked tau = phi·omega: e_tau = N u Σ|phi_i omega_i|.
- TDC direction: e_d = e_delta|phi_i| + e_g|tau| + |g_i|e_tau + 3u(|delta phi_i| + |g_i tau|).
- GTD2 direction: e_d = e_g|tau| + (|phi_i|+|g_i|)e_tau + 3u(|phi_i|+|g_i|)|tau|.
- theta + alpha d: alpha e_d + 2u(|theta_i| + alpha|d_i|); step sizes have equal bits (test_core_tabular_rules).
- omega + beta (delta − tau) phi: beta|phi_i|(e_delta + e_tau) + 4u(|omega_i| + beta|delta − tau||phi_i|).
- Projection: does not expand distances; the norm is off by (N/2+2)u of itself, the scaling by 2u, and a norm that is
  taken for just above or below K moves the result by no more: (N/2+5)u min(K, ‖x‖) in norm.

Products of errors are covered by SECOND_ORDER. Distances are Euclidean.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robust_core import models, streams
from robust_core.learners.linear import LinearLearner, learn, project
from robust_core.learners.schedules import constant, polynomial
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.problem import Problem
from robust_core.sets import Contamination
from robust_core.smoothing import LogSumExp, Mellowmax
from robust_core.trajectory import Transition, Walk
from robust_core.validate import EPS, Floats

U = EPS / 2
SECOND_ORDER = 1.01
EXP_CUT = 4e-308

State = tuple[Floats, Floats]


def make(rule: str, mdp: MDP, radius: float, Phi: Floats, **options: Any) -> LinearLearner:
    problem = Problem.of(
        mdp,
        Contamination(radius),
        step_size=options.get("alpha", constant(0.25)),
        second_step_size=options.get("beta", constant(0.5)),
        initial=options.get("initial", np.zeros(Phi.shape[1])),
        features=Phi,
        smoothing=options.get("smoothing", LogSumExp(2.0)),
        projection=options.get("projection", np.inf),
    )
    return LinearLearner(rule, problem)  # type: ignore[arg-type]


# ---- the bound


def exp_error() -> float:
    from robust_core.kernels.exponential import RELATIVE_ERROR

    return RELATIVE_ERROR


def one_step_bound(learner: LinearLearner, step: Transition) -> tuple[float, float]:
    """How far two implementations of one step may be apart: (theta, omega), in the Euclidean norm."""
    Phi, theta, omega, problem = learner.features, learner.theta, learner.omega, learner.problem
    S, N = Phi.shape
    varrho, log_S = learner.smoothing.varrho, math.log(S)
    gamma_R, gamma_b = problem.gamma * learner.radius, problem.gamma * (1.0 - learner.radius)
    V, phi = Phi @ theta, Phi[step.s]
    phi_next = np.zeros(N) if step.terminal else Phi[step.s_next]
    following = 0.0 if step.terminal else float(V[step.s_next])
    smax, soft = learner.smoothing.value(V), learner.smoothing.gradient(V)

    e_V = N * U * float((np.abs(Phi) @ np.abs(theta)).max())
    r = (2 * S / math.e + S) * U + exp_error() + S * EXP_CUT
    top = float(V.max())
    if isinstance(learner.smoothing, Mellowmax):
        e_smax = e_V + (4 * S + 24) * U * abs(smax - top) + 3 * U * (abs(top) + abs(smax - top))
    else:
        e_smax = e_V + (r + 5 * U * log_S) / varrho + 3 * U * (abs(top) + log_S / varrho)
    if gamma_R == 0.0:
        e_smax = 0.0
    delta = step.cost + gamma_b * following + gamma_R * smax - float(V[step.s])
    size = abs(step.cost) + gamma_b * abs(following) + gamma_R * abs(smax) + abs(float(V[step.s]))
    e_delta = (gamma_b + 1) * e_V + gamma_R * e_smax + 6 * U * size

    F = np.abs(Phi).max(axis=0)
    e_w = math.expm1(2 * varrho * e_V) + 2 * r + 2 * U
    g = np.abs(gamma_b * phi_next + gamma_R * (soft @ Phi))
    e_g = gamma_R * F * (e_w + S * U) + 6 * U * (gamma_b * np.abs(phi_next) + gamma_R * F)
    tau = float(phi @ omega)
    e_tau = N * U * float(np.abs(phi) @ np.abs(omega))
    size_phi = np.abs(phi)
    if learner.rule == "TDC":
        d = abs(delta) * size_phi + g * abs(tau)
        e_d = e_delta * size_phi + e_g * abs(tau) + g * e_tau + 3 * U * d
    else:
        d = (size_phi + g) * abs(tau)
        e_d = e_g * abs(tau) + (size_phi + g) * e_tau + 3 * U * d

    alpha, beta = problem.step_size.at(learner.t), learner.second_step_size.at(learner.t)
    e_theta = alpha * e_d + 2 * U * (np.abs(theta) + alpha * d)
    move = beta * abs(delta - tau) * size_phi
    e_omega = beta * size_phi * (e_delta + e_tau) + 4 * U * (np.abs(omega) + move)
    K = problem.projection

    def total(e: Floats, reach: Floats) -> float:
        scaling = (N / 2 + 5) * U * min(K, float(np.linalg.norm(reach))) if math.isfinite(K) else 0.0
        return 2 * SECOND_ORDER * (float(np.linalg.norm(e)) + scaling)

    return total(e_theta, np.abs(theta) + alpha * d), total(e_omega, np.abs(omega) + move)


# ---- candidates for the compiled step: the kernel, and its formulas with one thing wrong


def compiled_step(learner: LinearLearner, walk: Walk, step: Transition) -> State:
    """The kernel, one step from the learner's state; `walk` is where the reference's walk was."""
    learn(learner, walk, 1)
    return learner.estimate()


@dataclass(frozen=True)
class Formulas:
    """The kernel's formulas in Python, so that they can be broken."""

    exp: Callable[[Floats], Floats] = np.exp
    softmax_varrho: float | None = None
    forgets: str = ""

    def __call__(self, learner: LinearLearner, walk: Walk, step: Transition) -> State:
        """One step from the learner's state."""
        Phi, theta, omega, problem = learner.features, learner.theta, learner.omega, learner.problem
        varrho = learner.smoothing.varrho
        gamma_R, gamma_b = problem.gamma * learner.radius, problem.gamma * (1.0 - learner.radius)
        V, phi = Phi @ theta, Phi[step.s]
        weights = self.exp(varrho * (V - V.max()))
        if not isinstance(learner.smoothing, Mellowmax) or self.forgets == "shift":
            smax = float(V.max()) + math.log(weights.sum()) / varrho
        elif self.forgets == "digits":
            smax = float(V.max()) + (math.log(weights.sum()) - math.log(len(V))) / varrho
        else:
            smax = learner.smoothing.value(V)
        if self.softmax_varrho is not None:
            weights = self.exp(self.softmax_varrho * (V - V.max()))
        soft = weights / weights.sum()
        last = step.terminal and self.forgets != "terminal"
        phi_next = np.zeros_like(phi) if last else Phi[step.s_next]
        delta = step.cost + gamma_b * float(phi_next @ theta) + gamma_R * smax - float(phi @ theta)
        g = gamma_b * phi_next + gamma_R * (soft @ Phi)
        tau = float(phi @ omega)
        d = delta * phi - g * tau if learner.rule == "TDC" else (phi - g) * tau
        t = learner.t + (self.forgets == "t")
        alpha, beta = problem.step_size.at(t), learner.second_step_size.at(t)
        new_theta = theta + alpha * d
        new_omega = omega + beta * (delta - (0.0 if self.forgets == "tracked" else tau)) * phi
        if self.forgets == "projection":
            return new_theta, new_omega
        return project(new_theta, problem.projection), project(new_omega, problem.projection)


Candidate = Callable[[LinearLearner, Walk, Transition], State]


def violations(learner: LinearLearner, walk: Walk, steps: int, candidate: Candidate) -> int:
    """How many of the candidate's single steps are farther from the reference's than the bound allows.

    2u|theta_i| is a part of the bound, and most steps are within twice that: only for the others is the rest computed.
    """
    reference, other, other_walk = copy.deepcopy(learner), copy.deepcopy(learner), copy.deepcopy(walk)
    found = 0
    for _ in range(steps):
        before = *reference.estimate(), reference.t
        other.theta, other.omega, other.t = reference.theta.copy(), reference.omega.copy(), reference.t
        step = walk.step()
        reference.update(step)
        results = candidate(other, other_walk, step)
        gaps = [math.dist(got, wanted) for got, wanted in zip(results, (reference.theta, reference.omega), strict=True)]
        if any(gap > 4 * U * math.hypot(*old) for gap, old in zip(gaps, before[:2], strict=True)):
            other.theta, other.omega, other.t = before
            found += any(gap > bound for gap, bound in zip(gaps, one_step_bound(other, step), strict=True))
    return found


GARNET = models.garnet(8, 2, 4, gamma=0.9375, seed=streams.key("linear"))
PI = uniform(8, 2)
RNG = np.random.default_rng(7)
PHI = RNG.normal(size=(8, 3))
PHI /= np.linalg.norm(PHI, axis=1, keepdims=True)


def setting(rule: str, name: str) -> tuple[LinearLearner, Walk]:
    """Named problems: projected and not, both smooth maxima, R from 0 to 1, episodes, more states than a lane."""
    mdp, pi, Phi, terminal, options = GARNET, PI, PHI, None, {}
    radius = {"vanilla": 0.0, "R = 1": 1.0}.get(name, 0.25)
    if name == "projected":
        options = {"projection": 0.5, "alpha": constant(1.0), "beta": constant(1.0)}
    elif name == "mellow-max":
        options = {"smoothing": Mellowmax(3.0), "alpha": polynomial(0.5, rate=0.01, power=0.75)}
    elif name == "small varrho":
        options = {"smoothing": Mellowmax(1e-9)}
    elif name == "episodes":
        terminal = np.arange(8) == 3
    elif name == "large":
        mdp, pi = models.garnet(67, 2, 4, gamma=0.9375, seed=streams.key("large")), uniform(67, 2)
        Phi = np.random.default_rng(8).normal(size=(67, 5)) / 4
        options = {"smoothing": LogSumExp(10.0)}
    if terminal is not None:
        P = mdp.P.copy()
        P[terminal] = np.eye(8)[0]
        mdp = MDP(P, mdp.cost, mdp.gamma)
    learner = make(rule, mdp, radius, Phi, initial=np.linspace(-1, 1, Phi.shape[1]), **options)
    return learner, Walk(mdp, pi, seed=streams.key("linear", rule, name), terminal=terminal)


SETTINGS = ("plain", "projected", "mellow-max", "small varrho", "episodes", "large", "R = 1", "vanilla")
