# mypy: disable-error-code="misc,untyped-decorator,assignment,return-value"
# (the compiler infers the types: its integers are numpy's, and its decorators are not annotated)
"""Compiled modified policy iteration with span bounds: one call from the model to the enclosure.

Each round freezes the greedy policy and nature's answer, solves that linear evaluation roughly (sweeps; when they
turn out slow, a direct or Krylov solve), and judges the result by one full backup. Whatever the rough part does,
the enclosure rests on that backup alone. When a few rounds in a row fail to shrink the span of d = TV − V by γ
(simultaneous moves of two players can cycle), a plain backup of the last good iterate follows, which shrinks it by
γ in exact arithmetic: when not even that helps, rounding is all that is left.
"""

import math
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from oracles import enclosure, planning_sweeps
from oracles.planning_sweeps import Frozen, Indices, Model, freeze, levels_backup, mean_backup, room, sort_states, sweep
from robust_core.validate import Floats, Ints

MAX, LSE, MELLOWMAX = 0, 1, 2
DONE, FLOOR, OVERFLOW = 0, 1, 2

PROBE = 8  # sweeps before their rate is judged
PATIENCE = 24.0  # expected further sweeps that justify a linear solver
DIRECT = 96  # states up to which that solver is Gaussian elimination
UNSETTLED = 0.02  # fraction of the last span worth reaching while the policy still changes
SETTLED = 0.4  # fraction of the span that ends the iteration, aimed at once the policy stays
MOST_SWEEPS = 1 << 12  # of one evaluation; eight times fewer after each failure
STRIKES = 3  # rounds without progress before a plain backup

_jit = njit(nogil=True)
_backup_units = _jit(enclosure.backup_units)
_average_units = _jit(enclosure.average_units)
_rounding_half_width = _jit(enclosure.rounding_half_width)
_truncation_half_width = _jit(enclosure.truncation_half_width)
_soft_max_error = _jit(enclosure.soft_max_error)


class Linear(NamedTuple):
    """The operator x -> scale·Wx of a policy pi and nature's answer to `anchor`."""

    model: Model
    policy: Floats
    total_variation: bool
    anchor: Floats
    marginal: Ints
    kept: Floats
    frozen: Frozen
    scale: float


@_jit
def apply(linear: Linear, x: Floats, out: Floats) -> None:
    """out = scale·Wx."""
    sweep(
        linear.model, linear.policy, linear.total_variation, linear.anchor, linear.marginal, linear.kept,
        linear.frozen, linear.scale, x, out,
    )  # fmt: skip


@_jit
def extremes(values: Floats) -> tuple[float, float]:
    """(min, max) of an array."""
    low = high = values[0]
    for value in values:
        low = value if value < low else low
        high = value if value > high else high
    return low, high


@_jit
def reduce_actions(q: Floats, control: bool, policy: Floats, result: Floats) -> bool:
    """result = min_a q, the minimiser written into `policy` (control), or Σ_a π q; whether the policy moved."""
    n_states, n_actions = q.shape
    moved = False
    for state in range(n_states):
        if control:
            best = 0
            for action in range(1, n_actions):
                if q[state, action] < q[state, best]:
                    best = action
            if policy[state, best] != 1.0:
                moved = True
                for action in range(n_actions):
                    policy[state, action] = 0.0
                policy[state, best] = 1.0
            result[state] = q[state, best]
        else:
            total = 0.0
            for action in range(n_actions):
                total += policy[state, action] * q[state, action]
            result[state] = total
    return moved


@_jit
def extremes_of_difference(x: Floats, y: Floats) -> tuple[float, float]:
    """(min, max) of x − y."""
    low, high = np.inf, -np.inf
    for i in range(x.shape[0]):
        difference = x[i] - y[i]
        low = difference if difference < low else low
        high = difference if difference > high else high
    return low, high


@_jit
def centre(values: Floats) -> float:
    """Subtract the midpoint of the range; returns its length."""
    low, high = extremes(values)
    middle = 0.5 * (low + high)
    for i in range(values.shape[0]):
        values[i] -= middle
    return high - low


@_jit
def change(linear: Linear, c: Floats, x: Floats, d: Floats) -> float:
    """d = c + scale·Wx − x, centred; returns its span."""
    apply(linear, x, d)
    low, high = np.inf, -np.inf
    for i in range(x.shape[0]):
        value = d[i] + c[i] - x[i]
        d[i] = value
        low = value if value < low else low
        high = value if value > high else high
    middle = 0.5 * (low + high)
    for i in range(x.shape[0]):
        d[i] -= middle
    return high - low


