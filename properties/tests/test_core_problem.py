"""`Problem.of` tells a learner everything about a model but its kernel."""

from dataclasses import fields
from typing import Any

import numpy as np

from robust_core import Contamination, LogSumExp, Problem, constant, models, uniform

MODEL = models.machine_replacement(3, gamma=0.5)
HALF = constant(0.5)


def test_a_problem_of_a_model_has_its_shape_its_discount_and_a_table_of_zeros() -> None:
    problem = Problem.of(MODEL, Contamination(0.25), step_size=HALF)
    assert (problem.n_states, problem.n_actions, problem.gamma) == (MODEL.n_states, MODEL.n_actions, MODEL.gamma)
    assert (problem.uncertainty_set, problem.step_size) == (Contamination(0.25), HALF)
    assert problem.initial.shape == MODEL.cost.shape
    assert not problem.initial.any()
    assert (problem.policy, problem.features, problem.smoothing, problem.rng) == (None, None, None, None)


def test_with_features_the_first_estimate_is_a_vector() -> None:
    assert Problem.of(MODEL, Contamination(0.25), step_size=HALF, features=np.ones((3, 2))).initial.shape == (2,)


def test_every_field_can_be_given() -> None:
    given: dict[str, Any] = {
        "step_size": HALF,
        "initial": np.array([1.0, 2.0]),
        "gamma": 0.75,
        "policy": uniform(MODEL.n_states, MODEL.n_actions),
        "features": np.ones((3, 2)),
        "smoothing": LogSumExp(2.0),
        "second_step_size": constant(0.25),
        "projection": 4.0,
        "rng": np.random.default_rng(0),
        "behaviour": uniform(MODEL.n_states, MODEL.n_actions),
        "second_projection": 8.0,
    }
    problem = Problem.of(MODEL, Contamination(0.25), **given)
    assert {field.name for field in fields(Problem)} == given.keys() | {"n_states", "n_actions", "uncertainty_set"}
    assert all(np.array_equal(getattr(problem, name), value) for name, value in given.items())
