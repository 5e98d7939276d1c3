"""The panels: their numbers can be had again, their parts agree with independent computations, the rule is the rule."""

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from benchmarks import cli_experiments
from benchmarks.cli_conventions import HOLDS
from benchmarks.experiments import control, evaluation, gradient, pole, pole_kernels, results, tables
from benchmarks.experiments.divergence import judged_divergence
from benchmarks.experiments.learners.rarl import Rarl, Schedule
from benchmarks.experiments.outcome import (
    LEVEL,
    MUCH_REWARD,
    REDRAWN,
    judged,
    lowest_rank,
    misses,
    outcome,
    spread_scores,
)
from benchmarks.experiments.panels import PANELS, record, trends
from benchmarks.experiments.readings import DEFAULT, READINGS, of_figure
from benchmarks.experiments.setting import LIMITS, control_setting, drawn_start, environment, paid_as_it_moves
from properties.statistics import intervals
from properties.tests.corruption import as_json, fuzz, survived
from robust_core import key, runs
from robust_core.mdp import MDP
from robust_core.validate import EPS

CHEAP = ("frozenlake-c", "short")


@pytest.fixture(scope="module")
def committed() -> dict[tuple[str, str], Any]:
    records, _ = results.load()
    return {(made["panel"], made["reading"]): made for made in records}


def _plain(made: dict[str, Any]) -> Any:
    return json.loads(json.dumps({name: value for name, value in made.items() if name != "scores"}))


def test_a_panel_recomputes_to_the_committed_numbers_bit_for_bit(committed: dict[tuple[str, str], Any]) -> None:
    panel, reading = CHEAP
    assert _plain(record(PANELS[panel], READINGS[reading])) == committed[CHEAP]
    assert _plain(record(PANELS[panel], READINGS[reading], runs=99)) != committed[CHEAP]


def test_every_panel_has_a_record_for_every_reading_that_matters(committed: dict[tuple[str, str], Any]) -> None:
    assert len(PANELS) == 15
    assert set(committed) == {(p.id, r.name) for p in PANELS.values() for r in of_figure(p.figure)}


def test_committed_outcomes_follow_from_committed_intervals(committed: dict[tuple[str, str], Any]) -> None:
    for made in committed.values():
        assert made["outcome"] == made["claims"][0]["outcome"]
        for claim in made["claims"]:
            low, high = claim["interval"]
            assert claim["outcome"] == outcome(low, high, claim["much"]), (made["panel"], claim)
            least, most = claim["median interval"]
            ends = (-math.inf if least is None else least, math.inf if most is None else most)
            assert claim["outcome by median"] == outcome(*ends, claim["much"]), (made["panel"], claim)


def test_what_a_plot_needs_is_there(committed: dict[tuple[str, str], Any]) -> None:
    for panel in PANELS:
        made = committed[panel, "default"]
        assert {"robust", "rarl" if panel.startswith("rarl") else "vanilla"} <= set(made["curves"])
        for curve in made["curves"].values():
            assert len(curve["mean"]) == len(curve["low"]) == len(curve["high"]) == len(made["times"])
            assert all(low <= high for low, high in zip(curve["low"], curve["high"], strict=True))


def test_students_intervals_err_as_often_as_they_say(committed: dict[tuple[str, str], Any]) -> None:
    for panel in PANELS:
        # 20,000 intervals that each miss with probability 0.001 miss at most 40 times in all, but for 6e-5 (Poisson).
        assert committed[panel, "default"]["student misses"] <= 40 / REDRAWN, panel
    rare = np.zeros(400)
    rare[0] = 1.0  # a mean that hangs on one run in 400: Student's interval misses it whenever that run is not drawn
    assert misses(rare) > 0.3


def test_the_interval_of_the_median_is_that_of_the_statistics() -> None:
    for n in (1, 2, 9, 10, 30, 100, 399, 400):
        found = intervals.median(np.arange(float(n)), alpha=1.0 - LEVEL)
        rank = lowest_rank(n)
        assert (found.lower, found.upper) == ((-math.inf, math.inf) if rank is None else (rank, n - 1 - rank))


def test_results_know_whether_the_present_code_made_them(tmp_path: Path) -> None:
    made = results.load_all()
    for code, same in ((results.present_code(), True), ("0" * 32, False)):
        path = tmp_path / f"{code}.json"
        path.write_text(results.dumps({**made, "made by": made["made by"] | {"code": code}}), encoding="utf-8")
        assert results.made_by_present_code(path) is same
        assert results.codes(path) == (code[: results.SHORT], results.present_code()[: results.SHORT])


