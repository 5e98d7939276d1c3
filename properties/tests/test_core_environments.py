"""Environments against Gymnasium itself, the perturbation against its formula, and the named models."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from oracles.planning import rational
from properties.strategies import mass
from robust_core import environments, models, streams
from robust_core.environments import Environment, cart_pole, cart_pole_step, from_toy_text, perturb
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.sets import Contamination
from robust_core.validate import EPS, Floats

gymnasium = pytest.importorskip("gymnasium", reason="the environments are compared with gymnasium's")

U = EPS / 2
INTERPRETATIONS: tuple[environments.Interpretation, ...] = ("continuing", "episodic")


def lake(slippery: bool) -> Any:
    return gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=slippery).unwrapped


def taxi() -> Any:
    newest = max(name for name in gymnasium.registry if name.startswith("Taxi-v"))
    return gymnasium.make(newest).unwrapped


CASES: dict[str, tuple[Callable[..., Environment], Callable[[], Any]]] = {
    "slippery lake": (
        lambda interpretation: environments.frozen_lake(interpretation=interpretation),
        lambda: lake(True),
    ),
    "lake": (
        lambda interpretation: environments.frozen_lake(slippery=False, interpretation=interpretation),
        lambda: lake(False),
    ),
    "taxi": (lambda interpretation: environments.taxi(interpretation=interpretation), taxi),
}


def disagreements(environment: Environment, table: Any) -> list[str]:
    """Pairs whose law, cost or terminal mark is not that of Gymnasium's table.

    Adding up k probabilities and dividing by their sum is off by (2k+2)u of each entry, an expected reward by as much
    of the sum of its terms.
    """
    mdp = environment.mdp
    P, found = mdp.P, []
    ends = {t for rows in table.values() for outcomes in rows.values() for _, t, _, done in outcomes if done}
    if set(np.flatnonzero(environment.terminal).tolist()) != ends:
        found.append("terminal states")
    for s, rows in table.items():
        for a, outcomes in rows.items():
            law: dict[int, Fraction] = {}
            reward, size = Fraction(0), Fraction(0)
            for p, t, gain, _ in outcomes:
                law[t] = law.get(t, Fraction(0)) + Fraction(p)
                reward += Fraction(p) * Fraction(gain)
                size += abs(Fraction(p) * Fraction(gain))
            if s in ends:
                closed = np.eye(len(table))[s] if environment.interpretation == "continuing" else environment.initial
                law, reward, size = {t: Fraction(float(x)) for t, x in enumerate(closed) if x}, Fraction(0), Fraction(0)
            slack = Fraction((2 * len(outcomes) + 2 + 2 * len(law)) * U)
            got = {int(t): Fraction(float(P[s, a, t])) for t in np.flatnonzero(P[s, a])}
            total = sum(law.values(), Fraction(0))
            if got.keys() != law.keys() or any(abs(got[t] - law[t] / total) > slack * law[t] for t in law):
                found.append(f"law of {s, a}")
            if abs(Fraction(float(mdp.cost[s, a])) + reward) > slack * size:
                found.append(f"cost of {s, a}")
    return found


@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
@pytest.mark.parametrize("name", CASES)
def test_tables_are_gymnasium_s(name: str, interpretation: environments.Interpretation) -> None:
    ours, theirs = CASES[name]
    made = theirs()
    environment = ours(interpretation)
    assert disagreements(environment, made.P) == []
    assert environment.initial.tolist() == list(made.initial_state_distrib)
    assert environment.interpretation == interpretation


def test_wrong_tables_are_noticed() -> None:
    table = lake(True).P
    assert disagreements(environments.frozen_lake(slippery=False), table) != []
    rewards = environments.frozen_lake()
    wrong_sign = Environment(
        "x", MDP(rewards.mdp.P, -rewards.mdp.cost, 0.95), rewards.terminal, rewards.initial, "continuing"
    )
    assert disagreements(wrong_sign, table) != []
    other = Environment("x", rewards.mdp, rewards.terminal, rewards.initial, "episodic")
    assert disagreements(other, table) != []


@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
def test_interpretations_in_walks(interpretation: environments.Interpretation) -> None:
    """Continuing: a terminal state is never left and costs nothing. Episodic: it is never left *in a report*."""
    environment = environments.frozen_lake(interpretation=interpretation)
    steps = list(environment.walk(uniform(16, 4), seed=streams.key("lake")).record(3000))
    assert steps[0].s == 0
    if interpretation == "continuing":
        first = next(i for i, step in enumerate(steps) if environment.terminal[step.s_next])
        assert not any(step.terminal for step in steps)
        assert {step.s for step in steps[first + 1 :]} == {steps[first].s_next}
        assert all(step.cost == 0.0 for step in steps[first + 1 :])
    else:
        assert not any(environment.terminal[step.s] for step in steps)
        ends = [i for i, step in enumerate(steps[:-1]) if step.terminal]
        assert len(ends) > 10
        assert all(steps[i + 1].s == 0 for i in ends)


@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
@pytest.mark.parametrize("p", [0.0, 0.1, 1.0])
def test_the_perturbation_is_its_formula(interpretation: environments.Interpretation, p: float) -> None:
    """(1−p) P + p/S in every row but the resets; four roundings and the division by a sum of S entries."""
    environment = environments.frozen_lake(interpretation=interpretation)
    after = perturb(environment, p)
    P, got = environment.mdp.P, after.mdp.P
    for s in range(16):
        for a in range(4):
            if interpretation == "episodic" and environment.terminal[s]:
                assert np.abs(got[s, a] - P[s, a]).max() <= (16 + 2) * U
                continue
            for t in range(16):
                wanted = (1 - Fraction(p)) * Fraction(float(P[s, a, t])) + Fraction(p) / 16
                assert abs(Fraction(float(got[s, a, t])) - wanted) <= Fraction((2 * 16 + 6) * U)
    assert after.mdp.cost.tobytes() == environment.mdp.cost.tobytes()
    assert after.terminal.tobytes() == environment.terminal.tobytes()
    assert environment.mdp.P.tobytes() == environments.frozen_lake(interpretation=interpretation).mdp.P.tobytes()
    if p:
        uniform_over_successors = (1 - p) * P + p * (P > 0) / (P > 0).sum(axis=-1, keepdims=True)
        assert np.abs(uniform_over_successors - got).max() > (2 * 16 + 6) * U


# ---- CartPole


def gymnasium_step(env: Any, state: Floats, action: int) -> Floats:
    env.reset(seed=0)
    env.unwrapped.state = tuple(float(x) for x in state)
    env.unwrapped.steps_beyond_terminated = None
    env.step(action)
    return np.array(env.unwrapped.state, dtype=np.float64)


def step_bound(state: Floats) -> Floats:
    """Rounding of one Euler step, per coordinate, for one implementation.

    sin and cos are within 2u; drive takes 6 operations on terms of at most D = (10 + 0.05 spin²)/1.1; spin_up is a
    quotient with numerator at most 9.8 + D, 6 more operations, and denominator at least 0.5(4/3 − 0.1/1.1) > 0.62,
    itself off by 6u of at most 0.67, so at most G = (9.8 + D)/0.62; acceleration adds 5 operations on at most D + G.
    Times 0.02, and two more.
    """
    _, speed, _, spin = np.abs(state)
    D = (10 + 0.05 * spin**2) / 1.1
    G = (9.8 + D) / 0.62
    spin_up = (2 + 6 + 6 + 7 + 2) * U * G
    acceleration = 8 * U * D + 0.05 / 1.1 * (spin_up + 7 * U * G) + 5 * U * (D + G)
    moves = np.array([0.02 * speed, 0.02 * (D + G), 0.02 * spin, 0.02 * G])
    own = 2 * U * (np.abs(state) + 2 * moves)
    return np.asarray(own + 0.02 * np.array([0.0, acceleration, 0.0, spin_up]))


def test_cart_pole_is_gymnasium_s() -> None:
    rng = np.random.default_rng(5)
    limits = np.array([2.4, 3.0, 0.2, 3.5])
    env = gymnasium.make("CartPole-v1", disable_env_checker=True)
    states = (rng.random((300, 4)) * 2 - 1) * limits
    for action in (0, 1):
        together = cart_pole_step(states, action)
        for state, batched in zip(states, together, strict=True):
            wanted = gymnasium_step(env, state, action)
            allowed = 2 * step_bound(state)
            assert (np.abs(cart_pole_step(state, action) - wanted) <= allowed).all()
            assert (np.abs(batched - wanted) <= allowed).all()
            # The other action, and a semi-implicit step (the new speeds move cart and pole), are noticed.
            assert not (np.abs(cart_pole_step(state, 1 - action) - wanted) <= allowed).all()
            semi = batched + np.array([0.02 * (batched[1] - state[1]), 0.0, 0.02 * (batched[3] - state[3]), 0.0])
            assert not (np.abs(semi - wanted) <= allowed).all()
    env.close()


def test_the_cart_pole_grid() -> None:
    """Every cell's law is the share of its points in each cell after one step, counted here one by one."""
    bins, points = (3, 2, 4, 2), 2
    environment = cart_pole(bins=bins, points=points)
    limits = np.array([2.4, 2.0, 12 * 2 * math.pi / 360, 2.5])
    n_cells = int(np.prod(bins))
    assert environment.mdp.n_states == n_cells + 1

    def cell(state: Floats) -> int:
        if abs(state[0]) > limits[0] or abs(state[2]) > limits[2]:
            return n_cells
        place = 0
        for x, limit, n in zip(state, limits, bins, strict=True):
            place = place * n + min(max(math.floor((x + limit) / (2 * limit / n)), 0), n - 1)
        return place

    rng = np.random.default_rng(3)
    for s in rng.choice(n_cells, 12, replace=False).tolist():
        corner = np.array(np.unravel_index(s, bins))
        for a in (0, 1):
            law = np.zeros(n_cells + 1)
            for offset in np.ndindex(*(points,) * 4):
                state = -limits + (corner + (np.array(offset) + 0.5) / points) * (2 * limits / np.array(bins))
                law[cell(cart_pole_step(state, a))] += 1 / points**4
            assert environment.mdp.P[s, a].tolist() == law.tolist()  # sixteenths: no rounding
            assert environment.mdp.cost[s, a] == -(1.0 - law[n_cells])
    assert environment.mdp.cost[n_cells].tolist() == [0.0, 0.0]
    assert environment.terminal.tolist() == [False] * n_cells + [True]
    assert environment.initial[cell(np.zeros(4))] == 1.0


