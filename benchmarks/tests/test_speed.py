"""What the speed table rests on: the contestants compute the same, and a limit can be missed."""

import ctypes
import json
import time

import numpy as np
import pytest

from benchmarks.cli import speed
from benchmarks.cli.conventions import HOLDS, USAGE, VIOLATED
from benchmarks.cli.main import main
from benchmarks.speed import oracle_planning, oracle_support, q_learning, scale, support, table, tdc
from benchmarks.speed.c_peer import library
from benchmarks.speed.timing import at_least, at_most, best_times, closest, without_limit
from oracles.planning import bounds
from robust_core import TotalVariation, sigma
from robust_core import support as kernel_support
from robust_core.learners.linear import learn
from robust_core.learners.tabular import learn as learn_tabular
from robust_core.mdp import MDP, SparseRows
from robust_core.models import garnet
from robust_core.sets import UncertaintySet
from robust_core.streams import key, numpy_generator
from robust_core.validate import EPS


@pytest.mark.skipif(library("q_learning.c") is None, reason="no C compiler")
@pytest.mark.parametrize("n_states", [10, 50])
def test_the_c_loop_gives_the_same_bits(n_states: int) -> None:
    steps, gamma, radius = 20_000, q_learning.GAMMA, q_learning.RADIUS
    run = q_learning.Run(garnet(n_states, q_learning.N_ACTIONS, q_learning.BRANCHING, gamma=gamma), radius)
    learn_tabular(run.learner, run.walk, steps)
    peer = q_learning.Run(run.mdp, radius)
    Q, V = peer.learner.table, peer.learner.state_values()
    walk, table, pointer = peer.walk, peer.walk.table, q_learning._pointer
    peers = library("q_learning.c")
    assert peers is not None
    peers.robust(
        pointer(table.columns), ctypes.c_uint64(table.column_bits), ctypes.c_uint64(table.action_bits),
        pointer(walk.stream), pointer(walk.position), pointer(Q), pointer(V), pointer(run.mdp.cost),
        ctypes.c_size_t(n_states), ctypes.c_size_t(q_learning.N_ACTIONS), ctypes.c_double(q_learning.ALPHA),
        ctypes.c_double(gamma * radius), ctypes.c_double(gamma * (1.0 - radius)), ctypes.c_size_t(steps),
    )  # fmt: skip
    assert np.array_equal(Q, run.learner.table)


def test_the_numpy_loop_does_what_tdc_does() -> None:
    mdp = garnet(16, 4, 8, gamma=tdc.GAMMA)
    work, numbers = tdc.numpy_steps(*tdc._learner(mdp), 1)
    work()
    learner, walk = tdc._learner(mdp)
    learn(learner, walk, 1)
    # One step: some thirty roundings of numbers below 2, and the sums of 16 weights.
    rounding = 100 * EPS
    for ours, theirs in zip(learner.estimate(), numbers, strict=True):
        assert abs(ours - theirs).max() <= rounding
    assert abs(learner.theta - 1.0).max() > rounding, "no step at all would be seen"


def test_the_timed_support_functions_agree_with_the_plain_form() -> None:
    """Within the rounding of S products and sums."""
    mdp, chosen = support._model(10), TotalVariation(support.RADIUS)
    v = numpy_generator(key("speed", "v", 10)).random(10)
    difference = np.abs(kernel_support(mdp, chosen, v) - sigma(chosen, mdp.P, v))
    assert (difference <= 4 * 10 * 2.0**-53 * np.abs(v).max()).all()


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 3, 1]])
def test_the_adversary_goes_through_all_states_in_its_order(order: list[int]) -> None:
    mdp = q_learning._cycle(np.array(order))
    run = q_learning.Run(mdp, q_learning.RADIUS, 1.0, 1e6 - np.argsort(order)[:, None])
    visited = []
    for step in run.walk.steps(8):
        # Always the top state, which then falls below all others.
        assert step.s == run.learner.state_values().argmax()
        run.learner.update(step)
        visited.append(step.s)
    assert visited == [*order, *order]


def test_limits_are_judged_in_their_direction() -> None:
    assert at_most("x", "", 1.0, 1.0, 1.1).within
    assert not at_most("x", "", 1.2, 1.0, 1.1).within
    assert at_least("x", "", 1.0, 30.0, 30.0).within
    assert not at_least("x", "", 1.0, 29.0, 30.0).within


