"""Models that are hard to solve: small, but a planner that stops too early, or takes too much for equal, is wrong.

Each is a model for one way to stop. A *ring* mixes nothing, so every digit takes all its sweeps. In a *late* model the
better action shows after many sweeps alone. In a *relay* each improvement of a policy makes the next one possible; in a
*robust relay* these improvements lead from the nominal policy to the robust one. In *small gains* an action is better
by a small part of the largest cost.
"""

from collections.abc import Sequence

import numpy as np

from robust_core.mdp import MDP

SHARES = (0.75, 1.0 - 2.0**-11)
"""Of the cost of paying for ever, what the better action costs at once: it shows after 1.4 and after 7.6 horizons."""
GAINS = (2.0**-7, 2.0**-14, 2.0**-17)
RUNS = 3
"""States of a relay of small costs."""


def ring(states: int, gamma: float) -> MDP:
    """One after the other for ever, one of them at a cost."""
    P = np.roll(np.eye(states), 1, axis=1)[:, None, :]
    return MDP(P, np.eye(states)[:, :1], gamma)


def late(chain: int, gamma: float, share: float = SHARES[0]) -> MDP:
    """Behind a chain: pay 1 a step for ever, or a share of all that at once.

    From 0, the second is better after log(1/(1−share))/(1−gamma) sweeps; until then the first looks better in each.
    """
    S = chain + 2
    P, cost = np.zeros((S, 2, S)), np.zeros((S, 2))
    P[np.arange(chain), :, np.arange(1, chain + 1)] = 1.0
    P[chain, 0, chain] = P[chain, 1, chain + 1] = 1.0
    P[chain + 1, :, chain + 1] = 1.0
    cost[chain] = 1.0, share / (1.0 - gamma)
    return MDP(P, cost, gamma)


def relay(length: int = 10, gamma: float = 0.9) -> MDP:
    """Stay at a cost of 1, or go on towards a free state at a cost of 3/2.

    A stay costs 1/(1−gamma) in all, more than going on k <= 10 times, 3/2 (1−gamma^k)/(1−gamma), and less than going
    on once and staying there. So if all stay, going on is better in the last state alone, and every improvement of the
    policy makes it better in one state more.
    """
    S = length + 1
    P, cost = np.zeros((S, 2, S)), np.zeros((S, 2))
    P[np.arange(S), 0, np.arange(S)] = 1.0
    P[np.arange(length), 1, np.arange(1, S)] = 1.0
    P[length, 1, length] = 1.0
    cost[:length] = 1.0, 1.5
    return MDP(P, cost, gamma)


def robust_relay(radius: float, gamma: float = 0.99, length: int = 4) -> MDP:
    """A relay whose end has a remote risk: at discount b = gamma(1−radius) going on is better, at gamma it is not.

    Contamination and total variation change the discount of rows that are certain from gamma to b. The end is left with
    probability q for a state of cost B, and B is such that the end costs 1/2 at discount b. At gamma it then costs more
    than to stay for ever, 1/(1−gamma), for radius >= 1/4 (404 against 100 at 1/4). A step costs g > 1, so at discount b
    an improvement makes going on better in one state more: if the next state stays, a step is dearer than to stay,
    g + b/(1−b) > 1/(1−b). With x = b^k >= y = b^length, going on for k <= length steps costs less than to stay:
    g(1−x)/(1−b) + x/2 < 1/(1−b), since g = 1/(1−y/2) and y/2 + (1−b)(x/2)(1−y/2) < x.
    So a planner that improves the nominal policy a few times only is wrong.
    """
    S, b, q = length + 2, gamma * (1.0 - radius), 2.0**-10
    end, bad = length, length + 1
    P, cost = np.zeros((S, 2, S)), np.zeros((S, 2))
    P[np.arange(S), :, np.arange(S)] = 1.0
    P[np.arange(length), 1] = np.eye(S)[1 : length + 1]
    P[end] = (1.0 - q) * np.eye(S)[end] + q * np.eye(S)[bad]
    cost[:length] = 1.0, 1.0 / (1.0 - b**length / 2.0)
    cost[bad] = (1.0 - b) * (1.0 - b * (1.0 - q)) / (2.0 * b * q)
    return MDP(P, cost, gamma)


def small_gains(gamma: float = 0.9) -> MDP:
    """For each gain a relay whose costs are so small, all to the same free state; the last state costs 1 for ever."""
    S = RUNS * len(GAINS) + 2
    P, cost = np.zeros((S, 2, S)), np.zeros((S, 2))
    P[np.arange(S), :, np.arange(S)] = 1.0
    for number, gain in enumerate(GAINS):
        states = np.arange(number * RUNS, (number + 1) * RUNS)
        P[states, 1] = np.eye(S)[[*states[1:], S - 2]]
        cost[states] = gain, 1.5 * gain
    cost[S - 1] = 1.0
    return MDP(P, cost, gamma)


def hard_models(gammas: Sequence[float] | None = None) -> list[MDP]:
    """The models, the quickest first: a planner in plain Python needs a few seconds for the last ones, not more.

    With `gammas`, those that can be built with the largest of them; a relay needs the horizon that it has.
    """
    if gammas is not None:
        gamma = max(gammas)
        built = [small_gains(gamma), late(0, gamma), late(0, gamma, SHARES[1]), late(12, gamma), ring(9, gamma)]
        return [*([relay()] if 0.9 in gammas else []), *built]
    return [
        relay(),
        small_gains(),
        late(0, 0.99),
        late(0, 0.99, SHARES[1]),
        late(12, 0.99),
        ring(9, 0.99),
        late(0, 1.0 - 2.0**-10),
        ring(2, 1.0 - 2.0**-10),
    ]
