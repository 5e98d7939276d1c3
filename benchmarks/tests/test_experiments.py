"""The panels: their numbers can be had again, their parts agree with independent computations, the rule is the rule."""

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from benchmarks.cli import panels
from benchmarks.cli.conventions import HOLDS
from benchmarks.experiments import control, evaluation, gradient, pole, pole_kernels, results, work
from benchmarks.experiments.interpretations import DEFAULT, INTERPRETATIONS
from benchmarks.experiments.learners.rarl import Rarl, Schedule
from benchmarks.experiments.outcome import MUCH_REWARD, judge, outcome, spread_scores
from benchmarks.experiments.panel_environments import (
    LIMITS,
    control_environments,
    drawn_start,
    environment,
    paid_as_it_moves,
)
from benchmarks.experiments.panels import trends
from benchmarks.experiments.paper import PANELS
from benchmarks.experiments.records import LEARNERS, PanelRun
from benchmarks.tests.committed import CHEAP, comparable
from robust_core import key
from robust_core.json import from_data
from robust_core.learners import tabular
from robust_core.mdp import MDP
from robust_core.validate import EPS


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (MUCH_REWARD, 1.0, "reproduced"),
        (np.nextafter(MUCH_REWARD, 0.0), 1.0, "direction only"),
        (0.0, 1.0, "not reproduced"),
        (-1.0, 0.0, "not reproduced"),
        (-1.0, -1e-9, "reversed"),
    ],
)
def test_the_rule_at_its_edges(low: float, high: float, wanted: str) -> None:
    assert outcome(low, high, MUCH_REWARD) == wanted


def test_scores_decide_by_their_sign_and_swapped_learners_reverse_the_outcome() -> None:
    scores = 0.3 + 0.01 * np.sin(np.arange(100))
    assert judge("a claim", scores, MUCH_REWARD).outcome == "reproduced"
    assert judge("a claim", -scores, MUCH_REWARD).outcome == "reversed"
    assert judge("a claim", np.zeros(100), MUCH_REWARD).outcome == "not reproduced"


def test_spread_scores_survive_divergence() -> None:
    calm, wild = np.array([1.0, 1.1, 1.0, 1.2]), np.array([1.0, np.inf, np.inf, np.inf])
    assert spread_scores(calm, wild).tolist() == [1.0, 1.0]
    assert spread_scores(wild, wild).tolist() == [0.0, 0.0]


def _random_model(seed: int, S: int = 6, A: int = 3, gamma: float = 0.8) -> MDP:
    rng = np.random.default_rng(seed)
    P = rng.random((S, A, S))
    return MDP(P / P.sum(axis=-1, keepdims=True), rng.standard_normal((S, A)), gamma)


def _lake() -> Any:
    return environment(PANELS["frozenlake-a"], DEFAULT, "continuing")


def _by_powers(horizon: int, p: float = 0.0, worst: int = 0) -> float:
    """The reward of action 2 everywhere on FrozenLake, by powers of its matrix."""
    lake = _lake()
    P, cost = lake.mdp.P[:, 2].copy(), lake.mdp.cost[:, 2]
    moved = (1.0 - p) * P
    moved[:, worst] += p
    P[~lake.terminal] = moved[~lake.terminal]
    steps = (lake.mdp.gamma**h * np.linalg.matrix_power(P, h) @ cost for h in range(horizon))
    return -float(lake.initial @ sum(steps, np.zeros(len(cost))))


@pytest.mark.parametrize(("p", "worst"), [(0.0, 0), (0.1, 5), (0.1, 3)])
def test_exact_rewards_equal_the_sum_over_matrix_powers(p: float, worst: int) -> None:
    lake = _lake()
    S = lake.mdp.n_states
    found = float(evaluation.rewards(lake, np.full((1, S), 2), p=p, worst=np.array([worst]))[0])
    # Two sums of 100 terms of size at most 1, each term rounded at most 2·100·S times.
    rounding = 2 * 100 * 200 * S * EPS
    assert abs(found - _by_powers(100, p, worst)) <= rounding
    assert abs(found - _by_powers(10, p, worst)) > rounding


def test_monte_carlo_agrees_with_the_exact_value() -> None:
    lake = _lake()
    policy = np.full((200, lake.mdp.n_states), 2)
    sampled = evaluation.monte_carlo(lake, policy, key("test"))
    exact = float(evaluation.rewards(lake, policy)[0])
    error = sampled.mean() - exact
    # Rewards lie in [0, 1]: Hoeffding at 1e-6 for this fixed seed.
    allowed = np.sqrt(np.log(2e6) / (2 * sampled.size))
    assert abs(error) <= allowed
    assert abs(sampled.mean() - 2.0 * exact - allowed) > allowed


