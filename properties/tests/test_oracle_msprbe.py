"""MSPRBE: ball arithmetic, complex step and long decimals agree; stationary points are certified."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.arithmetic.ball import SMALLEST, Ball, euclidean
from oracles.arithmetic.certified import Certified
from oracles.bounds import BesselBounds, CorrectedConstants
from oracles.chains.chain import stationary_exact
from oracles.linear.greedy import GreedyMSPRBE
from oracles.linear.msprbe import MSPRBE
from oracles.linear.stationary import certify, stationary_points, third_derivative_bound
from properties.profiles import examples
from properties.strategies import features, mdps, policies, radii
from properties.tests.exact_msprbe import ExactMSPRBE
from robust_core.mdp import MDP
from robust_core.validate import EPS, Floats

VARRHOS = (0.5, 1.0, 4.0, 32.0)
CHAIN = MDP([[[0.5, 0.5]], [[0.25, 0.75]]], [[1.0], [0.0]], 0.5)
ONE = [[1.0], [1.0]]


@st.composite
def problems(draw: st.DrawFn) -> MSPRBE:
    mdp = draw(mdps(max_states=5, max_actions=2, ergodic=True))
    return MSPRBE(
        mdp,
        draw(policies(mdp)),
        draw(features(mdp.n_states, max_features=min(3, mdp.n_states))),
        radius=draw(radii()),
        varrho=draw(st.sampled_from(VARRHOS)),
        smoothing=draw(st.sampled_from(("lse", "mellowmax"))),
        behaviour=draw(st.none() | policies(mdp)),
    )


def thetas(problem: MSPRBE) -> st.SearchStrategy[Floats]:
    numbers = st.sampled_from((0.0, 1.0, -1.0, 0.375, -2.5, 8.0))
    return st.lists(numbers, min_size=problem.n_features, max_size=problem.n_features).map(np.array)


def random_problem(seed: int, S: int, N: int) -> MSPRBE:
    rng = np.random.default_rng(seed)
    mdp = MDP(rng.dirichlet(np.ones(S), size=(S, 2)), rng.random((S, 2)), 0.9)
    phi = rng.random((S, N)) / np.sqrt(N)
    return MSPRBE(mdp, rng.dirichlet(np.ones(2), size=S), phi, radius=0.3, varrho=2.0)


def greedy_problem(seed: int, radius: float) -> GreedyMSPRBE:
    """Rows and behaviours in 64ths, so that the chain of pairs is exact."""
    rng = np.random.default_rng(seed)
    S, A, N = 3, 2, 2
    rows = (1 + rng.multinomial(61, np.ones(3) / 3.0, size=(S, A))) / 64.0
    behaviour = (1 + rng.multinomial(62, np.ones(2) / 2.0, size=S)) / 64.0
    mdp = MDP(rows, rng.integers(-8, 9, size=(S, A)) / 4.0, 0.875)
    psi = rng.integers(-8, 9, size=(S, A, N)) / 8.0
    return GreedyMSPRBE(mdp, behaviour, psi, radius=radius, varrho=2.0)


@pytest.mark.parametrize("seed", range(12))
def test_the_gradient_of_control_is_that_of_complex_steps(seed: int) -> None:
    problem = greedy_problem(seed, 0.375)
    theta = np.random.default_rng(seed).integers(-9, 9, size=2) / 7.0
    assert problem.is_smooth(theta)
    assert problem.gradient(theta).agrees_with(problem.complex_gradient(theta))


@pytest.mark.parametrize("seed", range(12))
def test_the_objective_of_control_without_nature_is_that_of_rationals(seed: int) -> None:
    """J = bᵀC⁻¹b with b and C summed over transitions, where R = 0 leaves no logarithm."""
    problem = greedy_problem(seed, 0.0)
    theta = np.random.default_rng(seed).integers(-9, 9, size=2) / 8.0
    psi, rows = problem.psi, problem._rows.mid
    mu = stationary_exact(problem.walked)
    Q = [[sum(Fraction(x) * Fraction(t) for x, t in zip(row, theta, strict=True)) for row in state] for state in psi]
    b, C = [Fraction(0)] * 2, [[Fraction(0)] * 2 for _ in range(2)]
    for pair, (s, a) in enumerate(np.ndindex(3, 2)):
        mean = sum(Fraction(p) * min(Q[t]) for t, p in enumerate(rows[pair]))
        delta = Fraction(problem.mdp.cost[pair, 0]) + Fraction(problem.mdp.gamma) * mean - Q[s][a]
        x = [Fraction(v) for v in psi[s, a]]
        for i in range(2):
            b[i] += mu[pair] * delta * x[i]
            for j in range(2):
                C[i][j] += mu[pair] * x[i] * x[j]
    J = (b[0] * (C[1][1] * b[0] - C[0][1] * b[1]) + b[1] * (C[0][0] * b[1] - C[1][0] * b[0])) / (
        C[0][0] * C[1][1] - C[0][1] * C[1][0]
    )
    got = problem.J(theta)
    assert abs(Fraction(float(got.value)) - J) <= Fraction(got.error_bound)


@given(st.data())
@examples(200)
def test_all_methods_agree_on_generated_problems(data: st.DataObject) -> None:
    problem = data.draw(problems(), label="problem")
    theta = data.draw(thetas(problem), label="theta")
    exact = ExactMSPRBE(problem)
    assert problem.J(theta).agrees_with(exact.J(theta))
    assert problem.omega(theta).agrees_with(exact.omega(theta))
    assert problem.gradient(theta).agrees_with(exact.gradient(theta))
    assert problem.complex_gradient(theta).agrees_with(exact.gradient(theta))
    assert problem.gradient(theta).agrees_with(problem.complex_gradient(theta))
    assert problem.hessian(theta).agrees_with(problem.complex_hessian(theta))


def test_the_floating_point_warnings_of_the_caller_are_restored() -> None:
    """With numpy 1 they were not: a method that calls another one entered the same context twice."""
    problem, before = random_problem(0, 3, 2), np.geterr()
    problem.gradient(np.zeros(2))
    assert np.geterr() == before


@pytest.mark.parametrize(("S", "N"), [(1, 1), (2, 2), (12, 4), (30, 5)])
def test_methods_agree_on_random_problems(S: int, N: int) -> None:
    problem = random_problem(S, S, N)
    exact = ExactMSPRBE(problem)
    for theta in np.random.default_rng(7).normal(size=(3, N)):
        assert problem.J(theta).agrees_with(exact.J(theta))
        assert problem.gradient(theta).agrees_with(exact.gradient(theta))
        assert problem.hessian(theta).agrees_with(problem.complex_hessian(theta))


@pytest.mark.parametrize("slip", ["lost factor two", "frozen softmax", "transposed slope"])
def test_a_wrong_gradient_is_caught(slip: str) -> None:
    problem, theta = random_problem(3, 6, 3), np.array([1.0, -0.5, 2.0])
    right = problem.gradient(theta)
    omega, slope, softmax = problem._derivatives(theta)
    gamma_R = problem.mdp.gamma * problem.radius
    frozen = slope.mid - gamma_R * np.outer(problem.features.T @ softmax.mid, problem._mean_phi.mid)
    value = {
        "lost factor two": right.value / 2,
        "frozen softmax": 2 * frozen @ omega.mid,
        "transposed slope": 2 * slope.mid.T @ omega.mid,
    }[slip]
    wrong = Certified(value, right.error_bound, slip)
    assert not wrong.agrees_with(ExactMSPRBE(problem).gradient(theta))
    assert not wrong.agrees_with(problem.complex_gradient(theta))


def test_a_gradient_that_ignores_rounding_is_caught() -> None:
    problems_and_points = [(random_problem(seed, 6, 3), np.linspace(-1, 1, 3)) for seed in range(10)]
    boasts = [Certified(p.gradient(t).value, 0.0, "no rounding") for p, t in problems_and_points]
    truths = [ExactMSPRBE(p).gradient(t) for p, t in problems_and_points]
    assert not all(boast.agrees_with(truth) for boast, truth in zip(boasts, truths, strict=True))


ROUNDINGS = 16
"""More than the number of sums and products in sequence between the data and the residual T̂V − V."""


@given(st.data())
@examples(200)
def test_J_is_the_projected_norm(data: st.DataObject) -> None:
    """J from its definition, ‖Π(T̂V − V)‖²_mu with the projection matrix, meets E[δφ]ᵀC⁻¹E[δφ]."""
    problem = data.draw(problems(), label="problem")
    theta = data.draw(thetas(problem), label="theta")
    mdp, R, varrho = problem.mdp, problem.radius, problem.varrho
    V = problem.features @ theta
    lse = V.max() + np.log(np.exp(varrho * (V - V.max())).sum()) / varrho
    lse -= np.log(len(V)) / varrho if problem.smoothing == "mellowmax" else 0.0
    backup = mdp.cost + mdp.gamma * ((1 - R) * mdp.P @ V + R * lse)
    residual = (problem.policy * backup).sum(axis=1) - V
    scale = np.abs(mdp.cost).max() + 3 * (np.abs(problem.features) @ np.abs(theta)).max() + np.log(len(V)) / varrho
    residual_error = ROUNDINGS * (len(V) + len(theta) + mdp.n_actions) * EPS * scale
    projection = problem.projection
    projected = projection.value @ residual
    error = projection.error_bound * np.abs(residual).sum() + np.abs(projection.value).sum() * residual_error
    norm = float(problem.mu @ projected**2)
    bound = error * (2 * np.abs(projected).max() + error) + 2 * norm * problem.mu_log_error + ROUNDINGS * EPS * norm
    assert Certified(np.array(norm), float(bound), "norm").agrees_with(problem.J(theta))


@given(st.data())
@examples(200)
def test_bessel_bounds(data: st.DataObject) -> None:
    """Bounds without 1/λ on J, omega, ∇J and ∇²J by Bessel's inequality; C_δ needs ‖φ‖ <= 1."""
    problem = data.draw(problems(), label="problem")
    assume(problem.smoothing == "lse")
    theta = data.draw(thetas(problem), label="theta")
    constants = CorrectedConstants(
        float(np.abs(problem.mdp.cost).max()),
        gamma=problem.mdp.gamma,
        radius=problem.radius,
        n_states=problem.mdp.n_states,
        varrho=problem.varrho,
        K=max(float(np.linalg.norm(theta)), 1.0),
        lam=problem.floor,
    )
    bessel = BesselBounds(constants)
    J = problem.J(theta)
    assert float(J.lower) <= bessel.J
    omega, start = problem.omega(theta), problem.omega(np.zeros_like(theta))
    assert np.linalg.norm(omega.value) <= bessel.omega + 3 * omega.error_bound
    way = float(np.linalg.norm(omega.value - start.value))
    assert way <= bessel.omega_lipschitz * np.linalg.norm(theta) + 3 * (omega.error_bound + start.error_bound)
    gradient = problem.gradient(theta)
    assert np.linalg.norm(gradient.value) <= bessel.gradient(float(J.upper)) + 3 * gradient.error_bound
    hessian = problem.hessian(theta)
    assert np.linalg.norm(hessian.value, 2) <= bessel.hessian + 9 * hessian.error_bound
    assert bessel.hessian <= constants.L_J


