"""TDC and GTD2: every compiled step, restarted from the reference's state, is within a derived bound of the plain one.

One step in exact arithmetic from (theta, omega), both given as floats, is the truth; each implementation is within e
of it, so the two are within 2e. To first order in u = 2^-53, with N features and S states, where sums may be taken
in any order and products fused (then an n-term product of x and y is off by at most n·u·Σ|x_i y_i|):

- V_s = phi_s·theta: e_V = N u A with A = max_s Σ_i |Phi_si theta_i|.
- Smooth maximum: 1-Lipschitz in V for the sup norm, so e_V. Exponents x = varrho (V − max V) take two roundings, off by
  2u|x|; exp adds E = RELATIVE_ERROR (numpy's is less); |x|e^x <= 1/e; summing S weights adds S u; what exp
  cuts off below −708 is under 4e-308 each. The sum of weights is at least 1, so it is off by
  r = (2S/e + S)u + E + S·4e-308 of itself; its logarithm by r + 2u log S, mellow-max's shift −log S and its addition by
  3u log S, plain mellow-max by (4S+24)u log S (see test_core_bellman). With k = 5, or 4S+29 for mellow-max,
  e_smax = e_V + (r + k u log S)/varrho + 3u(|max V| + log S/varrho).
- delta: e_delta = (gamma_b + 1)e_V + gamma_R e_smax + 6u(|c| + gamma_b|V'| + gamma_R|smax| + |V|).
- Softmax: an error e_V of V changes weights by at most the factor exp(±2 varrho e_V), rounding by 2r and a division:
  Σ|Δw| <= e_w = expm1(2 varrho e_V) + 2r + 2u.
- g_i, with F_i = max_s |Phi_si|: e_g = gamma_R F_i (e_w + S u) + 6u(gamma_b|phi'_i| + gamma_R F_i).
- tracked tau = phi·omega: e_tau = N u Σ|phi_i omega_i|.
- TDC direction: e_d = e_delta|phi_i| + e_g|tau| + |g_i|e_tau + 3u(|delta phi_i| + |g_i tau|).
- GTD2 direction: e_d = e_g|tau| + (|phi_i|+|g_i|)e_tau + 3u(|phi_i|+|g_i|)|tau|.
- theta + alpha d: alpha e_d + 2u(|theta_i| + alpha|d_i|); step sizes have equal bits (test_core_tabular).
- omega + beta (delta − tau) phi: beta|phi_i|(e_delta + e_tau) + 4u(|omega_i| + beta|delta − tau||phi_i|).
- Projection: does not expand distances; the norm is off by (N/2+2)u of itself, the scaling by 2u, and a norm that is
  taken for just above or below K moves the result by no more: (N/2+5)u min(K, ‖x‖) in norm.

Products of errors are covered by SECOND_ORDER. Distances are Euclidean.
"""

import copy
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties.profiles import examples
from properties.strategies import features as feature_matrices
from properties.strategies import mdps, radii
from robust_core import models, streams
from robust_core.linear import LinearLearner, learn, learn_plain, projected, stopping_time
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.runs import snapshots
from robust_core.schedules import constant, polynomial
from robust_core.smoothing import LogSumExp, Mellowmax, Smoothing
from robust_core.trajectory import Transition, Walk
from robust_core.uncertainty import Contamination
from robust_core.validate import EPS, Floats
from robust_core.variant import Problem

U = EPS / 2
SECOND_ORDER = 1.01
EXP_CUT = 4e-308
SINGLE_STEPS = 100_000

State = tuple[Floats, Floats]


