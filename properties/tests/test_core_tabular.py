"""Tabular learners: the plain specification, the fused loop and the replay give the same bits, whatever the walk does.

Comparisons are of bytes. What the specification itself must be is checked on single steps by hand, against
rationals on coarse numbers, and by wrong rules that differ from it.
"""

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties.profiles import examples
from properties.strategies import mdps, policies, q_tables, radii
from robust_core import models, streams
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.runs import learn_all, snapshots
from robust_core.schedules import StepSize, constant, per_visit, polynomial
from robust_core.tabular import (
    EXPECTED_SARSA,
    Q_LEARNING,
    SARSA,
    TD0,
    Rule,
    TabularLearner,
    learn,
    learn_plain,
)
from robust_core.trajectory import Transition, Walk
from robust_core.uncertainty import Contamination
from robust_core.validate import Floats
from robust_core.variant import Problem

RULES = (Q_LEARNING, EXPECTED_SARSA, SARSA, TD0)
SCHEDULES = {
    "constant": constant(0.3),
    "steps": polynomial(0.9, rate=0.125, power=0.75),
    "visits": per_visit(1.0, rate=1.0, power=1.0),
}
LONG_RUN = 100_000


def make(rule: Rule, mdp: MDP, radius: float, step_size: StepSize, **options: Any) -> TabularLearner:
    shape = (mdp.n_states,) if rule is TD0 else (mdp.n_states, mdp.n_actions)
    initial = np.asarray(options.pop("initial", np.zeros(shape)), dtype=np.float64)
    policy = options.pop("policy", uniform(mdp.n_states, mdp.n_actions))
    problem = Problem(
        n_states=mdp.n_states,
        n_actions=mdp.n_actions,
        gamma=mdp.gamma,
        uncertainty_set=Contamination(radius),
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


@pytest.mark.parametrize("clock", SCHEDULES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_and_clock_gives_the_same_bits(rule: Rule, clock: str) -> None:
    """R inside (0,1) for all; R = 0 (a kernel without maximum) with one clock, as clock and R do not meet there."""
    initial = START[:, 0] if rule is TD0 else START
    for radius in (0.3, 1.0, *((0.0,) if clock == "constant" else ())):
        learner = make(rule, GARNET, radius, SCHEDULES[clock], initial=initial, policy=BEHAVIOUR)
        walk = Walk(GARNET, BEHAVIOUR, seed=streams.key("bits", rule.name, clock, radius))
        assert agree(three_ways(learner, walk, 1500)), (rule.name, clock, radius)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_long_runs_give_the_same_bits(rule: Rule) -> None:
    learner = make(rule, GARNET, 0.2, constant(0.3), initial=START[:, 0] if rule is TD0 else START, policy=BEHAVIOUR)
    walk = Walk(GARNET, BEHAVIOUR, seed=streams.key("long", rule.name))
    assert agree(three_ways(learner, walk, LONG_RUN))


@pytest.mark.parametrize("rule", [Q_LEARNING, SARSA], ids=lambda rule: rule.name)
def test_episodes_give_the_same_bits(rule: Rule) -> None:
    terminal = np.arange(12) % 5 == 0
    P = GARNET.P.copy()
    P[terminal] = np.eye(12)[[1]]
    mdp = MDP(P, GARNET.cost, GARNET.gamma)
    initial = START[:, 0] if rule is TD0 else START
    learner = make(rule, mdp, 0.2, constant(0.3), initial=initial, policy=BEHAVIOUR)
    walk = Walk(mdp, BEHAVIOUR, seed=streams.key("episodes"), start=1, terminal=terminal)
    assert agree(three_ways(learner, walk, 1000))
    after = copy.deepcopy(learner)
    learn(after, copy.deepcopy(walk), 1000)
    # No update touches a terminal state, and the value of one is taken for 0.
    assert after.table[terminal].tobytes() == learner.table[terminal].tobytes()
    continuing = copy.deepcopy(learner)
    learn(continuing, Walk(mdp, BEHAVIOUR, seed=streams.key("episodes"), start=1), 1000)
    assert state(continuing) != state(after)


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


# ---- the specification itself


def exact_step(rule: Rule, table: Floats, pi: Floats, transition: Transition, *, gamma: float, R: float, alpha: float):  # type: ignore[no-untyped-def]
    """eq:Qupdate from the table in the module's docstring, in rationals, written once more."""
    s, a, cost, s_next, a_next, terminal = transition
    if rule is TD0:
        V = [Fraction(x) for x in table.tolist()]
        entry = V[s]
    else:
        Q = [[Fraction(x) for x in row] for row in table.tolist()]
        weights = [[Fraction(x) for x in row] for row in pi.tolist()]
        if rule is Q_LEARNING:
            V = [min(row) for row in Q]
        else:
            V = [
                sum((w * x for w, x in zip(ws, xs, strict=True)), Fraction(0))
                for ws, xs in zip(weights, Q, strict=True)
            ]
        entry = Q[s][a]
    following = Q[s_next][a_next] if rule is SARSA else V[s_next]
    target = Fraction(cost) + Fraction(gamma) * (
        Fraction(R) * max(V) + (1 - Fraction(R)) * (0 if terminal else following)
    )
    return (1 - Fraction(alpha)) * entry + Fraction(alpha) * target


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@given(st.data())
@examples(60)
def test_one_step_is_the_equation(rule: Rule, data: st.DataObject) -> None:
    """Coarse numbers (sixteenths, halves, a policy in quarters): no operation rounds, equality is exact."""
    S, A = 3, 2
    table = np.array(data.draw(st.lists(st.integers(-64, 64), min_size=S * A, max_size=S * A))).reshape(S, A) / 16
    table = table[:, 0] if rule is TD0 else table
    share = np.array(data.draw(st.lists(st.integers(0, 4), min_size=S, max_size=S))) / 4
    pi = np.stack((share, 1 - share), axis=1)
    gamma, R, alpha = (data.draw(st.sampled_from((0.0, 0.25, 0.5, 0.875))) for _ in range(3))
    R = data.draw(st.sampled_from((R, 1.0)))
    mdp = MDP(np.full((S, A, S), [0.25, 0.25, 0.5]), np.zeros((S, A)), gamma)
    learner = make(rule, mdp, R, constant(alpha), initial=table, policy=pi)
    state_index, action = st.integers(0, S - 1), st.integers(0, A - 1)
    s, a, s_next, a_next = (data.draw(x) for x in (state_index, action, state_index, action))
    cost = data.draw(st.integers(-32, 32)) / 16
    step = Transition(s, a, cost, s_next, a_next, data.draw(st.booleans()))
    learner.update(step)
    place = s if rule is TD0 else (s, a)
    assert Fraction(float(learner.table[place])) == exact_step(rule, table, pi, step, gamma=gamma, R=R, alpha=alpha), (
        step,
        gamma,
        R,
        alpha,
    )
    others = np.ones(table.shape, dtype=bool)
    others[place] = False
    assert learner.table[others].tobytes() == table[others].tobytes()


def test_the_rules_differ() -> None:
    """One step on which the three rules for Q give three results: the check above tells them apart."""
    table, pi = np.array([[0.0, 2.0], [1.0, 4.0]]), np.full((2, 2), 0.5)
    step = Transition(0, 0, 1.0, 1, 1, False)
    values = {
        exact_step(rule, table, pi, step, gamma=0.5, R=0.5, alpha=0.5) for rule in (Q_LEARNING, EXPECTED_SARSA, SARSA)
    }
    assert len(values) == 3


# ---- the maximum under an adversary


def ring_problem(S: int, radius: float = 0.25, *, ascending: bool = False) -> tuple[TabularLearner, Walk]:
    """Deterministic ring without cost, gamma near 1, alpha 1, and a pessimistic start.

    The best state falls below all others, and the next best is visited next: every step needs the maximum anew.
    """
    mdp = MDP(models.ring(S).P, np.zeros((S, 1)), 0.9999)
    order = np.arange(S) if ascending else -np.arange(S)
    learner = make(TD0, mdp, radius, constant(1.0), initial=1000.0 + order * (0.01 / S))
    return learner, Walk(mdp, np.ones((S, 1)), seed=streams.key("ring", S))


def scans_of_the_watch(learner: TabularLearner, walk: Walk, steps: int) -> int:
    """How many entries the watch would have read again: the best state fell below the bound on the others."""
    from robust_core.kernels.maximum import padded

    learner, walk = copy.deepcopy((learner, walk))
    size = padded(learner.problem.n_states)

    def best_two() -> tuple[int, float, float]:
        V = np.append(learner.state_values(), -np.inf)
        best = int(V.argmax())
        return best, float(V[best]), float(np.delete(V, best).max())

    best, worst, bound = best_two()
    scanned = 0
    for step in walk.steps(steps):
        learner.update(step)
        value = float(learner.state_values()[step.s])
        if step.s == best:
            worst = value
            if value < bound:
                best, worst, bound = best_two()
                scanned += size
        elif value > worst:
            best, worst, bound = step.s, value, worst
        else:
            bound = max(bound, value)
    return scanned


@pytest.mark.parametrize("S", [1, 7, 8, 9, 64, 65, 513])
def test_the_maximum_under_an_adversary(S: int) -> None:
    """Long enough that the tree is taken, kept for its time, left again, and taken again."""
    from robust_core.kernels import maximum

    steps = 3 * (maximum.TREE_STEPS + maximum.TREE_STEPS_PER_STATE * S) if S < 100 else 15_000
    learner, walk = ring_problem(S)
    assert agree(three_ways(learner, walk, steps))
    if S > 1:
        short = 16 * maximum.FREE_SCANS
        budget = maximum.SCAN_BUDGET * short + maximum.FREE_SCANS * maximum.padded(S)
        assert scans_of_the_watch(learner, walk, short) > budget, "the walk does not force the tree"


@pytest.mark.parametrize("S", [2, 9, 65])
def test_the_maximum_when_it_rises(S: int) -> None:
    """The other order: the newest value is the new best, or ties with it."""
    learner, walk = ring_problem(S, ascending=True)
    assert agree(three_ways(learner, walk, 2000))
    flat = make(TD0, walk.mdp, 0.25, constant(0.5), initial=np.full(S, -5.0))
    assert agree(three_ways(flat, walk, 2000))


@pytest.mark.parametrize("S", [1, 7, 8, 9, 64, 65, 513, 4097])
def test_the_tournament_is_the_maximum(S: int) -> None:
    """Random changes, ties and falls included; a root that is not repaired is noticed."""
    from robust_core.kernels import maximum
    from robust_core.kernels.walk import U64

    rng = np.random.default_rng(S)
    V = np.full(maximum.padded(S), -np.inf)
    V[:S] = rng.integers(-4, 5, S)
    V[S // 2] = 5.0
    offsets = maximum.levels(S)
    tree = np.empty(offsets[-1])
    maximum.build(tree, offsets, V)
    assert tree[offsets[-2]] == V.max()
    unrepaired = tree.copy()
    stale = 0
    for step in range(600):
        place = int(V.argmax()) if step % 2 else int(rng.integers(S))
        V[place] = rng.integers(-4, 5) - step / 64
        assert maximum.changed(tree, offsets, V, U64(place)) == V.max()
        stale += unrepaired[offsets[-2]] != V.max()
    assert stale > 0
    top, best, second = maximum.best_two(V)
    assert (V[int(top)], best) == (V.max(), V.max())
    assert second == np.delete(V, int(top)).max(initial=-np.inf)


# ---- runs


@pytest.mark.parametrize("run", [learn, learn_plain])
def test_snapshots_are_the_estimates_at_their_times(run: Callable[..., None]) -> None:
    learner = make(Q_LEARNING, GARNET, 0.3, SCHEDULES["constant"], initial=START)
    walk = Walk(GARNET, BEHAVIOUR, seed=streams.key("snapshots"))
    times = [0, 0, 1, 17, 17, 300]
    taken = snapshots(*copy.deepcopy((learner, walk)), times, run=run)
    assert taken.shape == (6, 12, 3)
    for time, snapshot in zip(times, taken, strict=True):
        one, w = copy.deepcopy((learner, walk))
        learn_plain(one, w, time)
        assert snapshot.tobytes() == one.table.tobytes()
    assert taken[3].tobytes() != taken[2].tobytes()
    one, w = copy.deepcopy((learner, walk))
    snapshots(one, w, [10], run=run)
    later = snapshots(one, w, [17, 300], run=run)
    assert later.tobytes() == taken[[4, 5]].tobytes()
    assert one.t == 300


def test_snapshots_hand_out_no_buffer() -> None:
    learner = make(Q_LEARNING, GARNET, 0.3, SCHEDULES["constant"], initial=START)
    walk = Walk(GARNET, BEHAVIOUR, seed=streams.key("snapshots"))
    taken = snapshots(learner, walk, [5])
    estimate = learner.estimate()
    before = state(learner)
    taken[:], estimate[:] = 7.0, 7.0
    assert state(learner) == before
    assert learner.problem.initial.tobytes() == START.tobytes()


def test_threads_change_nothing() -> None:
    def runs() -> list[tuple[TabularLearner, Walk]]:
        return [
            (
                make(Q_LEARNING, GARNET, 0.3, SCHEDULES["constant"], initial=START),
                Walk(GARNET, BEHAVIOUR, seed=streams.key("thread", i)),
            )
            for i in range(6)
        ]

    serial, threaded, plain = runs(), runs(), runs()
    learn_all(serial, 3000)
    learn_all(threaded, 3000, threads=2)
    for learner, walk in plain:
        learn(learner, walk, 3000)
    for results in (serial, threaded):
        assert [state(*run) for run in results] == [state(*run) for run in plain]
    assert len({state(*run)[0] for run in plain}) == 6


def test_resuming_counts_on() -> None:
    """Step sizes go on where they stopped; a learner that forgot t or its visits would not."""
    for clock in ("steps", "visits"):
        whole = make(Q_LEARNING, GARNET, 0.3, SCHEDULES[clock], initial=START)
        split = copy.deepcopy(whole)
        walk = Walk(GARNET, BEHAVIOUR, seed=streams.key("resume"))
        w1, w2, w3 = (copy.deepcopy(walk) for _ in range(3))
        learn(whole, w1, 200)
        learn(split, w2, 120)
        forgetful = make(Q_LEARNING, GARNET, 0.3, SCHEDULES[clock], initial=split.table)
        w3 = copy.deepcopy(w2)
        learn(split, w2, 80)
        learn(forgetful, w3, 80)
        assert state(whole, w1) == state(split, w2)
        assert forgetful.table.tobytes() != whole.table.tobytes()


# ---- step sizes


@given(
    st.sampled_from((0.0, 0.25, 0.9, 1.0)),
    st.sampled_from((0.0, 0.1, 1.0, 1e6, 1e308)),
    st.sampled_from((0.0, 0.5, 0.501, 1.0, 2.0, 1e300)),
    st.integers(0, 10**12),
)
@examples(150)
def test_step_sizes_are_the_formula(scale: float, rate: float, power: float, n: int) -> None:
    """scale/(1 + rate n)^power: two roundings in the base, magnified by the power, one ulp in pow, one for scale."""
    from robust_core.kernels.tabular import step_size as compiled

    for make_size in (polynomial, per_visit):
        alpha = make_size(scale, rate=rate, power=power).at(n)
        assert alpha == compiled(scale, rate, power, n)
        base = 1 + Fraction(rate) * n
        assert 0.0 <= alpha <= scale
        if power == int(power) <= 2:
            wanted = Fraction(scale) / base ** int(power)
            # A result below the normal range may lose the smallest float; an infinite base gives 0.
            allowed = wanted * Fraction((3 * power + 4) * 2.0**-53) + Fraction(2.0**-1022)
            assert abs(Fraction(alpha) - wanted) <= allowed
            off_by_one = Fraction(scale) / (1 + Fraction(rate) * (n + 1)) ** int(power)
            if n < 10**6 and 0.1 <= rate <= 1e6 and power and scale:
                assert abs(off_by_one - wanted) > allowed
    assert constant(scale).at(n) == scale
    assert StepSize(scale, rate, power).at(n) == scale
