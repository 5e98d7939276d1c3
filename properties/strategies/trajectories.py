"""Paths of a model under a policy."""

from collections.abc import Collection
from typing import TypeAlias

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from robust_core import validate
from robust_core.mdp import MDP

Transition: TypeAlias = tuple[int, int, float, int, int, bool]


def trajectories(
    mdp: MDP,
    policy: ArrayLike,
    *,
    min_length: int = 0,
    max_length: int = 30,
    starts: Collection[int] | None = None,
    terminals: Collection[int] = (),
) -> st.SearchStrategy[list[Transition]]:
    """Possible paths: lists of (s, a, cost, s_next, a_next, terminal).

    Each step is possible under kernel and policy, but all possible steps are alike: the path is *not*
    distributed as the chain, a step of probability 2^-20 comes as often as its alternative. Hypothesis draws
    positions in the supports, never a seed, so a path shrinks to few steps with the first action and the
    first successor. Each step starts where the last ended (s = s_next, a = a_next), except after a step into
    one of `terminals` (the episodic interpretation): the next one starts anew in one of `starts` (default: all).

    >>> from properties.strategies import minimal
    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    >>> minimal(trajectories(mdp, [[1.0], [1.0]]), lambda path: any(s == 1 for s, *_ in path))
    [(1, 0, 0.0, 1, 0, False)]
    >>> minimal(trajectories(mdp, [[1.0], [1.0]], starts=[0]), lambda path: any(s == 1 for s, *_ in path))
    [(0, 0, 1.0, 1, 0, False), (1, 0, 0.0, 1, 0, False)]
    """
    pi = validate.policy(policy, mdp.n_states, mdp.n_actions)
    validate.count("min_length", min_length)
    validate.count("max_length", max_length, least=min_length)
    first = tuple(range(mdp.n_states)) if starts is None else _states("starts", starts, mdp)
    if not first:
        raise ValueError("starts must name at least one state, got none")
    last = frozenset(_states("terminals", terminals, mdp))
    state, action = st.integers(0, mdp.n_states - 1), st.integers(0, mdp.n_actions - 1)
    steps = st.lists(st.tuples(state, action, state, action), min_size=min_length, max_size=max_length)
    return st.builds(lambda start, drawn: _path(mdp, pi, first, last, start, drawn), st.tuples(state, action), steps)


def _states(name: str, states: Collection[int], mdp: MDP) -> tuple[int, ...]:
    return tuple(validate.index(name, state, mdp.n_states) for state in states)


def _path(
    mdp: MDP,
    pi: np.ndarray,
    starts: tuple[int, ...],
    terminals: frozenset[int],
    start: tuple[int, int],
    steps: list[tuple[int, int, int, int]],
) -> list[Transition]:
    """The path that the drawn positions select: position i of n possibilities is the (i mod n)-th."""
    P = mdp.P

    def pick(weights: np.ndarray, position: int) -> int:
        support = np.flatnonzero(weights)
        return int(support[position % len(support)])

    def begin(positions: tuple[int, int]) -> tuple[int, int]:
        state = starts[positions[0] % len(starts)]
        return state, pick(pi[state], positions[1])

    s, a = begin(start)
    path: list[Transition] = []
    for successor, next_action, *restart in steps:
        s_next = pick(P[s, a], successor)
        a_next = pick(pi[s_next], next_action)
        done = s_next in terminals
        path.append((s, a, float(mdp.cost[s, a]), s_next, a_next, done))
        s, a = begin((restart[0], restart[1])) if done else (s_next, a_next)
    return path