def make(rule: str, mdp: MDP, radius: float, Phi: Floats, **options: Any) -> LinearLearner:
    problem = Problem(
        n_states=mdp.n_states,
        n_actions=mdp.n_actions,
        gamma=mdp.gamma,
        uncertainty_set=Contamination(radius),
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
    k = 4 * S + 29 if isinstance(learner.smoothing, Mellowmax) else 5
    e_smax = e_V + (r + k * U * log_S) / varrho + 3 * U * (abs(float(V.max())) + log_S / varrho)
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
        shift = -math.log(len(V)) if isinstance(learner.smoothing, Mellowmax) and self.forgets != "shift" else 0.0
        smax = float(V.max()) + (math.log(weights.sum()) + shift) / varrho
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
        return projected(new_theta, problem.projection), projected(new_omega, problem.projection)


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


SETTINGS = ("plain", "projected", "mellow-max", "episodes", "large", "R = 1", "vanilla")


@pytest.mark.parametrize("rule", ["TDC", "GTD2"])
@pytest.mark.parametrize("name", SETTINGS)
def test_single_steps_are_within_the_bound(rule: str, name: str) -> None:
    steps = SINGLE_STEPS * 7 // 10 if (rule, name) == ("TDC", "plain") else SINGLE_STEPS * 3 // 130
    learner, walk = setting(rule, name)
    assert violations(learner, walk, steps, compiled_step) == 0


def test_the_steps_add_up() -> None:
    """The shares above make at least 10^5 single steps."""
    assert SINGLE_STEPS * 7 // 10 + (2 * len(SETTINGS) - 1) * (SINGLE_STEPS * 3 // 130) >= SINGLE_STEPS - 2 * 13


def inexact(x: Floats) -> Floats:
    """exp with a relative error of 1e-12 (alternating, so that softmax feels it too)."""
    return np.exp(x) * (1 + 1e-12 * np.where(np.arange(len(x)) % 2, 1.0, -1.0))


def constant_factor(x: Floats) -> Floats:
    """exp with the relative error 1e-12 everywhere."""
    return np.exp(x) * (1 + 1e-12)


WRONG = {
    "exp off by 1e-12, alternating": (Formulas(exp=inexact), "plain"),
    "exp off by 1e-12": (Formulas(exp=constant_factor), "plain"),
    "exp of single precision": (
        Formulas(exp=lambda x: np.exp(x.astype(np.float32)).astype(np.float64)),
        "plain",
    ),
    "softmax without varrho": (Formulas(softmax_varrho=1.0), "plain"),
    "softmax with a varrho off by 1e-9": (Formulas(softmax_varrho=2.0 * (1 + 1e-9)), "plain"),
    "projection forgotten": (Formulas(forgets="projection"), "projected"),
    "LSE for mellow-max": (Formulas(forgets="shift"), "mellow-max"),
    "steps counted from 1": (Formulas(forgets="t"), "mellow-max"),
    "terminal ignored": (Formulas(forgets="terminal"), "episodes"),
    "omega not tracked": (Formulas(forgets="tracked"), "plain"),
}


@pytest.mark.parametrize("rule", ["TDC", "GTD2"])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_steps_are_noticed(rule: str, name: str) -> None:
    wrong, where = WRONG[name]
    learner, walk = setting(rule, where)
    learn(learner, walk, 50)  # away from omega = 0, where g does not matter
    assert violations(learner, copy.deepcopy(walk), 200, Formulas()) == 0
    assert violations(learner, copy.deepcopy(walk), 200, wrong) > 0


@given(mdps(min_states=2, ergodic=True), radii(), st.sampled_from((0.5, 2.0, 30.0)), st.booleans(), st.data())
@examples(60)
def test_generated_problems_are_within_the_bound(
    mdp: MDP, radius: float, varrho: float, mellow: bool, data: st.DataObject
) -> None:
    Phi = data.draw(feature_matrices(mdp.n_states))
    smoothing: Smoothing = Mellowmax(varrho) if mellow else LogSumExp(varrho)
    K = data.draw(st.sampled_from((math.inf, 1.0, 0.125)))
    rule = data.draw(st.sampled_from(("TDC", "GTD2")))
    learner = make(rule, mdp, radius, Phi, smoothing=smoothing, projection=K, initial=np.full(Phi.shape[1], 0.75))
    pi = uniform(mdp.n_states, mdp.n_actions)
    walk = Walk(mdp, pi, seed=streams.key(mdp.hash))
    assert violations(learner, walk, 30, compiled_step) == 0


def test_runs_resume_and_stay_close() -> None:
    """A compiled run cut in two is the run in one piece, bit for bit; t and the walk go on."""
    for rule in ("TDC", "GTD2"):
        learner, walk = setting(rule, "mellow-max")
        whole, w1 = copy.deepcopy((learner, walk))
        split, w2 = copy.deepcopy((learner, walk))
        plain, w3 = copy.deepcopy((learner, walk))
        learn(whole, w1, 500)
        learn(split, w2, 123)
        learn(split, w2, 377)
        learn_plain(plain, w3, 500)
        assert [x.tobytes() for x in whole.estimate()] == [x.tobytes() for x in split.estimate()]
        assert whole.t == split.t == plain.t == 500
        assert w1.stream.tobytes() == w2.stream.tobytes() == w3.stream.tobytes()
        assert w1.position.tobytes() == w3.position.tobytes()
        restarted, w4 = copy.deepcopy((learner, walk))
        learn(restarted, w4, 123)
        restarted.t = 0
        learn(restarted, w4, 377)
        assert restarted.theta.tobytes() != whole.theta.tobytes()


def test_estimates_are_copies_and_the_problem_stays() -> None:
    learner, walk = setting("TDC", "plain")
    initial = learner.problem.initial.copy()
    learn(learner, walk, 10)
    theta, omega = learner.estimate()
    theta[:], omega[:] = 9.0, 9.0
    assert (learner.theta != 9.0).all()
    assert (learner.omega != 9.0).all()
    assert learner.problem.initial.tobytes() == initial.tobytes()
    assert learner.problem.features is not None
    assert learner.problem.features.tobytes() == PHI.tobytes()


# ---- projection


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-150, 1.0, 1e150, 1e170, 1e300])
def test_the_projection_is_right_at_every_scale(scale: float) -> None:
    """Squares of the entries overflow or underflow at either end; within (N/2+5)u of the nearest point."""
    x = np.array([3.0, 4.0]) * scale
    for K in (scale, 5.0 * scale, 10.0 * scale):
        wanted = np.array([0.6, 0.8]) * min(K, 5.0 * scale)
        assert np.abs(projected(x, K) - wanted).max() <= 6 * U * 5.0 * scale
    assert projected(x, np.inf).tobytes() == x.tobytes()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_compiled_projection_is_right_at_every_scale(scale: float) -> None:
    """One step from omega = 0 with all numbers scaled: theta and omega end on the ball, not at 0 and not outside."""
    Phi = np.array([[0.6, 0.8], [0.8, -0.6]])
    mdp = MDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[5.0 * scale], [1.0 * scale]], 0.5)
    for run in (learn, learn_plain):
        learner = make(
            "TDC", mdp, 0.25, Phi, projection=scale, smoothing=LogSumExp(1.0 / scale), alpha=constant(1.0),
            beta=constant(1.0),
        )  # fmt: skip
        run(learner, Walk(mdp, np.ones((2, 1)), seed=streams.key("scale")), 1)
        for x in learner.estimate():
            assert np.abs(x - np.array([0.6, 0.8]) * scale).max() <= 20 * U * scale


