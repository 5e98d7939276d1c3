"""Comparing with a baseline: every verdict, its error probabilities, and what is missing or no number."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.regression import table
from benchmarks.regression.compare import SEVERITY, Verdict, compare, judge
from benchmarks.regression.measures import PROCESSOR, Exact, Measure, Measurements, Name, Sample
from benchmarks.regression.metric import METRICS, Metric
from benchmarks.regression.paired import Centre, centre, detectable
from robust_core.validate import Floats

RNG = np.random.Generator(np.random.Philox(key=7))
N = 96
LOG_NORMAL: Floats = np.exp(0.4 * RNG.standard_normal(N))
"""Values by seed as errors have them."""


def side(*measures: Measure, pending: tuple[Name, ...] = ()) -> Measurements:
    return Measurements("pinned", {"numpy": "2"}, measures, "test", pending)


def measure(metric: str, values: Any, *, impossible: int = 0) -> Measure:
    if isinstance(values, (str, int, float)):
        return Exact(metric, "v", "p", values)
    return Sample(metric, "v", "p", tuple(None if x is None else float(x) for x in values), impossible)


def verdict(metric: str, before: Any, after: Any) -> str:
    found = compare(side(measure(metric, before)), side(measure(metric, after)))
    (row,) = found.rows
    # A ratio of times that is undecided stands apart.
    apart = row.kind == "ratio" and row.verdict == "undecided"
    assert found.verdict == ("equivalent" if apart else row.verdict)
    return row.verdict


@pytest.mark.parametrize("metric", [m.name for m in METRICS.values() if m.kind != "deterministic"])
def test_the_same_bits_are_equivalent_at_once(metric: str) -> None:
    found = compare(side(measure(metric, LOG_NORMAL)), side(measure(metric, LOG_NORMAL))).rows[0]
    assert (found.verdict, found.effect, found.lower, found.upper) == ("equivalent", 0.0, 0.0, 0.0)
    assert found.suspicious is False


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
    sides = [side(measure(metric, "ab")), side(measure(metric, "ac"))]
    versions: list[dict[str, str]] = [{} if name is None else {PROCESSOR: name} for name in (here, there)]
    sides = [replace(one, versions=mine) for one, mine in zip(sides, versions, strict=True)]
    assert compare(*sides).rows[0].verdict == wanted
    assert compare(*sides[::-1]).rows[0].verdict == wanted
    assert compare(sides[0], replace(sides[1], measures=sides[0].measures)).verdict == "equivalent"
    worse = [side(measure("gradient", LOG_NORMAL)), side(measure("gradient", 2.0 * LOG_NORMAL))]
    assert compare(*(replace(one, versions=mine) for one, mine in zip(worse, versions, strict=True))).verdict == "worse"


def test_ratios_of_times_on_another_processor_are_undecided() -> None:
    sides = [side(measure("time ratio", LOG_NORMAL)), side(measure("time ratio", 3.0 * LOG_NORMAL))]
    assert compare(*sides).verdict == "worse"
    sides[0] = replace(sides[0], versions={PROCESSOR: "zen4"})
    found = compare(*sides).rows[0]
    assert found.verdict == "undecided"
    assert found.note.startswith("worse on another processor")


def test_only_the_versions_that_differ_are_told() -> None:
    plain = side(measure("table", "ab"))
    sides = [replace(plain, versions=plain.versions | {"gymnasium": "1.4.0"}), plain]
    assert table.text(compare(*sides)).splitlines()[-1] == "versions differ: gymnasium 1.4.0 -> absent"
    assert table.text(compare(*sides[::-1])).splitlines()[-1] == "versions differ: gymnasium absent -> 1.4.0"
    assert "versions" not in table.text(compare(sides[0], sides[0]))


def test_a_measure_of_another_form_than_its_metric_is_a_change() -> None:
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
    found = compare(side(measure("last error", LOG_NORMAL)), side(measure("last error", LOG_NORMAL, impossible=2)))
    assert found.rows[0].verdict == "changed"
    assert found.rows[0].suspicious
    assert "2 of 96 values are better than the truth allows" in found.rows[0].note


def test_what_one_side_lacks() -> None:
    here, there = measure("last error", LOG_NORMAL), measure("area", LOG_NORMAL)
    found = compare(side(here, there), side(here))
    assert {row.metric: row.verdict for row in found.rows} == {"area": "changed", "last error": "equivalent"}
    found = compare(side(here, there), side(here, pending=(("area", "v", "p"),)))
    assert {row.metric: row.verdict for row in found.rows} == {"area": "undecided", "last error": "equivalent"}
    found = compare(side(here), side(here, there))
    assert {row.metric: row.verdict for row in found.rows} == {"area": "undecided", "last error": "equivalent"}
    unknown = compare(side(measure("no such metric", 1)), side(measure("no such metric", 1)))
    assert unknown.verdict == "changed"


def test_too_few_seeds_are_undecided_and_the_common_ones_count() -> None:
    assert verdict("last error", LOG_NORMAL[:8], 5.0 * LOG_NORMAL[:8]) == "undecided"
    assert verdict("last error", LOG_NORMAL[:40], 5.0 * LOG_NORMAL) == "worse"


def test_the_budget_is_split_over_the_measures() -> None:
    samples = [measure(m.name, LOG_NORMAL) for m in METRICS.values() if m.kind != "deterministic"]
    found = compare(*[side(*samples, measure("table", "x"))] * 2)
    assert found.alpha_each == found.alpha / len(samples)


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
    return "worse" if judge(metric, interval) == "worse" else "equivalent"


def ignores_zero(metric: Metric, interval: Centre) -> Verdict:
    """A wrong judge: the estimate decides, whatever the interval says."""
    return judge(metric, Centre(interval.estimate, interval.estimate, interval.estimate))


def backwards(metric: Metric, interval: Centre) -> Verdict:
    """A wrong judge: it takes higher for better."""
    swapped: dict[Verdict, Verdict] = {"worse": "better", "better": "worse"}
    return swapped.get(judge(metric, interval), judge(metric, interval))


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
    assert sound(judge)
    assert not any(sound(judge) for judge in (only_worse, ignores_zero, backwards))


def test_the_worst_measure_is_the_verdict() -> None:
    assert SEVERITY == ("worse", "changed", "undecided", "better", "equivalent")
    found = compare(
        side(measure("last error", LOG_NORMAL), measure("table", "a")),
        side(measure("last error", 2.0 * LOG_NORMAL), measure("table", "b")),
    )
    assert found.verdict == "worse"
    assert found.counts == {"worse": 1, "changed": 1, "undecided": 0, "better": 0, "equivalent": 0}
