"""Calibration of the verification, the scaling of Theorem 3, and how they are shown: each can come out badly."""

import numpy as np
import pytest

from benchmarks import calibration, scaling
from benchmarks.statistics_report import power, verifications


def test_calibration_of_the_verification_counts_reds_and_keeps_what_is_undecided_apart() -> None:
    quiet = {"outcomes": {"v": {"holds": 3}}, "wrong": []}
    slow = {"outcomes": {"v": {"holds": 2, "undecided": 1}}, "wrong": ["v: cell: undecided: pending"]}
    red = {"outcomes": {"v": {"holds": 2, "violated": 1}}, "wrong": ["v: law: violated: got 1, wanted 2"]}
    found = calibration.verifications([quiet, slow, red])
    assert (found["seeds"], found["red"], len(found["wrong"])) == (3, 1, 2)
    assert found["variants"] == {"v": {"holds": 7, "undecided": 1, "violated": 1}}
    assert "| v | 7 | 1 | 1 | 0 | 0 |" in verifications(found)


def test_calibration_of_the_verification_sees_a_wrong_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    from properties import loading
    from properties.mutants.operator import NO_DISCOUNT

    monkeypatch.setattr(loading, "built_in", lambda: {"wrong": NO_DISCOUNT})
    found = calibration.verifications([calibration.verified(0, "quick")])
    assert found["red"] == 1


@pytest.mark.parametrize(("place", "low", "high"), [(0, 1.8, 2.3), (1, 0.9, 1.3)])
def test_the_horizon_grows_with_the_discount_as_measured(place: int, low: float, high: float) -> None:
    found = scaling.compared(scaling.COMPARISONS[place], replicates=24)["measured"]["horizon"]
    assert low < found["lower"] <= found["upper"] < high


def test_a_learner_that_stands_still_has_no_horizon() -> None:
    from properties.statistics.laws.tabular import STUCK

    assert scaling.run(scaling.BASE, b"stuck", STUCK)[0] == np.inf
    assert scaling.run(scaling.BASE, b"stuck")[0] < np.inf


def test_a_power_below_the_stated_one_is_marked() -> None:
    assert "**below**" in power({"k": {"caught": 50, "of": 100, "mean n": 20.0}})
    assert "not contradicted" in power({"k": {"caught": 100, "of": 100, "mean n": 20.0}})
