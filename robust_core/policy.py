"""Stationary policies pi[s, a]."""

import numpy as np
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.validate import Floats, Ints


def uniform(n_states: int, n_actions: int) -> Floats:
    """The behaviour policy of Section 6: pi(a|s) = 1/A."""
    n_states = validate.count("n_states", n_states, least=1)
    n_actions = validate.count("n_actions", n_actions, least=1)
    return np.full((n_states, n_actions), 1.0 / n_actions)


def deterministic(actions: ArrayLike, n_actions: int) -> Floats:
    """The policy that takes actions[s] in state s.

    >>> deterministic([1, 0], 2)
    array([[0., 1.],
           [1., 0.]])
    """
    n_actions = validate.count("n_actions", n_actions, least=1)
    chosen = validate.whole_numbers("actions", actions)
    if ((chosen < 0) | (chosen >= n_actions)).any():
        raise ValueError(f"actions must lie in 0 … {n_actions - 1}, got {chosen.tolist()}")
    return np.eye(n_actions)[chosen]


def greedy(Q: ArrayLike) -> Ints:
    """argmin_a Q(s,a) for every state; the first of equal actions (costs: the agent minimises)."""
    table = validate.array("Q", Q, shape=("S", "A"))
    return table.argmin(axis=1).astype(np.int64)
