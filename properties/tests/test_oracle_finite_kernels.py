"""Finite sets of kernels: enumeration, the failure of the Bellman equation, and refusals."""

import numpy as np
import pytest

from oracles.planning.finite_kernels import FiniteKernels
from robust_core import MDP

COST = [[0.0], [1.0], [4.0]]
PAIR = FiniteKernels(
    tuple(MDP([[[0.0, 1.0, 0.0]], [rows], [[0.0, 0.0, 1.0]]], COST, 0.5) for rows in ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
)


def test_one_kernel_for_the_run_and_one_row_for_the_state_agree_where_one_state_is_uncertain() -> None:
    """Rectangular: the kernels differ in one row alone."""
    assert not any(PAIR.gap([[1.0]] * 3))


def test_the_bellman_equation_is_too_large_where_two_states_disagree() -> None:
    """Either both states move on or both stay: no kernel is worst for both, and the hull has one that is."""
    models = tuple(MDP([[[1 - x, x]], [[x, 1 - x]]], [[0.0], [1.0]], 0.5) for x in (0.0, 1.0))
    found = FiniteKernels(models)
    assert found.gap([[1.0], [1.0]])[0] > 0
    assert max(found.policy_value([[1.0], [1.0]])) == max(found.hull_value([[1.0], [1.0]]))


def test_the_hull_is_never_below_the_set() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        cost = rng.integers(0, 4, (2, 2)).astype(float)
        models = tuple(MDP(rng.dirichlet([1.0, 1.0], (2, 2)), cost, 0.5) for _ in range(2))
        assert min(FiniteKernels(models).gap([[0.5, 0.5], [0.25, 0.75]])) >= 0


def test_bad_sets_are_refused() -> None:
    mdp = MDP([[[1.0]]], [[1.0]], 0.5)
    with pytest.raises(ValueError, match="at least one model"):
        FiniteKernels(())
    with pytest.raises(ValueError, match=r"models\[1\] must have the costs"):
        FiniteKernels((mdp, MDP([[[1.0]]], [[2.0]], 0.5)))
    large = MDP(np.full((9, 2, 9), 1 / 9), np.zeros((9, 2)), 0.5)
    with pytest.raises(ValueError, match="at most 100000 combinations"):
        FiniteKernels((large, large)).hull_value(np.full((9, 2), 0.5))
