"""The problems of the benchmark: small named models, the interpretations of what the paper leaves open, and the truth.

All numbers are dyadic and the truth is computed in exact rationals and rounded once, so model and truth have the same
bits on every machine: runs that start at the truth are hashed, and no library for linear algebra may choose the order
of a sum in them. An interpretation names the step size, and the episodic one also what a terminal state is: its value
is 0 and the walk goes on from a reset.
"""

from functools import partial

import numpy as np

from properties.cases.benchmark_problems import BenchmarkProblem
from robust_core import constant, key, models, per_visit
from robust_core.learners.schedules import StepSize
from robust_core.mdp import MDP

GAMMA = 0.75
CONSTANT = constant(0.0625)
"""A constant step, as in Theorem 3 and in the experiments."""


def _per_visit(gamma: float) -> StepSize:
    """1/(1 + (1−gamma)n) after n visits: the rate ½ (Theorem 2)."""
    return per_visit(1.0, rate=1.0 - gamma, power=1.0)


def _river() -> MDP:
    """River swim whose far end is a goal: it ends the episode, and the reset leads back to the start."""
    mdp = models.river_swim(5, gamma=GAMMA)
    P = mdp.P.copy()
    P[-1] = np.eye(mdp.n_states)[0]
    cost = mdp.cost.copy()
    cost[-1] = 0.0
    return MDP(P, cost, GAMMA)


_exact = partial(BenchmarkProblem, exact=True)


def _problems() -> tuple[BenchmarkProblem, ...]:
    garnet = models.garnet(8, 3, 3, gamma=GAMMA, seed=key("regression", "garnet"))
    two_states = models.two_states(gamma=0.5)
    return (
        _exact("two states, per visit", two_states, 0.25, step_size=_per_visit(0.5)),
        _exact("two states, constant step", two_states, 0.25, step_size=CONSTANT),
        _exact("machine, per visit", models.machine_replacement(5, gamma=GAMMA), 0.125, step_size=_per_visit(GAMMA)),
        _exact("garnet, per visit", garnet, 0.125, step_size=_per_visit(GAMMA)),
        _exact("garnet, constant step", garnet, 0.125, step_size=CONSTANT),
        _exact("river, episodic", _river(), 0.125, step_size=_per_visit(GAMMA), terminal=(4,)),
    )


PROBLEMS = {problem.name: problem for problem in _problems()}
