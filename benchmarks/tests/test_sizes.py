"""The curve of sizes: its points, and how a new one replaces an old one."""

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.cli import sizes as command
from benchmarks.cli.conventions import HOLDS, USAGE
from benchmarks.cli.main import main
from benchmarks.speed.scale import large_model
from benchmarks.speed.set_plans import ACCURACY
from benchmarks.studies import sizes
from robust_core import TotalVariation, plan
from robust_core.sets import SETS


def test_the_curve_has_every_set_on_small_models_and_ends_at_ten_million_states() -> None:
    mdp = large_model(100, 0.9)
    kinds = {type(make(mdp)) for make in sizes.SETS.values()}
    assert {kind.kind for kind in set(SETS) - kinds} == {"restart"}  # a contamination whose restart is fixed
    assert tuple(sizes.SETS) == command.SETS
    assert {name for name, n in sizes.places() if n == 1_000} == set(sizes.SETS)
    assert {("TV", 10**7), ("KL", 10**7)} <= set(sizes.places())
    assert ("Wasserstein", 10**4) not in sizes.places()


def memory_of_a_plan(states: int) -> tuple[int, int]:
    """The most that a plan has at a time, and what its model has."""
    mdp = large_model(states, 0.99)
    parts = (mdp.rows.offsets, mdp.rows.successors, mdp.rows.probabilities, mdp.cost)
    tracemalloc.start()
    plan(mdp, TotalVariation(0.1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, sum(part.nbytes for part in parts)


def test_a_plan_adds_no_more_memory_than_its_model_takes() -> None:
    """So ten million states fit into 10 GB: their model with 32-bit successors takes 4.5 GB."""
    plan(large_model(100, 0.99), TotalVariation(0.1))  # compiles
    few, more = memory_of_a_plan(20_000), memory_of_a_plan(40_000)
    assert more[0] - few[0] <= more[1] - few[1]


def test_a_new_point_replaces_the_old_one_and_no_other() -> None:
    old = sizes.Point("TV", 100, 2.0, 1.0, 0.2, 0.1, 1e-6, 1e9, 1.0)
    other, new = replace(old, states=1_000), replace(old, plan=3.0)
    first = replace(old, set="contamination")
    renewed = sizes.Sizes((old, other)).renew(sizes.Sizes((new, first)))
    assert renewed.points == (first, new, other)


def test_the_command_measures_what_is_missing_and_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sizes, "TURNS", 1)
    output = tmp_path / "sizes.json"
    words = ["study", "sizes", "contamination", "--states", "100", "--output", str(output), "--json"]
    assert main([*words, "--store", str(tmp_path / "store")]) == HOLDS
    (line,) = capsys.readouterr().out.splitlines()
    point = json.loads(line)
    assert (point["set"], point["states"]) == ("contamination", 100)
    assert 0.0 < point["width"] <= 2 * ACCURACY
    assert [one.plan for one in sizes.load(output).points] == [point["plan"]]
    assert main([*words, "--store", str(tmp_path / "other"), "--missing"]) == HOLDS
    assert capsys.readouterr().out == ""
    assert main(["study", "sizes", "no such set"]) == USAGE
