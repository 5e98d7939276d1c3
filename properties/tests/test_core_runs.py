"""Whole runs: snapshots, threads, resumption, memory."""

import copy
import tracemalloc
from collections.abc import Callable

import pytest

from properties.tests.tabular_runs import BEHAVIOUR, GARNET, SCHEDULES, START, make, state
from robust_core import models, streams
from robust_core.learners.runs import learn_all, snapshots
from robust_core.learners.tabular import EXPECTED_SARSA, Q_LEARNING, Rule, TabularLearner, learn, learn_plain
from robust_core.policy import uniform
from robust_core.trajectory import Walk


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
    assert snapshots(one, w, [], run=run).shape == (0, 12, 3)


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


@pytest.mark.parametrize("rule", [Q_LEARNING, EXPECTED_SARSA])
def test_a_learner_needs_one_table_and_a_few_floats_per_state(rule: Rule) -> None:
    """Beside the table the tree over V, 2·4^⌈log4 S⌉ < 8 S floats, and V while it is planted.

    At S = 2,000 the tree has 4.1 S floats: the rest of the 8 S is room for Python's own objects. With 128 actions a
    mask of one byte an entry is 16 S floats, which is too much.
    """
    S, A = 2_000, 128
    mdp = models.garnet(S, A, 2, gamma=0.9)
    warm = make(rule, mdp, 0.3, SCHEDULES["constant"])
    walk = Walk(mdp, uniform(S, A), seed=streams.key("memory"))
    learn(warm, walk, 1)
    tracemalloc.start()
    learn(TabularLearner(rule, warm.problem), walk, 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 8 * (S * A + 9 * S)
    assert peak > 8 * S * A, "the table itself is counted"
