"""Bounds of robust TDC: units, both printed forms, what the constants must bound, the admissible region."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import bounds
from oracles.bounds import CorrectedConstants, PrintedConstants, Steps
from oracles.chains.mixing import geometric_ergodicity
from oracles.linear.msprbe import MSPRBE
from properties.profiles import examples
from robust_core.mdp import MDP
from robust_core.validate import EPS, Floats

LIBRARY = {"gamma": 0.5, "radius": 0.25, "n_states": 3, "varrho": 2.0, "K": 1.0, "lam": 0.5}
SETTING = PrintedConstants(1.0, **LIBRARY)  # type: ignore[arg-type]
CORRECTED = CorrectedConstants(1.0, **LIBRARY)  # type: ignore[arg-type]
OPERATIONS = 200
"""More than the number of roundings in any of the formulas."""

WRONG_UNITS = {"z_step", "mp_f", "mp_g", "C_h", "L_h", "m_h", "mp_h", "C_z", "m_z", "mp_z"}
"""Printed constants of Appendix D that do not scale, or inherit that from one that does not."""


def close(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=OPERATIONS * EPS)


def scaled(c: PrintedConstants, s: float) -> PrintedConstants:
    return replace(c, c_max=c.c_max * s, K=c.K * s, varrho=c.varrho / s)


@st.composite
def settings_of(draw: st.DrawFn, kind: type[PrintedConstants]) -> PrintedConstants:
    return kind(
        draw(st.sampled_from((0.0, 0.5, 1.0, 10.0))),
        gamma=draw(st.sampled_from((0.0, 0.5, 0.9, 0.99))),
        radius=draw(st.sampled_from((0.0, 0.1, 1.0))),
        n_states=draw(st.integers(1, 40)),
        varrho=draw(st.sampled_from((0.1, 1.0, 50.0))),
        K=draw(st.sampled_from((0.1, 1.0, 20.0))),
        lam=draw(st.sampled_from((1e-3, 0.1, 0.5, 1.0))),
        source=draw(st.sampled_from(("list", "lemma"))),
    )


@given(settings_of(CorrectedConstants), st.sampled_from((0.125, 3.0, 100.0)))
@examples(200)
def test_corrected_constants_have_the_right_units(c: PrintedConstants, s: float) -> None:
    for name, degree in bounds.DEGREE.items():
        assert close(getattr(scaled(c, s), name), getattr(c, name) * s**degree), name


def test_printed_constants_with_wrong_units_are_exactly_these() -> None:
    wrong = {
        name
        for name, degree in bounds.DEGREE.items()
        if not close(getattr(scaled(SETTING, 3.0), name), getattr(SETTING, name) * 3.0**degree)
    }
    assert wrong == WRONG_UNITS


def test_both_printed_forms() -> None:
    lemma = replace(SETTING, source="lemma")
    assert close(lemma.C_delta - SETTING.C_delta, 0.5 * 0.25 * 1.0)
    assert close(SETTING.C_G - (SETTING.C_delta + 0.5), 2 * 0.5 * 2.0 * 0.25)
    assert close(lemma.C_G, lemma.C_delta + 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lam": 0.0}, "lam must lie in"),
        ({"lam": 2.0}, "lam must lie in"),
        ({"varrho": 0.0}, "varrho must be positive"),
        ({"source": "abstract"}, "source must be"),
        ({"ratio": 2.0}, "ratio = alpha/beta"),
    ],
)
def test_bad_settings_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SETTING, **change)  # type: ignore[arg-type]


# What the constants must bound, on transitions (s, s') of random problems with ‖φ‖ <= 1 and ‖θ‖, ‖omega‖ <= K.


def norm(vector: Floats) -> float:
    return float(np.linalg.norm(vector))


class Transition:
    """δ, ∇δ, G, H and ζ of one transition, written out from the paper's definitions."""

    def __init__(self, problem: MSPRBE, theta: Floats, s: int, s_next: int) -> None:
        phi, gamma, R = problem.features, problem.mdp.gamma, problem.radius
        V = phi @ theta
        weights = np.exp(problem.varrho * (V - V.max()))
        self.g = phi.T @ (weights / weights.sum())
        lse = V.max() + np.log(weights.sum()) / problem.varrho
        self.phi, self.next = phi[s], gamma * ((1 - R) * phi[s_next] + R * self.g)
        self.delta = problem.mdp.cost[s, 0] + gamma * ((1 - R) * V[s_next] + R * lse) - V[s]
        self.omega_star = problem.omega(theta).value
        self.gradient = problem.gradient(theta).value

    def G(self, omega: Floats) -> Floats:
        return self.delta * self.phi - self.next * (self.phi @ omega)

    def H(self, omega: Floats) -> Floats:
        return (self.delta - self.phi @ omega) * self.phi

    @property
    def zeta(self) -> float:
        return float(self.gradient @ (self.gradient / 2 + self.G(self.omega_star)))


