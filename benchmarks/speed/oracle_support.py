"""Certified support functions per minute: convex programs solved in blocks, against one program per row."""

from time import perf_counter

import numpy as np

from benchmarks.speed.timing import Measurement, at_least, without_limit
from oracles.sets import programs
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import Floats

WANTED_ROWS_PER_MINUTE = 20_000
WANTED_SECONDS = 60.0 / WANTED_ROWS_PER_MINUTE
SETS: tuple[UncertaintySet, ...] = (Contamination(0.25), TotalVariation(0.25))
STATES = (2, 5, 10, 20)
ROWS = 4 * programs.BLOCK
ROUNDS = 5


def blocks(*, quick: bool = False) -> list[Measurement]:
    """Seconds per certified row in blocks, against the rate that is wanted and against one program per row.

    The two ways are timed in turn, on the same rows; each takes its best of `ROUNDS`. Compilation of a program happens
    once per shape and is left out (a first call warms up).
    """
    chosen = STATES[:1] if quick else STATES
    return [line for uncertainty_set in SETS for n_states in chosen for line in _measure(uncertainty_set, n_states)]


def _measure(uncertainty_set: UncertaintySet, n_states: int) -> list[Measurement]:
    rng = np.random.default_rng(n_states)
    p, v = rng.dirichlet(np.ones(n_states), ROWS), rng.random((ROWS, n_states))
    alone = slice(0, 16)
    together, singles = [], []
    _seconds_alone(uncertainty_set, p[:1], v[:1])
    programs.support(uncertainty_set, p, v)
    for _ in range(ROUNDS):
        start = perf_counter()
        programs.support(uncertainty_set, p, v)
        together.append((perf_counter() - start) / ROWS)
        singles.append(_seconds_alone(uncertainty_set, p[alone], v[alone]))
    ours, single = min(together), min(singles)
    size = f"{uncertainty_set.kind} S={n_states}"
    return [
        at_least(f"{WANTED_ROWS_PER_MINUTE} certified rows per minute / ours", size, ours, WANTED_SECONDS, 1.0),
        without_limit("programs in blocks / one program per row", size, ours, single),
    ]


def _seconds_alone(uncertainty_set: UncertaintySet, p: Floats, v: Floats) -> float:
    start = perf_counter()
    for row, values in zip(p, v, strict=True):
        programs.support(uncertainty_set, row, values)
    return (perf_counter() - start) / len(p)
