"""Comparing with a baseline: every verdict, its error probabilities, and what is missing or no number."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.regression import table
from benchmarks.regression.compare import PROCESSOR, SEVERITY, Verdict, compared, judged
from benchmarks.regression.metric import METRICS, Metric
from benchmarks.regression.paired import Centre, centre, detectable
from robust_core.validate import Floats

RNG = np.random.Generator(np.random.Philox(key=7))
N = 96
LOG_NORMAL: Floats = np.exp(0.4 * RNG.standard_normal(N))
"""Values by seed as errors have them."""


def side(*cells: dict[str, Any], seed_set: str = "pinned", **more: Any) -> dict[str, Any]:
    return {"seed_set": seed_set, "reason": "test", "versions": {"numpy": "2"}, "cells": list(cells), **more}


def cell(metric: str, values: Any, **more: Any) -> dict[str, Any]:
    described: dict[str, Any] = {"metric": metric, "variant": "v", "problem": "p"}
    if isinstance(values, (str, int, float)):
        return described | {"value": values}
    return described | {"values": [None if x is None else float(x) for x in values], "impossible": 0} | more


def verdict(metric: str, before: Any, after: Any, **more: Any) -> str:
    found = compared(side(cell(metric, before)), side(cell(metric, after, **more)))
    assert len(found["cells"]) == 1
    assert found["verdict"] == found["cells"][0]["verdict"]
    return str(found["verdict"])


@pytest.mark.parametrize("metric", [m.name for m in METRICS.values() if m.kind != "deterministic"])
def test_the_same_bits_are_equivalent_at_once(metric: str) -> None:
    found = compared(side(cell(metric, LOG_NORMAL)), side(cell(metric, LOG_NORMAL)))["cells"][0]
    assert (found["verdict"], found["effect"], found["lower"], found["upper"]) == ("equivalent", 0.0, 0.0, 0.0)
    assert found["suspicious"] is False


@pytest.mark.parametrize(
    ("metric", "factor", "wanted"),
    [
        ("last error", 1.3, "worse"),
        ("last error", 0.7, "better"),
        ("last error", 1.01, "equivalent"),
        ("last error", 0.99, "equivalent"),
        ("noise", 1.3, "changed"),
        ("noise", 0.7, "changed"),
        ("noise", 1.02, "equivalent"),
        ("time ratio", 2.0, "worse"),
        ("time ratio", 0.5, "better"),
        ("speed-up", 2.0, "better"),
        ("speed-up", 0.5, "worse"),
    ],
)
def test_verdicts_know_the_direction_and_the_margin(metric: str, factor: float, wanted: str) -> None:
    jitter = np.exp(0.02 * RNG.standard_normal(N))
    assert verdict(metric, LOG_NORMAL, factor * jitter * LOG_NORMAL) == wanted


def test_a_constant_shift_of_one_percent_is_seen_in_pairs_and_not_without() -> None:
    signed = 0.05 * RNG.standard_normal(N)
    assert verdict("bias", signed, signed + 0.01) == "changed"
    other = 0.05 * RNG.standard_normal(N)
    assert verdict("bias", signed, other + 0.01) == "undecided"


def test_a_ratio_must_pass_its_margin_before_it_is_blamed() -> None:
    jitter = np.exp(0.02 * RNG.standard_normal(N))
    assert verdict("time ratio", jitter, 1.2 * jitter[::-1]) == "equivalent"
    wide = np.exp(0.3 * RNG.standard_normal(N))
    assert verdict("time ratio", wide, 1.35 * wide[::-1]) == "undecided"


@pytest.mark.parametrize(("old", "new"), [(3, 4), ("ab", "ac"), (0.1, 0.1 + 2**-56), (3, 3.0), (1, "1")])
def test_deterministic_quantities_are_compared_exactly(old: Any, new: Any) -> None:
    assert verdict("table", old, old) == "equivalent"
    assert verdict("table", old, new) == "changed"


@pytest.mark.parametrize(
    ("metric", "here", "there", "wanted"),
    [
        ("parameters", "zen4 avx2", "zen4 avx2", "changed"),
        ("parameters", "zen4 avx2", "haswell avx2", "undecided"),
        ("parameters", "zen4 avx2", None, "undecided"),
        ("table", "zen4 avx2", "haswell avx2", "changed"),
        ("mixing time", "zen4 avx2", None, "changed"),
    ],
)
def test_other_bits_of_vector_sums_may_be_the_processors(
    metric: str, here: str, there: str | None, wanted: str
) -> None:
    sides = [side(cell(metric, "ab")), side(cell(metric, "ac"))]
    for found, name in zip(sides, (here, there), strict=True):
        found["versions"] = {} if name is None else {PROCESSOR: name}
    assert compared(*sides)["cells"][0]["verdict"] == wanted
    assert compared(*sides[::-1])["cells"][0]["verdict"] == wanted
    assert compared(sides[0], sides[1] | {"cells": sides[0]["cells"]})["verdict"] == "equivalent"
    worse = [side(cell("gradient", LOG_NORMAL)), side(cell("gradient", 2.0 * LOG_NORMAL))]
    assert compared(*(x | {"versions": y["versions"]} for x, y in zip(worse, sides, strict=True)))["verdict"] == "worse"


def test_ratios_of_times_on_another_processor_are_undecided() -> None:
    sides = [side(cell("time ratio", LOG_NORMAL)), side(cell("time ratio", 3.0 * LOG_NORMAL))]
    assert compared(*sides)["verdict"] == "worse"
    sides[0]["versions"] = {PROCESSOR: "zen4"}
    found = compared(*sides)["cells"][0]
    assert found["verdict"] == "undecided"
    assert found["note"].startswith("worse on another processor")


def test_only_the_versions_that_differ_are_told() -> None:
    sides = [side(cell("table", "ab")) | {"versions": {"numpy": "2", **more}} for more in ({"gymnasium": "1.4.0"}, {})]
    assert table.text(compared(*sides)).splitlines()[-1] == "versions differ: gymnasium 1.4.0 -> absent"
    assert table.text(compared(*sides[::-1])).splitlines()[-1] == "versions differ: gymnasium absent -> 1.4.0"
    assert "versions" not in table.text(compared(sides[0], sides[0]))


def test_a_cell_of_another_form_than_its_metric_is_a_change() -> None:
    assert verdict("table", LOG_NORMAL, LOG_NORMAL) == "changed"
    assert verdict("area", 1.0, LOG_NORMAL) == "changed"


def test_what_is_no_number_never_counts_in_favour() -> None:
    broken: list[Any] = [None] * N
    assert verdict("last error", LOG_NORMAL, broken) == "worse"
    assert verdict("bias", LOG_NORMAL, broken) == "changed"
    assert verdict("speed-up", LOG_NORMAL, broken) == "worse"
    assert verdict("last error", broken, broken) == "equivalent"
    assert verdict("last error", broken, LOG_NORMAL) == "better"
    some = [None if i % 2 else x for i, x in enumerate(LOG_NORMAL)]
    assert verdict("last error", LOG_NORMAL, some) in ("worse", "undecided")
    assert verdict("last error", LOG_NORMAL, np.zeros(N)) == "better"


def test_values_better_than_possible_are_a_change_whatever_the_rest_says() -> None:
    found = compared(side(cell("last error", LOG_NORMAL)), side(cell("last error", LOG_NORMAL, impossible=2)))
    assert found["cells"][0]["verdict"] == "changed"
    assert found["suspicious"] == 1
    assert "2 of 96 values are better than the truth allows" in found["cells"][0]["note"]


def test_what_one_side_lacks() -> None:
    here, there = cell("last error", LOG_NORMAL), cell("area", LOG_NORMAL)
    found = compared(side(here, there), side(here))
    assert {c["metric"]: c["verdict"] for c in found["cells"]} == {"area": "changed", "last error": "equivalent"}
    found = compared(side(here, there), side(here, pending=[["area", "v", "p"]]))
    assert {c["metric"]: c["verdict"] for c in found["cells"]} == {"area": "undecided", "last error": "equivalent"}
    found = compared(side(here), side(here, there))
    assert {c["metric"]: c["verdict"] for c in found["cells"]} == {"area": "undecided", "last error": "equivalent"}
    unknown = compared(side(cell("no such metric", 1)), side(cell("no such metric", 1)))
    assert unknown["verdict"] == "changed"


def test_too_few_seeds_are_undecided_and_the_common_ones_count() -> None:
    assert verdict("last error", LOG_NORMAL[:8], 5.0 * LOG_NORMAL[:8]) == "undecided"
    assert verdict("last error", LOG_NORMAL[:40], 5.0 * LOG_NORMAL) == "worse"


def test_the_budget_is_split_over_the_cells() -> None:
    cells = [cell(m.name, LOG_NORMAL) for m in METRICS.values() if m.kind != "deterministic"]
    found = compared(side(*cells, cell("table", "x")), side(*cells, cell("table", "x")))
    assert found["alpha per cell"] == found["alpha"] / len(cells)


def test_the_interval_covers_and_its_level_is_not_wasted() -> None:
    """At alpha = 0.2 of 150 intervals for skewed pairs at most 30 + 3√24 may miss; a fifth of the width must miss."""
    misses = narrow = 0
    for _ in range(150):
        x, y = RNG.exponential(size=(2, 64))
        found = centre(np.log(x) - np.log(y), margin=0.1, alpha=0.2)
        misses += not found.lower <= 0.0 <= found.upper
        fifth = (found.upper - found.lower) / 10.0
        narrow += not abs(found.estimate) <= fifth
    assert misses <= 30 + 3 * math.sqrt(24)
    assert narrow > 30 + 3 * math.sqrt(24)


def test_what_is_said_to_be_detectable_is_detected() -> None:
    """Power 0.9 over 60 runs: at least 54 − 3√5.4; half the shift has next to none."""
    alpha, n, margin = 1e-8, 96, math.log(1.1)
    seen = {1.0: 0, 0.5: 0}
    for share in seen:
        shift = share * detectable(0.5, n, margin=margin, alpha=alpha, power=0.9)
        for _ in range(60):
            seen[share] += centre(0.5 * RNG.standard_normal(n) + shift, margin=margin, alpha=alpha).lower > 0.0
    assert seen[1.0] >= 54 - 3 * math.sqrt(5.4)
    assert seen[0.5] <= 6


def only_worse(metric: Metric, interval: Centre) -> Verdict:
    """A wrong judge: what improves is fine."""
    return "worse" if judged(metric, interval) == "worse" else "equivalent"


def ignores_zero(metric: Metric, interval: Centre) -> Verdict:
    """A wrong judge: the estimate decides, whatever the interval says."""
    return judged(metric, Centre(interval.estimate, interval.estimate, interval.estimate))


def backwards(metric: Metric, interval: Centre) -> Verdict:
    """A wrong judge: it takes higher for better."""
    swapped: dict[Verdict, Verdict] = {"worse": "better", "better": "worse"}
    return swapped.get(judged(metric, interval), judged(metric, interval))


def sound(judge: Callable[[Metric, Centre], Verdict]) -> bool:
    """What a judge must say of eight intervals."""
    error, bias = METRICS["last error"], METRICS["bias"]
    wanted: list[tuple[Metric, Centre, Verdict]] = [
        (error, Centre(0.2, 0.3, 0.4), "worse"),
        (error, Centre(-0.4, -0.3, -0.2), "better"),
        (error, Centre(-0.4, 0.3, 0.8), "undecided"),
        (error, Centre(-0.05, 0.0, 0.05), "equivalent"),
        (error, Centre(0.01, 0.02, 0.05), "equivalent"),
        (error, Centre(-math.inf, 0.0, math.inf), "undecided"),
        (bias, Centre(0.001, 0.01, 0.02), "changed"),
        (bias, Centre(-0.02, -0.01, -0.001), "changed"),
    ]
    return all(judge(metric, interval) == verdict for metric, interval, verdict in wanted)


def test_wrong_judges_are_told_from_the_right_one() -> None:
    assert sound(judged)
    assert not any(sound(judge) for judge in (only_worse, ignores_zero, backwards))


def test_the_worst_cell_is_the_verdict() -> None:
    assert SEVERITY == ("worse", "changed", "undecided", "better", "equivalent")
    found = compared(
        side(cell("last error", LOG_NORMAL), cell("table", "a")),
        side(cell("last error", 2.0 * LOG_NORMAL), cell("table", "b")),
    )
    assert found["verdict"] == "worse"
    assert found["counts"] == {"worse": 1, "changed": 1, "undecided": 0, "better": 0, "equivalent": 0}
