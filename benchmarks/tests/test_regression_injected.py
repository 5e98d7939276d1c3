"""Regressions on purpose are found, each by the metrics that should see it; other seeds alone are no regression."""

import functools
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from benchmarks.regression import bench, ratios, tabular
from benchmarks.regression.compare import compared
from benchmarks.runner.units import Unit, compute
from benchmarks.studies import injected
from benchmarks.studies.defects import DEFECTS

SEEDS, LAST = 32, 2**12
Q = "robust Q-learning"


@pytest.fixture(autouse=True, scope="module")
def _short_runs() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tabular, "LAST", LAST)
        yield


@functools.cache
def side(problem: str, defect: str = "", seed_set: str = "pinned") -> dict[str, Any]:
    """All metrics of robust Q-learning on one problem, from few seeds."""
    arguments = {"variant": Q, "problem": problem, "seed_set": seed_set, "start": 0, "stop": SEEDS, "injected": defect}
    unit = Unit("benchmarks.regression.tabular:measured", arguments)
    names = tuple((name, Q, problem) for name in (*tabular.measures(Q, problem), bench.TABLE))
    cells, pending = bench.collected([bench.Job(unit, names)], {unit.key: compute(unit)})
    return {"seed_set": seed_set, "reason": "", "versions": {}, "cells": cells, "pending": pending}


def verdicts(problem: str, defect: str) -> dict[str, str]:
    found = compared(side(problem), side(problem, defect))
    return {cell["metric"]: cell["verdict"] for cell in found["cells"]}


@pytest.mark.parametrize(
    ("defect", "problem", "wanted"),
    [
        ("slower rate", "machine, per visit", {"last error": "worse", "area": "worse", "time to epsilon": "worse"}),
        ("bias 1 %", "two states, per visit", {"bias": "changed"}),
        ("larger variance", "two states, constant step", {"noise": "changed"}),
        ("start near the answer", "two states, constant step", {"first error": "changed", "area": "better"}),
        ("answer in the estimate", "two states, per visit", {"first error": "changed", "last error": "better"}),
        ("no contamination", "two states, per visit", {"bias": "changed", "last error": "worse"}),
        ("honest improvement", "two states, constant step", {"last error": "better", "area": "better"}),
    ],
)
def test_a_defect_is_found_by_what_should_see_it(defect: str, problem: str, wanted: dict[str, str]) -> None:
    found = verdicts(problem, defect)
    assert {metric: found[metric] for metric in wanted} == wanted
    assert found["table"] == "changed"


def test_an_improvement_beyond_what_is_possible_is_suspicious_and_an_honest_one_is_not() -> None:
    problem = "two states, constant step"
    leaked = compared(side(problem), side(problem, "start near the answer"))
    first = next(cell for cell in leaked["cells"] if cell["metric"] == "first error")
    assert first["suspicious"]
    assert f"of {SEEDS} values are better than the truth allows" in first["note"]
    honest = compared(side(problem), side(problem, "honest improvement"))
    better = [cell for cell in honest["cells"] if cell["verdict"] == "better"]
    assert better
    assert not any(cell["suspicious"] for cell in better)
    assert all("review" in cell["note"] for cell in better)


def test_a_defect_below_the_margin_is_equivalent_where_it_is_measured() -> None:
    assert verdicts("two states, per visit", "bias 0.125 %")["bias"] == "equivalent"


def busy(loops: int) -> int:
    return sum(i * i for i in range(loops))


@pytest.mark.parametrize(("defect", "wanted"), [("slower code", "worse"), ("", None)])
def test_slower_code_is_found_by_its_ratio(defect: str, wanted: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two loops of the same work, on the real clock."""
    name = ("time ratio", "ours over theirs", "loops")

    def contest(injected: str) -> tuple[ratios.Work, ratios.Work, float]:
        return ratios._slow(functools.partial(busy, 5000), injected), functools.partial(busy, 5000), 1.0

    monkeypatch.setattr(ratios, "contests", lambda: {name: contest})

    def measured(defect: str) -> dict[str, Any]:
        cell = dict(zip(("metric", "variant", "problem"), name, strict=True))
        values = ratios.measured(*name, seed_set="pinned", injected=defect)["values"]
        return {"seed_set": "pinned", "versions": {}, "cells": [cell | {"values": values, "impossible": 0}]}

    found = compared(measured(""), measured(defect))["verdict"]
    assert found == wanted if wanted else found not in ("worse", "better")


def test_other_seeds_are_no_regression() -> None:
    """Every pair of three seed sets: nothing is better, worse or changed but the hashes of the tables."""
    sides = [side("two states, per visit", seed_set=seed_set) for seed_set in injected.seed_sets(3)]
    comparisons = [compared(*pair) for pair in combinations(sides, 2)]
    assert sum(map(injected.alarms, comparisons)) == 0
    assert not any(found["paired"] for found in comparisons)
    # The control can fail: whoever compares the estimates alone with the margins raises false alarms.
    estimates = [cell for found in comparisons for cell in found["cells"] if cell["kind"] == "statistical"]
    assert any(abs(cell["effect"]) > cell["margin"] for cell in estimates)


def test_the_table_of_defects_says_by_what_each_was_found() -> None:
    problem = "two states, per visit"
    found = compared(side(problem), side(problem, "bias 1 %"))
    line = injected.row("bias 1 %", [found])
    assert line.startswith("| bias 1 % | targets 1 % too high | 1/1 | ")
    assert "*changed*: bias (1)" in line


def test_only_the_cells_of_a_defect_are_measured_again() -> None:
    asked: list[tuple[str, str]] = []

    def measure(*, seed_set: str, only: str, injected: str) -> dict[str, Any]:
        asked.append((only, injected))
        return {"cells": [{"metric": "area", "variant": Q, "problem": "p", "values": [2.0], "impossible": 0}]}

    right = {"metric": "area", "variant": Q, "problem": "p", "values": [1.0], "impossible": 0}
    other = right | {"variant": "robust SARSA"}
    found = injected.with_defect("bias 1 %", "pinned", {"seed_set": "pinned", "cells": [right, other]}, measure)
    assert asked == [(f"/ {Q} /", "bias 1 %")]
    assert [cell["values"] for cell in found["cells"]] == [[2.0], [1.0]]
    assert all(DEFECTS[name].text for name in DEFECTS)
