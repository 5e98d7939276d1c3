"""CartPole by its own equations: it moves, jumps and ends as Gymnasium's does."""

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from benchmarks.experiments import pole, pole_kernels
from benchmarks.experiments.interpretations import DEFAULT, INTERPRETATIONS
from benchmarks.experiments.panel_environments import LIMITS, control_environments, environment
from benchmarks.experiments.paper import PANELS
from robust_core.validate import EPS


def _moved(state: Any, action: int) -> Any:
    found = np.array(state, dtype=float)
    pole_kernels.step(found, action)
    return found


def test_the_real_pole_moves_as_gymnasium_moves_it() -> None:
    import gymnasium

    made: Any = gymnasium.make("CartPole-v1").unwrapped
    made.reset(seed=0)
    for state in np.random.default_rng(0).uniform(-0.15, 0.15, (50, 4)):
        for action in (0, 1):
            made.state = tuple(state)
            made.step(action)
            found = np.array(made.state)
            # Some twenty operations on numbers of size below 20, in another order.
            rounding = 20 * 20 * EPS
            assert abs(_moved(state, action) - found).max() <= rounding
            assert abs(_moved(state, 1 - action) - found).max() > rounding


def test_the_cells_of_the_real_pole_are_those_of_the_model() -> None:
    """The model's rows are made of 4⁴ points in every cell: the compiled step and cell must count the same."""
    pole_model = environment(PANELS["cartpole-a"], DEFAULT, "continuing").mdp
    counts, points = np.array(DEFAULT.bins), 4
    corners = np.stack(np.meshgrid(*[(np.arange(points) + 0.5) / points] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    places = np.stack(np.unravel_index(np.arange(counts.prod()), counts), axis=-1)
    for s in (0, 100, 163, 323):
        states = -LIMITS + (places[s] + corners) * (2 * LIMITS / counts)
        assert {pole_kernels.cell(state, LIMITS, counts) for state in states} == {s}
        for a in (0, 1):
            reached = [pole_kernels.cell(_moved(state, a), LIMITS, counts) for state in states]
            found = np.bincount(reached, minlength=counts.prod() + 1) / len(reached)
            assert np.array_equal(found, pole_model.P[s, a])
            assert not np.array_equal(found, pole_model.P[s, 1 - a])


def test_the_real_pole_jumps_as_often_as_told_and_everywhere() -> None:
    environments = control_environments(PANELS["cartpole-a"], INTERPRETATIONS["real-dynamics"])
    walk = pole.PoleWalk(environments, 0)
    walk.p = 1.0
    recording = walk.record(200_000)
    counts = np.bincount(recording.s_next, minlength=325)
    # Each of the 325 counts is binomial with mean 615 and deviation 25: six deviations for this fixed seed.
    mean, allowed = 200_000 / 325, 6 * math.sqrt(200_000 / 325)
    assert abs(counts - mean).max() <= allowed
    assert np.array_equal(recording.terminal, recording.s_next == 324)
    walk.p = 0.0
    assert abs(np.bincount(walk.record(200_000).s_next, minlength=325) - mean).max() > allowed


def test_the_reward_of_a_policy_on_the_real_pole_stops_at_the_fall() -> None:
    environments = control_environments(PANELS["cartpole-a"], INTERPRETATIONS["real-dynamics"])
    left = np.zeros((1, 325), dtype=np.int64)
    (found,) = pole.rewards(environments, left, 0)
    lengths = []
    for start in pole.starts(0):
        state, steps = start, 0
        while (state := _moved(state, 0)) is not None and pole_kernels.cell(
            state, LIMITS, np.array((3, 3, 6, 6))
        ) < 324:
            steps += 1
        lengths.append(steps)
    paid, fall_paid_too = (np.mean([sum(0.95**t for t in range(n + more)) for n in lengths]) for more in (0, 1))
    # On either side discounts of at most n factors, sums of n of them, and a mean over the starts.
    rounding = (2 * max(lengths) + len(lengths)) * EPS * paid
    assert abs(found - paid) <= rounding
    assert abs(found - fall_paid_too) > rounding
