"""Models that are hard to solve: small, but a planner that stops too early, or takes too much for equal, is wrong.

Each is a model for one way to stop. A *ring* mixes nothing, so every digit takes all its sweeps. In a *late* model the
better action shows after many sweeps alone. In a *relay* each improvement of a policy makes the next one possible; in a
*robust relay* these improvements lead from the nominal policy to the robust one. On *ladders* every state changes its
action many times, and in a *relay of nature* the worst rows change as many times as there are runners. In *small gains*
an action is better by a small part of the largest cost. In an *overtaken* model another state becomes the worst late.
*Twins* are states that differ by little more than the accuracy that is asked for.
"""

from collections.abc import Sequence

import numpy as np

from robust_core.mdp import MDP

SHARES = (0.75, 1.0 - 2.0**-11)
"""Of the cost of paying for ever, what the better action costs at once: it shows after 1.4 and after 7.6 horizons."""
GAINS = (2.0**-7, 2.0**-14, 2.0**-17)
FALL = 15.0 / 32.0
"""The probability of leaving a ladder falls by this factor from one action to the next."""
DEEP, STEP = 24, 1.0 + 2.0**-4
"""A relay of more improvements than a planner may allow itself, and the cost of a step at which it is one: 0.9^24 is
more than 1/17.
"""
RUNS = 3
"""States of a relay of small costs."""


def ring(states: int, gamma: float) -> MDP:
    """One after the other for ever, one of them at a cost."""
    P = np.roll(np.eye(states), 1, axis=1)[:, None, :]
    return MDP(P, np.eye(states)[:, :1], gamma)


def late(chain: int, gamma: float, share: float = SHARES[0], after: float = 0.0) -> MDP:
    """Behind a chain: pay 1 a step for ever, or a share of all that at once and `after` for ever.

    From 0, the second is better after log(1/(1−share))/(1−gamma) sweeps, if nothing is paid after it; until then the
    first looks better in each. With an `after` below 0 the first looks better by more than the error of one value.
    """
    S = chain + 2
    P, cost = np.zeros((S, 2, S)), np.zeros((S, 2))
    P[np.arange(chain), :, np.arange(1, chain + 1)] = 1.0
    P[chain, 0, chain] = P[chain, 1, chain + 1] = 1.0
    P[chain + 1, :, chain + 1] = 1.0
    cost[chain] = 1.0, share / (1.0 - gamma)
    cost[chain + 1] = after
    return MDP(P, cost, gamma)


def overtaken(sweeps: int, radius: float, gamma: float) -> MDP:
    """A state that pays 1 once, one that pays a little for ever, and a free one.

    At discount b = gamma(1−radius) the second has paid less than 1 after this number of sweeps, and more after the
    next one: only then is it the worst state for nature.
    """
    b = gamma * (1.0 - radius)
    P = np.eye(3)[[[2], [1], [2]]]
    return MDP(P, np.array([[1.0], [(1.0 - b) / (1.0 - b ** (sweeps + 0.5))], [0.0]]), gamma)


def relay(length: int = 10, gamma: float = 0.9, step: float = 1.5) -> MDP:
    """Stay at a cost of 1, or go on towards a free state at a cost of `step`.

    A stay costs 1/(1−gamma) in all, more than going on k <= length times, step (1−gamma^k)/(1−gamma), if
    gamma^length > 1 − 1/step; and less than going on once and staying there, for step > 1. So if all stay, going on is
    better in the last state alone, and every improvement of the policy makes it better in one state more.
    """
    S = length + 1
    P, cost = np.zeros((S, 2, S)), np.zeros((S, 2))
    P[np.arange(S), 0, np.arange(S)] = 1.0
    P[np.arange(length), 1, np.arange(1, S)] = 1.0
    P[length, 1, length] = 1.0
    cost[:length] = 1.0, step
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


def shelters(gamma: float = 0.99) -> MDP:
    """A toll leads to a state that costs nothing and is never left, and no toll to one that need not be left.

    Nature makes both equally bad, so the toll is lost. A planner that takes what costs nothing for ever for an end, of
    value 0, pays it as soon as nature can move mass from there to the last state.
    """
    P, cost = np.zeros((4, 2, 4)), np.zeros((4, 2))
    P[0, 0, 1] = P[0, 1, 2] = P[2, 1, 3] = 1.0
    P[1, :, 1] = P[2, 0, 2] = P[3, :, 3] = 1.0
    cost[0, 0], cost[3] = 0.25, 1.0
    return MDP(P, cost, gamma)