def random_problem(seed: int) -> tuple[MSPRBE, float]:
    rng = np.random.default_rng(seed)
    S, N = int(rng.integers(1, 6)), int(rng.integers(1, 3))
    S = max(S, N)
    phi = rng.normal(size=(S, N))
    phi /= np.linalg.norm(phi, axis=1).max()
    scale = float(rng.choice([0.01, 1.0, 30.0]))
    mdp = MDP(rng.dirichlet(np.ones(S), size=(S, 1)), scale * rng.uniform(-1, 1, (S, 1)), 0.9)
    problem = MSPRBE(mdp, np.ones((S, 1)), phi, radius=float(rng.choice([0.0, 0.3, 1.0])), varrho=2.0 / scale)
    return problem, scale


def constants_of(problem: MSPRBE, K: float, kind: type[PrintedConstants]) -> PrintedConstants:
    return kind(
        float(np.abs(problem.mdp.cost).max()),
        gamma=problem.mdp.gamma,
        radius=problem.radius,
        n_states=problem.mdp.n_states,
        varrho=problem.varrho,
        K=K,
        lam=min(problem.floor, 1.0),
    )


@pytest.mark.parametrize("seed", range(50))
def test_corrected_constants_bound_what_they_name(seed: int) -> None:
    problem, K = random_problem(seed)
    c = constants_of(problem, K, CorrectedConstants)
    rng = np.random.default_rng(1000 + seed)
    # Every value is a product of a few factors, of which omega has a relative error of order eps/λ.
    slack = 1 + OPERATIONS * EPS / c.lam
    for _ in range(5):
        theta, other, omega = (K * v / max(1.0, np.linalg.norm(v)) for v in rng.normal(size=(3, problem.n_features)))
        s, s_next = rng.integers(problem.mdp.n_states, size=2)
        one, two = Transition(problem, theta, s, s_next), Transition(problem, other, s, s_next)
        gap = float(np.linalg.norm(theta - other))
        G_star = one.G(one.omega_star)
        checks: dict[str, tuple[float, float]] = {
            "C_delta": (abs(one.delta), c.C_delta),
            "L_delta": (abs(one.delta - two.delta), c.L_delta * gap),
            "Lp_delta": (norm(one.next - two.next), bounds.hessian_delta_bound(c.gamma, c.radius, c.varrho) * gap),
            "L_J": (norm(one.gradient - two.gradient), c.L_J * gap),
            "C_G": (norm(one.G(omega)), c.C_G),
            "C_H": (norm(one.H(omega)), c.C_H),
            "K_z": (norm(omega - one.omega_star), c.K_z),
            "G_omega": (norm(one.G(omega) - G_star), c.G_omega * norm(omega - one.omega_star)),
            "C_Gstar": (norm(G_star), c.C_Gstar),
            "L_Gstar": (norm(G_star - two.G(two.omega_star)), c.L_Gstar * gap),
            "C_zeta": (abs(one.zeta), c.C_zeta),
            "Lipschitz zeta": (abs(one.zeta - two.zeta), c.mp_zeta / c.C_G * gap),
            "omega": (norm(one.omega_star - two.omega_star), c.L_delta / c.lam * gap),
        }
        for name, (value, bound) in checks.items():
            assert value <= bound * slack, name


