# mypy: disable-error-code="misc,untyped-decorator,assignment,return-value"
# (the compiler infers the types: its integers are numpy's, and its decorators are not annotated)
"""Compiled evaluation of a policy, roughly: sweeps and, when they turn out slow, a linear solve.

For the linear solve, and for all sweeps over sparse rows, the policy and nature's answer are *frozen*: one row per
state, of an ordinary model W with the discount as a factor. Sweeps over dense rows let nature answer anew each time,
which costs next to nothing there. Nothing here needs to be right: the enclosure rests on the full backup that follows.
"""

import math
from typing import NamedTuple

import numpy as np

from oracles.planning.levels import Ranking, dense_levels, fraction_kept, sort_states, sparse_levels
from oracles.planning.rows import (
    Indices,
    Model,
    add,
    dense_products,
    difference,
    extremes,
    jit,
    jit_any_order,
    shift,
    sparse_products,
)
from robust_core.validate import Floats, Ints

PROBE = 8  # sweeps before their rate is judged
PATIENCE = 24.0  # expected further sweeps that justify a linear solver
TINY = 16  # states up to which elimination costs less than a few sweeps
DIRECT = 96  # states up to which that solver is Gaussian elimination


class Problem(NamedTuple):
    """The robust model: scale is γ, under contamination γ(1−R); cost has one entry per pair, as the rows have."""

    model: Model
    cost: Floats
    scale: float
    radius: float
    total_variation: bool
    n_actions: int
    width: int  # the length of the longest sparse row if that is short, else 0


class Players(NamedTuple):
    """The policy, as the pairs it takes, their states and their shares; and nature's answer."""

    chosen: Ints
    owner: Ints
    shares: Floats
    ranking: Ranking
    marginal: Ints
    below: Floats  # room for the masses below the levels


@jit
def backup(problem: Problem, players: Players, v: Floats, rows: Ints, q: Floats) -> None:
    """q[k] = cost + scale·z(v) of the pair rows[k]; sparse rows under contamination: of all pairs."""
    dense, offsets, successors, probabilities = problem.model
    if not problem.total_variation:
        if offsets.shape[0] == 0:
            dense_products(dense, rows, v, q)
        else:
            sparse_products(offsets, successors, probabilities, v, q)
    elif offsets.shape[0] == 0:
        sort_states(v, players.ranking)
        dense_levels(dense, problem.radius, v, players.ranking, rows, players.marginal, q, players.below)
    else:
        sparse_levels(offsets, successors, probabilities, problem.width, problem.radius, v, rows, players.marginal, q)
    for k in range(rows.shape[0]):
        q[k] = problem.cost[rows[k]] + problem.scale * q[k]


@jit
def average(players: Players, q: Floats, r: Floats) -> None:
    """r = Σ_a π q, where q[k] belongs to the k-th chosen pair."""
    for state in range(r.shape[0]):
        r[state] = 0.0
    for k in range(q.shape[0]):
        r[players.owner[k]] += players.shares[k] * q[k]


@jit
def freeze_sparse(problem: Problem, players: Players, v: Floats, frozen: tuple[Indices, Indices, Floats]) -> None:
    """Write W, with nature's answer to v, as one sparse row per state."""
    _, offsets, successors, probabilities = problem.model
    frozen_offsets, targets, weights = frozen
    at, one = frozen_offsets[0], np.uint64(1)
    for k in range(players.chosen.shape[0]):
        row = players.chosen[k]
        begin, end = offsets[row], offsets[row + 1]
        share = players.shares[k] * problem.scale
        level, kept = -np.inf, 1.0
        if problem.total_variation:
            level, below, mass = v[successors[players.marginal[row]]], 0.0, 0.0
            for i in range(begin, end):
                value = v[successors[i]]
                below += probabilities[i] if value < level else 0.0
                mass += probabilities[i] if value == level else 0.0
            kept = fraction_kept(below, mass, problem.radius)
        for i in range(begin, end):
            value = v[successors[i]]
            targets[at] = successors[i]
            weights[at] = share * probabilities[i] * (1.0 if value > level else kept if value == level else 0.0)
            at += one
        frozen_offsets[players.owner[k] + 1] = at


@jit
def freeze_dense(problem: Problem, players: Players, matrix: Floats) -> None:
    """Write W, with nature's answer at the last backup of the chosen pairs, into a matrix of zeros."""
    order = players.ranking.order
    for k in range(players.chosen.shape[0]):
        row = players.chosen[k]
        p, out = problem.model[0][row], matrix[players.owner[k]]
        share = players.shares[k] * problem.scale
        for i in range(p.shape[0]):
            out[i] += share * p[i]
        if problem.total_variation:
            below, at = 0.0, players.marginal[row]
            for i in range(at):
                below += p[order[i]]
                out[order[i]] -= share * p[order[i]]
            state = order[at]
            out[state] -= share * p[state] * (1.0 - fraction_kept(below, p[state], problem.radius))


