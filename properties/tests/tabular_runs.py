"""Tabular learners run in three ways (plain, fused, replayed), and what each leaves behind, as bytes."""

import copy
from typing import Any

import numpy as np

from robust_core import models, streams
from robust_core.learners.schedules import StepSize, constant, per_visit, polynomial
from robust_core.learners.tabular import (
    EXPECTED_SARSA,
    Q_LEARNING,
    SARSA,
    TD0,
    Rule,
    TabularLearner,
    learn,
    learn_plain,
)
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.problem import Problem
from robust_core.sets import Contamination
from robust_core.trajectory import Walk

RULES = (Q_LEARNING, EXPECTED_SARSA, SARSA, TD0)
SCHEDULES = {
    "constant": constant(0.3),
    "steps": polynomial(0.9, rate=0.125, power=0.75),
    "visits": per_visit(1.0, rate=1.0, power=1.0),
}


def make(rule: Rule, mdp: MDP, radius: float, step_size: StepSize, **options: Any) -> TabularLearner:
    shape = (mdp.n_states,) if rule is TD0 else (mdp.n_states, mdp.n_actions)
    initial = np.asarray(options.pop("initial", np.zeros(shape)), dtype=np.float64)
    policy = options.pop("policy", uniform(mdp.n_states, mdp.n_actions))
    problem = Problem.of(
        mdp,
        Contamination(radius),
        step_size=step_size,
        initial=initial,
        policy=policy,
    )
    return TabularLearner(rule, problem)


def state(learner: TabularLearner, walk: Walk | None = None) -> tuple[object, ...]:
    """All that a run leaves behind, as bytes."""
    own = (learner.table.tobytes(), learner.visits.tobytes(), learner.t)
    return own if walk is None else (*own, walk.stream.tobytes(), walk.position.tobytes())


def three_ways(learner: TabularLearner, walk: Walk, steps: int) -> list[tuple[object, ...]]:
    """Plain, fused in two parts, and replayed from a recording: what each leaves behind."""
    results = []
    first, second = steps // 3, steps - steps // 3

    def plain(one: TabularLearner, w: Walk) -> None:
        learn_plain(one, w, steps)

    def fused(one: TabularLearner, w: Walk) -> None:
        learn(one, w, first)
        learn(one, w, second)

    def replayed(one: TabularLearner, w: Walk) -> None:
        one.update_many(w.record(first))
        one.update_many(w.record(second))

    for way in (plain, fused, replayed):
        one, w = copy.deepcopy((learner, walk))
        way(one, w)
        results.append(state(one, w))
    return results


def agree(results: list[tuple[object, ...]]) -> bool:
    return all(result == results[0] for result in results)


GARNET = models.garnet(12, 3, 4, gamma=0.9375, seed=streams.key("tabular"))
BEHAVIOUR = np.tile([0.5, 0.125, 0.375], (12, 1))
START = np.random.default_rng(1).normal(size=(12, 3))
