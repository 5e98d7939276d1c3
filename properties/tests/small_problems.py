"""Two states, two actions, and all that can be asked of them: what bad and extreme calls are made from."""

from typing import Any

import numpy as np

from robust_core import models, streams
from robust_core.learners import linear
from robust_core.learners.schedules import constant
from robust_core.learners.tabular import Q_LEARNING, TabularLearner
from robust_core.problem import Problem
from robust_core.sets import Contamination
from robust_core.smoothing import LogSumExp
from robust_core.trajectory import Recording, Walk

MDP2 = models.two_states()
C = Contamination(0.25)
SEED = streams.key("bad input")
HALF = np.full((2, 2), 0.5)


def problem(**changes: Any) -> Problem:
    good: dict[str, Any] = {
        "n_states": 2,
        "n_actions": 2,
        "gamma": 0.5,
        "uncertainty_set": C,
        "step_size": constant(0.5),
        "initial": np.zeros((2, 2)),
        "policy": HALF,
    }
    return Problem(**(good | changes))


def linear_problem(**changes: Any) -> Problem:
    good: dict[str, Any] = {
        "initial": np.zeros(2),
        "features": np.eye(2),
        "smoothing": LogSumExp(1.0),
        "second_step_size": constant(0.5),
    }
    return problem(**(good | changes))


def walk(**options: Any) -> Walk:
    return Walk(MDP2, HALF, seed=SEED, **options)


def q_learner() -> TabularLearner:
    return TabularLearner(Q_LEARNING, problem())


def tdc() -> linear.LinearLearner:
    return linear.LinearLearner("TDC", linear_problem())


def recording(**changes: Any) -> Recording:
    good = {name: getattr(walk().record(3), name) for name in Recording.__dataclass_fields__}
    return Recording(**(good | changes))
