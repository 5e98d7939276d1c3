"""The mean square of a recursion driven by a chain: known matrices, all paths enumerated, and runs of the learner."""

from itertools import product

import numpy as np
import pytest

from oracles.arithmetic.ball import Ball
from oracles.linear import second_moments
from robust_core.learners.linear import LinearLearner
from robust_core.learners.schedules import constant
from robust_core.mdp import MDP
from robust_core.problem import Problem
from robust_core.sets import Contamination
from robust_core.smoothing import LogSumExp
from robust_core.trajectory import Transition
from robust_core.validate import Floats

KERNEL = np.array([[0.25, 0.75], [0.5, 0.5]])
PHI = np.array([[0.5, 1.0], [1.0, -0.25]])
STEPS = {"gamma": 0.75, "alpha": 0.25, "beta": 0.5}


def test_turns_and_reflections_times_a_number_grow_by_its_square() -> None:
    turn, mirror = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, -1.0]])
    matrices = 1.25 * np.array([[turn, mirror], [mirror, np.eye(2)]])
    low, high = second_moments.growth(Ball.exact(KERNEL), Ball.exact(matrices))
    assert low <= 1.25**2 <= high < low + 1e-5


def mean_square(A: Floats, x: Floats, s: int, t: int) -> float:
    """E‖x_t‖² by enumeration of all paths."""
    total = 0.0
    for path in product(range(2), repeat=t):
        weight, y, here = 1.0, x, s
        for there in path:
            weight, y, here = weight * KERNEL[here, there], A[here, there] @ y, there
        total += weight * float(y @ y)
    return total


@pytest.mark.parametrize(("radius", "held"), [(0.0, 0), (0.5, 0), (0.5, 1)])
def test_the_bounds_are_the_growth_of_all_paths(radius: float, held: int) -> None:
    A = second_moments.steps(PHI, **STEPS, radius=radius, held=held)
    low, high = second_moments.growth(Ball.exact(KERNEL), A)
    x = np.array([1.0, 0.5, -0.25, 0.125])
    last_step = mean_square(A.mid, x, 0, 13) / mean_square(A.mid, x, 0, 12)
    assert last_step == pytest.approx(low, rel=0.02)
    assert 0.0 <= high - low < 1e-5
    shorter = second_moments.growth(Ball.exact(KERNEL), Ball(A.mid * 0.9, A.rad))
    assert shorter[1] < low


@pytest.mark.parametrize("held", [0, 1])
def test_a_step_of_the_learner_far_out_is_the_held_matrix(held: int) -> None:
    """Where V is largest at `held` by far, one update is A(s,s')x but for rounding of numbers near 2^20."""
    mdp = MDP(KERNEL[:, None, :], [[0.0], [0.0]], STEPS["gamma"])
    A = second_moments.steps(PHI, **STEPS, radius=0.5, held=held)
    theta = 2.0**20 * np.array([[0.25, 1.0], [1.0, -1.0]])[held]
    assert (PHI @ theta).argmax() == held
    for s, s_next in product(range(2), repeat=2):
        made = LinearLearner("TDC", _problem(mdp, theta))
        made.omega = np.array([3.0, -5.0])
        made.update(Transition(s, 0, 0.0, s_next, 0, False))
        wanted = A.mid[s, s_next] @ np.concatenate([theta, [3.0, -5.0]])
        np.testing.assert_allclose(np.concatenate(made.estimate()), wanted, atol=2.0**-20)


def _problem(mdp: MDP, theta: Floats) -> Problem:
    return Problem.of(
        mdp,
        Contamination(0.5),
        gamma=STEPS["gamma"],
        step_size=constant(STEPS["alpha"]),
        second_step_size=constant(STEPS["beta"]),
        initial=theta,
        features=PHI,
        smoothing=LogSumExp(1.0),
        projection=2.0**60,
    )


def test_weights_of_no_eigenvector_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    A = second_moments.steps(PHI, **STEPS, radius=0.5, held=0)
    monkeypatch.setattr(second_moments, "_leading", lambda *_: (0.9, np.broadcast_to(np.eye(4), (2, 4, 4))))
    with pytest.raises(ArithmeticError, match="certified"):
        second_moments.growth(Ball.exact(KERNEL), A)
