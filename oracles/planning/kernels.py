# mypy: disable-error-code="misc,untyped-decorator,assignment,return-value"
# (the compiler infers the types: its integers are numpy's, and its decorators are not annotated)
"""Compiled modified policy iteration with span bounds: one call from the model to the enclosure.

Each round evaluates the greedy policy against nature roughly, and judges the result by one full backup. Whatever
the rough part does, the enclosure rests on that backup alone. When a few rounds in a row fail to shrink the span of
d = TV − V by γ (simultaneous moves of two players can cycle), a plain backup of the last good iterate follows, which
shrinks it by γ in exact arithmetic: when not even that helps, rounding is all that is left.
"""

import math
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from oracles.arithmetic import enclosure
from oracles.planning import levels, linear
from oracles.planning import rows as planning_rows
from oracles.planning.levels import NONE, Ranking
from oracles.planning.linear import Players, Problem, backup, evaluate_roughly, freeze_sparse
from oracles.planning.rows import Indices, copy, difference, extremes, jit, shift
from robust_core.validate import Floats, Ints

MAX, LSE, MELLOWMAX = 0, 1, 2
DONE, FLOOR, OVERFLOW = 0, 1, 2

UNSETTLED = 0.02  # fraction of the last span worth reaching while the policy still changes
SETTLED = 0.4  # fraction of the span that ends the iteration, aimed at once the policy stays
MOST_SWEEPS = 1 << 12  # of one evaluation; eight times fewer after each failure
STRIKES = 3  # rounds without progress before a plain backup

_backup_units = jit(enclosure.backup_units)
_average_units = jit(enclosure.average_units)
_rounding_half_width = jit(enclosure.rounding_half_width)
_truncation_half_width = jit(enclosure.truncation_half_width)
_soft_max_error = jit(enclosure.soft_max_error)


@jit
def choose(q: Floats, n_actions: int, chosen: Ints, r: Floats) -> bool:
    """r = min_a q and the minimisers, as pairs; whether one of them is new."""
    moved = False
    for state in range(r.shape[0]):
        best = state * n_actions
        for pair in range(best + 1, best + n_actions):
            best = pair if q[pair] < q[best] else best
        moved |= chosen[state] != best
        chosen[state] = best
        r[state] = q[best]
    return moved


@jit
def reduce_actions(problem: Problem, players: Players, control: bool, q: Floats, r: Floats) -> bool:
    """r = min_a q (control) or Σ_a π q; whether the policy moved."""
    if control:
        return choose(q, problem.n_actions, players.chosen, r)
    for state in range(r.shape[0]):
        r[state] = 0.0
    for k in range(players.chosen.shape[0]):
        r[players.owner[k]] += players.shares[k] * q[players.chosen[k]]
    return False


@jit
def centre(values: Floats) -> float:
    """Subtract the midpoint of the range; returns its length."""
    low, high = extremes(values)
    shift(values, -0.5 * (low + high))
    return high - low


@jit
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


@jit
def judge(
    gamma: float, radius: float, units: float, averaging: float, smoothing: int, varrho: float,
    x: Floats, q: Floats, low: float, high: float,
) -> tuple[float, float, float]:  # fmt: skip
    """(truncation, rounding, κ) of the enclosure that the backup q of x gives, d = r − x in [low, high]."""
    low_x, high_x = extremes(x)
    low_q, high_q = extremes(q)
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


@jit
def room(problem: Problem, players: Players, control: bool) -> tuple[Indices, Indices, Floats]:
    """Arrays for the frozen rows of this policy or, under control, of any deterministic one; empty if dense."""
    offsets, n_actions = problem.model[1], problem.n_actions
    n_states = problem.cost.shape[0] // n_actions if offsets.shape[0] > 0 else 0
    size = 0
    if control:
        for state in range(n_states):
            longest = 0
            for row in range(state * n_actions, (state + 1) * n_actions):
                longest = max(longest, np.int64(offsets[row + 1]) - np.int64(offsets[row]))
            size += longest
    elif n_states > 0:
        for row in players.chosen:
            size += np.int64(offsets[row + 1]) - np.int64(offsets[row])
    return np.zeros(n_states + 1, dtype=np.uint64), np.empty(size, dtype=problem.model[2].dtype), np.empty(size)


@jit
def enter_policy(n_states: int, n_actions: int, given: Floats) -> tuple[Ints, Ints, Floats]:
    """The pairs that the given policy takes, their states and shares; if none is given, one pair per state to come."""
    size = n_states if given.shape[0] == 0 else 0
    for share in given.flat:
        size += share > 0.0
    chosen, owner, shares = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size)
    k = 0
    for state in range(n_states):
        if given.shape[0] == 0:
            chosen[state], owner[state], shares[state] = NONE, state, 1.0
        else:
            for action in range(n_actions):
                if given[state, action] > 0.0:
                    chosen[k], owner[k], shares[k] = state * n_actions + action, state, given[state, action]
                    k += 1
    return chosen, owner, shares


