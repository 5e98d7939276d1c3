"""The committed results of the panels: they can be had again, are checked when read, and make the document."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from benchmarks.documents import experiments
from benchmarks.experiments import gradient, results
from benchmarks.experiments.divergence import judge_divergence
from benchmarks.experiments.interpretations import DEFAULT, INTERPRETATIONS, of_figure
from benchmarks.experiments.outcome import LEVEL, REDRAWN, lowest_rank, misses
from benchmarks.experiments.panels import run_panel
from benchmarks.experiments.paper import PANELS
from benchmarks.experiments.records import PanelRun
from benchmarks.tests.committed import CHEAP, comparable
from properties.statistics import intervals
from properties.tests.corruption import as_json, fuzz, survived
from robust_core.json import from_data, loads

Runs = dict[tuple[str, str], PanelRun]


@pytest.fixture(scope="module")
def committed() -> Runs:
    return {(run.panel, run.interpretation): run for run in results.load_results().runs}


def test_a_panel_recomputes_to_the_committed_numbers_bit_for_bit(committed: Runs) -> None:
    panel, interpretation = PANELS[CHEAP[0]], INTERPRETATIONS[CHEAP[1]]
    stored = results.load_results()
    assert comparable(run_panel(panel, interpretation), stored) == comparable(committed[CHEAP], stored)
    assert run_panel(panel, interpretation, runs=99).claims != committed[CHEAP].claims


def test_every_panel_has_a_record_for_every_interpretation_that_matters(committed: Runs) -> None:
    assert len(PANELS) == 15
    assert set(committed) == {(p.id, r.name) for p in PANELS.values() for r in of_figure(p.figure)}


def test_what_a_plot_needs_is_there(committed: Runs) -> None:
    for panel in PANELS:
        curves = committed[panel, "default"].curves
        assert curves is not None
        assert {"robust", "rarl" if panel.startswith("rarl") else "vanilla"} <= set(curves)
        for curve in curves.values():
            assert all(low <= high for low, high in zip(curve.low, curve.high, strict=True))


def test_students_intervals_err_as_often_as_they_say(committed: Runs) -> None:
    for panel in PANELS:
        # 20,000 intervals that each miss with probability 0.001 miss at most 40 times in all, but for 3e-5 (Poisson).
        missed = committed[panel, "default"].student_misses
        assert missed is not None
        assert missed <= 40 / REDRAWN, panel
    rare = np.zeros(400)
    rare[0] = 1.0  # a mean that hangs on one run in 400: Student's interval misses it whenever that run is not drawn
    undrawn = (1.0 - 1.0 / 400) ** 400
    # Six standard deviations below that share, for these fixed draws.
    assert misses(rare) >= undrawn - 6.0 * math.sqrt(undrawn * (1.0 - undrawn) / REDRAWN)


def test_the_interval_of_the_median_is_that_of_the_statistics() -> None:
    for n in (1, 2, 9, 10, 30, 100, 399, 400):
        found = intervals.median(np.arange(float(n)), alpha=1.0 - LEVEL)
        rank = lowest_rank(n)
        assert (found.lower, found.upper) == ((-math.inf, math.inf) if rank is None else (rank, n - 1 - rank))


def test_results_know_whether_the_present_code_made_them(tmp_path: Path) -> None:
    stored = results.load_results()
    for code, same in ((results.present_code(), True), ("0" * 32, False)):
        path = tmp_path / f"{code}.json"
        changed = replace(stored, made_by=replace(stored.made_by, code=code))
        path.write_text(results.text(changed), encoding="utf-8")
        assert results.is_current(path) is same
        assert results.codes(path) == (code[: results.SHORT], results.present_code()[: results.SHORT])


def _sample() -> dict[str, Any]:
    """The data of runs of every shape that a results file has, with short curves."""
    names = {("taxi-a", "default"), ("tdc-c", "default"), ("tdc-c", "fresh-features"), ("cartpole-a", "real-dynamics")}
    names |= {("taxi-a", "short"), ("rarl-a", "default")}
    data: dict[str, Any] = loads(results.FILE.read_text(encoding="utf-8"))
    runs = [run for run in data["runs"] if (run["panel"], run["interpretation"]) in names]
    for run in runs:
        if "times" in run:
            del run["times"][2:]
            for line in (line for curve in run["curves"].values() for line in curve.values()):
                del line[2:]
    data["made_by"]["runs"] = len(runs)
    return data | {"runs": runs, "trends": [trend for trend in data["trends"] if trend["figure"] == "taxi"][:4]}


def test_malformed_results_are_refused_in_one_line_and_the_others_can_be_rendered(tmp_path: Path) -> None:
    complaints: list[str] = []

    def rendered(path: Path) -> object:
        try:
            found = results.load_results(path)
        except ValueError as error:
            complaints.append(str(error))
            raise
        return experiments.render(found).encode()

    survived(_sample(), as_json, rendered, tmp_path / "results.json", 600)
    assert [text for text in complaints if not text.isprintable()] == [], "more than a line, or it steers the terminal"
    with pytest.raises(AssertionError):
        fuzz(_sample(), as_json, lambda path: json.loads(path.read_bytes())["runs"], tmp_path / "other.json", 200)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: data.pop("trends"), "lacks the field 'trends'"),
        (lambda data: data.pop("format"), "got 'a file without a format', which another version wrote: write it again"),
        (lambda data: data["runs"].append(data["runs"][0]), "must be the number of runs"),
        (lambda data: data["runs"][0].update(outcome="reproduced"), "runs.0.: outcome must be that of the first claim"),
        (lambda data: data["runs"][0].update(outcome="good"), "runs.0., outcome must be one of 'reproduced'"),
        (
            lambda data: data["runs"][0]["claims"][1].update(outcome="reproduced"),
            "runs.0., claims.1.: outcome must be the outcome that the rule gives for the interval",
        ),
        (lambda data: data["runs"][0]["claims"][0].update(effect=9.0), "interval must be around the effect, 9.0"),
        (lambda data: data["runs"][0]["claims"][0].update(even=7), "runs must be in_favour [+] even [+] against"),
        (lambda data: data["runs"][0].update(p=0.2), "p must be that of the panel, 0.1, got 0.2"),
        (lambda data: data["runs"][0].update(interpretation="varrho-1", panel="taxi-a"), "must be one of taxi, got"),
        (lambda data: data["runs"][0].update(panel="pong-a"), "panel must be one of frozenlake-a, .*, got 'pong-a'"),
        (lambda data: data["runs"][0]["values"].pop("robust"), "values must have exactly robust, "),
        (lambda data: _of(data, "tdc-c").pop("stability"), "lacks the field 'stability'"),
        (lambda data: _of(data, "tdc-c")["diverged"].update(robust=401), "at most the number of runs, 400, got 401"),
        (lambda data: _of(data, "taxi-a").update(diverged={}), "has an unknown field 'diverged'"),
        (lambda data: _of(data, "taxi-a")["curves"]["robust"]["low"].pop(), "curves, robust must be that of times, 2"),
        (lambda data: data["trends"][0].update(interpretation="varrho-1"), "interpretation must be one of taxi"),
    ],
)
def test_what_is_wrong_with_results_is_said(spoil: Any, message: str, tmp_path: Path) -> None:
    data, path = _sample(), tmp_path / "results.json"
    path.write_bytes(as_json(data))
    results.load_results(path)
    spoil(data)
    path.write_bytes(as_json(data))
    with pytest.raises(ValueError, match=message):
        results.load_results(path)


def _of(data: dict[str, Any], panel: str) -> dict[str, Any]:
    """The first run of a panel."""
    return next(run for run in data["runs"] if run["panel"] == panel)


def _reordered(value: Any) -> Any:
    """The same JSON value with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: _reordered(member) for name, member in reversed(value.items())}
    return [_reordered(member) for member in value] if isinstance(value, list) else value