@jit_any_order
def eliminate(matrix: Floats, y: Floats) -> None:
    """Solve (I − W)y = d in place, W and d given; diagonally dominant, so elimination needs no pivots."""
    n_states = y.shape[0]
    for i in range(n_states):
        for j in range(n_states):
            matrix[i, j] = (1.0 if i == j else 0.0) - matrix[i, j]
    for k in range(n_states):
        for i in range(k + 1, n_states):
            factor = matrix[i, k] / matrix[k, k]
            if factor != 0.0:
                for j in range(k + 1, n_states):
                    matrix[i, j] -= factor * matrix[k, j]
                y[i] -= factor * y[k]
    for k in range(n_states - 1, -1, -1):
        for j in range(k + 1, n_states):
            y[k] -= matrix[k, j] * y[j]
        y[k] /= matrix[k, k]


@jit
def residual_map(frozen: Model, x: Floats, out: Floats, states: Ints) -> None:
    """out = (I − W)x."""
    matrix, offsets, targets, weights = frozen
    if matrix.shape[0] > 0:
        dense_products(matrix, states, x, out)
    else:
        sparse_products(offsets, targets, weights, x, out)
    for i in range(x.shape[0]):
        out[i] = x[i] - out[i]


@jit_any_order
def inner(x: Floats, y: Floats) -> float:
    """Σ x y."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@jit
def solve_by_krylov(frozen: Model, states: Ints, d: Floats, target: float) -> Floats:
    """An approximate solution y of (I − W)y = d by BiCGSTAB; the span of the residual aims at `target`."""
    n_states = d.shape[0]
    work = np.zeros((6, n_states))
    y, residual, shadow, p, ap, at = work[0], work[1], work[2], work[3], work[4], work[5]
    for i in range(n_states):
        residual[i] = shadow[i] = p[i] = d[i]
    rho = inner(shadow, residual)
    best, stale = np.inf, 0
    while stale < 2 * PROBE:
        residual_map(frozen, p, ap, states)
        along = inner(shadow, ap)
        if along == 0.0 or rho == 0.0:
            break
        alpha = rho / along
        for i in range(n_states):
            residual[i] -= alpha * ap[i]
        residual_map(frozen, residual, at, states)
        square = inner(at, at)
        omega = inner(at, residual) / square if square > 0.0 else 0.0
        for i in range(n_states):
            y[i] += alpha * p[i] + omega * residual[i]
            residual[i] -= omega * at[i]
        low, high = extremes(residual)
        if not high - low > target or omega == 0.0:
            break
        stale = 0 if high - low < 0.5 * best else stale + 1
        best = min(best, high - low)
        previous, rho = rho, inner(shadow, residual)
        beta = (rho / previous) * (alpha / omega)
        for i in range(n_states):
            p[i] = residual[i] + beta * (p[i] - omega * ap[i])
    return y


@jit
def solve_linearly(
    problem: Problem, players: Players, frozen: tuple[Indices, Indices, Floats], d: Floats, target: float
) -> Floats:
    """A solution y of (I − W)y = d, for small models and for dense ones by way of the matrix W."""
    n_states = d.shape[0]
    dense = problem.model[1].shape[0] == 0
    matrix = np.zeros((n_states, n_states) if dense or n_states <= DIRECT else (0, 0))
    offsets, targets, weights = frozen
    if dense:
        freeze_dense(problem, players, matrix)
    elif n_states <= DIRECT:
        for state in range(n_states):
            for i in range(offsets[state], offsets[state + 1]):
                matrix[state, targets[i]] += weights[i]
    if n_states <= DIRECT:
        eliminate(matrix, d)
        return d
    states = np.arange(n_states)
    return solve_by_krylov((matrix, offsets, targets, weights), states, d, target)


@jit
def evaluate_roughly(
    problem: Problem, players: Players, frozen: tuple[Indices, Indices, Floats], x: Floats, target: float, most: int,
    q: Floats, work: Floats,
) -> None:  # fmt: skip
    """Move x, up to a constant, towards the value of the policy under nature's answer: at most `most` sweeps."""
    c, r, d = work[0], work[1], work[2]
    sparse = problem.model[1].shape[0] > 0
    for k in range(q.shape[0]):
        q[k] = problem.cost[players.chosen[k]]
    average(players, q, c)
    early = np.inf
    for count in range(most):
        if sparse:
            sparse_products(frozen[0], frozen[1], frozen[2], x, r)
            add(r, c)
        else:
            backup(problem, players, x, players.chosen, q)
            average(players, q, r)
        low, high = difference(r, x, d)
        span = high - low
        shift(d, -0.5 * (low + high))
        if count == PROBE // 2:
            early = span
        slow = x.shape[0] <= TINY
        if count == PROBE and span > target:
            rate = (span / early) ** (1.0 / (PROBE - PROBE // 2))
            slow = rate >= 1.0 or math.log(target / span) < PATIENCE * math.log(rate)
        if slow:
            add(x, solve_linearly(problem, players, frozen, d, target))
            return
        add(x, d)
        if not span > target:
            return
