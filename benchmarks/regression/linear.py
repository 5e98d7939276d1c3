"""Linear learners, one replicate per seed, on a planted problem whose features and costs lie on coarse grids."""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from benchmarks.regression.defects import Factory
from benchmarks.regression.learners import ALGORITHMS, factory
from benchmarks.regression.measures import Part
from benchmarks.regression.tabular import Values, significant
from properties.cases.planted_problems import PlantedProblem
from robust_core import LinearLearner, LogSumExp, constant, key, models
from robust_core.json import to_data
from robust_core.learners import linear
from robust_core.problem import Problem
from robust_core.smoothing import Smoothing
from robust_core.validate import Floats

TIMES = tuple(2**k for k in range(16))
SPREAD_STEPS = 2**12
ALPHA, BETA = 2.0**-6, 2.0**-4
"""Steps of the order 1/√T at the last time, the faster time scale for omega (Theorem 5)."""
RADIUS, VARRHO, PROJECTION = 0.25, 4.0, 4.0
FEATURE_GRID, COST_GRID = 2.0**-10, 2.0**-30
PARAMETERS = "parameters"
"""The metric that is a hash of theta and omega."""
PROBLEM = "planted, constant steps"
METRIC_NAMES = ("area", "gradient", "tracking error", "bias", "spread")


class Planted(PlantedProblem):
    """The planted problem of the benchmark, and runs on it."""

    def __init__(
        self,
        radius: float = RADIUS,
        smoothing: Smoothing | None = None,
        sizes: tuple[int, int, int] = (6, 2, 3),
        gamma: float = 0.5,
    ) -> None:
        model = models.garnet(*sizes, gamma=gamma, seed=key("regression", "planted"))
        grids = (FEATURE_GRID, COST_GRID)
        super().__init__(model, radius, smoothing or LogSumExp(VARRHO), projection=PROJECTION, grids=grids)

    def problem_from(self, initial: Floats) -> Problem:
        """What a learner is told that starts at `initial`."""
        return self.problem(constant(ALPHA), constant(BETA), initial=initial)

    def parameters(
        self, make: Factory, seed: bytes, initial: Floats, times: Sequence[int]
    ) -> list[tuple[Floats, Floats]]:
        """(theta, omega) at the times: compiled for the core's learner, step by step for every other."""
        learner = make(self.problem_from(initial))
        walk = self.walk(seed)
        taken, reached = [], 0
        for time in times:
            if type(learner) is LinearLearner:
                linear.learn(learner, walk, time - reached)
            elif hasattr(learner, "update_many"):
                learner.update_many(walk.record(time - reached))
            else:
                for transition in walk.steps(time - reached):
                    learner.update(transition)
            taken.append(learner.estimate())
            reached = time
        return taken

    def gradient(self, theta: Floats) -> float:
        """‖∇J(theta)‖²."""
        return float((self.oracle.gradient(theta).value ** 2).sum())


@cache
def planted_problem() -> Planted:
    """The planted problem, built once."""
    return Planted()


def measure(variant: str, problem: str, seed_set: str, start: int, stop: int, injected: str = "") -> Any:
    """The values of the seeds start … stop−1 and a hash of all parameters, as the data of a `Part`."""
    if ALGORITHMS[variant].learns != "theta" or problem != PROBLEM:
        raise ValueError(f"{variant!r} on {problem!r} is not a linear benchmark")
    make = factory(variant, injected, None)
    digest = hashlib.blake2b(digest_size=16)
    rows = [_row(make, key("regression", seed_set, problem, index), digest) for index in range(start, stop)]
    samples = {name: tuple(row[name][0] for row in rows) for name in METRIC_NAMES}
    return to_data(Part(values={PARAMETERS: digest.hexdigest()}, samples=samples))


def _row(make: Factory, seed: bytes, digest: Any) -> Values:
    return row(planted_problem(), make, seed, digest)


def row(
    model: Planted,
    make: Factory,
    seed: bytes,
    digest: Any,
    times: Sequence[int] = TIMES,
    spread_steps: int = SPREAD_STEPS,
    *,
    away: bool = False,
) -> Values:
    """All metrics of one seed; what is learned goes into the digest. With `away` a bias is positive away from 0."""
    curve = model.parameters(make, seed, model.theta_0, times)
    from_truth = [
        model.parameters(make, key(word, seed), model.theta_star, [spread_steps])[0] for word in ("first", "second")
    ]
    for vector in (*curve[-1], *from_truth[0], *from_truth[1]):
        digest.update(np.ascontiguousarray(vector).tobytes())
    theta, omega = curve[-1]
    errors = [float(abs(visited - model.theta_star).max()) for visited, _ in curve]
    tracking = float(((omega - model.oracle.omega(theta).value) ** 2).sum())
    size, signs = float(abs(model.theta_star).max()), np.sign(model.theta_star) if away else 1.0
    return {
        "last error": (significant(errors[-1]), False),
        "area": (significant(float(np.mean(errors))), False),
        "gradient": (significant(model.gradient(theta) / model.gradient(model.theta_0)), False),
        "tracking error": (significant(tracking), False),
        "bias": (significant(float(((theta - model.theta_star) * signs).mean()) / size), False),
        "spread": (significant(float(abs(from_truth[0][0] - from_truth[1][0]).max())), False),
    }
