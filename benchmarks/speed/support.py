"""Support functions of all rows: total variation against the contamination product, and against cvxpy."""

import time
from functools import partial

from benchmarks.speed.timing import Measurement, at_least, at_most, best_times
from robust_core import MDP, Contamination, TotalVariation, key, support
from robust_core.streams import numpy_generator

RADIUS = 0.2
SIZES = (10, 100, 1_000)
ROWS = {10: 20_000, 100: 4_000, 1_000: 2_000}


def _model(S: int) -> MDP:
    """A dense model with about ROWS[S] rows."""
    rng = numpy_generator(key("speed", "support", S))
    A = max(1, ROWS[S] // S)
    P = rng.random((S, A, S))
    return MDP(P / P.sum(axis=-1, keepdims=True), rng.random((S, A)), 0.9)


def rows(*, quick: bool = False) -> list[Measurement]:
    """Seconds per row of both sets, and of one convex program."""
    from oracles.sets import programs as programs

    lines = []
    for S in SIZES:
        mdp = _model(S)
        v = numpy_generator(key("speed", "v", S)).random(S)
        n_rows = mdp.n_states * mdp.n_actions
        p = mdp.P.reshape(-1, S)[:1]
        contestants = {
            "total variation": partial(support, mdp, TotalVariation(RADIUS), v),
            "contamination": partial(support, mdp, Contamination(RADIUS), v),
        }
        times = best_times(contestants, turns=15)
        tv, product = times["total variation"] / n_rows, times["contamination"] / n_rows
        lines.append(at_most("TV rows / contamination rows", f"S={S}", tv, product, 4))
        if not quick or len(lines) == 1:
            solve = {"cvxpy": partial(programs.support, TotalVariation(RADIUS), p, v[None])}
            program = best_times(solve, turns=3, clock=time.perf_counter)
            lines.append(at_least("cvxpy row / TV row", f"S={S}", tv, program["cvxpy"], 1_000))
    return lines