def test_bessel_without_the_two_is_caught() -> None:
    """Half the Hessian bound fails on a two-state chain, so the bound is within a factor two of sharp."""
    swap = MDP([[[0.01, 0.99]], [[0.99, 0.01]]], [[0.0], [0.0]], 0.99)
    problem = MSPRBE(swap, ONE, [[1.0], [-1.0]], radius=0.0, varrho=1.0)
    assert float(problem.hessian([0.0]).lower.max()) > 1.99**2
    assert float(problem.hessian([0.0]).upper.max()) <= 2 * 1.99**2


def test_lambda_is_certified() -> None:
    for seed in range(20):
        problem = random_problem(seed, 8, 3)
        values = np.linalg.eigvalsh((problem.features.T * problem.mu) @ problem.features)
        # Weyl: an eigenvalue moves by at most the norm of the error of C.
        assert problem.floor <= values[0] + 3 * problem.C.error_bound
        assert problem.lam.agrees_with(Certified(np.array(values[0]), 3 * problem.C.error_bound, "eigvalsh"))


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        ([[1.0, 2.0], [0.5, 1.0]], "column 1 of 2"),
        ([[0.0], [0.0]], "column 0 of 1"),
        ([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], "column 2 of 3"),
        ([[0.1, 0.3], [0.1, 0.3]], "column 1 of 2"),
    ],
)
def test_dependent_features_are_refused(phi: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MSPRBE(CHAIN, ONE, phi, radius=0.1, varrho=1.0)


def test_features_that_depend_on_the_recurrent_states_are_refused() -> None:
    leaky = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    with pytest.raises(ValueError, match="recurrent states"):
        MSPRBE(leaky, ONE, np.eye(2), radius=0.1, varrho=1.0)


def test_nearly_dependent_features_are_refused_in_floats_only() -> None:
    with pytest.raises(ArithmeticError, match="too small to certify"):
        MSPRBE(CHAIN, ONE, [[1.0, 1.0], [1.0, 1.0 + 2.0**-40]], radius=0.1, varrho=1.0)


def test_bad_arguments_are_named() -> None:
    problem = MSPRBE(CHAIN, ONE, ONE, radius=0.1, varrho=1.0)
    with pytest.raises(ValueError, match=r"theta must have shape \(1,\)"):
        problem.J([1.0, 2.0])
    with pytest.raises(ValueError, match="varrho must be positive"):
        MSPRBE(CHAIN, ONE, ONE, radius=0.1, varrho=0.0)
    with pytest.raises(ValueError, match="smoothing must be"):
        MSPRBE(CHAIN, ONE, ONE, radius=0.1, varrho=1.0, smoothing="max")  # type: ignore[arg-type]


def test_overflow_safe() -> None:
    problem = MSPRBE(CHAIN, ONE, np.eye(2), radius=0.5, varrho=1000.0)
    theta = [1e3, -1e3]
    assert problem.J(theta).agrees_with(ExactMSPRBE(problem).J(theta))
    assert problem.gradient(theta).agrees_with(problem.complex_gradient(theta))


def planted(seed: int) -> tuple[MSPRBE, Floats]:
    """cost = V − gamma(1−R)PV − gamma R LSE(V) for V = Φθ*, so J(θ*) = 0 (design, mathematics 10)."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(5), size=(5, 1))
    phi, theta = rng.normal(size=(5, 2)) / 3, rng.normal(size=2)
    V = phi @ theta
    lse = np.log(np.exp(2.0 * V).sum()) / 2.0
    cost = V[:, None] - 0.9 * 0.75 * P @ V - 0.9 * 0.25 * lse
    return MSPRBE(MDP(P, cost, 0.9), np.ones((5, 1)), phi, radius=0.25, varrho=2.0), theta


@pytest.mark.parametrize("seed", range(5))
def test_planted_stationary_point_is_found(seed: int) -> None:
    problem, theta = planted(seed)
    points = stationary_points(problem, rng=np.random.default_rng(seed), starts=4)
    best = points[0]
    assert best.distance is not None
    assert best.is_minimum
    # The planted cost is rounded, so the true minimum is near θ*, as its own certificate says.
    own = certify(problem, theta)
    assert own.distance is not None
    assert np.linalg.norm(best.theta - theta) <= best.distance + own.distance


def test_a_point_that_is_not_stationary_gets_no_certificate() -> None:
    problem, theta = planted(0)
    assert certify(problem, theta + 3.0).distance is None
    # Near it a certificate may be had, but it must reach to the minimum, which is within its own of θ*.
    own, shift = certify(problem, theta), np.full(2, 2.0**-13)
    assert own.distance is not None
    near = certify(problem, theta + shift)
    assert near.distance is None or near.distance >= np.linalg.norm(shift) - own.distance


def test_third_derivative_bound_holds() -> None:
    problem = random_problem(1, 6, 2)
    rng = np.random.default_rng(0)
    for _ in range(50):
        left, direction = rng.normal(size=2), rng.normal(size=2)
        right = left + 0.1 * direction
        gap = np.linalg.norm(problem.hessian(left).value - problem.hessian(right).value, 2)
        length = float(np.linalg.norm(right - left))
        noise = 4 * problem.hessian(left).error_bound
        assert gap <= third_derivative_bound(problem, problem.J(left), length) * length + noise


SCALES = (2.0**-963, 2.0**-500, 2.0**500, 2.0**963)
"""About 1e±290 and 1e±150: squares of such numbers leave the range of floats."""


def scaled_problem(scale: float) -> tuple[MSPRBE, Floats]:
    """A problem with cost and theta times a power of two and varrho over it: delta and omega scale exactly."""
    mdp = MDP([[[0.3, 0.7]], [[0.25, 0.75]]], [[1.0 * scale], [0.37 * scale]], 0.5)
    phi = [[1.0, 0.3], [0.5, -0.7]]
    return MSPRBE(mdp, ONE, phi, radius=0.25, varrho=2.0 / scale), np.array([0.3, -0.2]) * scale


@pytest.mark.parametrize("scale", SCALES)
def test_certificates_hold_at_every_scale(scale: float) -> None:
    """The bound covers the error, and is no wider, relative to the scale, than for costs of size 1."""
    (problem, theta), (unit, unit_theta) = scaled_problem(scale), scaled_problem(1.0)
    truth, omega = ExactMSPRBE(problem).omega(theta), problem.omega(theta)
    assert 0.0 < omega.error_bound <= 1.1 * scale * unit.omega(unit_theta).error_bound
    assert (np.abs(omega.value - truth.value) <= omega.error_bound + truth.error_bound).all()
    assert problem.hessian(theta).agrees_with(unit.hessian(unit_theta))
    if scale < 1.0:
        J = problem.J(theta)
        assert J.agrees_with(ExactMSPRBE(problem).J(theta))
        exact = ExactMSPRBE(unit).gradient(unit_theta)
        wanted = Certified(scale * exact.value, scale * exact.error_bound, "scaled")
        assert problem.gradient(theta).agrees_with(wanted)


def test_a_certificate_of_zero_at_a_small_scale_is_caught() -> None:
    """The squares of the residual underflow at 1e-150: a bound from them is 0, and the omega beside it is wrong."""
    problem, theta = scaled_problem(2.0**-500)
    residual = (problem._moment(theta)[0] - problem._C @ Ball.exact(problem.omega(theta).value)).magnitude
    assert np.sum(residual**2) == 0.0 < euclidean(residual)


@pytest.mark.parametrize("varrho", [1e-300, 1e-200, 1e20, 1e100, 1e300])
def test_an_extreme_varrho_is_refused_with_a_reason(varrho: float) -> None:
    problem = MSPRBE(CHAIN, ONE, [[1.0], [0.5]], radius=0.25, varrho=varrho)
    with pytest.raises(ArithmeticError, match="varrho"):
        certify(problem, np.array([0.3]))


def test_features_that_overflow_are_refused_with_a_reason() -> None:
    with pytest.raises(ArithmeticError, match=r"C cannot be certified in floats.*features up to 1e"):
        MSPRBE(CHAIN, ONE, [[1e290], [0.5e290]], radius=0.25, varrho=1.0)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6), st.integers(-1070, 1020))
@examples(200)
def test_a_norm_is_bounded_from_above_at_every_scale(sizes: list[float], exponent: int) -> None:
    values = np.ldexp(np.array(sizes), exponent)
    squares = sum(Fraction(x) ** 2 for x in values.tolist())
    bound = Fraction(float(euclidean(values)))
    assert bound**2 >= squares
    room = Fraction(1 + 32 * EPS) ** 2 * squares
    assert bound**2 <= room or bound <= (len(sizes) + 4) * Fraction(SMALLEST) + 2 * max(map(Fraction, values.tolist()))
