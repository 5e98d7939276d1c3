"""Rows, values and radii at which support functions go wrong, by a seed."""

import numpy as np

from oracles.sets import oracle_of
from robust_core import BoundedDensity, Contamination, Restart, TotalVariation, UncertaintySet
from robust_core.sets import SETS
from robust_core.validate import Floats

FACTORS = (1.0, 1.0 + 1e-15, 1.0 - 1e-15, 1.0 + 1e-9, 1.0 - 1e-9, 0.999)
BELOW_ONE = (BoundedDensity, Contamination, Restart, TotalVariation)
KINDS = tuple(kind for kind in SETS if kind not in (Contamination, TotalVariation))


def row(rng: np.random.Generator, n: int) -> Floats:
    """Half of them ordinary, the others with zeros, a single state, or masses of 1e-12 and 1e-300."""
    p = rng.dirichlet(np.full(n, 10 ** rng.uniform(-1, 0.7))) + 1e-12
    form = rng.integers(10)
    some = rng.random(n) < 0.5
    if form == 0:
        p[some] = 0.0
    elif form == 1:
        p = np.eye(n)[rng.integers(n)]
    elif form in (2, 3):
        p[some] = (1e-12, 1e-300)[form - 2]
    if p.sum() < 0.1:
        p[rng.integers(n)] = 1.0
    return p / p.sum()


def values(rng: np.random.Generator, n: int) -> Floats:
    """Ordinary, tied, constant, huge, tiny, with a large offset, or equal up to 1e-13."""
    v = rng.normal(size=n)
    forms = (np.round(v), np.full(n, v[0]), 1e200 * v, 1e-200 * v, 1e6 + v, 1.0 + 1e-13 * v)
    form = rng.integers(2 * len(forms))
    return forms[form] if form < len(forms) else v


def radius(rng: np.random.Generator, kind: type[UncertaintySet]) -> float:
    """0, tiny, ordinary or large."""
    levels = (
        0.0,
        1e-300,
        10 ** rng.uniform(-20, -8),
        *(10 ** rng.uniform(-4, 0.5) for _ in range(4)),
        10 ** rng.uniform(1, 3),
    )
    chosen = float(levels[rng.integers(len(levels))])
    return min(chosen, 1.0 - 10.0 ** -rng.integers(1, 15)) if kind in BELOW_ONE else chosen


def choose(rng: np.random.Generator, kind: type[UncertaintySet], p: Floats, v: Floats) -> UncertaintySet:
    """A set for the row, one in three at the row's threshold."""
    made = kind.choose(lambda levels: levels[int(rng.integers(len(levels)))], radius(rng, kind), p, v)
    threshold = oracle_of(kind).threshold
    if threshold is not None and rng.random() < 1 / 3:
        found = threshold(made, p, v)
        level = (found or 0.0) * FACTORS[rng.integers(len(FACTORS))]
        if np.isfinite(level) and not (kind in BELOW_ONE and level >= 1.0):
            made = made.with_radius(float(level))
    return made