@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
def test_the_fallen_state_follows_the_interpretation(interpretation: environments.Interpretation) -> None:
    environment = cart_pole(bins=(1, 2, 3, 2), points=1, interpretation=interpretation)
    last = environment.mdp.P[-1, 0]
    wanted = np.eye(len(last))[-1] if interpretation == "continuing" else environment.initial
    assert last.tolist() == wanted.tolist()


# ---- tables by hand

TABLE = {
    0: {0: [(0.5, 1, 1.0, False), (0.25, 1, 1.0, False), (0.25, 2, 5.0, True)]},
    1: {0: [(1.0, 0, 0.0, False)]},
    2: {0: [(1.0, 2, 7.0, True)]},
}


def test_a_table_by_hand() -> None:
    environment = from_toy_text("x", TABLE, [1.0, 0.0, 0.0], gamma=0.5, interpretation="continuing")
    assert environment.mdp.P[:, 0].tolist() == [[0.0, 0.75, 0.25], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert environment.mdp.cost[:, 0].tolist() == [-2.0, 0.0, 0.0]
    assert environment.terminal.tolist() == [False, False, True]
    episodic = from_toy_text("x", TABLE, [0.5, 0.5, 0.0], gamma=0.5, interpretation="episodic")
    assert episodic.mdp.P[2, 0].tolist() == [0.5, 0.5, 0.0]


def test_many_small_outcomes_are_one_row() -> None:
    """A hundred outcomes of 0.01 sum to 1 only within rounding of a hundred additions: still a row."""
    table = {0: {0: [(0.01, 0, 1.0, False)] * 100}}
    environment = from_toy_text("x", table, [1.0], gamma=0.5, interpretation="continuing")
    assert environment.mdp.P.tolist() == [[[1.0]]]


def changed(outcome: tuple[Any, ...]) -> dict[int, dict[int, list[tuple[Any, ...]]]]:
    return TABLE | {1: {0: [outcome]}}


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (changed((0.5, 0, 0.0, False)), {}, r"table\[1\]\[0\] .* sum to 0\.5"),
        (changed((float("nan"), 0, 0.0, False)), {}, r"table\[1\]\[0\]"),
        (changed((1.0, -1, 0.0, False)), {}, r"table\[1\]\[0\] successor"),
        (changed((1.0, 3, 0.0, False)), {}, r"table\[1\]\[0\] successor must lie in 0 … 2"),
        (changed((1.0, 0, float("inf"), False)), {}, r"table\[1\]\[0\] reward must be finite"),
        (TABLE, {"initial": [0.5, 0.0, 0.0]}, "initial sums"),
        (TABLE, {"initial": [0.0, 0.0, 1.0]}, "terminal state has positive start"),
        (TABLE, {"interpretation": "both"}, "interpretation must be"),
        (TABLE, {"gamma": 1.0}, "gamma must lie"),
    ],
)
def test_bad_tables_are_refused(table: Any, options: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"initial": [1.0, 0.0, 0.0], "gamma": 0.5, "interpretation": "continuing"} | options
    with pytest.raises(ValueError, match=message):
        from_toy_text("x", table, arguments.pop("initial"), **arguments)


