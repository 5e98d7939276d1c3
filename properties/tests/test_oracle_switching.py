"""The certificate of growth of robust TDC: against the true recursion, and with each hypothesis dropped."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from oracles.arithmetic.ball import Ball
from oracles.linear import second_moments, switching
from oracles.linear.switching import Expansion
from robust_core.validate import EPS, Floats

GAMMA, RADIUS = 0.875, 0.5
MOMENTS = np.diag([1.0, 0.25])
SMALL = (np.array([[0.75], [2.0]]), np.array([[0.625, 0.375], [0.875, 0.125]]), 0.1875, 0.5)
LARGE_STEPS = (np.array([[1.0], [2.0]]), np.array([[0.5, 0.5], [0.5, 0.5]]), 1.875, 0.375)
"""(features, kernel, alpha, beta): one feature, V is largest at state 1 if and only if theta > 0."""


Problem = tuple[Floats, Floats, float, float]


def held(problem: Problem, k: int = 1, radius: float = RADIUS) -> Ball:
    phi, _, alpha, beta = problem
    return second_moments.steps(phi, gamma=GAMMA, radius=radius, alpha=alpha, beta=beta, held=k)


def proposed(problem: Problem) -> Expansion:
    phi, kernel, _, _ = problem
    claim = switching.propose_expansion(kernel, held(problem).mid, phi, held=1, factor=1.01, moments=MOMENTS)
    assert claim is not None
    return claim


def is_certified(problem: Problem, claim: Expansion) -> bool:
    return switching.is_expanding(Ball.exact(problem[1]), held(problem), problem[0], claim)


def value(claim: Expansion, x: Floats, s: int) -> float:
    """q(x, s)."""
    return max(float(x @ claim.weights[s] @ x), 0.0) if claim.direction @ x > 0.0 else 0.0


def true_steps(
    problem: Problem, s: int, x: Floats, costs: tuple[float, float] = (0.0, 0.0), varrho: float = np.inf
) -> list[tuple[float, int, Floats]]:
    """(probability, s', x') of one step of robust TDC; varrho = inf is the maximum itself."""
    phi, kernel, alpha, beta = problem
    V = phi @ x[:1]
    lead = V - V.max()
    weights = (lead == 0.0).astype(float) if varrho == np.inf else np.exp(varrho * lead)
    worst = float(V.max()) + (0.0 if varrho == np.inf else float(np.log(weights.sum())) / varrho)
    weights = weights / weights.sum()
    found = []
    for t in range(2):
        jump = GAMMA * ((1.0 - RADIUS) * phi[t] + RADIUS * (weights @ phi))
        value = costs[s] + GAMMA * ((1.0 - RADIUS) * float(V[t]) + RADIUS * worst)
        delta, tracked = value - float(V[s]), float(phi[s] @ x[1:])
        step = np.append(alpha * (delta * phi[s] - tracked * jump), beta * (delta - tracked) * phi[s])
        found.append((float(kernel[s, t]), t, x + step))
    return found


DIRECTIONS = [np.array([np.cos(angle), np.sin(angle)]) for angle in np.linspace(0.0, 2.0 * np.pi, 721)]


def factors(problem: Problem, q: Callable[[Floats, int], float]) -> list[float]:
    """E[q(x',s')]/q(x,s) of the true recursion over a grid of directions with q > 0."""
    return [
        sum(p * q(after, t) for p, t, after in true_steps(problem, s, x)) / q(x, s)
        for s in range(2)
        for x in DIRECTIONS
        if q(x, s) > 0.0
    ]


def test_a_certified_claim_is_true_of_the_true_recursion() -> None:
    claim = proposed(SMALL)
    assert is_certified(SMALL, claim)
    assert min(factors(SMALL, partial(value, claim))) >= claim.factor


def test_without_the_condition_on_jumps_the_claim_can_be_false() -> None:
    """With large steps theta changes its sign in one step: the maximum is elsewhere, and q is 0 there."""
    claim = proposed(LARGE_STEPS)
    assert not is_certified(LARGE_STEPS, claim)
    assert min(factors(LARGE_STEPS, partial(value, claim))) < 1.0


def test_changed_claims_are_rejected() -> None:
    claim = proposed(SMALL)
    turned = claim.weights[:, ::-1, ::-1]
    wrong = [
        replace(claim, factor=1.0),
        replace(claim, factor=1.3),
        replace(claim, weights=-claim.weights),
        replace(claim, weights=turned),
        replace(claim, weights=claim.weights + 10.0 * np.eye(2)),
        replace(claim, direction=-claim.direction),
        replace(claim, multipliers=claim.multipliers - 1.0),
        replace(claim, multipliers=claim.multipliers + 10.0),
    ]
    assert [is_certified(SMALL, one) for one in wrong] == [False] * len(wrong)


def test_a_certified_claim_is_true_with_costs_and_the_smooth_maximum() -> None:
    """In the cone and far out the bounded terms and the other states' weights do not matter, as the proof says."""
    claim = proposed(SMALL)
    for s in range(2):
        for x in (1e3 * direction for direction in DIRECTIONS):
            before = value(claim, x, s)
            if before > 0.0:
                after = true_steps(SMALL, s, x, costs=(1.0, -1.0), varrho=1.0)
                assert sum(p * value(claim, y, t) for p, t, y in after) >= claim.factor * before


