"""Compiled loops of the experiments: policies over a finite horizon, exactly and by Monte Carlo; RARL's two phases.

Sums run in program order, so the same inputs give the same bits.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robust_core.kernels.jit import compiled
from robust_core.validate import Floats, Ints


@compiled
def horizon_values(
    rows: tuple[Ints, Ints, Floats],
    cost: Floats,
    gamma: float,
    horizon: int,
    policies: Ints,
    p: float,
    worst: Ints,
    terminal: NDArray[np.bool_],
) -> Floats:
    """V_horizon(s) of every policy, where with probability p a step of a non-terminal state ends in `worst`.

    worst[i] < 0 means the state that is worst at that moment, that is the maximum of the values to come.
    """
    offsets, successors, probabilities = rows
    S, A = cost.shape
    result = np.zeros((len(policies), S))
    v = np.zeros(S)
    w = np.zeros(S)
    for i in range(len(policies)):
        v[:] = 0.0
        for _ in range(horizon):
            moved = 0.0
            if p > 0.0:
                moved = v.max() if worst[i] < 0 else v[worst[i]]
            for s in range(S):
                row = s * A + policies[i, s]
                total = 0.0
                for k in range(offsets[row], offsets[row + 1]):
                    total += probabilities[k] * v[successors[k]]
                if p > 0.0 and not terminal[s]:
                    total = (1.0 - p) * total + p * moved
                w[s] = cost[s, policies[i, s]] + gamma * total
            v[:] = w
        result[i] = v
    return result


@compiled
def draw(cumulated: Floats, first: int, last: int, uniform: float) -> int:
    """The place in first … last−1 that a uniform number selects (the last one takes what rounding leaves)."""
    k = first
    while k < last - 1 and uniform >= cumulated[k]:
        k += 1
    return k


@compiled
def rollouts(
    rows: tuple[Ints, Ints, Floats],
    cost: Floats,
    gamma: float,
    horizon: int,
    policies: Ints,
    initial: Floats,
    trajectories: int,
    rng: Any,
) -> Floats:
    """The discounted cost of every trajectory of every policy; `rows` holds cumulated probabilities."""
    offsets, successors, cumulated = rows
    A = cost.shape[1]
    result = np.zeros((len(policies), trajectories))
    for i in range(len(policies)):
        for j in range(trajectories):
            s = draw(initial, 0, len(initial), rng.random())
            weight = 1.0
            for _ in range(horizon):
                a = policies[i, s]
                result[i, j] += weight * cost[s, a]
                weight *= gamma
                row = s * A + a
                s = successors[draw(cumulated, offsets[row], offsets[row + 1], rng.random())]
    return result


@compiled
def _nominal(rows: tuple[Ints, Ints, Floats], row: int, uniform: float) -> int:
    offsets, successors, cumulated = rows
    return int(successors[draw(cumulated, offsets[row], offsets[row + 1], uniform)])


class Duel(NamedTuple):
    """What both phases of RARL share: the model, its ends and starts (`initial` cumulated too), and how one learns."""

    rows: tuple[Ints, Ints, Floats]
    cost: Floats
    terminal: NDArray[np.bool_]
    initial: Floats
    radius: float
    gamma: float
    alpha: float


@compiled
def agent_phase(
    duel: Duel,
    adversary: Ints,
    Q: Floats,
    s: int,
    steps: int,
    rng: Any,
) -> int:
    """Q-learning of the agent, uniform behaviour, against a fixed adversary; returns where the walk is."""
    rows, cost, terminal, initial, radius, gamma, alpha = duel
    A = cost.shape[1]
    for _ in range(steps):
        a = min(int(rng.random() * A), A - 1)
        s_next = _nominal(rows, s * A + a, rng.random())
        if rng.random() < radius:
            s_next = adversary[s]
        following = 0.0 if terminal[s_next] else Q[s_next].min()
        Q[s, a] = (1.0 - alpha) * Q[s, a] + alpha * (cost[s, a] + gamma * following)
        s = draw(initial, 0, len(initial), rng.random()) if terminal[s_next] else s_next
    return s


@compiled
def adversary_phase(
    duel: Duel,
    agent: Ints,
    N: Floats,
    best: Floats,
    s: int,
    steps: int,
    rng: Any,
) -> int:
    """Q-learning of the adversary N[s, target] (it maximises cost), uniform behaviour, against a fixed agent.

    `best` holds the maxima of the rows of N and is kept so: a row is scanned only when its maximum falls.
    """
    rows, cost, terminal, initial, radius, gamma, alpha = duel
    S, A = cost.shape
    for _ in range(steps):
        target = min(int(rng.random() * S), S - 1)
        a = agent[s]
        s_next = _nominal(rows, s * A + a, rng.random())
        if rng.random() < radius:
            s_next = target
        following = 0.0 if terminal[s_next] else best[s_next]
        old = N[s, target]
        N[s, target] = (1.0 - alpha) * old + alpha * (cost[s, a] + gamma * following)
        if N[s, target] >= best[s]:
            best[s] = N[s, target]
        elif old == best[s]:
            best[s] = N[s].max()
        s = draw(initial, 0, len(initial), rng.random()) if terminal[s_next] else s_next
    return s
