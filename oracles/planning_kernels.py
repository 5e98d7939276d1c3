"""Compiled modified policy iteration with span bounds: one call from the model to the enclosure.

Each round freezes the greedy policy and nature's answer, solves that linear evaluation roughly (sweeps; when they
turn out slow, a direct or Krylov solve), and judges the result by one full backup. Whatever the rough part does,
the enclosure rests on that backup alone. A round that fails to shrink the span of d = TV − V by γ is replaced by
a plain backup of the last good iterate, which shrinks it by γ in exact arithmetic: when not even that helps,
rounding is all that is left.
"""

import math

import numpy as np
from numba import njit

from oracles import enclosure
from oracles.planning_sweeps import backup, freeze, sort_states, sweep

MAX, LSE, MELLOWMAX = 0, 1, 2
DONE, FLOOR, OVERFLOW = 0, 1, 2

PROBE = 8  # sweeps before their rate is judged
PATIENCE = 24.0  # expected further sweeps that justify a linear solver
DIRECT = 96  # states up to which that solver is Gaussian elimination
UNSETTLED = 0.02  # fraction of the last span worth reaching while the policy still changes
SETTLED = 0.4  # fraction of the span that ends the iteration, aimed at once the policy stays

_jit = njit(cache=True, nogil=True)
_rounding_half_width = _jit(enclosure.rounding_half_width)
_truncation_half_width = _jit(enclosure.truncation_half_width)
_soft_max_error = _jit(enclosure.soft_max_error)


@_jit
def extremes(values):
    """(min, max) of an array."""
    low = high = values[0]
    for value in values:
        low = min(low, value)
        high = max(high, value)
    return low, high


@_jit
def reduce_actions(q, policy, control, result, greedy):
    """result = min_a q (control; the minimiser, as a policy, into `greedy`) or Σ_a π q; whether greedy moved."""
    n_states, n_actions = q.shape
    moved = False
    for state in range(n_states):
        if control:
            best = 0
            for action in range(1, n_actions):
                if q[state, action] < q[state, best]:
                    best = action
            if greedy[state, best] != 1.0:
                moved = True
                greedy[state, :] = 0.0
                greedy[state, best] = 1.0
            result[state] = q[state, best]
        else:
            total = 0.0
            for action in range(n_actions):
                total += policy[state, action] * q[state, action]
            result[state] = total
    return moved


@_jit
def centre(values):
    """Subtract the midpoint of the range."""
    low, high = extremes(values)
    middle = 0.5 * (low + high)
    for i in range(values.shape[0]):
        values[i] -= middle


@_jit
def change(model, frozen, policy, c, scale, radius, total_variation, order, x, d):
    """d = c + scale·Wx − x, centred, for the frozen kernel W; returns its span."""
    sweep(model, frozen, policy, scale, radius, total_variation, order, x, d)
    low, high = np.inf, -np.inf
    for i in range(x.shape[0]):
        d[i] += c[i] - x[i]
        low = min(low, d[i])
        high = max(high, d[i])
    middle = 0.5 * (low + high)
    for i in range(x.shape[0]):
        d[i] -= middle
    return high - low


@_jit
def solve_directly(model, frozen, policy, scale, radius, total_variation, order, d):
    """The solution y of (I − scale·W)y = d by Gaussian elimination."""
    n_states = d.shape[0]
    matrix = np.eye(n_states)
    unit = np.zeros(n_states)
    column = np.empty(n_states)
    for j in range(n_states):
        unit[j] = 1.0
        sweep(model, frozen, policy, scale, radius, total_variation, order, unit, column)
        matrix[:, j] -= column
        unit[j] = 0.0
    return np.linalg.solve(matrix, d)


@_jit
def solve_by_krylov(model, frozen, policy, scale, radius, total_variation, order, d, target):
    """An approximate solution y of (I − scale·W)y = d by BiCGSTAB; the span of the residual aims at `target`."""
    y = np.zeros_like(d)
    residual = d.copy()
    shadow = d.copy()
    p = d.copy()
    ap = np.empty_like(d)
    at = np.empty_like(d)
    rho = np.dot(shadow, residual)
    best, stale = np.inf, 0
    while stale < 2 * PROBE:
        sweep(model, frozen, policy, scale, radius, total_variation, order, p, ap)
        ap[:] = p - ap
        along = np.dot(shadow, ap)
        if along == 0.0 or rho == 0.0:
            break
        alpha = rho / along
        residual -= alpha * ap
        sweep(model, frozen, policy, scale, radius, total_variation, order, residual, at)
        at[:] = residual - at
        square = np.dot(at, at)
        omega = np.dot(at, residual) / square if square > 0.0 else 0.0
        y += alpha * p + omega * residual
        residual -= omega * at
        low, high = extremes(residual)
        if not high - low > target or omega == 0.0:
            break
        stale = 0 if high - low < 0.5 * best else stale + 1
        best = min(best, high - low)
        previous, rho = rho, np.dot(shadow, residual)
        p[:] = residual + (rho / previous) * (alpha / omega) * (p - omega * ap)
    return y


