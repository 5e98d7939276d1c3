"""Models by name: random Garnet problems and small classics.

All probabilities and costs are dyadic (multiples of 2^-20), so the floats are the exact rationals they look like.
"""

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP, SparseRows
from robust_core.streams import key, numpy_generator
from robust_core.validate import Floats, Ints

GRID = 1 << 20


def garnet(n_states: int, n_actions: int, branching: int, *, gamma: float, seed: bytes | None = None) -> MDP:
    """A random sparse model: every pair has `branching` distinct successors, cuts of [0,1] as weights, costs in [0,1).

    Archibald, McKinnon and Thomas, "On the generation of Markov decision processes" (1995).

    >>> garnet(5, 2, 3, gamma=0.9)
    MDP(S=5, A=2, gamma=0.9, sparse, hash=5e506fb2)
    """
    S = validate.count("n_states", n_states, least=1)
    A = validate.count("n_actions", n_actions, least=1)
    K = validate.count("branching", branching, least=1)
    if K > S:
        raise ValueError(f"branching must be at most n_states = {S}, got {K}")
    rng = numpy_generator(key("garnet", S, A, K) if seed is None else seed)
    successors = _distinct(rng, S * A, S, K)
    # Distinct interior cuts of the grid 0 … 2^20 give positive weights that sum to one exactly.
    cuts = np.sort(_distinct(rng, S * A, GRID - 1, K - 1) + 1, axis=1)
    ends = np.broadcast_to([0], (S * A, 1)), np.broadcast_to([GRID], (S * A, 1))
    weights = np.diff(np.concatenate((ends[0], cuts, ends[1]), axis=1), axis=1) / GRID
    cost = np.floor(rng.random((S, A)) * GRID) / GRID
    rows = SparseRows(np.arange(S * A + 1) * K, successors.ravel(), weights.ravel())
    return MDP(rows, cost, gamma)


def _distinct(rng: np.random.Generator, n_rows: int, n: int, k: int) -> Ints:
    """k distinct numbers below n in every row (Floyd's algorithm, all rows at once)."""
    chosen = np.full((n_rows, k), -1, dtype=np.int64)
    for place, top in enumerate(range(n - k, n)):
        candidate = np.floor(rng.random(n_rows) * (top + 1)).astype(np.int64)
        taken = (chosen == candidate[:, None]).any(axis=1)
        chosen[:, place] = np.where(taken, top, candidate)
    return chosen


def single_state(*, gamma: float = 0.5) -> MDP:
    """One state, two actions of cost 1 and 2: every set is a singleton, V* = 1/(1−gamma)."""
    return MDP(np.ones((1, 2, 1)), [[1.0, 2.0]], gamma)


def two_states(*, gamma: float = 0.5) -> MDP:
    """Stay cheaply in a good state or fall into a bad one; the bad one can be left at a price."""
    P = [[[0.75, 0.25], [0.25, 0.75]], [[0.0, 1.0], [0.5, 0.5]]]
    return MDP(P, [[0.0, 0.25], [1.0, 1.5]], gamma)


def ring(n_states: int, *, gamma: float = 0.5) -> MDP:
    """A deterministic cycle: periodic, one action, cost 1 in state 0 only."""
    S = validate.count("n_states", n_states, least=1)
    P = np.zeros((S, 1, S))
    P[np.arange(S), 0, (np.arange(S) + 1) % S] = 1.0
    cost = np.zeros((S, 1))
    cost[0] = 1.0
    return MDP(P, cost, gamma)


def river_swim(n_states: int = 6, *, gamma: float = 0.9) -> MDP:
    """Swim against a current (Strehl and Littman, 2008), as costs: 1 everywhere but at the far end."""
    S = validate.count("n_states", n_states, least=2)
    P = np.zeros((S, 2, S))
    cost = np.ones((S, 2))
    for s in range(S):
        P[s, 0, max(s - 1, 0)] = 1.0
        P[s, 1, min(s + 1, S - 1)] += 0.375
        P[s, 1, s] += 0.5625
        P[s, 1, max(s - 1, 0)] += 0.0625
    cost[S - 1, 1] = 0.0
    cost[0, 0] = 0.9921875
    return MDP(P, cost, gamma, action_names=("drift", "swim"))


def machine_replacement(n_states: int = 5, *, gamma: float = 0.9375) -> MDP:
    """A machine wears out; running it costs more the worse it is, replacing it costs 1 and starts anew."""
    S = validate.count("n_states", n_states, least=2)
    P = np.zeros((S, 2, S))
    for s in range(S):
        P[s, 0, s] += 0.25
        P[s, 0, min(s + 1, S - 1)] += 0.75
        P[s, 1, 0] = 1.0
    running: Floats = np.floor(np.arange(S) / S * 16) / 16
    return MDP(P, np.stack((running, np.ones(S)), axis=1), gamma, action_names=("run", "replace"))