def _sample() -> dict[str, Any]:
    """Records of every shape that a results file has, with short curves."""
    cells = {("taxi-a", "default"), ("tdc-c", "default"), ("tdc-c", "fresh-features"), ("cartpole-a", "real-dynamics")}
    cells |= {("taxi-a", "short"), ("rarl-a", "default")}
    made = results.load_all()
    kept = [json.loads(json.dumps(one)) for one in made["records"] if (one["panel"], one["reading"]) in cells]
    for one in kept:
        if "times" in one:
            del one["times"][2:]
            for line in (line for curve in one["curves"].values() for line in curve.values()):
                del line[2:]
    trends_kept = [trend for trend in made["trends"] if trend["figure"] == "taxi"][:4]
    return {"made by": made["made by"] | {"records": len(kept)}, "records": kept, "trends": trends_kept}


def test_malformed_results_are_refused_in_one_line_and_the_others_can_be_rendered(tmp_path: Path) -> None:
    complaints: list[str] = []

    def rendered(path: Path) -> object:
        try:
            made = results.load_all(path)
        except ValueError as error:
            complaints.append(str(error))
            raise
        return tables.document(made).encode()

    survived(_sample(), as_json, rendered, tmp_path / "results.json", 600)
    assert [text for text in complaints if not text.isprintable()] == [], "more than a line, or it steers the terminal"
    with pytest.raises(AssertionError):
        fuzz(_sample(), as_json, lambda path: json.loads(path.read_bytes())["records"], tmp_path / "other.json", 200)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda made: made.pop("trends"), "lacks the field 'trends'"),
        (lambda made: made["records"].append(made["records"][0]), "must be the number of records"),
        (lambda made: made["records"][0].update(outcome="reproduced"), "must be that of the first claim"),
        (lambda made: made["records"][0]["claims"][0].update(outcome="reproduced"), "must be what the rule says"),
        (lambda made: made["records"][0]["claims"][0].update(effect=9.0), "around the effect"),
        (lambda made: made["records"][0].update(p=0.2), "that of the panel, 0.1"),
        (lambda made: made["records"][1]["curves"]["robust"]["low"].pop(), "a list of 2 values"),
    ],
)
def test_what_is_wrong_with_results_is_said(spoil: Any, message: str, tmp_path: Path) -> None:
    made, path = _sample(), tmp_path / "results.json"
    path.write_bytes(as_json(made))
    results.load(path)
    spoil(made)
    path.write_bytes(as_json(made))
    with pytest.raises(ValueError, match=message):
        results.load(path)