@pytest.mark.parametrize("inner", [False, True])
def test_the_limit_with_terminal_states_solves_its_equation(inner: bool) -> None:
    mdp, radius = _random_model(1), 0.3
    ends = np.arange(mdp.n_states) == 2
    Q, error = evaluation.limit_table(mdp, radius, ends, inner=inner)

    def residual(R: float) -> float:
        V = np.where(ends, 0.0, Q.min(axis=1))
        worst = V[~ends].max() if inner else V.max()
        backed = mdp.cost + mdp.gamma * (R * worst + (1.0 - R) * mdp.expectation(V))
        return float(abs(backed - Q)[~ends].max())

    # |TQ − Q| <= 2|Q − Q*|, and a backup over six states has at most twenty roundings of numbers below 10.
    allowed = 2.0 * error + 100 * EPS
    assert residual(radius) <= allowed
    assert residual(radius * (1.0 + 2.0**-20)) > allowed


def test_all_learners_walk_the_same_walk_and_the_recording_changes_no_bit() -> None:
    environments = control_environments(PANELS["frozenlake-a"], DEFAULT)
    times = [100, 2_000]
    together = control.learn_tables(environments, 7, times)
    for learner, found in zip(LEARNERS, together, strict=True):
        alone, walk = control.fresh(environments, learner, 7), environments.walk(7)
        for time, table in zip(times, found, strict=True):
            tabular.learn(alone, walk, time - alone.t)
            assert np.array_equal(table, alone.estimate())
    assert not np.array_equal(together, control.learn_tables(environments, 8, times))


def _by_gyms_loop(p: float) -> Any:
    """The law (S, A, reward, S) of one uniform action of Gym's loop, from Gym's own table."""
    import gymnasium

    made: Any = gymnasium.make("FrozenLake-v1").unwrapped
    S, A = len(made.P), len(made.P[0])
    law = np.zeros((S, A, 2, S))
    for s, a in np.ndindex(S, A):
        for probability, s_next, reward, _ in made.P[s][a]:
            law[s, a, int(reward)] += probability / A * p / S
            law[s, a, int(reward), s_next] += probability / A * (1.0 - p)
    return law


def test_gym_reward_walks_as_gyms_loop_does() -> None:
    panel, lake = PANELS["frozenlake-b"], environment(PANELS["frozenlake-b"], INTERPRETATIONS["gym-reward"], "episodic")
    mdp, policy = paid_as_it_moves(lake, panel.p)
    S, A = lake.mdp.cost.shape
    found = (policy[:, :, None] * mdp.P).reshape(S, A, 2, S)[~lake.terminal]
    # Probabilities below 1 that went through at most ten roundings.
    assert abs(found - _by_gyms_loop(panel.p)[~lake.terminal]).max() <= 10 * EPS
    assert abs(found - _by_gyms_loop(2 * panel.p)[~lake.terminal]).max() > 10 * EPS
    recording = control_environments(panel, INTERPRETATIONS["gym-reward"]).walk(0).record(20_000)
    assert np.array_equal(recording.cost, -(recording.a % 2.0))
    assert set(recording.s[recording.cost < 0.0].tolist()) == {14}


def test_gym_reward_reaches_the_learners() -> None:
    gym, expected = (
        control_environments(PANELS["frozenlake-c"], INTERPRETATIONS[name]) for name in ("gym-reward", "default")
    )
    robust, vanilla, shorter = control.learn_tables(gym, 0, [5_000])
    assert np.array_equal(robust, shorter)
    assert not np.array_equal(robust, vanilla)
    assert not np.array_equal(robust, control.learn_tables(expected, 0, [5_000])[0])
    # With the last step 0.8 and the last reward 1, some value of a pair at the goal is below what expectation pays.
    assert robust[0, 14].min() < -1.0 / 3.0


def test_taxi_pays_by_the_pair_alone() -> None:
    import gymnasium

    newest = max(name for name in gymnasium.registry if name.startswith("Taxi-v"))
    made: Any = gymnasium.make(newest).unwrapped
    assert all(len({gain for _, _, gain, _ in ways}) == 1 for ways in (row[a] for row in made.P.values() for a in row))


def test_gyms_pole_is_paid_for_the_step_that_falls() -> None:
    import gymnasium

    made: Any = gymnasium.make("CartPole-v1").unwrapped
    made.reset(seed=0)
    made.state = (0.0, 0.0, 0.2, 3.0)
    _, reward, fallen, *_ = made.step(0)
    assert (reward, fallen) == (1.0, True)
    pole_model = environment(PANELS["cartpole-a"], INTERPRETATIONS["gym-reward"], "continuing")
    assert (pole_model.mdp.cost == np.where(pole_model.terminal[:, None], 0.0, -1.0)).all()
    assert (environment(PANELS["cartpole-a"], DEFAULT, "continuing").mdp.cost > -1.0).any()


