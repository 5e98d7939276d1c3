"""The instances from their rules; rewards become costs here.

Taxi and FrozenLake are those of Gymnasium, whose tables a test compares. The others exist in several versions; each
docstring states the one that is built. Successors without nominal mass cost 0, as in the published code: an outcome
table has no reward for them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from robust_core.kernels.s_rectangular import Outcomes

Outcome = tuple[float, int, float, bool]
"""Probability, successor, reward, and whether the episode ends."""
TAXI_MAP = ("|R: | : :G|", "| : | : : |", "| : : : : |", "| | : | : |", "|Y| : |B: |")
TAXI_PLACES = ((0, 0), (0, 4), (4, 0), (4, 3))
LAKE = ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG")


@dataclass(frozen=True)
class Instance:
    """A model, the outcomes (s, a, s') whose table says that the episode ends, and what is published about it.

    `published` gives, by budget, the sweeps of plain value iteration from 0 until no value changes by more than
    `residual`, for the L1 ball that may leave the support.
    """

    name: str
    outcomes: Outcomes
    ends: tuple[tuple[int, int, int], ...]
    residual: float = 1e-4
    published: dict[float, int] = field(default_factory=dict)


def _instance(
    name: str, S: int, A: int, table: Callable[[int, int], Iterable[Outcome]], gamma: float, **given: object
) -> Instance:
    """An instance from its outcomes; those with one successor are one outcome at their mean reward."""
    offsets, successors, probabilities, costs = [0], [], [], []
    ends: list[tuple[int, int, int]] = []
    for s, a in np.ndindex(S, A):
        mass: dict[int, float] = {}
        total: dict[int, float] = {}
        for p, j, reward, end in table(s, a):
            if p > 0.0:
                mass[j] = mass.get(j, 0.0) + p
                total[j] = total.get(j, 0.0) + p * reward
            if p > 0.0 and end and (s, a, j) not in ends:
                ends.append((s, a, j))
        for j in sorted(mass):
            successors.append(j)
            probabilities.append(mass[j])
            costs.append(-total[j] / mass[j] + 0.0)
        offsets.append(len(successors))
    outcomes = Outcomes(
        np.array(offsets), np.array(successors), np.array(probabilities), np.array(costs), np.zeros(S * A), gamma, S, A
    )
    return Instance(name, outcomes, tuple(ends), **given)  # type: ignore[arg-type]


def taxi(*, gamma: float = 0.99) -> Instance:
    """Dietterich's taxi: 500 states, deterministic; the table goes on after a passenger has arrived."""

    def table(s: int, a: int) -> Iterable[Outcome]:
        (place, target), (cell, passenger) = divmod(s, 4), divmod(s // 4, 5)
        row, column = divmod(cell, 5)
        del place
        reward, end, here = -1.0, False, (row, column)
        if a == 0:
            row = min(row + 1, 4)
        elif a == 1:
            row = max(row - 1, 0)
        elif a == 2:
            column += TAXI_MAP[row][2 * column + 2] == ":"
        elif a == 3:
            column -= TAXI_MAP[row][2 * column] == ":"
        elif a == 4:
            if passenger < 4 and here == TAXI_PLACES[passenger]:
                passenger = 4
            else:
                reward = -10.0
        elif here == TAXI_PLACES[target] and passenger == 4:
            passenger, reward, end = target, 20.0, True
        elif here in TAXI_PLACES and passenger == 4:
            passenger = TAXI_PLACES.index(here)
        else:
            reward = -10.0
        yield 1.0, ((row * 5 + column) * 5 + passenger) * 4 + target, reward, end

    return _instance("Taxi", 500, 6, table, gamma, published={0.05: 1093, 0.10: 1042, 0.20: 914})


def frozen_lake(*, gamma: float = 0.99) -> Instance:
    """FrozenLake 8×8, slippery: a third each for the direction and its neighbours; holes and the goal are for ever."""

    def moved(s: int, direction: int) -> int:
        row, column = divmod(s, 8)
        row += (direction == 1) - (direction == 3)
        column += (direction == 2) - (direction == 0)
        return min(max(row, 0), 7) * 8 + min(max(column, 0), 7)

    def table(s: int, a: int) -> Iterable[Outcome]:
        if LAKE[s // 8][s % 8] in "GH":
            yield 1.0, s, 0.0, True
            return
        for direction in (a - 1, a, a + 1):
            j = moved(s, direction % 4)
            cell = LAKE[j // 8][j % 8]
            yield 1.0 / 3.0, j, float(cell == "G"), cell in "GH"

    return _instance("FrozenLake 8x8", 64, 4, table, gamma)


def _draws() -> list[tuple[float, int]]:
    """A card of an infinite deck: ace (1) to nine, and ten with probability 4/13."""
    return [(1.0 / 13.0, card) for card in range(1, 10)] + [(4.0 / 13.0, 10)]


def _add(total: int, ace: bool, card: int) -> tuple[int, bool]:
    """A hand after a card: an ace counts 11 where that is at most 21."""
    if card == 1 and total + 11 <= 21:
        total, ace = total + 11, True
    else:
        total += card
    return (total - 10, False) if total > 21 and ace else (total, ace)


def _dealer(total: int, ace: bool, mass: float, final: dict[int, float]) -> None:
    if total >= 17:
        final[total] = final.get(total, 0.0) + mass
        return
    for p, card in _draws():
        _dealer(*_add(total, ace, card), mass * p, final)


def blackjack(*, gamma: float = 0.99) -> Instance:
    """Sutton and Barto's Blackjack: hand 4 to 21, the dealer's card, a usable ace; the dealer stands on 17.

    No bonus for a natural. The last state is the end, with reward 0 for ever.
    """
    hands = [(total, card, ace) for total in range(4, 22) for card in range(1, 11) for ace in (False, True)]
    number, last = {hand: s for s, hand in enumerate(hands)}, len(hands)
    finals: dict[int, dict[int, float]] = {}
    for shown in range(1, 11):
        finals[shown] = {}
        _dealer(*_add(0, False, shown), 1.0, finals[shown])

    def table(s: int, a: int) -> Iterable[Outcome]:
        if s == last:
            yield 1.0, last, 0.0, True
            return
        total, shown, ace = hands[s]
        if a == 0:  # stick
            for final, p in finals[shown].items():
                yield p, last, 1.0 if final > 21 or final < total else float(-(final > total)), True
            return
        for p, card in _draws():
            after, usable = _add(total, ace, card)
            if after > 21:
                yield p, last, -1.0, True
            else:
                yield p, number[after, shown, usable], 0.0, False

    return _instance("Blackjack", last + 1, 2, table, gamma)


def river_swim(*, gamma: float = 0.99) -> Instance:
    """RiverSwim (Strehl and Littman 2008) with six states: 5 at the left end, 10,000 at the right end.

    Swimming right: from the left end .7 stays and .3 moves; in the middle .1 back, .6 stays, .3 moves; at the right end
    .7 back and .3 stays.
    """

    def table(s: int, a: int) -> Iterable[Outcome]:
        if a == 0:
            yield 1.0, max(s - 1, 0), 5.0 if s == 0 else 0.0, False
        elif s == 0:
            yield from ((0.7, 0, 0.0, False), (0.3, 1, 0.0, False))
        elif s == 5:
            yield from ((0.7, 4, 0.0, False), (0.3, 5, 10_000.0, False))
        else:
            yield from ((0.1, s - 1, 0.0, False), (0.6, s, 0.0, False), (0.3, s + 1, 0.0, False))

    return _instance("RiverSwim", 6, 2, table, gamma)


def inventory(*, gamma: float = 0.99, capacity: int = 20) -> Instance:
    """Stock of up to 20; orders of up to 5 cost 2 each and 3 at all, a sale brings 4, stock costs .1; demand is 0 to 6,

    uniform, and what is not in stock is lost.
    """

    def table(s: int, a: int) -> Iterable[Outcome]:
        ordered = min(a, capacity - s)
        for demand in range(7):
            sold = min(demand, s + ordered)
            reward = 4.0 * sold - 2.0 * ordered - 3.0 * (ordered > 0) - 0.1 * (s + ordered)
            yield 1.0 / 7.0, s + ordered - sold, reward, False

    return _instance("inventory", capacity + 1, 6, table, gamma)


def machine_replacement(*, gamma: float = 0.99) -> Instance:
    """Machine replacement (after Delage and Mannor 2010): eight ages and two states of repair; a repair costs 2.

    Running: .8 to the next age, .2 stays, and the last age costs 20 a step. Repair: .6 to the long repair and .4 to the
    short one, which ends in a new machine; the long one lasts with probability .4 and costs 10 a step.
    """

    def table(s: int, a: int) -> Iterable[Outcome]:
        if s == 8:  # long repair
            yield from ((0.6, 0, -10.0, False), (0.4, 8, -10.0, False))
        elif s == 9:
            yield 1.0, 0, -2.0, False
        elif a == 1:
            yield from ((0.6, 8, -2.0, False), (0.4, 9, -2.0, False))
        elif s == 7:
            yield 1.0, 7, -20.0, False
        else:
            yield from ((0.8, s + 1, 0.0, False), (0.2, s, 0.0, False))

    return _instance("machine replacement", 10, 2, table, gamma)


INSTANCES: dict[str, Callable[[], Instance]] = {
    "taxi": taxi,
    "frozen-lake": frozen_lake,
    "blackjack": blackjack,
    "riverswim": river_swim,
    "inventory": inventory,
    "machine": machine_replacement,
}
