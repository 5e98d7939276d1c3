"""The problems of the benchmark: small named models, the interpretations of what the paper leaves open, and the truth.

All numbers are dyadic and the truth is computed in exact rationals and rounded once, so model and truth have the same
bits on every machine: runs that start at the truth are hashed, and no library for linear algebra may choose the order
of a sum in them. An interpretation names the step size, and the episodic one also what a terminal state is: its value
is 0 and the walk goes on from a reset.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from oracles.arithmetic import exact
from oracles.planning import rational
from robust_core import Contamination, constant, key, models, per_visit, uniform
from robust_core.learners.schedules import StepSize
from robust_core.mdp import MDP
from robust_core.problem import Problem
from robust_core.sampler import AliasTable, alias_table
from robust_core.trajectory import Walk
from robust_core.validate import Floats

GAMMA, CONSTANT_STEP = 0.75, 0.0625
LAST_MOVE = Fraction(1, 2**80)
"""Exact value iteration stops when no entry moves by more: far below the last bit of what is then rounded."""


@dataclass(frozen=True, eq=False)
class Truth:
    """A fixed point and how far it may be off."""

    table: Floats
    error: float

    @cached_property
    def size(self) -> float:
        """‖Q*‖, the unit of biases."""
        return float(abs(self.table).max())


@dataclass(frozen=True, eq=False)
class Setting:
    """A model with its radius and interpretation, walked by the uniform policy."""

    name: str
    mdp: MDP
    radius: float
    schedule: Callable[[float], StepSize]
    terminal: tuple[int, ...] = ()

    @cached_property
    def policy(self) -> Floats:
        """The behaviour policy, and the one that is evaluated."""
        return uniform(self.mdp.n_states, self.mdp.n_actions)

    @cached_property
    def table(self) -> AliasTable:
        """The sampling table of the walk, built once."""
        return alias_table(self.mdp, self.policy)

    @cached_property
    def mask(self) -> np.ndarray:
        """Which states are terminal."""
        return np.isin(np.arange(self.mdp.n_states), self.terminal)

    @property
    def n_pairs(self) -> int:
        """S·A."""
        return int(self.mdp.cost.size)

    def walk(self, seed: bytes) -> Walk:
        """A trajectory."""
        terminal = self.mask if self.terminal else None
        return Walk(self.mdp, self.policy, seed=seed, table=self.table, terminal=terminal)

    def optimum(self, radius: float) -> Truth:
        """Q* under contamination: what Q-learning converges to under the interpretation."""
        return _optimum(self, radius)

    def evaluation(self, radius: float) -> tuple[Truth, Truth]:
        """(Q^pi, V^pi) of the behaviour policy under contamination."""
        return _evaluation(self, radius)

    def problem(self, *, radius: float, initial: Floats, step_size: StepSize | None = None) -> Problem:
        """What a tabular learner is told."""
        return Problem.of(
            self.mdp,
            Contamination(radius),
            step_size=self.schedule(self.mdp.gamma) if step_size is None else step_size,
            initial=initial,
            policy=self.policy,
        )


@cache
def _optimum(setting: Setting, radius: float) -> Truth:
    if setting.terminal:
        return _episodic(setting, radius)
    return _rounded(rational.solve(setting.mdp, Contamination(radius)).Q)


@cache
def _evaluation(setting: Setting, radius: float) -> tuple[Truth, Truth]:
    found = rational.evaluate(setting.mdp, Contamination(radius), setting.policy)
    return _rounded(found.Q), _rounded(found.V)


def _rounded(values: Any, error: float = 0.0) -> Truth:
    """Exact values that may be off by `error`, as the nearest floats."""
    found = rational.certified(values, "exact, rounded once")
    return Truth(found.value, found.error_bound + error)


def _episodic(setting: Setting, radius: float) -> Truth:
    """Value iteration with V = 0 at terminal states, exactly; what is left is that of a gamma-contraction."""
    mdp, gamma = setting.mdp, Fraction(setting.mdp.gamma)
    kernel, cost = exact.kernel(mdp), exact.costs(mdp)
    told, kept = gamma * Fraction(radius), gamma * (1 - Fraction(radius))
    Q = [[Fraction(0)] * mdp.n_actions for _ in range(mdp.n_states)]
    while True:
        V = [min(row) for row in Q]
        values, worst = exact.Rational.of(V), told * max(V)
        image = [
            [Fraction(0) if setting.mask[s] else cost[s][a] + kept * kernel[s][a].dot(values) + worst
             for a in range(mdp.n_actions)]
            for s in range(mdp.n_states)
        ]  # fmt: skip
        moved = max(abs(x - y) for new, old in zip(image, Q, strict=True) for x, y in zip(new, old, strict=True))
        Q = image
        if moved <= LAST_MOVE:
            return _rounded(Q, exact.round_up(gamma * moved / (1 - gamma)))


def _per_visit(gamma: float) -> StepSize:
    """1/(1 + (1−gamma)n) after n visits: the rate ½ (Theorem 2)."""
    return per_visit(1.0, rate=1.0 - gamma, power=1.0)


def _constant(gamma: float) -> StepSize:
    """A constant step, as in Theorem 3 and in the experiments."""
    return constant(CONSTANT_STEP)


def _river() -> MDP:
    """River swim whose far end is a goal: it ends the episode, and the reset leads back to the start."""
    mdp = models.river_swim(5, gamma=GAMMA)
    P = mdp.P.copy()
    P[-1] = np.eye(mdp.n_states)[0]
    cost = mdp.cost.copy()
    cost[-1] = 0.0
    return MDP(P, cost, GAMMA)


def _settings() -> tuple[Setting, ...]:
    garnet = models.garnet(8, 3, 3, gamma=GAMMA, seed=key("regression", "garnet"))
    return (
        Setting("two states, per visit", models.two_states(gamma=0.5), 0.25, _per_visit),
        Setting("two states, constant step", models.two_states(gamma=0.5), 0.25, _constant),
        Setting("machine, per visit", models.machine_replacement(5, gamma=GAMMA), 0.125, _per_visit),
        Setting("garnet, per visit", garnet, 0.125, _per_visit),
        Setting("garnet, constant step", garnet, 0.125, _constant),
        Setting("river, episodic", _river(), 0.125, _per_visit, terminal=(4,)),
    )


SETTINGS = {setting.name: setting for setting in _settings()}
