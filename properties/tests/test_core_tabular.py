"""Tabular learners: the plain specification, the fused loop and the replay give the same bits, whatever the walk does.

Comparisons are of bytes; learners that are wrong on purpose are noticed.
"""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties.profiles import examples
from properties.strategies import mdps, policies, q_tables, radii
from properties.tests.tabular_runs import BEHAVIOUR, GARNET, RULES, SCHEDULES, START, agree, make, state, three_ways
from robust_core import models, streams
from robust_core.learners.schedules import constant
from robust_core.learners.tabular import Q_LEARNING, TD0, Rule, TabularLearner, learn, learn_plain
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.trajectory import Transition, Walk
from robust_core.validate import Floats

LONG_RUN = 100_000


@pytest.mark.parametrize("clock", SCHEDULES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_and_clock_gives_the_same_bits(rule: Rule, clock: str) -> None:
    initial = START[:, 0] if rule is TD0 else START
    for radius in (0.3, 1.0):
        learner = make(rule, GARNET, radius, SCHEDULES[clock], initial=initial, policy=BEHAVIOUR)
        walk = Walk(GARNET, BEHAVIOUR, seed=streams.key("bits", rule.name, clock, radius))
        assert agree(three_ways(learner, walk, 1500)), (rule.name, clock, radius)


@pytest.mark.parametrize("A", [1, 2, 4, 5, 8, 11])
def test_any_number_of_actions_gives_the_same_bits(A: int) -> None:
    """The minimum over actions goes by fours from four actions on, and one by one below."""
    mdp = models.garnet(9, A, 3, gamma=0.9375)
    learner = make(Q_LEARNING, mdp, 0.3, constant(0.5), initial=np.random.default_rng(A).normal(size=(9, A)))
    walk = Walk(mdp, uniform(9, A), seed=streams.key("actions", A))
    assert agree(three_ways(learner, walk, 1500))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_long_runs_give_the_same_bits(rule: Rule) -> None:
    learner = make(rule, GARNET, 0.2, constant(0.3), initial=START[:, 0] if rule is TD0 else START, policy=BEHAVIOUR)
    walk = Walk(GARNET, BEHAVIOUR, seed=streams.key("long", rule.name))
    assert agree(three_ways(learner, walk, LONG_RUN))


def episodic(rule: Rule, radius: float, clock: str) -> tuple[TabularLearner, Walk]:
    """Every fifth state ends an episode; state 1 is the reset."""
    terminal = np.arange(12) % 5 == 0
    P = GARNET.P.copy()
    P[terminal] = np.eye(12)[[1]]
    mdp = MDP(P, GARNET.cost, GARNET.gamma)
    initial = START[:, 0] if rule is TD0 else START
    learner = make(rule, mdp, radius, SCHEDULES[clock], initial=initial, policy=BEHAVIOUR)
    return learner, Walk(mdp, BEHAVIOUR, seed=streams.key("episodes"), start=1, terminal=terminal)


# Robust and vanilla, ending and endless, and the three clocks: every pair of them meets, for every rule.
@pytest.mark.parametrize(("radius", "clock"), [(0.2, "constant"), (0.0, "steps"), (0.0, "visits")])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_episodes_give_the_same_bits(rule: Rule, radius: float, clock: str) -> None:
    learner, walk = episodic(rule, radius, clock)
    assert agree(three_ways(learner, walk, 1000))
    after, its_walk = copy.deepcopy((learner, walk))
    learn(after, its_walk, 1000)
    # No update touches a terminal state, and the value of one is taken for 0.
    assert after.table[walk.terminal].tobytes() == learner.table[walk.terminal].tobytes()
    continuing = copy.deepcopy(learner)
    learn_plain(continuing, Walk(walk.mdp, BEHAVIOUR, seed=streams.key("episodes"), start=1), 1000)
    assert state(continuing) != state(after)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_vanilla_rules_give_the_same_bits(rule: Rule) -> None:
    """R = 0 is a kernel without maximum."""
    initial = START[:, 0] if rule is TD0 else START
    learner = make(rule, GARNET, 0.0, constant(0.3), initial=initial, policy=BEHAVIOUR)
    walk = Walk(GARNET, BEHAVIOUR, seed=streams.key("vanilla", rule.name))
    results = three_ways(learner, walk, 1500)
    assert agree(results)
    slightly_robust = make(rule, GARNET, 2.0**-20, constant(0.3), initial=initial, policy=BEHAVIOUR)
    learn(slightly_robust, walk, 1500)
    assert state(slightly_robust)[0] != results[0][0]


@given(
    st.sampled_from(RULES),
    mdps(cost_range=(-(2.0**40), 2.0**40), dyadic=False, storage="either"),
    radii(min_radius=2.0**-20, dyadic=False),
    st.sampled_from((0.0, 1 / 3, 1.0)),
    st.data(),
)
@examples(120)
def test_generated_problems_give_the_same_bits(
    rule: Rule, mdp: MDP, radius: float, alpha: float, data: st.DataObject
) -> None:
    """Any model, costs of any sign and scale, alpha at its ends, tables with negative zeros."""
    pi = data.draw(policies(mdp, dyadic=False))
    table = data.draw(q_tables(mdp))
    table = np.where(table == 0.0, data.draw(st.sampled_from((0.0, -0.0))), table)
    learner = make(
        rule, mdp, max(radius, 0.5) if mdp.gamma == 0 else radius, constant(alpha),
        initial=table[:, 0] if rule is TD0 else table, policy=pi,
    )  # fmt: skip
    if learner.discounts[0] == 0.0:
        return  # the kernel without maximum has its own test; here it would only be compiled again
    walk = Walk(mdp, pi, seed=streams.key(mdp.hash))
    assert agree(three_ways(learner, walk, 40))


class Stale(TabularLearner):
    """The maximum of the table before the previous update."""

    previous: Floats | None = None

    def state_values(self) -> Floats:
        now = super().state_values()
        stale = now if self.previous is None else now + 0.0 * now
        if self.previous is not None and self.previous.argmax() != now.argmax():
            stale[now.argmax()] = self.previous.max()
        self.previous = now
        return stale


class LateClock(TabularLearner):
    """Step sizes start with n = 1."""

    def _step_size(self, place: int | tuple[int, int]) -> float:
        self.t += 1
        alpha = super()._step_size(place) if self.problem.step_size.clock != "visits" else 0.1
        self.t -= 1
        return alpha


class Reordered(TabularLearner):
    """Q + alpha (target − Q): the same real number, other bits."""

    def update(self, transition: Transition) -> None:
        s, a, cost, s_next, _, terminal = transition
        V = self.state_values()
        target = cost + self.discounts[0] * V.max() + self.discounts[1] * (0.0 if terminal else V[s_next])
        alpha = self._step_size((s, a))
        self.table[s, a] += alpha * (target - self.table[s, a])
        self.t += 1


@pytest.mark.parametrize("wrong", [Stale, LateClock, Reordered], ids=lambda cls: cls.__name__)
def test_wrong_learners_are_noticed(wrong: type[TabularLearner]) -> None:
    clock = SCHEDULES["steps"]
    good = make(Q_LEARNING, GARNET, 0.3, clock, initial=START)
    bad = wrong(Q_LEARNING, good.problem)
    walk = Walk(GARNET, BEHAVIOUR, seed=streams.key("bits", Q_LEARNING.name, "steps", 0.3))
    results = three_ways(good, walk, 1500)
    other, w = bad, copy.deepcopy(walk)
    learn_plain(other, w, 1500)
    assert agree(results)
    assert not agree([*results, state(other, w)])