# ---- the exponential


def test_the_exponential_is_within_its_bound() -> None:
    """Against sixty decimal digits: a dense grid, the ends, powers of two, and the borders of the reduction."""
    from robust_core.kernels.exponential import RELATIVE_ERROR, exp

    ln2 = math.log(2)
    borders = [x for k in range(1021) for x in (-(k + 0.5) * ln2, np.nextafter(-(k + 0.5) * ln2, 0.0))]
    grid = (-np.random.default_rng(0).random(3000) * 708).tolist() + (-np.random.default_rng(1).random(1000)).tolist()
    points = [0.0, -0.0, -5e-324, -1e-300, -1e-17, -(2.0**-53), -1.0, -708.0, *(-(2.0**-k) for k in range(60))]
    worst = 0.0
    for x in (*points, *grid, *borders):
        if x < -708.0:
            continue
        with localcontext() as context:
            context.prec = 60
            wanted = Decimal(x).exp()
            worst = max(worst, float(abs(Decimal(exp(x)) - wanted) / wanted))
    assert worst <= RELATIVE_ERROR
    # The bound is not idle: a quarter of it is not enough, and neither is a constant factor of 1e-15.
    assert worst > RELATIVE_ERROR / 8
    assert worst + 1e-15 > RELATIVE_ERROR


