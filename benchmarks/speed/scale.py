# mypy: disable-error-code="misc,untyped-decorator,assignment,return-value"
"""Guaranteed planning from a hundred to ten million states: sweeps and plans against the nominal ones, and memory.

A model has `ACTIONS` actions and `SUCCESSORS` random successors per row; its arrays are built in pieces and kept by
the model without a copy, with 32-bit successors. Plans have a guaranteed width of 1e-6, their certificate included.
A sweep is one backup of all pairs; the nominal one reads the same arrays in the same run.
"""

import resource
from time import thread_time
from typing import Any

import numpy as np
from numba import njit

from benchmarks.speed.oracle_planning import ACTIONS, RADIUS, SUCCESSORS, WIDTH
from benchmarks.speed.timing import Measurement, at_most, without_limit
from oracles.planning import bounds
from oracles.planning.kernels import choose, enter
from oracles.planning.linear import Players, Problem, backup
from oracles.planning.rows import Indices
from robust_core.mdp import MDP, SparseRows
from robust_core.sets import Contamination, TotalVariation
from robust_core.validate import Floats, Ints

Attack = Contamination | TotalVariation
SIZES = tuple(10**k for k in range(2, 8))
QUICK = SIZES[:4]
GAMMA = 0.99
PIECE = 1 << 16
FIRST, SWEEPS, ROWS = 8, 3, 1 << 20
"""The sweeps that are not timed, in which the levels of total variation settle; how many are timed, and how many rows
at least."""
REPEATED_BELOW = 10**6
FROM_MEMORY = 10**5
"""States from which reading takes most of the time of a sweep: the limit of a sweep is for these."""
MOST_SWEEP, MOST_CONTAMINATION, MOST_TOTAL_VARIATION, MOST_BYTES = 1.3, 1.1, 2.5, 1e10


def large_model(n_states: int, gamma: float) -> MDP:
    """Random rows with ascending successors, one from each of `SUCCESSORS` equal parts of the states."""
    rng = np.random.default_rng(n_states)
    n_rows = n_states * ACTIONS
    successors: Any = np.empty(n_rows * SUCCESSORS, dtype=np.int32)
    probabilities = np.empty(n_rows * SUCCESSORS)
    part = n_states // SUCCESSORS
    for begin in range(0, n_rows, PIECE):
        end = min(begin + PIECE, n_rows)
        places = slice(begin * SUCCESSORS, end * SUCCESSORS)
        steps = np.arange(SUCCESSORS) * part + rng.integers(0, part, (end - begin, SUCCESSORS))
        p = 1.0 - rng.random((end - begin, SUCCESSORS))
        successors[places] = steps.ravel()
        probabilities[places] = (p / p.sum(axis=1, keepdims=True)).ravel()
    offsets = np.arange(n_rows + 1, dtype=np.int64) * SUCCESSORS
    for values in (offsets, successors, probabilities):
        values.setflags(write=False)
    return MDP(SparseRows(offsets, successors, probabilities), rng.random((n_states, ACTIONS)), gamma)


@njit(nogil=True, error_model="numpy")
def _problem(
    offsets: Indices, successors: Indices, probabilities: Floats, cost: Floats, scale: float, radius: float,
    total_variation: bool,
) -> Problem:  # fmt: skip
    model = (np.empty((0, len(cost))), offsets, successors, probabilities)
    return Problem(model, cost.reshape(cost.size), scale, radius, total_variation, cost.shape[1], SUCCESSORS)


@njit(nogil=True, error_model="numpy")
def _begin(problem: Problem, n_states: int) -> Players:
    return enter(problem, n_states, np.empty((0, 0)))


@njit(nogil=True, error_model="numpy")
def _sweep(problem: Problem, players: Players, pairs: Ints, q: Floats, v: Floats, count: int) -> None:
    """`count` backups of all pairs, each followed by the choice of actions."""
    for _ in range(count):
        backup(problem, players, v, pairs, q)
        choose(q, problem.n_actions, players.chosen, v)


def _sweep_seconds(mdp: MDP, uncertainty_set: Attack) -> float:
    """Seconds of a sweep after the first ones."""
    rows, is_tv = mdp.rows, isinstance(uncertainty_set, TotalVariation)
    radius = float(uncertainty_set.radius)
    scale = mdp.gamma if is_tv else mdp.gamma * (1.0 - radius)
    arrays = rows.offsets.view(np.uint64), rows.successors.view(np.uint32), rows.probabilities, mdp.cost
    problem = _problem(*arrays, scale, radius, is_tv)
    players = _begin(problem, mdp.n_states)
    pairs, q, v = np.arange(mdp.cost.size), np.empty(mdp.cost.size), np.zeros(mdp.n_states)
    _sweep(problem, players, pairs, q, v, FIRST)
    sweeps = max(SWEEPS, ROWS // mdp.cost.size)
    started = thread_time()
    _sweep(problem, players, pairs, q, v, sweeps)
    return max((thread_time() - started) / sweeps, 1e-9)


def _plan_seconds(mdp: MDP, uncertainty_set: Attack) -> float:
    started = thread_time()
    bounds.solve(mdp, uncertainty_set, width=WIDTH)
    return thread_time() - started


def curve(*, quick: bool = False) -> list[Measurement]:
    """For every size: sweeps and plans of contamination and total variation against nominal ones; then the memory."""
    sizes, lines = QUICK if quick else SIZES, list[Measurement]()
    attacks: dict[str, Attack] = {"contamination": Contamination(RADIUS), "TV": TotalVariation(RADIUS)}
    nominal = Contamination(0.0)
    warm = large_model(sizes[0], GAMMA)
    for each in (nominal, *attacks.values()):
        _sweep_seconds(warm, each)
        _plan_seconds(warm, each)
    for n_states in sizes:
        mdp, turns = large_model(n_states, GAMMA), 1 if n_states >= REPEATED_BELOW else 3
        size = f"S={n_states}"
        timed = {"nominal": nominal, **attacks}
        sweeps = {name: min(_sweep_seconds(mdp, each) for _ in range(turns)) for name, each in timed.items()}
        plans = {name: min(_plan_seconds(mdp, each) for _ in range(turns)) for name, each in timed.items()}
        for name, most in (("contamination", MOST_CONTAMINATION), ("TV", MOST_TOTAL_VARIATION)):
            swept = f"{name} sweep / nominal sweep", size, sweeps[name], sweeps["nominal"]
            lines.append(at_most(*swept, MOST_SWEEP) if n_states >= FROM_MEMORY else without_limit(*swept))
            lines.append(at_most(f"{name} plan / nominal plan", size, plans[name], plans["nominal"], most))
        del mdp
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    return [*lines, at_most("peak memory / 10 GB", f"S={sizes[-1]}", peak, MOST_BYTES, 1.0)]