@pytest.mark.parametrize("size", [np.nan, np.inf])
def test_what_is_not_a_number_certifies_nothing(size: float) -> None:
    claim = proposed(SMALL)
    wrong = [
        replace(claim, factor=size),
        replace(claim, weights=np.full_like(claim.weights, size)),
        replace(claim, direction=np.array([size, 0.0])),
        replace(claim, multipliers=claim.multipliers + size),
    ]
    assert [is_certified(SMALL, one) for one in wrong] == [False] * len(wrong)
    steps = [held(SLOW, k) for k in range(2)]
    M = np.stack([np.eye(2)] * 2)
    assert not switching.is_bounded(Ball.exact(SLOW[1]), steps, np.full_like(M, size), 0.999)
    assert not switching.is_bounded(Ball.exact(SLOW[1]), steps, M, size)


def test_a_maximum_at_the_wrong_state_is_rejected() -> None:
    claim = replace(proposed(SMALL), held=0)
    assert not is_certified(SMALL, claim)


SLOW = (np.array([[1.0], [1.125]]), SMALL[1], 0.1875, 0.5)


def test_a_recursion_that_is_bounded_in_all_regions() -> None:
    phi, kernel, _, _ = SLOW
    steps = [held(SLOW, k) for k in range(2)]
    M = switching.propose_bound(kernel, [A.mid for A in steps], factor=0.999)
    assert M is not None
    assert switching.is_bounded(Ball.exact(kernel), steps, M, 0.999)
    assert max(factors(SLOW, lambda x, s: float(x @ M[s] @ x))) <= 0.999
    assert switching.propose_expansion(kernel, steps[1].mid, phi, held=1, factor=1.001, moments=MOMENTS) is None
    twisted = M + np.array([[0.0, 1e-9], [-1e-9, 0.0]])
    wrong = [(M, 0.5), (M, 1.0), (-M, 0.999), (M[:, ::-1, ::-1], 0.999), (twisted, 0.999)]
    assert [switching.is_bounded(Ball.exact(kernel), steps, one, u) for one, u in wrong] == [False] * 5
    assert not switching.is_bounded(Ball.exact(kernel), [], M, 0.999)
    assert not switching.is_bounded(Ball.exact(kernel), steps[1:], M, 0.999)


def test_one_region_does_not_decide() -> None:
    """Held at state 0 the mean square of SMALL shrinks, as that of vanilla TDC does; robust TDC grows."""
    kernel, steps = SMALL[1], [held(SMALL, k) for k in range(2)]
    M = switching.propose_bound(kernel, [steps[0].mid], factor=0.92)
    assert M is not None
    assert switching.is_bounded(Ball.exact(kernel), steps[:1] * 2, M, 0.92)
    assert not switching.is_bounded(Ball.exact(kernel), steps, M, 0.92)
    assert switching.propose_bound(kernel, [A.mid for A in steps], factor=0.9999) is None
    assert second_moments.growth(Ball.exact(kernel), held(SMALL, radius=0.0))[1] < 0.98


@pytest.mark.parametrize("n", [1, 3])
def test_the_matrix_of_the_operator_is_the_operator(n: int) -> None:
    rng = np.random.default_rng(n)
    kernel, A, M = rng.dirichlet(np.ones(2), 2), rng.normal(size=(2, 2, n, n)), rng.normal(size=(2, n, n))
    M = M + M.swapaxes(1, 2)
    pack = switching._Packing(n)
    found = pack.matrix((switching._operator(kernel, A, pack) @ pack.vector(M).ravel()).reshape(2, -1))
    wanted = second_moments.moved(Ball.exact(kernel), Ball.exact(A), M)
    # Each side is a sum of 2 n² products of three factors, n <= 3: at most 2 n² + 3 roundings of sums of their sizes.
    size = 2 * n * n * np.abs(A).max() ** 2 * np.abs(M).max()
    np.testing.assert_allclose(found, wanted.mid, rtol=0.0, atol=2 * (2 * n * n + 3) * EPS * size)