def test_the_exponential_at_its_ends() -> None:
    from robust_core.kernels.exponential import exp

    assert exp(0.0) == exp(-0.0) == 1.0
    assert exp(-708.0) > 0.0
    for x in (np.nextafter(-708.0, -1000.0), -709.0, -745.2, -1e300, -math.inf):
        assert exp(x) == 0.0
        assert math.exp(x) < EXP_CUT


FRESH = """
import math, sys
import numba
from robust_core.kernels.exponential import exp

@numba.njit(fastmath={"reassoc", "contract", "nsz"})
def caller(x):
    return exp(x) + 0.0

worst = max(abs(caller(-k / 64) / math.exp(-k / 64) - 1.0) for k in range(1, 6400))
sys.exit(0 if worst <= 1e-15 else f"exp is off by {worst} when a reassociated function compiles it")
"""


def test_the_exponential_does_not_inherit_its_caller_s_liberties(tmp_path: Path) -> None:
    """Numba hands the flags of a caller to what it calls, unless that has flags of its own.

    Reassociation would undo the rounding trick of exp and leave it off by 40 %. The first caller decides, hence a
    process of its own.
    """
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FRESH], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_divergence_is_an_error() -> None:
    """Steps that leave the range of floats: a clear error from either implementation, never nan in an estimate."""
    Phi = np.array([[1e100], [1e100]])
    mdp = MDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0], [1.0]], 0.5)
    for run in (learn, learn_plain):
        for radius in (0.0, 0.5):
            learner = make("TDC", mdp, radius, Phi, initial=np.array([1e50]), alpha=constant(1.0), beta=constant(1.0))
            with pytest.raises(OverflowError, match="TDC diverged"):
                run(learner, Walk(mdp, np.ones((2, 1)), seed=streams.key("diverge")), 100)


def test_one_state_one_feature() -> None:
    """S = 1: smax(V) = V, so TDC is the scalar recursion; here both sides are computed without rounding."""
    mdp = MDP([[[1.0]]], [[1.0]], 0.5)
    for run in (learn, learn_plain):
        learner = make("TDC", mdp, 0.5, np.array([[1.0]]), alpha=constant(0.5), beta=constant(0.5))
        run(learner, Walk(mdp, [[1.0]], seed=streams.key("one")), 2)
        # delta_0 = 1, theta_1 = omega_1 = 1/2; delta_1 = 1 + 1/4 - 1/2 = 3/4, g = 1/2.
        assert learner.theta.tolist() == [0.5 + 0.5 * (0.75 - 0.25)]
        assert learner.omega.tolist() == [0.5 + 0.5 * (0.75 - 0.5)]


def test_stopping_times_are_uniform_and_seeded() -> None:
    """W in 0 … T−1; each of 4 values, in 4,000 seeds, within six standard deviations (1e-8 of false alarm)."""
    T, n = 4, 4000
    drawn = [stopping_time(T, streams.key("W", i)) for i in range(n)]
    assert drawn == [stopping_time(T, streams.key("W", i)) for i in range(n)]
    counts = np.bincount(drawn, minlength=T)
    assert len(counts) == T
    assert np.abs(counts - n / T).max() <= 6 * math.sqrt(n / T * (1 - 1 / T))
    off_by_one = np.bincount([min(w + 1, T - 1) for w in drawn], minlength=T)
    assert np.abs(off_by_one - n / T).max() > 6 * math.sqrt(n / T * (1 - 1 / T))


def test_snapshots_of_a_linear_learner_are_its_estimates_at_their_times() -> None:
    times = [0, 3, 3, 50]
    learner, walk = setting("TDC", next(iter(SETTINGS)))
    thetas, omegas = snapshots(*copy.deepcopy((learner, walk)), times)
    for place, time in enumerate(times):
        one, its_walk = copy.deepcopy((learner, walk))
        learn(one, its_walk, time)
        assert np.array_equal(thetas[place], one.theta)
        assert np.array_equal(omegas[place], one.omega)
    assert not np.array_equal(thetas[0], thetas[-1]), "the learner moved"
