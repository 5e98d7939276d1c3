"""Support functions of all rows for every set, against the vectorised product of the same rows and against cvxpy."""

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.speed.timing import Measurement, Work, at_least, at_most, best_times, without_limit
from robust_core import (
    L1,
    L2,
    MDP,
    BoundedDensity,
    ChiSquare,
    Interval,
    KullbackLeibler,
    LInfinity,
    LocalAdversary,
    ReverseKullbackLeibler,
    UncertaintySet,
    Wasserstein,
    key,
    support,
)
from robust_core.streams import numpy_generator
from robust_core.validate import Floats

SIZE, ROWS, SMALL = 1_000, 2_000, 10
Maker = Callable[[float, MDP], UncertaintySet]

BALLS: tuple[tuple[str, Maker, tuple[float, ...], float], ...] = (
    ("L1", lambda r, mdp: L1(r), (0.1, 0.5, 1.0), 12.0),
    ("L∞", lambda r, mdp: LInfinity(r / mdp.n_states), (0.1, 0.5, 2.0), 12.0),
    (
        "interval",
        lambda r, mdp: Interval(mdp.P * (1.0 - 0.75 * r), np.minimum(mdp.P * (1.0 + r), 1.0)),
        (0.1, 0.4),
        12.0,
    ),
    ("bounded density", lambda r, mdp: BoundedDensity(r), (0.1, 0.5, 0.9), 12.0),
    ("chi-square", lambda r, mdp: ChiSquare(r), (0.01, 0.1, 1.0), 20.0),
    ("L2", lambda r, mdp: L2(r / math.sqrt(mdp.n_states)), (0.01, 0.1, 1.0), 20.0),
    ("KL", lambda r, mdp: KullbackLeibler(r), (0.01, 0.1, 1.0), 25.0),
    ("reverse KL", lambda r, mdp: ReverseKullbackLeibler(r), (0.01, 0.1, 1.0), 60.0),
)
"""Name, set for a radius and a model, radii, and the limit as a multiple of the product at 1,000 states."""
WARM_LIMIT, HULL_LIMIT, PROGRAM_LIMIT = 12.0, 10.0, 1_000.0


def _model(S: int, rows: int) -> tuple[MDP, Floats]:
    """A dense model with about so many rows, and values."""
    rng = numpy_generator(key("speed", "sets", S))
    P = rng.random((S, max(1, rows // S), S))
    return MDP(P / P.sum(axis=-1, keepdims=True), np.zeros(P.shape[:2]), 0.9), rng.random(S)


def _plane(S: int) -> Floats:
    """Distances of random points of the plane."""
    points = numpy_generator(key("speed", "metric", S)).random((S, 2))
    return np.asarray(np.linalg.norm(points[:, None] - points[None], axis=-1))


def rows(*, quick: bool = False) -> list[Measurement]:
    """Each set against the product of the same rows at 1,000 states, and against its program at 10."""
    return [*([] if quick else _products()), *([] if quick else _metric()), *_programs()]


def _products() -> list[Measurement]:
    from robust_core.kernels import kullback_leibler

    mdp, v = _model(SIZE, ROWS)
    matrix = mdp.P.reshape(-1, SIZE)
    n_rows = len(matrix)
    contestants: dict[str, Work] = {"product": lambda: matrix @ v}
    limits: dict[str, tuple[str, str, float]] = {}
    for name, make, radii, limit in BALLS:
        for r in radii:
            contestants[f"{name} {r:g}"] = partial(support, mdp, make(r, mdp), v)
            limits[f"{name} {r:g}"] = f"{name} rows / product", f"S={SIZE}, r={r:g}", limit
    for r in (0.01, 0.1, 1.0):
        kept = np.zeros(n_rows)
        kullback_leibler.refine(mdp, r, v, kept, steps=kullback_leibler.STEPS)
        contestants[f"warm {r:g}"] = partial(kullback_leibler.refine, mdp, r, v, kept)
        limits[f"warm {r:g}"] = "KL rows, multiplier kept / product", f"S={SIZE}, r={r:g}", WARM_LIMIT
    times = best_times(contestants, turns=7)
    product = times["product"] / n_rows
    return [at_most(name, size, times[which] / n_rows, product, limit) for which, (name, size, limit) in limits.items()]


def _metric() -> list[Measurement]:
    """What a sweep over all rows does with the metric, against reading it once; the rows themselves are stated."""
    from robust_core.kernels import wasserstein

    mdp, v = _model(SIZE, ROWS)
    metric = _plane(SIZE)
    ball, near = Wasserstein(0.1, metric), LocalAdversary(0.1, metric)
    states, distances = ball.by_distance
    first, source = np.empty(SIZE), np.empty(SIZE * SIZE, dtype=np.int64)
    length, gain = np.empty(SIZE * SIZE), np.empty(SIZE * SIZE)
    begin, end = np.empty(SIZE, dtype=np.int64), np.empty(SIZE * SIZE, dtype=np.int64)
    contestants: dict[str, Work] = {
        "read": metric.sum,
        "hulls": partial(wasserstein.hulls, states, distances, v, first, source, length, gain, begin, end),
        "rows": partial(support, mdp, ball, v),
        "product": lambda: mdp.P.reshape(-1, SIZE) @ v,
        "near": partial(support, mdp, near, v),
    }
    times = best_times(contestants, turns=7)
    walk = (times["rows"] - times["hulls"]) / ROWS
    return [
        at_most("Wasserstein hulls / reading the metric", f"S={SIZE}", times["hulls"], times["read"], HULL_LIMIT),
        without_limit("Wasserstein rows after the hulls / product", f"S={SIZE}, r=0.1", walk, times["product"] / ROWS),
        at_most(
            "local adversary, all rows / product", f"S={SIZE}", times["near"] / ROWS, times["product"] / ROWS, 12.0
        ),
    ]


def _programs() -> list[Measurement]:
    from oracles.sets import programs

    mdp, v = _model(SMALL, ROWS)
    row, metric = mdp.P[0, :1], _plane(SMALL)
    chosen = [(name, make(radii[1], mdp)) for name, make, radii, _ in BALLS]
    chosen += [("Wasserstein", Wasserstein(0.1, metric)), ("local adversary", LocalAdversary(0.3, metric))]
    lines = []
    for name, uncertainty_set in chosen:
        times = best_times({"rows": partial(support, mdp, uncertainty_set, v)}, turns=5)
        of_row = uncertainty_set.at(0, 0) if uncertainty_set.pairs else uncertainty_set
        program = {"program": partial(programs.support, of_row, row, v[None])}
        theirs = best_times(program, turns=3, clock=time.perf_counter)["program"]
        ours = times["rows"] / (mdp.n_states * mdp.n_actions)
        lines.append(at_least(f"cvxpy row / {name} row", f"S={SMALL}", ours, theirs, PROGRAM_LIMIT))
    return lines