@_jit
def evaluate_roughly(model, policy, cost, scale, radius, total_variation, order, x, target, most):
    """Move x towards the value of a frozen policy and kernel, up to a constant: at most `most` sweeps."""
    frozen = freeze(model, policy, radius, total_variation, x)
    n_states, n_actions = policy.shape
    c = np.zeros(n_states)
    for state in range(n_states):
        for action in range(n_actions):
            c[state] += policy[state, action] * cost[state, action]
    d = np.empty(n_states)
    first = span = np.inf
    for count in range(most):
        span = change(model, frozen, policy, c, scale, radius, total_variation, order, x, d)
        if count == PROBE // 2:
            first = span
        slow = False
        if count == PROBE and target < span:
            rate = (span / first) ** (1.0 / (PROBE - PROBE // 2))
            slow = rate >= 1.0 or math.log(target / span) < PATIENCE * math.log(rate)
        if slow and n_states <= DIRECT:
            x += solve_directly(model, frozen, policy, scale, radius, total_variation, order, d)
            return
        if slow:
            x += solve_by_krylov(model, frozen, policy, scale, radius, total_variation, order, d, target)
            return
        x += d
        if not span > target:
            return


@_jit
def common_term(v, smoothing, varrho):
    """(m(v), bound on its rounding error) for the maximum or its smooth stand-in."""
    low, high = extremes(v)
    if smoothing == MAX:
        return high, 0.0
    total = 0.0
    for value in v:
        total += math.exp(varrho * (value - high))
    m = high + math.log(total) / varrho
    if smoothing == MELLOWMAX:
        m -= math.log(float(v.shape[0])) / varrho
    return m, _soft_max_error(v.shape[0], varrho, max(abs(low), abs(high)))


@_jit
def judge(gamma, radius, units, averaging, smoothing, varrho, x, q, r, d):
    """(truncation, rounding, κ) of the enclosure that the backup q of x gives, d = r − x."""
    low_x, high_x = extremes(x)
    low_q, high_q = extremes(q.reshape(q.size))
    low, high = extremes(d)
    m, m_error = common_term(x, smoothing, varrho)
    middle = 0.5 * (low + high)
    kappa = (gamma * radius * m + gamma * middle) / (1.0 - gamma)
    size = (gamma * radius * abs(m) + gamma * abs(middle)) / (1.0 - gamma)
    rounding = _rounding_half_width(
        gamma,
        units,
        averaging,
        max(abs(low_x), abs(high_x)),
        max(abs(low_q), abs(high_q)),
        max(abs(low), abs(high)),
        size,
        gamma * radius * m_error,
    )
    return _truncation_half_width(gamma, high - low), rounding, kappa


@_jit
def plan(model, cost, gamma, radius, total_variation, policy, smoothing, varrho, units, averaging, width):
    """(status, Q, V, greedy policy, truncation, rounding): an enclosure Q ± (truncation + rounding) no wider than

    `width`, or the best one found when rounding does not allow that. An empty `policy` asks for the optimum.
    """
    n_states, n_actions = cost.shape
    control = policy.shape[0] == 0
    scale = gamma if total_variation else gamma * (1.0 - radius)
    greedy = np.zeros((n_states, n_actions)) if control else policy.copy()
    order = np.arange(n_states)
    q, r, d = np.empty((n_states, n_actions)), np.empty(n_states), np.empty(n_states)
    v, x = np.empty(n_states), np.empty(n_states)
    moved = reduce_actions(cost, policy, control, v, greedy)
    centre(v)
    low, high = extremes(v)
    last = high - low
    truncation, rounding, most, goal = np.inf, 0.0, 1 << 12, 0.0
    while True:
        x[:] = v
        goal = max(goal, SETTLED * width * (1.0 - gamma) / max(gamma, 0.5))
        target = max(goal, UNSETTLED * last) if moved else goal
        if total_variation:
            sort_states(x, order)
        evaluate_roughly(model, greedy, cost, scale, radius, total_variation, order, x, target, most)
        plain = False
        while True:
            centre(x)
            if total_variation:
                sort_states(x, order)
            backup(model, cost, scale, radius, total_variation, x, order, q)
            moved = reduce_actions(q, policy, control, r, greedy)
            d[:] = r - x
            low, high = extremes(d)
            if plain or high - low <= gamma * last:
                break
            plain, most = True, max(most // 8, 1)
            x[:] = v
        truncation, rounding, kappa = judge(
            gamma, radius, units, averaging, smoothing, varrho, x, q, r, d
        )
        if not math.isfinite(truncation + rounding + kappa):
            return OVERFLOW, q, r, greedy, truncation, rounding
        done = 2.0 * (truncation + rounding) <= width
        if done or (plain and high - low > 0.5 * (1.0 + gamma) * last):
            return (DONE if done else FLOOR), q + kappa, r + kappa, greedy, truncation, rounding
        last = high - low
        most = most if plain else min(2 * most, 1 << 12)
        v[:] = r
        centre(v)
