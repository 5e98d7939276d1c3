"""The environments of a panel: where it learns, and where its policies are tested."""

from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.interpretations import Interpretation
from benchmarks.experiments.paper import Panel
from robust_core import streams
from robust_core.environments import (
    ANGLE_LIMIT,
    ANGULAR_SPEED_RANGE,
    CART_LIMIT,
    SPEED_RANGE,
    Environment,
    cart_pole,
    frozen_lake,
    perturb,
    taxi,
)
from robust_core.environments import Interpretation as Closure
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.sampler import AliasTable, alias_table
from robust_core.trajectory import Walk
from robust_core.validate import Floats

LAKES = ("frozenlake", "tdc")
LIMITS = np.array([CART_LIMIT, SPEED_RANGE, ANGLE_LIMIT, ANGULAR_SPEED_RANGE])
"""Where the cells of CartPole end."""
START = 0.05
"""Gymnasium starts CartPole with every coordinate drawn from (−START, START)."""


@cache
def environment(panel: Panel, interpretation: Interpretation, closure: Closure) -> Environment:
    """The unperturbed environment of a panel."""
    if panel.figure in LAKES:
        return frozen_lake(slippery=interpretation.slippery, gamma=panel.gamma, interpretation=closure)
    if panel.figure != "cartpole":
        return taxi(gamma=panel.gamma, interpretation=closure)
    made = cart_pole(bins=interpretation.bins, gamma=panel.gamma, interpretation=closure)
    if interpretation.reward == "gym":
        cost = np.where(made.terminal[:, None], 0.0, -np.ones(made.mdp.cost.shape))
        made = replace(made, mdp=MDP(made.mdp.P, cost, panel.gamma))
    return with_start(made, drawn_start(interpretation.bins)) if interpretation.start == "drawn" else made


def drawn_start(bins: tuple[int, ...]) -> Floats:
    """The law of CartPole's first cell when Gymnasium draws the first state (the fallen state is last).

    >>> law = drawn_start((3, 3, 6, 6))
    >>> law[law > 0.0].round(12).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    edges = [np.linspace(-limit, limit, count + 1) for limit, count in zip(LIMITS, bins, strict=True)]
    shares = [np.diff(np.clip(edge, -START, START)) for edge in edges]
    law = np.append(reduce(np.multiply.outer, shares).ravel(), 0.0)
    return np.asarray(law / law.sum())


def with_start(made: Environment, initial: Floats) -> Environment:
    """The environment with another law of the start (and of the reset under the episodic closure)."""
    P = made.mdp.P.copy()
    if made.interpretation == "episodic":
        P[made.terminal] = initial
    return replace(made, mdp=MDP(P, made.mdp.cost, made.mdp.gamma), initial=initial)


def paid_as_it_moves(lake: Environment, p: float) -> tuple[MDP, Floats]:
    """FrozenLake under Gym's loop, as a model and a policy: pair 2a + r is action a when env.step(a) earns r.

    env.step earns 1 where it moves to the goal, with probability q(s,a); then the state it moved to, but not what it
    earned, is replaced by a uniform one with probability p. So pair 2a + 1 has probability q/A and cost −1 and moves
    to the goal but for the jump, and pair 2a has (1−q)/A, costs nothing, and moves to one of the other states.
    """
    P, (S, A) = lake.mdp.P, lake.mdp.cost.shape
    goal = S - 1
    q = np.where(lake.terminal[:, None], 0.0, P[:, :, goal])
    others = P.copy()
    others[~lake.terminal, :, goal] = 0.0
    others[q == 1.0] = P[q == 1.0]  # never drawn, but a row must be a law
    others /= others.sum(axis=-1, keepdims=True)
    moves = np.stack([others, np.broadcast_to(np.eye(S)[goal], P.shape)], axis=2).reshape(S, 2 * A, S)
    moves[lake.terminal] = P[lake.terminal].repeat(2, axis=1)
    cost = np.where(lake.terminal[:, None], 0.0, np.tile([0.0, -1.0], A))
    policy = np.stack([1.0 - q, q], axis=2).reshape(S, 2 * A) / A
    return perturb(replace(lake, mdp=MDP(moves, cost, lake.mdp.gamma)), p).mdp, policy


@dataclass(frozen=True, eq=False)
class PanelEnvironments:
    """`training` (perturbed) and `test` (unperturbed, terminal states absorbing at no cost) of one panel.

    `ends` marks the states whose value is 0 by decree (episodic interpretation); None if there are none.
    """

    panel: Panel
    interpretation: Interpretation
    training: Environment
    test: Environment
    ends: NDArray[np.bool_] | None

    @property
    def pays_as_it_moves(self) -> bool:
        """Whether the walk draws rewards with its moves (see `paid_as_it_moves`)."""
        return self.interpretation.reward == "gym" and self.panel.figure in LAKES

    @cached_property
    def walk_model(self) -> tuple[MDP, Floats]:
        """The model that is walked and the policy that walks it: the training MDP under the uniform policy."""
        if self.pays_as_it_moves:
            return paid_as_it_moves(environment(self.panel, self.interpretation, "episodic"), self.panel.p)
        mdp = self.training.mdp
        return mdp, uniform(mdp.n_states, mdp.n_actions)

    @cached_property
    def table(self) -> AliasTable:
        """The sampler of the walk, shared by all runs."""
        return alias_table(*self.walk_model)

    def walk(self, replicate: int) -> Walk:
        """The walk of a replicate: the same for all learners, radii and interpretations on the same environment."""
        seed = streams.key("panels", self.training.name, replicate)
        start = streams.numpy_generator(streams.key("start", seed)).choice(len(self.test.initial), p=self.test.initial)
        return Walk(*self.walk_model, seed=seed, start=int(start), terminal=self.ends, table=self.table)


def control_environments(panel: Panel, interpretation: Interpretation) -> PanelEnvironments:
    """The environments of a Q-learning panel."""
    closure: Closure = "continuing" if interpretation.terminal == "continuing" else "episodic"
    raw = environment(panel, interpretation, closure)
    ends = raw.terminal if interpretation.terminal == "episodic" else None
    return PanelEnvironments(
        panel, interpretation, perturb(raw, panel.p), environment(panel, interpretation, "continuing"), ends
    )