@jit
def enter(problem: Problem, n_states: int, given: Floats) -> Players:
    """The players before their first move. An empty `given` policy asks for the optimum."""
    sparse = problem.model[1].shape[0] > 0
    n_marginals = problem.cost.shape[0] if problem.total_variation else 0
    n_sorted = n_states if problem.total_variation and not sparse else 0
    places, values = np.empty((3, n_sorted), dtype=np.int64), np.empty(n_sorted)
    for state in range(n_sorted):
        places[0, state] = state
    marginal, below = np.empty(n_marginals, dtype=np.int64), np.empty(0 if sparse else n_marginals)
    # The first guess for dense rows would be right if they were uniform; for sparse rows it is their first entry.
    guess = int(problem.radius * (n_states - 1))
    for pair in range(n_marginals):
        marginal[pair] = np.int64(problem.model[1][pair]) if sparse else guess
    chosen, owner, shares = enter_policy(n_states, problem.n_actions, given)
    return Players(chosen, owner, shares, Ranking(places[0], values, places[1], places[2]), marginal, below)


def _plan(digest: str) -> Any:
    """The solver, compiled once per machine and kept as long as the digest of its sources stays the same.

    Numba keys its cache by the source of the cached function alone, and by what that function closes over: a
    change in a function it calls would go unnoticed if the digest were not there.
    """

    @njit(cache=True, nogil=True, error_model="numpy")
    def plan(
        kernel: Floats, offsets: Indices, successors: Indices, probabilities: Floats, cost: Floats, gamma: float,
        radius: float, total_variation: bool, given: Floats, smoothing: int, varrho: float, longest: int,
        width: float,
    ) -> tuple[int, Floats, Floats, Floats, float, float]:  # fmt: skip
        """(status, Q, V, policy, truncation, rounding): Q and V ± (truncation + rounding) enclose the truth, no wider

        than `width`, or as narrow as found when rounding forbids that. An empty `given` policy asks for the optimum;
        `longest` is the length of the longest row.
        """
        _ = digest
        # Separate arguments: unpacking a tuple of arrays takes longer than planning for a small model.
        n_states, n_actions = cost.shape
        rows = kernel.reshape(kernel.shape[0] * kernel.shape[1], kernel.shape[2])
        scale = gamma if total_variation else gamma * (1.0 - radius)
        problem = Problem(
            (rows, offsets, successors, probabilities), cost.reshape(cost.size), scale, radius, total_variation,
            n_actions, longest if offsets.shape[0] > 0 and longest <= levels.SHORT else 0,
        )  # fmt: skip
        control, sparse = given.shape[0] == 0, offsets.shape[0] > 0
        units = _backup_units(longest, total_variation)
        averaging = 0.0 if control else _average_units(n_actions)
        players = enter(problem, n_states, given)
        n_chosen = players.chosen.shape[0]
        table, r, policy = np.empty((n_states, n_actions)), np.empty(n_states), np.zeros((n_states, n_actions))
        q, pairs, work = table.reshape(table.size), np.arange(table.size), np.empty((6, n_states))
        v, x, safe, d = work[0], work[1], work[2], work[3]
        # The first iterate is T0 up to a constant: its backup needs no kernel.
        copy(problem.cost, q)
        moved = reduce_actions(problem, players, control, q, v)
        frozen = room(problem, players, control)
        last = centre(v)
        copy(v, x)
        copy(v, safe)
        if total_variation and sparse:
            backup(problem, players, v, players.chosen, q[:n_chosen])
        goal = SETTLED * width * (1.0 - gamma) / max(gamma, 0.5)
        most, strikes = int(MOST_SWEEPS), 0  # not a literal, for which all would be compiled once more
        while True:
            plain = strikes == STRIKES
            if plain:
                copy(safe, x)
                most, strikes = max(most // 8, 1), 0
            else:
                if sparse:
                    freeze_sparse(problem, players, x, frozen)
                copy(v, x)
                target = max(goal, UNSETTLED * last) if moved else goal
                evaluate_roughly(problem, players, frozen, x, target, most, q[:n_chosen], work[3:])
                centre(x)
            backup(problem, players, x, pairs, q)
            moved = reduce_actions(problem, players, control, q, r)
            low, high = difference(r, x, d)
            truncation, rounding, kappa = judge(gamma, radius, units, averaging, smoothing, varrho, x, q, low, high)
            finite = math.isfinite(truncation + rounding + kappa)
            done = 2.0 * (truncation + rounding) <= width
            hopeless = truncation <= rounding and 2.0 * rounding > width
            if done or not finite or hopeless or (plain and high - low > 0.5 * (1.0 + gamma) * last):
                break
            copy(r, v)
            centre(v)
            if plain or high - low <= gamma * last:
                last, strikes = high - low, 0
                copy(v, safe)
                most = most if plain else min(2 * most, MOST_SWEEPS)
            else:
                strikes += 1
        status = DONE if done else FLOOR if finite else OVERFLOW
        shift(q, kappa)
        shift(r, kappa)
        for k in range(n_chosen):
            state = players.owner[k]
            policy[state, players.chosen[k] - state * n_actions] = players.shares[k]
        return status, table, r, policy, truncation, rounding

    return plan


_SOURCES = (__file__, linear.__file__, levels.__file__, planning_rows.__file__, enclosure.__file__)
plan = _plan(blake2b(b"".join(Path(path).read_bytes() for path in _SOURCES)).hexdigest())