@_jit
def add(x: Floats, y: Floats) -> None:
    """X += y."""
    for i in range(x.shape[0]):
        x[i] += y[i]


@_jit
def solve_directly(linear: Linear, d: Floats) -> Floats:
    """The solution y of (I − scale·W)y = d by Gaussian elimination."""
    n_states = d.shape[0]
    matrix = np.eye(n_states)
    unit = np.zeros(n_states)
    column = np.empty(n_states)
    for j in range(n_states):
        unit[j] = 1.0
        apply(linear, unit, column)
        for i in range(n_states):
            matrix[i, j] -= column[i]
        unit[j] = 0.0
    return np.linalg.solve(matrix, d)


@_jit
def solve_by_krylov(linear: Linear, d: Floats, target: float) -> Floats:
    """An approximate solution y of (I − scale·W)y = d by BiCGSTAB; the span of the residual aims at `target`."""
    n_states = d.shape[0]
    y = np.zeros(n_states)
    residual, shadow, p = d.copy(), d.copy(), d.copy()
    ap, at = np.empty(n_states), np.empty(n_states)
    rho = np.dot(shadow, residual)
    best, stale = np.inf, 0
    while stale < 2 * PROBE:
        apply(linear, p, ap)
        for i in range(n_states):
            ap[i] = p[i] - ap[i]
        along = np.dot(shadow, ap)
        if along == 0.0 or rho == 0.0:
            break
        alpha = rho / along
        for i in range(n_states):
            residual[i] -= alpha * ap[i]
        apply(linear, residual, at)
        for i in range(n_states):
            at[i] = residual[i] - at[i]
        square = np.dot(at, at)
        omega = np.dot(at, residual) / square if square > 0.0 else 0.0
        for i in range(n_states):
            y[i] += alpha * p[i] + omega * residual[i]
            residual[i] -= omega * at[i]
        low, high = extremes(residual)
        if not high - low > target or omega == 0.0:
            break
        stale = 0 if high - low < 0.5 * best else stale + 1
        best = min(best, high - low)
        previous, rho = rho, np.dot(shadow, residual)
        beta = (rho / previous) * (alpha / omega)
        for i in range(n_states):
            p[i] = residual[i] + beta * (p[i] - omega * ap[i])
    return y


