"""What learners are fed that are not driven by one walk over a table: batches, walks without an end, draws."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from robust_core.mdp import MDP
from robust_core.streams import key, numpy_generator
from robust_core.trajectory import Recording, Transition, Walk
from robust_core.validate import Floats, Ints


class CountingSimulator:
    """Draws of a model, counted."""

    def __init__(self, mdp: MDP, seed: bytes) -> None:
        self._mdp, self._rng, self.used = mdp, numpy_generator(key("simulator", seed)), 0

    def draw(self, s: int, a: int, n: int) -> Any:
        """An array of n independent successors of a pair."""
        self.used += int(n)
        return self._rng.choice(self._mdp.n_states, size=int(n), p=self._mdp.P[s, a])

    def cost(self, s: int, a: int) -> float:
        """The cost of a pair."""
        return float(self._mdp.cost[s, a])


def batches(mdp: MDP, policy: Floats, size: int, seed: bytes) -> Iterator[tuple[Transition, ...]]:
    """Batches of independent transitions: a state with equal probabilities, an action of the policy."""
    rng = numpy_generator(key("batches", seed))
    actions, successors = np.cumsum(policy, axis=1), np.cumsum(mdp.P, axis=2)
    while True:
        drawn = rng.random((2**8 * size, 4))
        s = _chosen(np.arange(1, mdp.n_states + 1) / mdp.n_states, drawn[:, 0])
        a = _chosen(actions[s], drawn[:, 1])
        s_next = _chosen(successors[s, a], drawn[:, 2])
        a_next = _chosen(actions[s_next], drawn[:, 3])
        columns = (s, a, mdp.cost[s, a], s_next, a_next, np.zeros(len(s), dtype=bool))
        steps = list(Recording(*columns))
        yield from (tuple(steps[i : i + size]) for i in range(0, len(steps), size))


def _chosen(cumulated: Floats, u: Floats) -> Ints:
    """The first place whose cumulated probability exceeds u; the last one if rounding leaves none."""
    return np.asarray((cumulated <= u[:, None]).sum(axis=-1).clip(max=cumulated.shape[-1] - 1))


def transitions_of_walk(mdp: MDP, policy: Floats, seed: bytes) -> Iterator[Transition]:
    """The transitions of one walk."""
    walk = Walk(mdp, policy, seed=seed)
    while True:
        yield from walk.record(2**9)