def test_the_document_does_not_hang_on_the_order_of_keys() -> None:
    data = loads(results.FILE.read_text(encoding="utf-8"))
    assert experiments.render(from_data(results.Results, _reordered(data))) == experiments.document()


def test_the_stability_of_tdc_stands_in_its_own_columns(committed: Runs) -> None:
    head, _, *rows = (
        line for line in experiments._tdc_values({"tdc-a": committed["tdc-a", "default"]}).splitlines()[2:]
    )
    shown = dict(zip(head.split(" | "), rows[0].split(" | "), strict=True))
    found = gradient.stability(gradient.environments_of(PANELS["tdc-a"], DEFAULT))
    assert shown["β max‖φ‖²"] == experiments.number(found.beta_max_phi_squared)
    assert shown["λ (C)"] == experiments.number(found.smallest_eigenvalue)
    # Five features below 1 and beta = 0.5.
    assert 0.0 < float(shown["β max‖φ‖²"]) < 2.5


def test_the_size_of_an_effect_stands_beside_its_word(committed: Runs) -> None:
    text = experiments.document()
    for panel in PANELS:
        run = committed[panel, "default"]
        assert f"**{run.outcome}**, {experiments.size(run)} | {experiments.effect(run.first)}" in text
    for panel in ("tdc-a", "tdc-b", "tdc-c"):
        assert experiments.effect(committed[panel, "fresh-features"].first) in experiments._overview(
            [*committed.values()]
        )


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
    diverged = {"vanilla": vanilla, "robust": robust, "shorter horizon": 0}
    assert judge_divergence(diverged, runs=100).outcome == wanted


def test_the_results_file_is_written_as_it_is_read() -> None:
    assert results.text(results.load_results()) == results.FILE.read_text(encoding="utf-8")


def test_the_document_shows_another_outcome() -> None:
    stored = results.load_results()
    first, *others = stored.runs
    swapped = replace(first, claims=first.claims[::-1], outcome=first.claims[-1].outcome)
    assert swapped.outcome != first.outcome
    assert experiments.render(stored) != experiments.render(replace(stored, runs=(swapped, *others)))