def ladders(gamma: float = 0.99, copies: int = 4) -> MDP:
    """States that change their action once for every power of FALL that is at least 1−gamma, and once before.

    In such a state, action k+1 leaves for a free end with probability 1 − gamma p = FALL^k, so if it is kept for ever
    the value is V_k = cost/FALL^k. Let m be the number of these actions and V_k = m − k. At V_k the value of action
    j+1 is V_k less FALL^j (j − k), for j > k largest at j = k+1, since n·FALL^(n−1) < 1 for n >= 2: an improvement
    leads from one action to the next one alone. The first action has the lowest cost and leads to a state that costs
    more than all this. So the states need (m + 1)·copies changes together, for 1−gamma = 0.01 seven for each copy.
    """
    rates = [1.0]
    while rates[-1] * FALL >= 1.0 - gamma:
        rates.append(rates[-1] * FALL)
    m, S = len(rates), copies + 2
    end, bad = copies, copies + 1
    P, cost = np.zeros((S, m + 1, S)), np.zeros((S, m + 1))
    P[np.arange(S), :, np.arange(S)] = 1.0
    cost[bad] = 2.0 * (m + 1) * (1.0 - gamma)
    for s in range(copies):
        stay = (1.0 - np.array(rates)) / gamma
        P[s] = np.eye(S)[bad]
        P[s, 1:] = np.outer(stay, np.eye(S)[s]) + np.outer(1.0 - stay, np.eye(S)[end])
        cost[s, 1:] = np.array(rates) * (m - np.arange(m))
    return MDP(P, cost, gamma)


def nature_relay(radius: float, gamma: float = 0.99, runners: int = 8) -> MDP:
    """A chain for nature, which has total variation `radius` <= 1/2: its worst rows change once for every runner.

    States: the top, which costs 1 for ever (value M = 1/(1−gamma)), a first state of value M/2 + J, a stand of value
    M/2, and the runners. A runner's row is `radius` on the one before it, `radius` on the stand and the rest on the
    top, so nature moves the lower one of the two to the top: the value is
    cost + gamma ((1−radius) M + radius max(one before, stand)). Costs are such that with the stand it is M/2 − e, below
    the stand. With a runner before that is h above the stand it is gamma·radius·h − e above it. So a runner is worth
    more than the stand after the one before is, and nature's rows for a table in which all runners are low are right
    for the first one alone; J and e are such that the last one is worth e more than the stand. The last state chooses
    between the last runner and the stand: the second is better, unless the worst rows are not yet the right ones.
    """
    M, R = 1.0 / (1.0 - gamma), radius
    S, gain = runners + 4, gamma * radius
    rise = M / 4.0
    # h_0 = J, h_k = gain h_{k−1} − e: with e = J gain^n / (1 + Σ gain^i, i < n) the last one is h_n = e.
    e = rise * gain**runners / (1.0 + sum(gain**i for i in range(runners)))
    top, first, stand = range(3)
    values = np.array([M, M / 2.0 + rise, M / 2.0])
    P, cost = np.zeros((S, 2, S)), np.zeros((S, 2))
    P[np.arange(3), :, np.arange(3)] = 1.0
    cost[:3] = (values - gamma * ((1.0 - R) * values + R * M))[:, None]
    P[S - 1] = np.eye(S)[[S - 2, stand]]
    for s in range(3, S - 1):
        P[s, :, top] = 1.0 - 2.0 * R
        P[s, :, stand] += R
        P[s, :, s - 1 if s > 3 else first] += R
        cost[s] = M / 2.0 - e - gamma * ((1.0 - R) * M + R * M / 2.0)
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


def twins(gap: float, gamma: float = 0.9) -> MDP:
    """States that cost about 1 for ever, and a free one, the last.

    The second and the third differ by the gap in their row, and so does the fourth in what its better action costs; the
    fifth costs at once what makes as much. The first goes to the second or to the fourth.
    """
    S = 6
    P, cost = np.zeros((S, 2, S)), np.ones((S, 2))
    P[np.arange(S), :, [1, 1, 1, 3, 1, 5]] = 1.0
    P[0, 1] = np.eye(S)[3]
    P[2] = (1.0 - gap) * np.eye(S)[1] + gap * np.eye(S)[5]
    cost[3, 1] = 1.0 - gap
    cost[4] = 1.0 - min(gap / (1.0 - gamma), 0.5)
    cost[5] = 0.0
    return MDP(P, cost, gamma)


def hard_models(gammas: Sequence[float] | None = None) -> list[MDP]:
    """The models, the quickest first: a planner in plain Python needs a few seconds for the last ones, not more.

    With `gammas`, those that can be built with the largest of them; a relay needs the horizon that it has.
    """
    if gammas is not None:
        gamma = max(gammas)
        built = [small_gains(gamma), late(0, gamma), late(0, gamma, SHARES[1]), late(12, gamma), ring(9, gamma)]
        built = [*built, *([ladders(gamma)] if gamma > 0.0 else [])]
        return [*([relay(), relay(DEEP, step=STEP)] if 0.9 in gammas else []), *built]
    return [
        relay(),
        relay(DEEP, step=STEP),
        small_gains(),
        late(0, 0.99),
        late(0, 0.99, SHARES[1]),
        late(0, 0.99, 1.5, after=-1.0),
        late(12, 0.99),
        ladders(),
        ring(9, 0.99),
        late(0, 1.0 - 2.0**-10),
        ring(2, 1.0 - 2.0**-10),
    ]