@pytest.mark.parametrize("seed", range(10))
def test_remainder_bounds_the_second_order_of_omega(seed: int) -> None:
    problem, K = random_problem(seed)
    c = constants_of(problem, K, CorrectedConstants)
    rng = np.random.default_rng(seed)
    theta = K * rng.uniform(-0.5, 0.5, problem.n_features)
    _, slope, _ = problem._derivatives(theta)
    jacobian = np.linalg.solve(problem.C.value, slope.mid.T)
    for alpha in (1e-2, 1e-1):
        step = rng.normal(size=problem.n_features)
        step *= alpha * c.C_G / np.linalg.norm(step)
        second = problem.omega(theta + step).value - problem.omega(theta).value - jacobian @ step
        rounding = 3 * problem.omega(theta + step).error_bound + OPERATIONS * EPS * c.K_z / c.lam
        assert np.linalg.norm(second) <= bounds.remainder(c, alpha) + rounding


def counterexample(epsilon: float = 2.0**-20) -> MSPRBE:
    """States 0 and 1 swap (φ = 1, −1); state 2 (φ = 1) is rare and moves to 0, against the habit of the others."""
    P = [[[0.0, 1 - epsilon, epsilon]], [[1 - epsilon, 0.0, epsilon]], [[1.0, 0.0, 0.0]]]
    return MSPRBE(MDP(P, np.zeros((3, 1)), 0.99), np.ones((3, 1)), [[1.0], [-1.0], [1.0]], radius=0.0, varrho=1.0)


def test_printed_C_zeta_is_too_small() -> None:
    """At θ = −K and s_0 = 2 the mean of ζ is nearly twice the printed C_ζ (lost factor 2 in ‖∇J‖)."""
    problem = counterexample()
    zeta = Transition(problem, np.array([-1.0]), 2, 0).zeta
    assert zeta > 1.9 * constants_of(problem, 1.0, PrintedConstants).C_zeta
    assert zeta <= constants_of(problem, 1.0, CorrectedConstants).C_zeta


def test_printed_C_1_is_too_small() -> None:
    """At θ = −K, omega = K a step 0 → 1 with alpha = beta moves omega(θ) by more than C_1 allows (eq:1)."""
    problem, beta = counterexample(), 2.0**-10
    at = Transition(problem, np.array([-1.0]), 0, 1)
    moved = np.array([-1.0]) + beta * at.G(np.array([1.0]))
    drift = problem.omega(moved).value - at.omega_star
    total = 3 * float((at.H(at.omega_star) ** 2).sum()) + 3 * float((drift**2).sum()) / beta**2
    assert np.abs(moved) <= 1.0
    assert total > constants_of(problem, 1.0, PrintedConstants).C_1
    assert total <= constants_of(problem, 1.0, CorrectedConstants).C_1


def test_printed_z_step_is_too_small_for_small_costs() -> None:
    """The same step with K = 1/1000: the printed C_δC_G/λ is a thousandth of the L_δC_G/λ that is needed."""
    problem, K, beta = counterexample(), 1e-3, 2.0**-10
    at = Transition(problem, np.array([-K]), 0, 1)
    moved = np.array([-K]) + beta * at.G(np.array([K]))
    z = np.array([K]) - at.omega_star
    z_next = np.array([K]) + beta * at.H(np.array([K])) - problem.omega(moved).value
    step = float(np.linalg.norm(z_next - z)) / beta
    assert step > constants_of(problem, K, PrintedConstants).z_step
    assert step <= constants_of(problem, K, CorrectedConstants).z_step


@given(
    settings_of(CorrectedConstants), st.sampled_from((1e-3, 0.05, 0.3, 0.66)), st.sampled_from((0.5, 1 - 1e-9, 1.001))
)
@examples(200)
def test_largest_alpha_closes_the_admissible_region(c: PrintedConstants, part: float, share: float) -> None:
    beta = part * c.lam
    top = bounds.largest_alpha(c, beta)
    if top == 0.0:
        assert not bounds.admissible(c, beta * 1e-9, beta)
    else:
        assert bool(bounds.admissible(c, share * top, beta)) == (share < 1)


