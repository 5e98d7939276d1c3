"""The compiled loop of TDC and GTD2 (plain form: `linear`).

A step costs the product Phi theta, one exponential per state and the product Phiᵀ softmax. The features are kept
transposed so that all three run over contiguous states; sums may be reordered into vector lanes (`reassociated`),
so a step equals the plain one within rounding, not bit for bit.

Such loops ask at run time how far apart the arrays lie that they read and write, and take vector lanes only where the
distance allows it: the same sums in another order. So that a run is a function of its inputs and not of the heap, all
arrays of these loops lie in one block, at distances that are always the same and always enough (`_laid_out`).
"""

from functools import cache
from math import inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from robust_core.kernels.exponential import exp, expm1
from robust_core.kernels.jit import compiled, reassociated, row_dot
from robust_core.kernels.tabular import step_size
from robust_core.kernels.walk import arguments, entered, left, moved
from robust_core.smoothing import Mellowmax
from robust_core.validate import Floats

if TYPE_CHECKING:
    from robust_core.learners.linear import LinearLearner
    from robust_core.trajectory import Walk

# Squares or exponents that sum to at least this lost at most a negligible part of it to underflow.
_TINY = 2.0**-900
# Doubles between two arrays in the block: more than the lanes of several vectors side by side.
_GAP = 64
# A square below this part of radius² belongs to a norm below the radius, however square and root are rounded.
_SAFELY = 1.0 - 2.0**-50


@reassociated
def _values(transposed: Floats, theta: Floats, V: Floats) -> None:
    """V = Phi theta, four features in a pass: V is read and written a quarter as often."""
    whole = theta.size // 4 * 4
    for s in range(V.size):
        V[s] = 0.0
    for i in range(0, whole, 4):
        a, b, c, d = theta[i], theta[i + 1], theta[i + 2], theta[i + 3]
        for s in range(V.size):
            V[s] += (a * transposed[i, s] + b * transposed[i + 1, s]) + (
                c * transposed[i + 2, s] + d * transposed[i + 3, s]
            )
    for i in range(whole, theta.size):
        for s in range(V.size):
            V[s] += theta[i] * transposed[i, s]


@reassociated
def _softmax(V: Floats, varrho: float, weights: Floats, mellow: bool) -> tuple[float, float, float]:
    """max V, Σ exp(x) with x = varrho (V − max V) and, for mellow-max, Σ (exp(x) − 1); the exp(x) go to `weights`."""
    a = b = c = d = V[0]
    whole = V.size // 4 * 4
    for s in range(0, whole, 4):
        a, b, c, d = max(a, V[s]), max(b, V[s + 1]), max(c, V[s + 2]), max(d, V[s + 3])
    top = max(max(a, b), max(c, d))  # noqa: PLW3301 - two independent halves
    for s in range(whole, V.size):
        top = max(top, V[s])
    total = total_less_1 = 0.0
    for s in range(V.size):
        x = varrho * (V[s] - top)
        weight = exp(x)
        weights[s] = weight
        total += weight
        if mellow:
            total_less_1 += expm1(x)
    return top, total, total_less_1


@compiled
def _mellow(V: Floats, varrho: float, top: float, total: float, total_less_1: float) -> float:
    """mm(V) − max V from the sums of `_softmax`, by the cases of `smoothing.Mellowmax`."""
    if total_less_1 > -_TINY:
        gaps = 0.0
        for s in range(V.size):
            gaps += V[s] - top
        return gaps / V.size
    mean_less_1 = total_less_1 / V.size
    return (log1p(mean_less_1) if mean_less_1 > -0.5 else log(total / V.size)) / varrho


@reassociated
def _three_products(features: Floats, s: Any, s_next: Any, theta: Floats, omega: Floats) -> tuple[float, float, float]:
    """phi_s·theta, phi_{s'}·theta and phi_s·omega in one pass: short products cost their latency, not their length."""
    here = there = tracked = 0.0
    for i in range(theta.size):
        phi = features[s, i]
        here += phi * theta[i]
        there += features[s_next, i] * theta[i]
        tracked += phi * omega[i]
    return here, there, tracked


@reassociated
def _moved(
    theta: Floats, omega: Floats, direction: Floats, features: Floats, s: Any, alpha: float, pull: float
) -> tuple[float, float]:
    """Move theta along `direction` and omega along phi_s; returns the squares of their norms."""
    theta_square = omega_square = 0.0
    for i in range(theta.size):
        theta[i] += alpha * direction[i]
        omega[i] += pull * features[s, i]
        theta_square += theta[i] * theta[i]
        omega_square += omega[i] * omega[i]
    return theta_square, omega_square


