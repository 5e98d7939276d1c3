"""Calibration of the verification, the scaling of Theorem 3, and how they are shown: each can come out badly."""

import numpy as np
import pytest

from benchmarks.batch.cells import controls
from benchmarks.documents.calibration import beyond, calibration_text, power, verifications
from benchmarks.documents.statistics import CONTROLS, control_tables
from benchmarks.studies import calibration, scaling
from benchmarks.studies.controls import Outcomes
from properties.statistics.laws import laws
from robust_core import json


def test_calibration_of_the_verification_counts_reds_and_keeps_what_is_undecided_apart() -> None:
    quiet = calibration.Verifications({"v": {"holds": 3}}, ())
    slow = calibration.Verifications({"v": {"holds": 2, "undecided": 1}}, ("v: cell: undecided: pending",))
    red = calibration.Verifications({"v": {"holds": 2, "violated": 1}}, ("v: law: violated: got 1, wanted 2",))
    found = calibration.Verified.of([quiet, slow, red])
    assert (found.seeds, found.red, len(found.wrong)) == (3, 1, 2)
    assert found.variants == {"v": {"holds": 7, "undecided": 1, "violated": 1}}
    assert "| v | 7 | 1 | 1 | 0 | 0 |" in verifications(found)


def test_calibration_of_the_verification_sees_a_wrong_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    from properties.process import loading
    from properties.variants.mutants.operator import NO_DISCOUNT

    monkeypatch.setattr(loading, "gallery_variants", lambda: {"wrong": NO_DISCOUNT})
    assert calibration.Verified.of([calibration.verify(0, "quick")]).red == 1


def test_every_control_of_the_full_size_is_calibrated_in_one_cell() -> None:
    named = {(law, name) for law, places in calibration.SEEN_IN.items() for name in places}
    assert {(law.name, variant.name) for law in laws() for variant in law.fine_controls} <= named
    for control in controls("full"):
        law, variant = control.law, control.variant
        place = calibration.SEEN_IN.get(law.name, {}).get(variant.name)
        if place is not None:
            named.remove((law.name, variant.name))
            assert sum(cell.id.startswith(place) for cell in law.cells(variant, "full")) == 1
    assert not named, "no such controls"


def test_the_full_size_is_calibrated_where_the_quick_one_is_silent() -> None:
    cheap, dear = ([item.cell.id for item in calibration.beyond_quick(dear=dear)] for dear in (False, True))
    assert not set(cheap) & set(dear)
    for part in ("sampling/visits/", "sampling/k2/", "machine", "fast path/two states/contrast/", "two states/(1,0)"):
        assert any(part in name for name in cheap), part
    assert any("unbiased/two states/(1,1)" in name for name in dear)
    assert not any("unbiased/two states/(0,0)" in name for name in (*cheap, *dear))


NAME = "unbiased update: Q-learning with costs 1 % too high"
FULL_RUNS = [calibration.FullRun({"c": ("holds", 16, -2.0)}, {NAME: n}) for n in (*[569] * 99, None)]


def test_the_full_size_shows_what_its_seeds_exclude() -> None:
    red = calibration.FullRun({"d": ("violated", 40, 19.0)})
    found = calibration.Full.of(FULL_RUNS, [red])
    assert (found.seeds, found.dear_seeds, found.red) == (100, 1, 1)
    text = beyond(found)
    # 0 of 100: (alpha/2)^(1/100) = 0.9268 is the least share of right verdicts that is not excluded.
    assert "| c | 100 | 100 | 0 | 0 | 0.074 | 16.0 | -2.0 |" in text
    assert "| d | 1 | 0 | 0 | 1 | 1 | 40.0 | 19.0 |" in text
    assert f"| {NAME} | unbiased/two states/(1,0) | 99 of 100: [0.9" in text


def test_a_part_that_is_not_measured_stays_as_it_was_committed() -> None:
    right = calibration.Right.of([calibration.RightRun(False, -1.0, {"c": ("holds", 16, -2.0)})] * 300)
    wrong = calibration.Wrong.of([{"k": 16}] * 100)
    before = calibration.Calibration(right, wrong, made_by={"right": "old", "wrong": "old"})
    today = calibration.Calibration(full=calibration.Full.of(FULL_RUNS, []), made_by={"full": "new"})
    merged = before.renew(today)
    assert (merged.right, merged.wrong, merged.full) == (right, wrong, today.full)
    assert merged.made_by == {"right": "old", "wrong": "old", "full": "new"}
    assert calibration_text(merged).endswith(
        "| quick cells | old |\n| controls of the quick cells | old |\n| cells of the full size | new |"
    )


@pytest.mark.parametrize(("place", "low", "high"), [(0, 1.8, 2.3), (1, 0.9, 1.3)])
def test_the_horizon_grows_with_the_discount_as_measured(place: int, low: float, high: float) -> None:
    found = scaling.compare(scaling.COMPARISONS[place], replicates=24).measured["horizon"]
    assert low < found.lower <= found.upper < high


def test_a_learner_that_stands_still_has_no_horizon() -> None:
    from properties.statistics.laws.tabular import STUCK

    assert scaling.run(scaling.BASE, b"stuck", STUCK)[0] == np.inf
    assert scaling.run(scaling.BASE, b"stuck")[0] < np.inf


def test_a_power_below_the_stated_one_is_marked() -> None:
    assert "**below**" in power({"k": calibration.ControlCounts(50, 100, 20.0)})
    assert "not contradicted" in power({"k": calibration.ControlCounts(100, 100, 20.0)})


def test_the_committed_calibration_can_be_read_and_accuses_nothing_right() -> None:
    committed = calibration.load()
    assert committed.red == 0
    assert committed.made_by.keys() == {"right", "wrong", "verify", "full", "dear"}


def test_a_kind_of_cell_that_passes_a_wrong_algorithm_says_why_it_is_there() -> None:
    """The committed table has every control and every kind of cell, and no silent blind spot."""
    found: Outcomes = json.load(CONTROLS)
    for law in laws():
        assert set(found[law.name]) == {control.name for control in law.controls}
        for control in law.controls:
            outcomes = found[law.name][control.name]
            assert set(outcomes) == {cell.kind for cell in law.cells(control, "quick")}
            assert "violated" in outcomes.values(), control.name
            silent = [kind for kind, word in outcomes.items() if word != "violated" and kind not in law.purposes]
            assert not silent, (law.name, control.name)
    assert "| TDC that ignores the ball | holds | **violated** | holds |" in control_tables(found)[-2]
