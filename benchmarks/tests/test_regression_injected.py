"""Regressions on purpose are found, each by the metrics that should see it; other seeds alone are no regression."""

import functools
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cli.conventions import HOLDS, USAGE, VIOLATED
from benchmarks.cli.main import main
from benchmarks.regression import bench, ratios, tabular
from benchmarks.regression.compare import compare
from benchmarks.regression.defects import DEFECTS
from benchmarks.regression.measures import Measurements, Part, Sample
from benchmarks.runner.units import Unit, compute
from benchmarks.studies import injected
from robust_core.json import from_data

SEEDS, LAST = 32, 2**12
Q = "robust Q-learning"


@pytest.fixture(autouse=True, scope="module")
def _short_runs() -> Iterator[None]:
    """The sizes of the committed baseline, but for the last step."""
    last = tabular.FULL.last
    object.__setattr__(tabular.FULL, "last", LAST)
    yield
    object.__setattr__(tabular.FULL, "last", last)


@functools.cache
def side(problem: str, defect: str = "", seed_set: str = "pinned") -> Measurements:
    """All metrics of robust Q-learning on one problem, from few seeds."""
    arguments = {"variant": Q, "problem": problem, "seed_set": seed_set, "start": 0, "stop": SEEDS, "injected": defect}
    unit = Unit("benchmarks.regression.tabular:measure", arguments)
    names = tuple((name, Q, problem) for name in (*tabular.metrics_of(Q, problem), tabular.TABLE))
    measures, _ = bench.collect([bench.Job(unit, names)], {unit.key: compute(unit)})
    return Measurements(seed_set, {}, tuple(measures))


def verdicts(problem: str, defect: str) -> dict[str, str]:
    found = compare(side(problem), side(problem, defect))
    return {row.metric: row.verdict for row in found.rows}


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
    leaked = compare(side(problem), side(problem, "start near the answer"))
    first = next(row for row in leaked.rows if row.metric == "first error")
    assert first.suspicious
    assert f"of {SEEDS} values are better than the truth allows" in first.note
    honest = compare(side(problem), side(problem, "honest improvement"))
    better = [row for row in honest.rows if row.verdict == "better"]
    assert better
    assert not any(row.suspicious for row in better)
    assert all("review" in row.note for row in better)


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

    def measure(defect: str) -> Measurements:
        part = from_data(Part, ratios.measure(*name, seed_set="pinned", injected=defect))
        return Measurements("pinned", {}, (Sample(*name, part.samples[name[0]], 0),))

    found = compare(measure(""), measure(defect)).verdict
    assert found == wanted if wanted else found not in ("worse", "better")


def test_other_seeds_are_no_regression() -> None:
    """Every pair of three seed sets: nothing is better, worse or changed but the hashes of the tables."""
    sides = [side("two states, per visit", seed_set=seed_set) for seed_set in injected.seed_sets(3)]
    comparisons = [compare(*pair) for pair in combinations(sides, 2)]
    assert sum(map(injected.alarms, comparisons)) == 0
    assert not any(found.paired for found in comparisons)
    # The control can fail: whoever compares the estimates alone with the margins raises false alarms.
    rows = [row for found in comparisons for row in found.rows if row.kind == "statistical"]
    assert any(row.effect is not None and abs(row.effect) > row.margin for row in rows)


def test_the_table_of_defects_says_by_what_each_was_found() -> None:
    problem = "two states, per visit"
    found = compare(side(problem), side(problem, "bias 1 %"))
    finding = injected.summarize("bias 1 %", [found])
    assert finding.row()[:3] == ["bias 1 %", "targets 1 % too high", "1/1"]
    assert "*changed*: bias (1)" in finding.by


def test_only_the_measures_of_a_defect_are_measured_again() -> None:
    asked: list[tuple[str, str]] = []

    def measure(*, seed_set: str, only: str, injected: str) -> Measurements:
        asked.append((only, injected))
        return Measurements(seed_set, {}, (Sample("area", Q, "p", (2.0,), 0),))

    right, other = (Sample("area", variant, "p", (1.0,), 0) for variant in (Q, "robust SARSA"))
    found = injected.with_defect("bias 1 %", Measurements("pinned", {}, (right, other)), measure)
    assert asked == [(f"/ {Q} /", "bias 1 %")]
    assert found.measures == (Sample("area", Q, "p", (2.0,), 0), other)
    assert all(DEFECTS[name].text for name in DEFECTS)


@pytest.mark.parametrize(("factor", "code"), [(2.0, HOLDS), (1.0, VIOLATED)])
def test_the_command_fails_if_a_defect_is_missed(
    factor: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = tuple(1.0 + i / 100 for i in range(96))

    def measure(*, seed_set: str, only: str = "", injected: str = "", **options: Any) -> Measurements:
        found = tuple((factor if injected else 1.0) * value for value in values)
        return Measurements(seed_set, {}, (Sample("area", Q, "p", found, 0),))

    monkeypatch.setattr(bench, "bench", measure)
    command = ["study", "injected", "bias 1 %", "--store", str(tmp_path / "s"), "--seed-sets", "2"]
    assert main(command) == code
    shown = capsys.readouterr().out.splitlines()
    assert shown[2].startswith(f"| bias 1 % | targets 1 % too high | {2 if code == HOLDS else 0}/2 |")
    assert shown[3] == (
        "pinned against injected 1, no defect: 0 false alarms (0 worse, 0 changed, 0 undecided, 0 better, 1 equivalent)"
    )
    assert main([*command, "--quiet"]) == code
    assert (capsys.readouterr().out == "") == (code == HOLDS)
    assert main(["study", "injected", "no such defect"]) == USAGE