@compiled
def _norm(x: Floats, square: float) -> float:
    """‖x‖ from its square, or of x scaled by its largest entry where squares leave the normal range."""
    if _TINY < square < inf:
        return sqrt(square)
    top = 0.0
    for i in range(x.size):
        top = max(top, abs(x[i]))
    if top == 0.0 or not top < inf:
        return top
    square = 0.0
    for i in range(x.size):
        square += (x[i] / top) ** 2
    return top * sqrt(square)


@compiled
def _project(x: Floats, square: float, radius: float) -> None:
    norm = _norm(x, square)
    if norm > radius:
        scale = radius / norm
        for i in range(x.size):
            x[i] *= scale


@cache
def _loop(gtd2: bool, robust: bool, mellow: bool) -> Any:
    @compiled
    def run(
        theta, omega, features, transposed, V, weights, direction, varrho, discounts, radius, alphas, betas,
        cost, terminal, t, steps, columns, bits, position, stream,
    ):  # fmt: skip
        gamma_R, gamma_b = discounts
        walker = entered(position, stream)
        N = direction.size
        inside = radius * radius * _SAFELY
        end = t + steps
        while t < end:
            visited, taken = walker[0], walker[1]
            walker = moved(columns, bits, walker)
            if terminal[visited]:
                continue
            s = walker[0]
            stop = terminal[s]
            smooth, share = 0.0, 0.0
            if robust:
                _values(transposed, theta, V)
                top, total, total_less_1 = _softmax(V, varrho, weights, mellow)
                above = _mellow(V, varrho, top, total, total_less_1) if mellow else log(total) / varrho
                smooth, share = top + above, gamma_R / total
            here, there, tracked = _three_products(features, visited, s, theta, omega)
            following = 0.0 if stop else there
            delta = cost[visited, taken] + gamma_b * following + gamma_R * smooth - here
            for i in range(N):
                phi = features[visited, i]
                g = 0.0 if stop else gamma_b * features[s, i]
                if robust:
                    g += share * row_dot(transposed, i, weights)
                direction[i] = (phi - g) * tracked if gtd2 else delta * phi - g * tracked
            alpha = step_size(alphas[0], alphas[1], alphas[2], t) if alphas[1] > 0.0 else alphas[0]
            beta = step_size(betas[0], betas[1], betas[2], t) if betas[1] > 0.0 else betas[0]
            squares = _moved(theta, omega, direction, features, visited, alpha, beta * (delta - tracked))
            if not _TINY < squares[0] < inside:
                _project(theta, squares[0], radius)
            if not _TINY < squares[1] < inside:
                _project(omega, squares[1], radius)
            t += 1
        left(walker, position, stream)
        return t

    return run


def _laid_out(*arrays: Floats) -> list[Floats]:
    """Copies of the arrays, one after the other in one block, _GAP apart."""
    places = np.cumsum([0, *(array.size + _GAP for array in arrays)])
    block = np.empty(places[-1])
    copies = []
    for array, place in zip(arrays, places[:-1].tolist(), strict=True):
        copies.append(block[place : place + array.size].reshape(array.shape))
        copies[-1][:] = array
    return copies


def learn(learner: "LinearLearner", walk: "Walk", steps: int) -> None:
    """Advance walk and learner together by `steps` transitions, in place."""
    problem = learner.problem
    n_states = problem.n_states
    schedules = [
        (step.scale, 0.0 if step.clock == "constant" else step.rate, step.power)
        for step in (problem.step_size, learner.second_step_size)
    ]
    features, states, direction = learner.features, np.zeros(n_states), np.zeros(learner.theta.size)
    arrays = _laid_out(learner.theta, learner.omega, features, features.T, states, states, direction)
    run = _loop(learner.rule == "GTD2", learner.radius > 0.0, isinstance(learner.smoothing, Mellowmax))
    discounts = (problem.gamma * learner.radius, problem.gamma * (1.0 - learner.radius))
    learner.t = run(
        *arrays, learner.smoothing.varrho, discounts, problem.projection, *schedules,
        walk.mdp.cost, walk.terminal, learner.t, steps, *arguments(walk),
    )  # fmt: skip
    learner.theta, learner.omega = arrays[0].copy(), arrays[1].copy()
