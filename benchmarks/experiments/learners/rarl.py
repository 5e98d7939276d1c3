"""Robust adversarial reinforcement learning (Pinto et al., 2017) as Section 6.3 adapts it.

The adversary's actions are the states. After both have moved, the next state is the adversary's with probability R
and the nominal one otherwise. One iteration: Q-learning of the agent against the adversary's greedy policy, then
Q-learning of the adversary against the agent's greedy policy. Neither table is ever reset. Before it has learned
anything the adversary's greedy policy is its first action; ties are broken in the same way later.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from benchmarks.experiments.evaluation import cumulated_rows
from robust_core import streams
from robust_core.environments import Environment
from robust_core.validate import Floats, Ints

BestResponse = Callable[[Ints], int]


@dataclass(frozen=True)
class Schedule:
    """Steps of the agent and of the adversary in one iteration (the paper prints neither)."""

    iterations: int
    agent_steps: int
    adversary_steps: int


@dataclass(eq=False)
class Rarl:
    """The two tables and the walk; `best_response`, if given, replaces the adversary's learning by its exact answer."""

    environment: Environment
    radius: float
    alpha: float
    seed: bytes
    best_response: BestResponse | None = None
    Q: Floats = field(init=False)
    N: Floats = field(init=False)

    def __post_init__(self) -> None:
        S, A = self.environment.mdp.cost.shape
        self.Q = np.zeros((S, A))
        self.N = np.zeros((S, S if self.best_response is None else 1))
        self._adversary = np.zeros(S, dtype=np.int64)
        self._rng = streams.numpy_generator(streams.key("rarl", self.seed))
        self._rows = cumulated_rows(self.environment.mdp)
        self._initial = np.cumsum(self.environment.initial)
        self._places = [int(np.searchsorted(self._initial, self._rng.random(), side="right")) for _ in range(2)]

    def iterate(self, schedule: Schedule) -> None:
        """One iteration: the agent learns, then the adversary."""
        from benchmarks.experiments.kernels import Duel, adversary_phase, agent_phase

        mdp = self.environment.mdp
        duel = Duel(self._rows, mdp.cost, self.environment.terminal, self._initial, self.radius, mdp.gamma, self.alpha)
        self._places[0] = agent_phase(duel, self._adversary, self.Q, self._places[0], schedule.agent_steps, self._rng)
        agent = self.Q.argmin(axis=1).astype(np.int64)
        if self.best_response is not None:
            self._adversary = np.full(mdp.n_states, self.best_response(agent), dtype=np.int64)
            return
        self._places[1] = adversary_phase(
            duel, agent, self.N, self.N.max(axis=1), self._places[1], schedule.adversary_steps, self._rng
        )
        self._adversary = self.N.argmax(axis=1).astype(np.int64)


def snapshots(learner: Rarl, schedule: Schedule) -> Floats:
    """The agent's tables after every iteration, stacked."""
    result = np.empty((schedule.iterations, *learner.Q.shape))
    for i in range(schedule.iterations):
        learner.iterate(schedule)
        result[i] = learner.Q
    return result
