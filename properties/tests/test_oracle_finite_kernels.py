"""Finite sets of kernels: enumeration, the failure of the Bellman equation, and refusals."""

import numpy as np
import pytest

from oracles.planning import finite_kernels
from oracles.planning.finite_kernels import gap, hull_value, policy_value
from properties.laws.rounding import elimination_residual, operations_bound
from robust_core import MDP, FiniteKernels

COST = [[0.0], [1.0], [4.0]]
PAIR = FiniteKernels(
    tuple(MDP([[[0.0, 1.0, 0.0]], [rows], [[0.0, 0.0, 1.0]]], COST, 0.5) for rows in ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
)


def test_one_kernel_for_the_run_and_one_row_for_the_state_agree_where_one_state_is_uncertain() -> None:
    """Rectangular: the kernels differ in one row alone."""
    assert not any(gap(PAIR, [[1.0]] * 3))


def test_the_bellman_equation_is_too_large_where_two_states_disagree() -> None:
    """Either both states move on or both stay: no kernel is worst for both, and the hull has one that is."""
    models = tuple(MDP([[[1 - x, x]], [[x, 1 - x]]], [[0.0], [1.0]], 0.5) for x in (0.0, 1.0))
    found = FiniteKernels(models)
    assert gap(found, [[1.0], [1.0]])[0] > 0
    assert max(policy_value(found, [[1.0], [1.0]])) == max(hull_value(found, [[1.0], [1.0]]))


def test_the_hull_is_never_below_the_set() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        cost = rng.integers(0, 4, (2, 2)).astype(float)
        models = tuple(MDP(rng.dirichlet([1.0, 1.0], (2, 2)), cost, 0.5) for _ in range(2))
        assert min(gap(FiniteKernels(models), [[0.5, 0.5], [0.25, 0.75]])) >= 0


def test_the_core_agrees_with_rationals() -> None:
    """Values of policies by elimination in floats, and the best policy among all that are deterministic."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        cost = rng.integers(-4, 5, (3, 2)).astype(float)
        models = FiniteKernels(tuple(MDP(rng.dirichlet(np.ones(3), (3, 2)), cost, 0.5) for _ in range(3)))
        pi = rng.dirichlet(np.ones(2), 3)
        values = models.policy_values(pi)
        # |V| <= 8. The residual of an elimination whose rows were summed goes through an inverse of norm 1/(1 − gamma).
        allowed = 2.0 * (elimination_residual(3, 1.5, 3 * 8.0) + operations_bound(8, 3 * 8.0))
        exact = policy_value(models, pi)
        assert all(abs(float(x) - v) <= allowed for x, v in zip(exact, values, strict=True))
        best = models.best_policy([1.0, 0.0, 0.0])
        assert abs(float(policy_value(models, best)[0]) - float(finite_kernels.best_value(models, 0))) <= allowed


def test_bad_sets_are_refused() -> None:
    mdp = MDP([[[1.0]]], [[1.0]], 0.5)
    with pytest.raises(ValueError, match="at least one model"):
        FiniteKernels(())
    with pytest.raises(ValueError, match=r"models\[1\] must have the costs"):
        FiniteKernels((mdp, MDP([[[1.0]]], [[2.0]], 0.5)))
    large = MDP(np.full((9, 2, 9), 1 / 9), np.zeros((9, 2)), 0.5)
    with pytest.raises(ValueError, match="at most 100000 combinations"):
        hull_value(FiniteKernels((large, large)), np.full((9, 2), 0.5))
    with pytest.raises(ValueError, match=r"at most 100000 deterministic policies, got 2\^20"):
        FiniteKernels((MDP(np.full((20, 2, 20), 1 / 20), np.zeros((20, 2)), 0.5),)).best_policy(np.eye(20)[0])
    with pytest.raises(ValueError, match="start"):
        FiniteKernels((mdp,)).best_policy([0.5])
