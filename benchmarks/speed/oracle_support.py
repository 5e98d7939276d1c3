"""Certified support functions per minute: convex programs solved in blocks, against one program per row."""

from time import perf_counter
from typing import Any

import numpy as np

from oracles.sets import programs
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import Floats

WANTED_ROWS_PER_MINUTE = 20_000
SETS: tuple[UncertaintySet, ...] = (Contamination(0.25), TotalVariation(0.25))
STATES = (2, 5, 10, 20)
ROWS = 4 * programs.BLOCK
ROUNDS = 5


def measure() -> list[dict[str, Any]]:
    """One record per (set, S): certified rows per minute in blocks, and how many times faster than alone.

    The two ways are timed in turn, on the same rows; each takes its best of `ROUNDS`. Compilation of a
    program happens once per shape and is left out (a first call warms up).
    """
    return [_measured(uset, n_states) for uset in SETS for n_states in STATES]


def _measured(uset: UncertaintySet, n_states: int) -> dict[str, Any]:
    rng = np.random.default_rng(n_states)
    p, v = rng.dirichlet(np.ones(n_states), ROWS), rng.random((ROWS, n_states))
    alone = slice(0, 16)
    blocks, singles, widest = [], [], 0.0
    _seconds_alone(uset, p[:1], v[:1])
    programs.support(uset, p, v)
    for _ in range(ROUNDS):
        start = perf_counter()
        answer = programs.support(uset, p, v)
        blocks.append((perf_counter() - start) / ROWS)
        singles.append(_seconds_alone(uset, p[alone], v[alone]))
        widest = max(widest, answer.error_bound)
    per_minute = 60.0 / min(blocks)
    return {
        "set": type(uset).__name__,
        "states": n_states,
        "microseconds_per_row": 1e6 * min(blocks),
        "rows_per_minute": per_minute,
        "of_wanted": per_minute / WANTED_ROWS_PER_MINUTE,
        "ratio_to_single_rows": min(singles) / min(blocks),
        "largest_error_bound": widest,
    }


def _seconds_alone(uset: UncertaintySet, p: Floats, v: Floats) -> float:
    start = perf_counter()
    for row, values in zip(p, v, strict=True):
        programs.support(uset, row, values)
    return (perf_counter() - start) / len(p)


if __name__ == "__main__":
    for record in measure():
        print(record)  # noqa: T201
