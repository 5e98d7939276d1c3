"""Extreme but legal arguments give correct results or a clear error, never silent nan or inf."""

import copy
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from oracles.planning import rational
from properties.tests.small_problems import HALF, MDP2, SEED, C, problem, q_learner, recording
from robust_core import models
from robust_core.learners import schedules, tabular
from robust_core.learners.schedules import constant
from robust_core.learners.tabular import Q_LEARNING, TD0, TabularLearner
from robust_core.mdp import MDP
from robust_core.operators import bellman, smoothed_bellman_policy
from robust_core.policy import uniform
from robust_core.sets import Contamination, TotalVariation
from robust_core.smoothing import Mellowmax
from robust_core.support_functions import sigma
from robust_core.trajectory import Transition, Walk
from robust_core.validate import EPS

U = EPS / 2
GATHERED = 7 * U / (0.5 * (1.0 - 0.5))
"""What rounding adds to a path with alpha = gamma = 1/2, relative to its largest number: a step (three products, four
sums) rounds seven times, and forgets the share alpha(1 − gamma) of what has gathered.
"""


@pytest.mark.parametrize("run", [tabular.learn, tabular.learn_plain])
def test_huge_costs_give_finite_values_or_an_error(run: Callable[..., None]) -> None:
    """±1e300 at gamma = 1/2 stays below 2e300; ±1.7e308 at gamma near 1 does not fit and says so."""
    for sign in (1.0, -1.0):
        mdp = MDP(MDP2.P, np.full((2, 2), sign * 1e300), 0.5)
        learner = TabularLearner(Q_LEARNING, problem(initial=np.zeros((2, 2))))
        run(learner, Walk(mdp, HALF, seed=SEED), 500)
        assert np.isfinite(learner.table).all()
        assert np.abs(learner.table).max() <= 2e300 * (1 + GATHERED)
        mdp = MDP(MDP2.P, np.full((2, 2), sign * 1.7e308), 0.5)
        learner = TabularLearner(Q_LEARNING, problem(gamma=0.999))
        with pytest.raises(OverflowError, match="Q-learning left the range of float64"):
            run(learner, Walk(mdp, HALF, seed=SEED), 500)


def test_single_updates_overflow_with_an_error() -> None:
    learner = q_learner()
    for _ in range(3):
        learner.update(Transition(0, 0, 1.7e308, 0, 0, False))
    learner = TabularLearner(Q_LEARNING, problem(initial=np.full((2, 2), 1.7e308)))
    with pytest.raises(OverflowError, match="left the range of float64"):
        learner.update(Transition(0, 0, 1.7e308, 0, 0, False))
    recorded = recording(cost=np.full(3, 1.7e308))
    learner = TabularLearner(Q_LEARNING, problem(initial=np.full((2, 2), 1.7e308)))
    with pytest.raises(OverflowError, match="left the range of float64"):
        learner.update_many(recorded)


def test_long_horizons() -> None:
    """gamma = 1 − 1e-9 on one state of cost 1: Q* = 1/(1−gamma) is a fixed point of learner and operator.

    One backup c + gamma_R Q + gamma_b Q rounds five times, on terms of at most Q*: within 5 eps/2 of it, doubled for
    gamma_R and gamma_b, which are rounded themselves.
    """
    gamma = 1.0 - 1e-9
    mdp = MDP([[[1.0]]], [[1.0]], gamma)
    fixed = float(1 / (1 - Fraction(gamma)))
    assert math.isfinite(fixed)
    for uncertainty_set in (Contamination(0.25), TotalVariation(0.25)):
        assert abs(bellman(mdp, uncertainty_set, [[fixed]])[0, 0] - fixed) <= 5 * EPS * fixed
        assert rational.certified_values(rational.solve(mdp, uncertainty_set).V, "exact").value[0] == fixed
    for run in (tabular.learn, tabular.learn_plain):
        learner = TabularLearner(
            TD0,
            problem(
                n_states=1, n_actions=1, gamma=gamma, initial=np.array([fixed]), policy=None, step_size=constant(1.0)
            ),
        )
        run(learner, Walk(mdp, [[1.0]], seed=SEED), 1000)
        assert abs(learner.table[0] - fixed) <= 1000 * 5 * EPS * fixed


def test_tiny_probabilities() -> None:
    """A successor of probability 1e-300 counts in an expectation, and is never drawn."""
    mdp = MDP([[[1.0, 1e-300]], [[0.0, 1.0]]], [[0.0], [0.0]], 0.5)
    # 1 + 1e-300 is 1 in floats: the row stands for (1, 1e-300) over its exact sum.
    value = bellman(mdp, Contamination(0.0), [[0.0], [1e300]])[0, 0]
    # 1e-300, 1e300 and their product are rounded, halving is exact.
    assert abs(value - 0.5) <= 3 * U * 0.5
    w = Walk(mdp, np.ones((2, 1)), seed=SEED)
    assert {step.s_next for step in w.record(1000)} == {0}


def test_one_state_is_legal_everywhere() -> None:
    mdp = models.single_state()
    pi = uniform(1, 2)
    assert sigma(TotalVariation(1.0), [1.0], [3.0]) == 3.0
    assert bellman(mdp, C, [[2.0, 4.0]]).tolist() == [[2.0, 3.0]]
    assert smoothed_bellman_policy(mdp, 0.5, Mellowmax(1.0), pi, [2.0]).tolist() == [2.5]
    learner = TabularLearner(Q_LEARNING, problem(n_states=1, initial=np.zeros((1, 2)), policy=None))
    w = Walk(mdp, pi, seed=SEED)
    actions = [step.a for step in copy.deepcopy(w).steps(200)]
    tabular.learn(learner, w, 200)
    # Each frame that takes both actions shrinks the distance to Q* = (2, 3) by (1−gamma) alpha = 1/4 at least.
    frames, seen = 0, set()
    for a in actions:
        seen.add(a)
        if len(seen) == 2:
            frames, seen = frames + 1, set()
    assert frames > 40
    assert np.abs(learner.table - [[2.0, 3.0]]).max() <= 0.75**frames * 3.0 + GATHERED * 3.0
    assert schedules.constant(0.0).at(0) == 0.0
