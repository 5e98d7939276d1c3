"""Linear learners, one replicate per seed, on a planted problem: the zero of J is known.

cost = V − gamma(1−R)PV − gamma R·LSE(V) for a V in the span of the features makes V the fixed point of the smoothed
operator, so J(theta*) = 0 and nothing has to be solved for. Features and costs are then rounded to a grid that is far
coarser than the last bits of cosines, exponentials and sums: the learner is told the same numbers on every machine, and
theta* is the zero of J up to that grid.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from benchmarks.regression.learners import ALGORITHMS, Factory, factory
from benchmarks.regression.tabular import Measured, kept
from oracles.linear.msprbe import MSPRBE
from robust_core import Contamination, LinearLearner, LogSumExp, constant, key, models, uniform
from robust_core.learners import linear
from robust_core.mdp import MDP
from robust_core.problem import Problem
from robust_core.sampler import alias_table
from robust_core.trajectory import Walk
from robust_core.validate import Floats

TIMES = tuple(2**k for k in range(16))
SPREAD_STEPS = 2**12
ALPHA, BETA = 2.0**-6, 2.0**-4
"""Steps of the order 1/√T at the last time, the faster time scale for omega (Theorem 5)."""
RADIUS, VARRHO, PROJECTION = 0.25, 4.0, 4.0
FEATURE_GRID, COST_GRID = 2.0**-10, 2.0**-30
PROBLEM = "planted, constant steps"
MEASURES = ("area", "gradient", "tracking error", "bias", "spread")


def on_grid(x: Floats, grid: float) -> Floats:
    """The nearest multiples of `grid`, a power of two."""
    nearest: Floats = np.rint(x / grid) * grid
    return nearest


class Planted:
    """The model, its features, the zero theta* of J, and J itself."""

    def __init__(self) -> None:
        base = models.garnet(6, 2, 3, gamma=0.5, seed=key("regression", "planted"))
        angle = np.pi * np.arange(6) / 6.0
        self.features: Floats = on_grid(np.stack((np.cos(angle), np.sin(angle)), axis=1), FEATURE_GRID)
        self.theta_star = np.array([1.0, -0.5])
        V = self.features @ self.theta_star
        smooth = LogSumExp(VARRHO).value(V)
        cost = V[:, None] - base.gamma * ((1.0 - RADIUS) * base.expectation(V) + RADIUS * smooth)
        self.mdp = MDP(base.kernel, on_grid(cost, COST_GRID), base.gamma)
        self.policy = uniform(6, 2)
        self.table = alias_table(self.mdp, self.policy)
        self.oracle = MSPRBE(self.mdp, self.policy, self.features, radius=RADIUS, varrho=VARRHO)

    def problem(self, initial: Floats) -> Problem:
        """What the learner is told."""
        return Problem.of(
            self.mdp,
            Contamination(RADIUS),
            step_size=constant(ALPHA),
            second_step_size=constant(BETA),
            initial=initial,
            policy=self.policy,
            features=self.features,
            smoothing=LogSumExp(VARRHO),
            projection=PROJECTION,
        )

    def learned(self, make: Factory, seed: bytes, initial: Floats, times: Sequence[int]) -> list[tuple[Floats, Floats]]:
        """(theta, omega) at the times: compiled for the core's learner, step by step for every other."""
        learner = make(self.problem(initial))
        walk = Walk(self.mdp, self.policy, seed=seed, table=self.table)
        taken, reached = [], 0
        for time in times:
            if type(learner) is LinearLearner:
                linear.learn(learner, walk, time - reached)
            else:
                for transition in walk.steps(time - reached):
                    learner.update(transition)
            taken.append(learner.estimate())
            reached = time
        return taken

    def gradient(self, theta: Floats) -> float:
        """‖∇J(theta)‖²."""
        return float((self.oracle.gradient(theta).value ** 2).sum())

    @property
    def start(self) -> Floats:
        """Away from theta*, inside the ball."""
        return np.array([-1.0, 1.0])


@cache
def planted() -> Planted:
    """The planted problem, built once."""
    return Planted()


def measured(variant: str, problem: str, seed_set: str, start: int, stop: int, injected: str = "") -> dict[str, Any]:
    """The rows of the seeds start … stop−1, by metric, and a hash of all parameters."""
    if ALGORITHMS[variant].learns != "theta" or problem != PROBLEM:
        raise ValueError(f"{variant!r} on {problem!r} is no linear benchmark")
    make = factory(variant, injected, None)
    digest = hashlib.blake2b(digest_size=16)
    rows = [_row(make, key("regression", seed_set, problem, index), digest) for index in range(start, stop)]
    return {
        "values": {name: [row[name][0] for row in rows] for name in MEASURES},
        "impossible": dict.fromkeys(MEASURES, 0),
        "digest": digest.hexdigest(),
    }


def _row(make: Factory, seed: bytes, digest: Any) -> Measured:
    model = planted()
    curve = model.learned(make, seed, model.start, TIMES)
    rested = [model.learned(make, key(word, seed), model.theta_star, [SPREAD_STEPS])[0] for word in ("first", "second")]
    for vector in (*curve[-1], *rested[0], *rested[1]):
        digest.update(np.ascontiguousarray(vector).tobytes())
    theta, omega = curve[-1]
    errors = [float(abs(visited - model.theta_star).max()) for visited, _ in curve]
    tracking = float(((omega - model.oracle.omega(theta).value) ** 2).sum())
    size = float(abs(model.theta_star).max())
    return {
        "area": (kept(float(np.mean(errors))), False),
        "gradient": (kept(model.gradient(theta) / model.gradient(model.start)), False),
        "tracking error": (kept(tracking), False),
        "bias": (kept(float((theta - model.theta_star).mean()) / size), False),
        "spread": (kept(float(abs(rested[0][0] - rested[1][0]).max())), False),
    }
