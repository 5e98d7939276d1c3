"""Published instances: the rules against Gymnasium's tables, the published number of sweeps, and the lint."""

import numpy as np
import pytest

from benchmarks.cli import instances as command
from benchmarks.cli.main import main
from benchmarks.instances import rules, solution


@pytest.mark.parametrize(("make", "name"), [(rules.taxi, "Taxi"), (rules.frozen_lake, "FrozenLake")])
def test_rules_give_the_tables_of_gymnasium(make: object, name: str) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    options = {"map_name": "8x8", "is_slippery": True} if name == "FrozenLake" else {}
    newest = max(key for key in gymnasium.registry if key.startswith(f"{name}-v"))
    table = gymnasium.make(newest, **options).unwrapped.P
    outcomes = make().outcomes  # type: ignore[operator]
    for s, a in np.ndindex(outcomes.n_states, outcomes.n_actions):
        mass, reward = np.zeros(outcomes.n_states), np.zeros(outcomes.n_states)
        for p, j, r, _ in table[s][a]:
            mass[j] += p
            reward[j] = r
        row = s * outcomes.n_actions + a
        part = slice(outcomes.offsets[row], outcomes.offsets[row + 1])
        places = outcomes.successors[part]
        assert np.abs(mass[places] - outcomes.probabilities[part]).max() <= 1e-15
        assert mass.sum() - mass[places].sum() <= 1e-15
        assert (outcomes.costs[part] == -reward[places]).all()


def test_taxi_takes_the_published_number_of_sweeps() -> None:
    found = solution.solve(rules.taxi(), 0.20)
    assert found.sweeps == found.published == 914
    assert found.width <= 2.0 * solution.ACCURACY * 1.01
    assert abs(found.certified_least - 67.61430) <= 1e-5
    assert 0.005 < found.error <= 99.0 * 1e-4  # what the published stopping rule leaves


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("budget", [0.05, 0.10])
def test_taxi_takes_the_published_number_of_sweeps_for_other_budgets(budget: float) -> None:
    assert solution.solve(rules.taxi(), budget).same


def test_the_lint_says_what_is_odd() -> None:
    odd = {name: {oddity.what for oddity in solution.lint(rules.INSTANCES[name]())} for name in command.NAMES}
    assert odd["taxi"] == {"rewards outside the support", "dropped terminal flags", "stopping rule"}
    assert "dropped terminal flags" not in odd["frozen-lake"] | odd["blackjack"] | odd["riverswim"]


def test_the_command_names_the_instances_and_refuses_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert tuple(rules.INSTANCES) == command.NAMES
    assert main(["instances", "cartpole"]) == 2
    assert "no instance 'cartpole'; there are taxi" in capsys.readouterr().err
    assert main(["instances", "riverswim", "--json"]) == 0
    assert capsys.readouterr().out.count('"budget"') == len(solution.BUDGETS)