def test_the_drawn_start_is_that_of_the_real_pole() -> None:
    counts = np.array(DEFAULT.bins)
    reached = [pole_kernels.cell(start, LIMITS, counts) for run in range(100) for start in pole.starts(run)]
    shares = np.bincount(reached, minlength=325) / len(reached)
    law = drawn_start(DEFAULT.bins)
    # 3,000 draws: six deviations of a share of 1/4 for these fixed seeds.
    assert abs(shares - law).max() <= 6 * math.sqrt(0.25 * 0.75 / len(reached))
    assert ((shares > 0.0) == (law > 0.0)).all()
    for closure in ("continuing", "episodic"):
        made = environment(PANELS["cartpole-a"], INTERPRETATIONS["drawn-start"], closure)
        assert np.array_equal(made.initial, law)
    assert np.array_equal(made.mdp.P[made.terminal][0, 0], law)


def test_on_frozen_lake_robust_is_vanilla_at_a_shorter_horizon_bit_for_bit() -> None:
    environments = control_environments(PANELS["frozenlake-c"], DEFAULT)
    robust, vanilla, shorter = control.learn_tables(environments, 0, [5_000])
    assert np.array_equal(robust, shorter)
    assert not np.array_equal(robust, vanilla)


@pytest.mark.parametrize("name", ["default", "tdc-episodic", "vanilla-gradient"])
def test_gradients_agree_with_the_oracle(name: str) -> None:
    environments = gradient.environments_of(PANELS["tdc-c"], INTERPRETATIONS[name])
    measure = gradient.objective(environments, "robust", 0)
    theta = np.random.default_rng(3).standard_normal((5, gradient.N_FEATURES))
    found = measure.gradient(theta)
    for row, gradient_here in zip(theta, found, strict=True):
        truth = measure.problem.gradient(row)
        # The oracle's radius bounds the rounding of the same sums in any order, and its own: hence twice.
        assert abs(gradient_here - truth.value).max() <= 2.0 * truth.error_bound
        assert abs(1.001 * gradient_here - truth.value).max() > 2.0 * truth.error_bound


def _rarl(radius: float) -> Rarl:
    return Rarl(environment(PANELS["frozenlake-a"], DEFAULT, "episodic"), radius, 0.2, key("rarl test"))


def test_the_adversary_of_rarl_moves_the_agent_with_probability_radius() -> None:
    # With R = 1 the next state is the adversary's: state 0, before it has learned. No reward is ever seen there.
    always, never = _rarl(1.0), _rarl(0.0)
    for learner in (always, never):
        learner.iterate(Schedule(1, 50_000, 0))
    assert not always.Q.any()
    assert never.Q.min() < 0.0


def test_rarl_compiled_and_plain_give_the_same_bits() -> None:
    from benchmarks.experiments import kernels

    lake = environment(PANELS["frozenlake-a"], DEFAULT, "episodic")
    S, A = lake.mdp.cost.shape
    duel = kernels.Duel(
        evaluation.cumulated_rows(lake.mdp), lake.mdp.cost, lake.terminal, np.cumsum(lake.initial), 0.2, 0.9, 0.2
    )

    def tables_of(run: Any, fixed: Any, shape: tuple[int, int], *extra: Any) -> Any:
        table = np.zeros(shape)
        run(duel, fixed, table, *extra, 0, 2_000, np.random.Generator(np.random.Philox(1)))
        return table

    agent, adversary = kernels.agent_phase, kernels.adversary_phase
    plain = [getattr(kernel, "py_func", None) for kernel in (agent, adversary)]
    target = np.full(S, 14)
    assert np.array_equal(tables_of(agent, target, (S, A)), tables_of(plain[0], target, (S, A)))
    assert not np.array_equal(tables_of(agent, target, (S, A)), tables_of(agent, target - 1, (S, A)))
    best = np.zeros(S)
    policy = np.full(S, 2)
    N = tables_of(adversary, policy, (S, S), best)
    assert np.array_equal(N, tables_of(plain[1], policy, (S, S), np.zeros(S)))
    assert np.array_equal(best, N.max(axis=1))


def test_trends_compare_the_runs_of_a_figure() -> None:
    scores = {"a": 0.1, "b": 0.3, "c": 0.2}
    committed = {(run.panel, run.interpretation): run for run in results.load_results().runs}
    names = {letter: (f"taxi-{letter}", "short") for letter in scores}
    runs = {name: replace(committed[name], scores=(scores[i], scores[i] + 0.01)) for i, name in names.items()}
    growth, decline = trends(runs)
    assert (growth.figure, growth.interpretation) == ("taxi", "short")
    assert (growth.outcome, decline.outcome) == ("reproduced", "reversed")