@_jit
def evaluate_roughly(linear: Linear, cost: Floats, x: Floats, target: float, most: int) -> None:
    """Move x, up to a constant, towards the value of a frozen policy and kernel: at most `most` sweeps."""
    n_states, n_actions = cost.shape
    c = np.zeros(n_states)
    for state in range(n_states):
        for action in range(n_actions):
            c[state] += linear.policy[state, action] * cost[state, action]
    d = np.empty(n_states)
    early = np.inf
    for count in range(most):
        span = change(linear, c, x, d)
        if count == PROBE // 2:
            early = span
        if count == PROBE and span > target:
            rate = (span / early) ** (1.0 / (PROBE - PROBE // 2))
            if rate >= 1.0 or math.log(target / span) < PATIENCE * math.log(rate):
                add(x, solve_directly(linear, d) if n_states <= DIRECT else solve_by_krylov(linear, d, target))
                return
        add(x, d)
        if not span > target:
            return


@_jit
def common_term(v: Floats, smoothing: int, varrho: float) -> tuple[float, float]:
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
def judge(
    gamma: float, radius: float, units: float, averaging: float, smoothing: int, varrho: float,
    x: Floats, q: Floats, low: float, high: float,
) -> tuple[float, float, float]:  # fmt: skip
    """(truncation, rounding, κ) of the enclosure that the backup q of x gives, d = r − x in [low, high]."""
    low_x, high_x = extremes(x)
    low_q, high_q = extremes(q.reshape(q.size))
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
def run(
    kernel: Floats,
    offsets: Indices,
    successors: Indices,
    probabilities: Floats,
    cost: Floats,
    gamma: float,
    radius: float,
    total_variation: bool,
    given: Floats,
    smoothing: int,
    varrho: float,
    longest: int,
    width: float,
) -> tuple[int, Floats, Floats, Floats, float, float]:
    """(status, Q, V, policy, truncation, rounding): Q and V ± (truncation + rounding) enclose the truth, no wider

    than `width`, or as narrow as found when rounding forbids that. An empty `given` policy asks for the optimum;
    `longest` is the length of the longest row.
    """
    n_states, n_actions = cost.shape
    # Separate arguments: unpacking a tuple of arrays takes longer than planning for a small model.
    model = (kernel.reshape(kernel.shape[0] * kernel.shape[1], kernel.shape[2]), offsets, successors, probabilities)
    control = given.shape[0] == 0
    units = _backup_units(longest, total_variation)
    averaging = 0.0 if control else _average_units(n_actions)
    scale = gamma if total_variation else gamma * (1.0 - radius)
    policy = np.zeros((n_states, n_actions)) if control else given.copy()
    q = np.empty((n_states, n_actions))
    work = np.empty((5, n_states))
    r, v, x, safe, anchor = work[0], work[1], work[2], work[3], work[4]
    n_levels = n_states if total_variation else 0
    sorting = total_variation and model[1].shape[0] == 0
    order, ranks = np.arange(n_levels), np.empty(n_levels)
    marginal, kept = np.full((n_levels, n_actions), -1), np.empty((n_levels, n_actions))
    everything = np.ones((n_levels, n_actions))
    frozen = room(model, policy, control)
    linear = Linear(model, policy, total_variation, anchor, marginal, kept, frozen, scale)
    # The first iterate is T0 up to a constant: its backup needs no kernel.
    moved = reduce_actions(cost, control, policy, v)
    last = centre(v)
    x[:] = v
    safe[:] = v
    if sorting:
        sort_states(v, order, ranks)
    if total_variation:
        levels_backup(model, cost, scale, radius, v, order, ranks, policy, marginal, kept, q)
    goal = SETTLED * width * (1.0 - gamma) / max(gamma, 0.5)
    most, strikes = MOST_SWEEPS, 0
    while True:
        plain = strikes == STRIKES
        if plain:
            x[:] = safe
            most, strikes = max(most // 8, 1), 0
        else:
            anchor[:] = ranks if sorting else x
            x[:] = v
            freeze(model, policy, total_variation, anchor, marginal, kept, frozen)
            evaluate_roughly(linear, cost, x, max(goal, UNSETTLED * last) if moved else goal, most)
            centre(x)
        if sorting:
            sort_states(x, order, ranks)
        if total_variation:
            levels_backup(model, cost, scale, radius, x, order, ranks, everything, marginal, kept, q)
        else:
            mean_backup(model, cost, scale, x, q)
        moved = reduce_actions(q, control, policy, r)
        low, high = extremes_of_difference(r, x)
        truncation, rounding, kappa = judge(gamma, radius, units, averaging, smoothing, varrho, x, q, low, high)
        finite = math.isfinite(truncation + rounding + kappa)
        done = 2.0 * (truncation + rounding) <= width
        hopeless = truncation <= rounding and 2.0 * rounding > width
        if done or not finite or hopeless or (plain and high - low > 0.5 * (1.0 + gamma) * last):
            status = DONE if done else FLOOR if finite else OVERFLOW
            return status, q + kappa, r + kappa, policy, truncation, rounding
        v[:] = r
        centre(v)
        if plain or high - low <= gamma * last:
            last, strikes = high - low, 0
            safe[:] = v
            most = most if plain else min(2 * most, MOST_SWEEPS)
        else:
            strikes += 1


def _plan(digest: str) -> Any:
    """`run`, compiled once per machine and kept as long as the digest of its sources stays the same.

    Numba keys its cache by the source of the cached function alone, and by what that function closes over: a
    change in a function it calls would go unnoticed if the digest were not there.
    """

    @njit(cache=True, nogil=True)
    def plan(
        kernel: Floats, offsets: Indices, successors: Indices, probabilities: Floats, cost: Floats, gamma: float,
        radius: float, total_variation: bool, given: Floats, smoothing: int, varrho: float, longest: int,
        width: float,
    ) -> tuple[int, Floats, Floats, Floats, float, float]:  # fmt: skip
        _ = digest
        return run(
            kernel, offsets, successors, probabilities, cost, gamma, radius, total_variation, given, smoothing,
            varrho, longest, width,
        )  # fmt: skip

    return plan


_SOURCES = (__file__, planning_sweeps.__file__, enclosure.__file__)
plan = _plan(blake2b(b"".join(Path(path).read_bytes() for path in _SOURCES)).hexdigest())