def test_start_states_follow_the_start_distribution() -> None:
    """Only possible starts, and all of them; missing one in 64 fixed seeds would have had probability 2^-63."""
    table = {s: {0: [(1.0, s, 0.0, False)]} for s in range(4)}
    environment = from_toy_text("x", table, [0.5, 0.0, 0.5, 0.0], gamma=0.5, interpretation="continuing")
    starts = {environment.walk(np.ones((4, 1)), seed=streams.key(i)).step().s for i in range(64)}
    assert starts == {0, 2}


# ---- named models


def test_garnets_are_garnets() -> None:
    mdp = models.garnet(30, 3, 7, gamma=0.9, seed=streams.key("one"))
    rows = mdp.rows
    assert np.diff(rows.offsets).tolist() == [7] * 90
    assert (rows.probabilities > 0).all()
    assert (mdp.P.sum(axis=-1) == 1.0).all()
    grid = rows.probabilities * mass.DYADIC.total
    assert (grid == np.round(grid)).all()
    assert ((mdp.cost >= 0) & (mdp.cost < 1)).all()
    assert mdp == models.garnet(30, 3, 7, gamma=0.9, seed=streams.key("one"))
    assert mdp != models.garnet(30, 3, 7, gamma=0.9, seed=streams.key("two"))
    assert models.garnet(3, 1, 1, gamma=0.9).P.max(axis=-1).min() == 1.0
    assert models.garnet(1, 1, 1, gamma=0.0).n_states == 1
    for sizes in ((0, 1, 1), (3, 0, 1), (3, 1, 0), (3, 1, 4)):
        with pytest.raises(ValueError, match="must be at"):
            models.garnet(*sizes, gamma=0.5)


def test_the_classics_are_what_they_say() -> None:
    classics = (
        models.single_state(),
        models.two_states(),
        models.ring(3),
        models.river_swim(),
        models.machine_replacement(),
    )
    for mdp in classics:
        scaled = mdp.P * mass.DYADIC.total
        assert (scaled == np.round(scaled)).all(), mdp
    single = rational.solve(models.single_state(gamma=0.75), Contamination(0.5))
    assert list(single.V) == [4]
    swim = models.river_swim()
    assert rational.solve(swim, Contamination(0.0)).V[-1] < rational.solve(swim, Contamination(0.0)).V[0]
    ring = models.ring(3)
    assert np.linalg.matrix_power(ring.P[:, 0], 3).tolist() == np.eye(3).tolist()
    replaced = rational.solve(models.machine_replacement(), Contamination(0.0)).optimal_actions
    assert replaced[0] == (0,)
    assert replaced[-1] == (1,)