def test_equal_policies_are_evaluated_once_and_get_their_own_values() -> None:
    lake = _lake()
    S = lake.mdp.n_states
    few = np.array([[1] * S, [2] * S, [1, 2] * (S // 2)])
    many = few[[2, 0, 1, 1, 2, 0]].reshape(2, 3, S)
    one_by_one = [float(evaluation.rewards(lake, policy[None])[0]) for policy in many.reshape(-1, S)]
    assert evaluation.rewards(lake, many).ravel().tolist() == one_by_one
    assert len(set(one_by_one)) == 3
    worst = np.array([[0, 1, 2], [0, 1, 0]])
    moved = evaluation.rewards(lake, many, p=0.2, worst=worst).ravel().tolist()
    pairs = zip(many.reshape(-1, S), worst.ravel(), strict=True)
    assert moved == [float(evaluation.rewards(lake, x[None], p=0.2, worst=np.array([w]))[0]) for x, w in pairs]


def _command(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    panels.add_parser(parser.add_subparsers())
    options = parser.parse_args(["panels", *arguments])
    return int(options.run(options))


def test_the_command_prints_the_committed_record_and_computes_it_once(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    panel, interpretation = CHEAP
    shown_progress: list[str] = []
    monkeypatch.setattr(panels, "progress", shown_progress.append)
    options = [
        "--panel",
        panel,
        "--interpretation",
        interpretation,
        "--workers",
        "1",
        "--store",
        str(tmp_path / "store"),
    ]
    assert _command("--json", *options) == HOLDS
    shown = capsys.readouterr()
    committed = results.load_results()
    (wanted,) = [run for run in committed.runs if (run.panel, run.interpretation) == CHEAP]
    assert comparable(from_data(PanelRun, json.loads(shown.out)), committed) == comparable(wanted, committed)
    assert "0 units in the store, 1 to compute" in shown_progress
    assert _command(*options) == HOLDS
    shown = capsys.readouterr()
    assert shown.out.split()[:4] == [panel, "p=0.1", "R=0.2", interpretation]
    assert "1 units in the store, 0 to compute" in shown_progress


def test_quiet_leaves_out_what_is_reproduced_and_a_budget_what_was_not_begun(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    committed = {(run.panel, run.interpretation): run for run in results.load_results().runs}
    runs = {name: committed[name] for name in (("rarl-a", "default"), ("taxi-b", "default"))}
    assert [run.outcome for run in runs.values()] == ["reproduced", "reversed"]
    monkeypatch.setattr(work, "compute", lambda choices, **options: runs)
    store = ["--store", str(tmp_path / "s")]
    assert _command(*store) == HOLDS
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 15
    assert sum("the budget was over" in line for line in lines) == 13
    assert _command(*store, "--quiet", "--json") == HOLDS
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["panel"] for record in shown] == [panel for panel in PANELS if panel != "rarl-a"]
    assert {record["outcome"] for record in shown} == {"reversed", "pending"}
    assert not any(record.get("scores") for record in shown)


def test_all_runs_are_written_or_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    committed = results.load_results()
    scored = {(run.panel, run.interpretation): replace(run, scores=(0.0, 1.0)) for run in committed.runs}
    monkeypatch.setattr(results, "FILE", tmp_path / "results.json")
    command = ["--write", "--quiet", "--store", str(tmp_path / "s")]
    monkeypatch.setattr(work, "compute", lambda choices, **options: dict(list(scored.items())[1:]))
    assert _command(*command) == HOLDS
    assert "1 panel runs are pending, so nothing is written" in capsys.readouterr().err
    assert not results.FILE.exists()
    monkeypatch.setattr(work, "compute", lambda choices, **options: scored)
    assert _command(*command) == HOLDS
    written = results.load_results(tmp_path / "results.json")
    assert written.runs == committed.runs
    assert written.made_by.code == results.present_code()
    assert results.is_current(tmp_path / "results.json")
    assert len(written.trends) == len(committed.trends)


def test_nothing_is_begun_without_time(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert _command("--panel", "taxi-a", "--budget", "0s", "--store", str(tmp_path / "s")) == HOLDS
    assert capsys.readouterr().out.split()[:5] == ["taxi-a", "p=0.1", "R=0.1", "default", "pending"]


def test_the_panels_that_shells_complete_are_the_panels() -> None:
    assert list(panels.PANELS) == list(PANELS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--panel", "taxi"], r"no panel 'taxi'; .*; did you mean 'taxi-\w'?"),
        (["--interpretation", "lucky"], "no interpretation 'lucky'"),
        (["--interpretation", "fresh-feature"], "did you mean 'fresh-features'?"),
        (["--panel", "taxi-a", "--interpretation", "varrho-1"], "is not for panel 'taxi-a'"),
        (["--panel", "taxi-a", "--write"], "leave --panel and --interpretation out"),
    ],
)
def test_wrong_names_are_refused_before_any_work(arguments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _command(*arguments)
