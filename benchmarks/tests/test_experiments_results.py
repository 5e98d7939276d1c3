"""The committed results of the panels: they can be had again, are checked when read, and make the document."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from benchmarks.documents import experiments
from benchmarks.experiments import gradient, results
from benchmarks.experiments.divergence import judged_divergence
from benchmarks.experiments.interpretations import DEFAULT, INTERPRETATIONS, of_figure
from benchmarks.experiments.outcome import LEVEL, REDRAWN, lowest_rank, misses, outcome
from benchmarks.experiments.panels import PANELS, record
from benchmarks.tests.committed import CHEAP, comparable_with
from properties.statistics import intervals
from properties.tests.corruption import as_json, fuzz, survived


@pytest.fixture(scope="module")
def committed() -> dict[tuple[str, str], Any]:
    records, _ = results.load()
    return {(made["panel"], made["interpretation"]): made for made in records}


def _plain(made: dict[str, Any]) -> Any:
    return json.loads(json.dumps({name: value for name, value in made.items() if name != "scores"}))


def test_a_panel_recomputes_to_the_committed_numbers_bit_for_bit(committed: dict[tuple[str, str], Any]) -> None:
    panel, interpretation = CHEAP
    comparable = comparable_with(results.load_all())
    assert comparable(_plain(record(PANELS[panel], INTERPRETATIONS[interpretation]))) == comparable(committed[CHEAP])
    assert _plain(record(PANELS[panel], INTERPRETATIONS[interpretation], runs=99)) != committed[CHEAP]


def test_every_panel_has_a_record_for_every_interpretation_that_matters(committed: dict[tuple[str, str], Any]) -> None:
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
        # 20,000 intervals that each miss with probability 0.001 miss at most 40 times in all, but for 3e-5 (Poisson).
        assert committed[panel, "default"]["student misses"] <= 40 / REDRAWN, panel
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
    kept = [json.loads(json.dumps(one)) for one in made["records"] if (one["panel"], one["interpretation"]) in cells]
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
        return experiments.render(made).encode()

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
    assert experiments.render(_reordered(made)) == experiments.render(made)


def test_the_stability_of_tdc_stands_in_its_own_columns(committed: dict[tuple[str, str], Any]) -> None:
    head, _, *rows = (
        line for line in experiments._tdc_values({"tdc-a": committed["tdc-a", "default"]}).splitlines()[2:]
    )
    shown = dict(zip(head.split(" | "), rows[0].split(" | "), strict=True))
    found = gradient.stability(gradient.setting_of(PANELS["tdc-a"], DEFAULT))
    assert shown["β max‖φ‖²"] == experiments.number(found["beta max |phi|^2"])
    assert shown["λ (C)"] == experiments.number(found["smallest eigenvalue of C"])
    # Five features below 1 and beta = 0.5.
    assert 0.0 < float(shown["β max‖φ‖²"]) < 2.5


def test_the_size_of_an_effect_stands_beside_its_word(committed: dict[tuple[str, str], Any]) -> None:
    text = experiments.document()
    for panel in PANELS:
        made = committed[panel, "default"]
        assert f"**{made['outcome']}**, {experiments.size(made)} | {experiments.effect(made['claims'][0])}" in text
    for panel in ("tdc-a", "tdc-b", "tdc-c"):
        assert experiments.effect(committed[panel, "fresh-features"]["claims"][0]) in experiments._overview(
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
    made = {"claims": [{"runs": 100}], "diverged": {"vanilla": vanilla, "robust": robust, "shorter horizon": 0}}
    assert judged_divergence(made)["outcome"] == wanted


def test_the_results_file_is_written_as_it_is_read() -> None:
    assert results.dumps(results.load_all()) == results.FILE.read_text(encoding="utf-8")


def test_the_document_shows_another_outcome() -> None:
    made = results.load_all()
    first, *others = made["records"]
    turned = first | {"outcome": "reproduced" if first["outcome"] != "reproduced" else "reversed"}
    assert experiments.render(made) != experiments.render({**made, "records": [turned, *others]})