def test_every_contestant_takes_its_turns() -> None:
    calls: list[str] = []
    times = best_times({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, turns=2)
    assert calls == ["a", "b", "a", "b", "a", "b"]
    assert all(seconds >= 0.0 for seconds in times.values())


def test_waiting_is_not_work() -> None:
    """The default clock stands still while a contestant sleeps; the wall clock does not."""
    asleep = {"asleep": lambda: time.sleep(0.02)}
    assert (
        best_times(asleep, turns=1)["asleep"] < 0.02 <= best_times(asleep, turns=1, clock=time.perf_counter)["asleep"]
    )


def test_the_short_table_has_the_line_closest_to_its_limit_whatever_the_direction() -> None:
    lines = [
        at_most("cost", "a", 1.0, 1.0, 2.0),
        at_most("cost", "b", 1.9, 1.0, 2.0),
        at_least("gain", "a", 1.0, 40.0, 30.0),
        at_least("gain", "b", 1.0, 29.0, 30.0),
        without_limit("told", "a", 5.0, 1.0),
    ]
    assert [(line.subject, line.size) for line in closest(lines)] == [("cost", "b"), ("gain", "b"), ("told", "a")]


@pytest.mark.parametrize("uncertainty_set", oracle_planning.ATTACKS, ids=lambda uncertainty_set: uncertainty_set.kind)
def test_the_naive_planner_finds_the_plan(uncertainty_set: UncertaintySet) -> None:
    mdp = oracle_planning.dense_model(5, 0.95)
    naive, ours = (
        oracle_planning.naive_value_iteration(mdp, uncertainty_set, oracle_planning.WIDTH),
        bounds.solve(mdp, uncertainty_set, width=oracle_planning.WIDTH),
    )
    # Each is off by at most half of its width.
    assert abs(naive - ours.q).max() <= oracle_planning.WIDTH
    nominal = bounds.solve(mdp, oracle_planning.NOMINAL, width=oracle_planning.WIDTH)
    assert abs(naive - nominal.q).max() > oracle_planning.WIDTH


def test_oracles_are_timed_with_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle_support, "ROWS", 32)
    monkeypatch.setattr(oracle_support, "ROUNDS", 1)
    wanted, other = oracle_support._measure(oracle_support.SETS[0], 2)
    assert (wanted.size, wanted.limit, other.limit) == ("contamination S=2", ">= 1", "stated")
    monkeypatch.setattr(oracle_planning, "ROUNDS", 1)
    line = oracle_planning._against_naive(5, 0.95, oracle_planning.ATTACKS[0])
    assert line.ratio == pytest.approx(line.theirs / line.ours)
    assert line.limit == ">= 300"


@pytest.mark.robust_core_slow
def test_the_curve_of_sizes_has_its_limits_and_plans_what_the_plain_model_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "QUICK", (100,))
    lines = scale.curve(quick=True)
    assert [line.limit for line in lines] == ["stated", "<= 1.1", "stated", "<= 2.5", "<= 1"]
    mdp = scale.large_model(100, 0.9)
    rows = mdp.rows
    assert rows.successors.dtype == np.int32
    plain = MDP(SparseRows(rows.offsets.copy(), rows.successors.copy(), rows.probabilities.copy()), mdp.cost, 0.9)
    assert plain == mdp
    for uncertainty_set in oracle_planning.ATTACKS:
        first, second = (bounds.solve(each, uncertainty_set, width=1e-6).q for each in (mdp, plain))
        assert np.array_equal(first, second)


def test_the_command_knows_the_parts() -> None:
    assert tuple(table.PARTS) == (*speed.PARTS, *speed.ORACLES)


@pytest.mark.parametrize(("ratios", "code"), [((2.0, 1.0), HOLDS), ((2.0, 1.5), VIOLATED)])
def test_the_command_judges_the_best_pass(
    ratios: tuple[float, ...],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    passes = iter(ratios * 3)
    monkeypatch.setitem(table.PARTS, "loops", lambda quick: [at_most("ours / theirs", "S=1", next(passes), 1.0, 1.2)])
    assert main(["speed", "loops", "--passes", "2"]) == code
    assert ("**missed**" in capsys.readouterr().out) == (code == VIOLATED)
    assert main(["speed", "loops", "--passes", "2", "--quiet", "--json"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["ratio"] for line in lines] == ([] if code == HOLDS else [min(ratios)])
    assert main(["speed", "no such part"]) == USAGE