def _reordered(value: Any) -> Any:
    """The same JSON value with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: _reordered(member) for name, member in reversed(value.items())}
    return [_reordered(member) for member in value] if isinstance(value, list) else value


def test_the_document_does_not_hang_on_the_order_of_keys() -> None:
    made = results.load_all()
    assert tables.document(_reordered(made)) == tables.document(made)


def test_the_stability_of_tdc_stands_in_its_own_columns(committed: dict[tuple[str, str], Any]) -> None:
    head, _, *rows = (line for line in tables._tdc_values({"tdc-a": committed["tdc-a", "default"]}).splitlines()[2:])
    shown = dict(zip(head.split(" | "), rows[0].split(" | "), strict=True))
    found = gradient.stability(gradient.setting_of(PANELS["tdc-a"], DEFAULT))
    assert shown["β max‖φ‖²"] == tables.number(found["beta max |phi|^2"])
    assert shown["λ (C)"] == tables.number(found["smallest eigenvalue of C"])
    # Five features below 1 and beta = 0.5.
    assert 0.0 < float(shown["β max‖φ‖²"]) < 2.5


def test_the_size_of_an_effect_stands_beside_its_word(committed: dict[tuple[str, str], Any]) -> None:
    text = tables.document(results.load_all())
    for panel in PANELS:
        made = committed[panel, "default"]
        assert f"**{made['outcome']}**, {tables.size(made)} | {tables.effect(made['claims'][0])}" in text
    for panel in ("tdc-a", "tdc-b", "tdc-c"):
        assert tables.effect(committed[panel, "fresh-features"]["claims"][0]) in tables._overview([*committed.values()])


@pytest.mark.parametrize(
    ("vanilla", "robust", "wanted"),
    [
        (60, 0, "reproduced"),
        (60, 1, "direction only"),
        (1, 0, "not reproduced"),
        (0, 0, "not reproduced"),
        (0, 100, "reversed"),
    ],
)
def test_divergence_is_judged_by_its_counts(vanilla: int, robust: int, wanted: str) -> None:
    made = {"claims": [{"runs": 100}], "diverged": {"vanilla": vanilla, "robust": robust, "shorter horizon": 0}}
    assert judged_divergence(made)["outcome"] == wanted


def test_the_results_file_is_written_as_it_is_read() -> None:
    assert results.dumps(results.load_all()) == results.FILE.read_text(encoding="utf-8")


@pytest.mark.skipif(not tables.DOCUMENT.parent.exists(), reason="the document belongs to the source tree")
def test_the_document_is_up_to_date() -> None:
    made = results.load_all()
    text = tables.DOCUMENT.read_text(encoding="utf-8")
    assert text == tables.document(made), "run: python -m benchmarks.experiments --render"
    first, *others = made["records"]
    turned = first | {"outcome": "reproduced" if first["outcome"] != "reproduced" else "reversed"}
    assert text != tables.document({**made, "records": [turned, *others]})


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
    assert judged("", scores, MUCH_REWARD)["outcome"] == "reproduced"
    assert judged("", -scores, MUCH_REWARD)["outcome"] == "reversed"
    assert judged("", np.zeros(100), MUCH_REWARD)["outcome"] == "not reproduced"


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

    assert residual(radius) <= 2.0 * error + 100 * EPS
    assert residual(0.25) > 1e6 * error


def test_all_learners_walk_the_same_walk_and_the_recording_changes_no_bit() -> None:
    setting = control_setting(PANELS["frozenlake-a"], DEFAULT)
    times = [100, 2_000]
    together = control.learned(setting, 7, times)
    for learner, found in zip(control.LEARNERS, together, strict=True):
        alone = runs.snapshots(control.fresh(setting, learner, 7), setting.walk(7), times)
        assert np.array_equal(found, alone)
    assert not np.array_equal(together, control.learned(setting, 8, times))


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
    panel, lake = PANELS["frozenlake-b"], environment(PANELS["frozenlake-b"], READINGS["gym-reward"], "episodic")
    mdp, policy = paid_as_it_moves(lake, panel.p)
    S, A = lake.mdp.cost.shape
    found = (policy[:, :, None] * mdp.P).reshape(S, A, 2, S)[~lake.terminal]
    # Probabilities below 1 that went through at most ten roundings.
    assert abs(found - _by_gyms_loop(panel.p)[~lake.terminal]).max() <= 10 * EPS
    assert abs(found - _by_gyms_loop(2 * panel.p)[~lake.terminal]).max() > 10 * EPS
    recording = control_setting(panel, READINGS["gym-reward"]).walk(0).record(20_000)
    assert np.array_equal(recording.cost, -(recording.a % 2.0))
    assert set(recording.s[recording.cost < 0.0].tolist()) == {14}


def test_gym_reward_reaches_the_learners() -> None:
    gym, expected = (control_setting(PANELS["frozenlake-c"], READINGS[name]) for name in ("gym-reward", "default"))
    robust, vanilla, shorter = control.learned(gym, 0, [5_000])
    assert np.array_equal(robust, shorter)
    assert not np.array_equal(robust, vanilla)
    assert not np.array_equal(robust, control.learned(expected, 0, [5_000])[0])
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
    pole_model = environment(PANELS["cartpole-a"], READINGS["gym-reward"], "continuing")
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
        made = environment(PANELS["cartpole-a"], READINGS["drawn-start"], closure)
        assert np.array_equal(made.initial, law)
    assert np.array_equal(made.mdp.P[made.terminal][0, 0], law)


def test_on_frozen_lake_robust_is_vanilla_at_a_shorter_horizon_bit_for_bit() -> None:
    setting = control_setting(PANELS["frozenlake-c"], DEFAULT)
    robust, vanilla, shorter = control.learned(setting, 0, [5_000])
    assert np.array_equal(robust, shorter)
    assert not np.array_equal(robust, vanilla)


@pytest.mark.parametrize("name", ["default", "tdc-episodic", "vanilla-gradient"])
def test_gradients_agree_with_the_oracle(name: str) -> None:
    setting = gradient.setting_of(PANELS["tdc-c"], READINGS[name])
    measure = gradient.objective(setting, "robust", 0)
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
    common = (evaluation.cumulated_rows(lake.mdp), lake.mdp.cost, lake.terminal, np.cumsum(lake.initial), 0.2, 0.9, 0.2)

    def tables_of(run: Any, fixed: Any, shape: tuple[int, int], *extra: Any) -> Any:
        table = np.zeros(shape)
        run(*common, fixed, table, *extra, 0, 2_000, np.random.Generator(np.random.Philox(1)))
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
    made = {(f"taxi-{letter}", "short"): {"scores": [score, score + 0.01]} for letter, score in scores.items()}
    grown, shrunk = trends(made)
    assert (grown["figure"], grown["reading"]) == ("taxi", "short")
    assert (grown["outcome"], shrunk["outcome"]) == ("reproduced", "reversed")


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


def _moved(state: Any, action: int) -> Any:
    found = np.array(state, dtype=float)
    pole_kernels.step(found, action)
    return found


def test_the_real_pole_moves_as_gymnasium_moves_it() -> None:
    import gymnasium

    made: Any = gymnasium.make("CartPole-v1").unwrapped
    made.reset(seed=0)
    for state in np.random.default_rng(0).uniform(-0.15, 0.15, (50, 4)):
        for action in (0, 1):
            made.state = tuple(state)
            made.step(action)
            found = np.array(made.state)
            # Some twenty operations on numbers of size below 20, in another order.
            rounding = 20 * 20 * EPS
            assert abs(_moved(state, action) - found).max() <= rounding
            assert abs(_moved(state, 1 - action) - found).max() > rounding


def test_the_cells_of_the_real_pole_are_those_of_the_model() -> None:
    """The model's rows are made of 4⁴ points in every cell: the compiled step and cell must count the same."""
    pole_model = environment(PANELS["cartpole-a"], DEFAULT, "continuing").mdp
    counts, points = np.array(DEFAULT.bins), 4
    corners = np.stack(np.meshgrid(*[(np.arange(points) + 0.5) / points] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    places = np.stack(np.unravel_index(np.arange(counts.prod()), counts), axis=-1)
    for s in (0, 100, 163, 323):
        states = -LIMITS + (places[s] + corners) * (2 * LIMITS / counts)
        assert {pole_kernels.cell(state, LIMITS, counts) for state in states} == {s}
        for a in (0, 1):
            reached = [pole_kernels.cell(_moved(state, a), LIMITS, counts) for state in states]
            found = np.bincount(reached, minlength=counts.prod() + 1) / len(reached)
            assert np.array_equal(found, pole_model.P[s, a])
            assert not np.array_equal(found, pole_model.P[s, 1 - a])


def test_the_real_pole_jumps_as_often_as_told_and_everywhere() -> None:
    setting = control_setting(PANELS["cartpole-a"], READINGS["real-dynamics"])
    walk = pole.PoleWalk(setting, 0)
    walk.p = 1.0
    recording = walk.record(200_000)
    counts = np.bincount(recording.s_next, minlength=325)
    # Each of the 325 counts is binomial with mean 615 and deviation 25: six deviations for this fixed seed.
    assert abs(counts - 200_000 / 325).max() <= 6 * math.sqrt(200_000 / 325)
    assert np.array_equal(recording.terminal, recording.s_next == 324)
    walk.p = 0.0
    assert np.bincount(walk.record(200_000).s_next, minlength=325).max() > 1.1 * 200_000 / 325


def test_the_reward_of_a_policy_on_the_real_pole_stops_at_the_fall() -> None:
    setting = control_setting(PANELS["cartpole-a"], READINGS["real-dynamics"])
    left = np.zeros((1, 325), dtype=np.int64)
    (found,) = pole.rewards(setting, left, 0)
    gains = []
    for start in pole.starts(0):
        state, steps = start, 0
        while (state := _moved(state, 0)) is not None and pole_kernels.cell(
            state, LIMITS, np.array((3, 3, 6, 6))
        ) < 324:
            steps += 1
        gains.append(sum(0.95**t for t in range(steps)))
    assert abs(found - np.mean(gains)) <= 100 * EPS * 20
    assert abs(found - np.mean(gains) - 1.0) > 0.5


def _command(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    cli_experiments.add_parser(parser.add_subparsers())
    options = parser.parse_args(["panels", *arguments])
    return int(options.run(options))


def test_the_command_prints_the_committed_record_and_computes_it_once(
    committed: dict[tuple[str, str], Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    panel, reading = CHEAP
    shown_progress: list[str] = []
    monkeypatch.setattr(cli_experiments, "one_line", shown_progress.append)
    options = ["--panel", panel, "--reading", reading, "--workers", "1", "--store", str(tmp_path / "store")]
    assert _command("--json", *options) == HOLDS
    shown = capsys.readouterr()
    assert json.loads(shown.out) == committed[CHEAP]
    assert "0 units in the store, 1 to compute" in shown_progress
    assert _command(*options) == HOLDS
    shown = capsys.readouterr()
    assert shown.out.split()[:4] == [panel, "p=0.1", "R=0.2", reading]
    assert "1 units in the store, 0 to compute" in shown_progress


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--panel", "pong-a"], "no panel 'pong-a'"),
        (["--reading", "lucky"], "no reading 'lucky'"),
        (["--panel", "taxi-a", "--reading", "varrho-1"], "is not for panel 'taxi-a'"),
    ],
)
def test_wrong_names_are_refused_before_any_work(arguments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _command(*arguments)
