"""Where a linear learner ends: theta and omega against a stationary point with J > 0 and omega ≠ 0, on both sides.

The problems are those of `properties.cases.stationary_problems`. On a deterministic cycle a run is a number and one is
enough: no statistics, and no false alarm but by the allowance itself. It is read after T steps and, if it is not there
yet, after `PATIENCE` T: smaller steps are slow, not wrong. The noisy chain needs samples: the averages of theta and
omega over the second half of a run are within the allowance in at least half of the runs. One problem has an active
ball; it is for variants that promise *projected*.

The allowances are about 1.5 times the largest error measured at T on TDC and GTD2 with the given steps and with half of
them; a tenth of alpha is inside after `PATIENCE` T, and wrong limits stay off by several times that. They are measured,
not proved. A limit cannot show other steps that lead to it; the exact laws on single steps do.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from properties.cases import stationary_problems
from properties.cases.stationary_problems import StationaryProblem
from properties.statistics import design
from properties.statistics.law import Cell, Size, bernoulli_plan, once
from properties.statistics.laws.linear import advance, smoothing
from properties.statistics.laws.tabular import make_learner
from properties.statistics.sequential import Plan
from robust_core.problem import Variant
from robust_core.streams import draw, generator_state
from robust_core.validate import Floats

CHECKPOINTS = 64
"""Readings of the second half of a noisy run."""
HORIZON = {"quick": 2048, "full": 32768}
PATIENCE = {"quick": 16, "full": 1}
"""A run that is not within the allowance at T is read again after so many T; the full size has that T at once."""
ALLOWED = {
    "quick": {"cycle": 0.03, "edge of the ball": 0.03, "two features": 0.06, "noisy": 0.08},
    "full": {"cycle": 0.01, "edge of the ball": 0.01, "two features": 0.02, "noisy": 0.04},
}
"""How far an entry of (theta, omega) may be from the limit, in units of 2^k."""
NOISY_HORIZON = {"quick": 4096, "full": 16384}
LAST = 3
"""Readings of a deterministic run, averaged: one round of the cycle."""
SCALES = (-2, -1, 0, 1, 2)
"""The k of the factor 2^k that a run takes from its seed."""


def _scale(seed: bytes) -> int:
    return SCALES[draw(generator_state(seed + b"scale")) % len(SCALES)]


def _reading(learner: Any, problem: StationaryProblem, k: int) -> Floats:
    """(theta, omega) less the limit, in units of 2^k."""
    return np.asarray(np.concatenate([np.ravel(part) for part in learner.estimate()]) / 2.0**k - problem.limit)


def _deterministic(variant: Variant, problem: StationaryProblem, size: Size) -> Callable[[bytes], Floats]:
    """Whether a run ends outside the allowance, and its errors; after T steps, or else after `PATIENCE` T."""
    steps, allowed = HORIZON[size], ALLOWED[size][problem.name]
    scaled = {k: problem.rescale(k) for k in SCALES}

    def sample(seed: bytes) -> Floats:
        k = _scale(seed)
        walk, learner = scaled[k].walk(seed), make_learner(variant, scaled[k].problem, seed)
        done, errors = 0, np.array([np.nan])
        for end in sorted({steps, PATIENCE[size] * steps}):
            advance(learner, walk, end - LAST - done)
            readings = []
            for _ in range(LAST):
                advance(learner, walk, 1)
                readings.append(_reading(learner, problem, k))
            done, errors = end, np.mean(readings, axis=0)
            if (abs(errors) <= allowed).all():
                return np.concatenate(([0.0], errors))
        return np.concatenate(([1.0], errors))

    return sample


def _random(variant: Variant, problem: StationaryProblem, size: Size) -> Callable[[bytes], Floats]:
    """Whether the average over the second half of a run is outside the allowance, and its errors."""
    steps, allowed = NOISY_HORIZON[size], ALLOWED[size][problem.name]
    scaled = {k: problem.rescale(k) for k in SCALES}
    gap = steps // 2 // CHECKPOINTS

    def sample(seed: bytes) -> Floats:
        k = _scale(seed)
        walk, learner = scaled[k].walk(seed), make_learner(variant, scaled[k].problem, seed)
        advance(learner, walk, steps - gap * CHECKPOINTS)
        readings = []
        for _ in range(CHECKPOINTS):
            advance(learner, walk, gap)
            readings.append(_reading(learner, problem, k))
        errors = np.mean(readings, axis=0)
        return np.concatenate(([float(not (abs(errors) <= allowed).all())], errors))

    return sample


def _where(rows: Floats) -> str:
    """How far theta and omega end from the limit, in the median, by entry."""
    off = np.median(rows[:, 1:], axis=0)
    parts = zip(("theta", "omega"), np.split(off, 2), strict=True)
    return "wrong limit: " + ", ".join(f"{name} off by {', '.join(f'{x:+.3g}' for x in part)}" for name, part in parts)


def _outside(rows: Floats) -> Floats:
    return np.asarray(rows[:, 0])


def limit_problems(variant: Variant) -> list[StationaryProblem]:
    """The problems whose limit a variant is asked for: those with a radius it is for, the ball for who promises it."""
    if stationary_problems.RADIUS not in variant.options.get("radii", (stationary_problems.RADIUS,)):
        return []
    problems = [stationary_problems.CYCLE, stationary_problems.TWO_FEATURES, stationary_problems.NOISY]
    if "projected" in variant.promises:
        problems.insert(1, stationary_problems.EDGE)
    return [replace(problem, mellowmax=smoothing(variant) == "mellowmax") for problem in problems]


def _certain(allowed: float, alpha: float) -> Plan:
    return design.certain(f"theta or omega more than {allowed:g} off the limit", alpha=alpha)


def cells(variant: Variant, size: Size) -> list[Cell]:
    """A cell a problem, those without chance first."""
    found = []
    for problem in limit_problems(variant):
        noisy = problem.name == stationary_problems.NOISY.name
        steps = (NOISY_HORIZON if noisy else HORIZON)[size]
        found.append(
            Cell(
                f"stationary/limit/{problem.name}/T={steps}",
                bernoulli_plan(0.5, 0.8) if noisy else partial(_certain, ALLOWED[size][problem.name]),
                once(partial(_random if noisy else _deterministic, variant, problem, size)),
                _outside,
                (problem.mdp.hash, steps),
                diagnose=_where,
                kind=f"limit, {problem.name}",
                variant=variant.name,
                stream=f"stationary/limit/{problem.name}/T={steps}",
            )
        )
    return found
