"""s-rectangular planning to a certified 1e-6, against a plain C loop with bisection and against a linear program.

The C loop stops at a change of 1e-4, as published runs do, which leaves an error of up to gamma/(1−gamma) times as
much; ours ends with bounds that are 1e-6 from their middle. The program is scipy's HiGHS for one state of the same
model.
"""

import ctypes
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.instances import rules
from benchmarks.speed.c_peer import library
from benchmarks.speed.timing import Measurement, Work, at_least, best_times
from robust_core import SRectangularL1, key
from robust_core.kernels.s_rectangular import Outcomes
from robust_core.s_rectangular import compiled_backup, plan_outcomes
from robust_core.streams import numpy_generator
from robust_core.validate import Floats

RESIDUAL, BRACKET, ACCURACY, MOST = 1e-4, 1e-7, 1e-6, 100_000
BUDGETS = (0.05, 0.1, 0.2)
LOOP_LIMIT, PROGRAM_LIMIT = 20.0, 1_000.0
SOURCE = "s_rectangular.c"


def garnet(S: int, A: int, successors: int) -> Outcomes:
    """Random rows of a fixed length, costs of the pairs in [0, 1]."""
    rng = numpy_generator(key("speed", "s-rectangular", S))
    places = np.array([np.sort(rng.choice(S, successors, replace=False)) for _ in range(S * A)])
    cost = rng.random(S * A)
    return Outcomes(
        np.arange(S * A + 1) * successors,
        places.reshape(-1),
        rng.dirichlet(np.ones(successors), S * A).reshape(-1),
        np.repeat(cost, successors),
        cost,
        0.99,
        S,
        A,
    )


def plain_loop(outcomes: Outcomes, budget: float) -> tuple[int, Floats] | None:
    """Sweeps and values of the C loop; None without a compiler."""
    built = library(SOURCE)
    if built is None:
        return None
    v = np.zeros(outcomes.n_states)
    arrays = [outcomes.offsets, outcomes.successors, outcomes.probabilities, outcomes.costs, outcomes.outside]
    kept = [np.ascontiguousarray(x) for x in arrays]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in kept]
    numbers = [ctypes.c_double(x) for x in (outcomes.gamma, budget, RESIDUAL, BRACKET)]
    built.plain_iteration.restype = ctypes.c_long
    sweeps = built.plain_iteration(
        ctypes.c_long(outcomes.n_states), ctypes.c_long(outcomes.n_actions), *pointers, *numbers, ctypes.c_long(MOST),
        ctypes.c_void_p(v.ctypes.data),
    )  # fmt: skip
    return int(sweeps), v


def state_program(outcomes: Outcomes, budget: float, v: Floats, s: int) -> float:
    """The value of one state by scipy's linear program: q = p + raised − lowered, u <= q_a·w_a, Σ|q−p| <= kappa."""
    from scipy.optimize import linprog

    S, A = outcomes.n_states, outcomes.n_actions
    p, w = np.zeros((A, S)), np.empty((A, S))
    for a in range(A):
        row = s * A + a
        part = slice(outcomes.offsets[row], outcomes.offsets[row + 1])
        w[a] = outcomes.outside[row] + outcomes.gamma * v
        w[a, outcomes.successors[part]] += outcomes.costs[part] - outcomes.outside[row]
        p[a, outcomes.successors[part]] = outcomes.probabilities[part]
    n = A * S
    objective = np.zeros(2 * n + 1)
    objective[-1] = -1.0
    above = np.zeros((A + 1, 2 * n + 1))
    equal = np.zeros((A, 2 * n + 1))
    for a in range(A):
        columns = slice(a * S, (a + 1) * S)
        above[a, :n][columns], above[a, n : 2 * n][columns], above[a, -1] = -w[a], w[a], 1.0
        equal[a, :n][columns], equal[a, n : 2 * n][columns] = 1.0, -1.0
    above[A, : 2 * n] = 1.0
    limits = np.append((p * w).sum(axis=1), budget)
    bounds = [(0.0, None)] * n + [(0.0, x) for x in p.reshape(-1)] + [(None, None)]
    found: Any = linprog(objective, above, limits, equal, np.zeros(A), bounds=bounds, method="highs")
    return float(found.x[-1])


def plans(*, quick: bool) -> list[Measurement]:
    """Taxi and a garnet with 8 successors, each with three budgets; without a compiler the programs alone."""
    models = {"Taxi": rules.taxi().outcomes, "garnet S=500, A=6, 8 successors": garnet(500, 6, 8)}
    lines = []
    for name, outcomes in models.items():
        for budget in BUDGETS[:1] if quick else BUDGETS:
            chosen, size = SRectangularL1(budget), f"{name}, kappa={budget:g}"
            work: dict[str, Work] = {"ours": partial(plan_outcomes, outcomes, chosen, accuracy=ACCURACY)}
            if library(SOURCE) is not None:
                work["loop"] = partial(plain_loop, outcomes, budget)
            times = best_times(work, turns=2 if quick else 3)
            if "loop" in times:
                lines.append(
                    at_least(
                        "C loop with bisection / s-rectangular plan", size, times["ours"], times["loop"], LOOP_LIMIT
                    )
                )
        lines.append(_program(name, outcomes))
    return lines


def _program(name: str, outcomes: Outcomes) -> Measurement:
    """One state by a program against one state of a backup."""
    chosen = SRectangularL1(BUDGETS[1])
    backup, v = compiled_backup(outcomes, chosen), plan_outcomes(outcomes, chosen, accuracy=1e-3).values
    times = best_times({"ours": lambda: backup(v, False)}, turns=3)
    started = time.thread_time()
    value = state_program(outcomes, BUDGETS[1], v, 0)
    theirs = time.thread_time() - started
    if abs(value - float(backup(v, False).values[0])) > 1e-6 * float(np.abs(v).max()):
        raise ArithmeticError(f"the program of state 0 of {name} gives {value}, not the value of the backup")
    ours = times["ours"] / outcomes.n_states
    return at_least("linear program of a state / s-rectangular state", name, ours, theirs, PROGRAM_LIMIT)