def test_q_is_a_contraction_exactly_below_two_thirds_lambda() -> None:
    for lam in (0.1, 0.5, 1.0):
        assert 0 < bounds.q(lam, 0.66 * lam) < 1 <= bounds.q(lam, 0.67 * lam)
        assert close(bounds.q(lam, 0.1), 1 - bounds.u(lam, 0.1) * 0.1)
        assert bounds.q(lam, 0.01) <= math.exp(-bounds.u(lam, 0.01) * 0.01)


@pytest.mark.parametrize(
    ("m", "rho", "step"), [(1.0, 0.5, 0.125), (0.01, 0.9, 0.5), (7.0, 0.999, 1e-6), (1.0, 0.5, 1.0)]
)
def test_tau_is_the_definition(m: float, rho: float, step: float) -> None:
    k = bounds.tau(m, rho, step)
    assert m * rho**k <= step
    assert k == 1 or m * rho ** (k - 1) > step
    assert bounds.tau(m, rho, step, least=0) in (k, 0)


def test_tdc_bound_scales_and_refuses_inadmissible_steps() -> None:
    steps = Steps(alpha=1e-6, beta=1e-3, T=10**8, m=1.0, rho=0.5)
    one = bounds.tdc_bound(CORRECTED, steps, 1.0, 1.0)
    big = scaled(CORRECTED, 10.0)
    assert close(bounds.tdc_bound(big, steps, 10.0, 100.0), 100 * one)
    assert close(
        bounds.tracking_bound(big, steps, 10.0, 100.0), 100 * bounds.tracking_bound(CORRECTED, steps, 1.0, 1.0)
    )
    # The printed constants do not scale, so neither does the printed bound.
    printed = bounds.tdc_bound(SETTING, steps, 1.0, 1.0)
    assert not close(bounds.tdc_bound(scaled(SETTING, 10.0), steps, 10.0, 100.0), 100 * printed)
    with pytest.raises(ValueError, match="outside the region"):
        bounds.tdc_bound(CORRECTED, replace(steps, alpha=0.5, beta=0.5), 1.0, 1.0)
    with pytest.raises(ValueError, match="alpha/beta"):
        bounds.tdc_bound(replace(CORRECTED, ratio=1e-6), steps, 1.0, 1.0)


def test_tdc_bound_on_a_chain_of_its_own() -> None:
    """All ingredients from the oracles: (m, rho), λ, J and omega; the bound is finite and falls with T."""
    problem, K = random_problem(3)
    chain = geometric_ergodicity(problem.chain)
    c = constants_of(problem, K, CorrectedConstants)
    beta = c.lam / 100
    alpha = bounds.largest_alpha(c, beta) / 2
    values = [bounds.tdc_bound(c, Steps(alpha, beta, T, chain.m, chain.rho), K, c.C_delta**2) for T in (10**5, 10**8)]
    assert 0 < values[1] < values[0]


def test_smoothing_gap_bounds_the_fixed_points() -> None:
    rng = np.random.default_rng(2)
    gamma, R, varrho, S = 0.9, 0.4, 3.0, 6
    P, cost = rng.dirichlet(np.ones(S), size=S), rng.random(S)
    hard, soft = np.zeros(S), np.zeros(S)
    for _ in range(600):
        hard = cost + gamma * ((1 - R) * P @ hard + R * hard.max())
        soft = cost + gamma * ((1 - R) * P @ soft + R * np.log(np.exp(varrho * soft).sum()) / varrho)
    gap = float(np.abs(soft - hard).max())
    assert gap <= bounds.smoothing_gap(gamma, R, S, varrho)
    # Without 1/(1−gamma) it would be too small.
    assert gap > (1 - gamma) * bounds.smoothing_gap(gamma, R, S, varrho)
