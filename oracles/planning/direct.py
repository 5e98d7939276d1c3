"""The value of a policy in an ordinary MDP by a direct linear solve, dense or sparse as the model is."""

from typing import Any

import numpy as np

from robust_core.mdp import MDP, SparseRows
from robust_core.validate import Floats


def policy_value(mdp: MDP, policy: Floats, discount: float) -> Floats:
    """The solution of W = c_pi + discount·P_pi W, without a certificate: the caller judges its residual.

    >>> policy_value(MDP([[[1.0]]], [[1.0]], 0.9), np.ones((1, 1)), 0.5)
    array([2.])
    """
    c = (policy * mdp.cost).sum(axis=1)
    n, rows = mdp.n_states, mdp.kernel
    solution: Any
    if isinstance(rows, SparseRows):
        from scipy import sparse
        from scipy.sparse.linalg import splu

        kernel = sparse.csr_array((rows.probabilities, rows.successors, rows.offsets), (policy.size, n))
        pairs = (policy.ravel(), np.arange(policy.size), np.arange(n + 1) * mdp.n_actions)
        average = sparse.csr_array(pairs, (n, policy.size))
        solution = splu((sparse.eye_array(n) - discount * (average @ kernel)).tocsc()).solve(c)
    else:
        from scipy import linalg

        solution = linalg.solve(np.eye(n) - discount * np.einsum("sa,sat->st", policy, rows), c)
    return np.asarray(solution, dtype=np.float64)


def row_means(mdp: MDP, v: Floats) -> Floats:
    """Σ_{s'} p(s'|s,a) v(s') for all (s, a), from the numbers of the model: `MDP.expectation` is under test.

    >>> row_means(MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.9), np.array([2.0, 4.0]))
    array([[3.],
           [4.]])
    """
    rows = mdp.kernel
    if not isinstance(rows, SparseRows):
        return np.asarray(rows @ v)
    pair = np.repeat(np.arange(mdp.cost.size), np.diff(rows.offsets))
    sums = np.bincount(pair, weights=rows.probabilities * v[rows.successors], minlength=mdp.cost.size)
    return np.asarray(sums, dtype=np.float64).reshape(mdp.cost.shape)


def one_hot(Q: Floats) -> Floats:
    """The greedy policy of Q as pi[s, a].

    >>> one_hot(np.array([[2.0, 1.0]]))
    array([[0., 1.]])
    """
    policy = np.zeros_like(Q)
    policy[np.arange(len(Q)), Q.argmin(axis=1)] = 1.0
    return policy


def centre(values: Floats) -> tuple[Floats, float]:
    """(w, k) with w + k equal to `values` up to rounding, and w as small as a constant can make it.

    >>> centre(np.array([1.0, 3.0]))
    (array([-1.,  1.]), 2.0)
    """
    k = float(0.5 * values.min() + 0.5 * values.max())
    return values - k, k
