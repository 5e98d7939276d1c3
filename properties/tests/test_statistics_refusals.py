"""What the statistical engine refuses: samples that cannot be, and designs that make no sense."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from properties.statistics import budget, design, intervals
from properties.statistics.mixtures import Bernoulli, Categorical, NoOutcomeOff
from properties.statistics.sequential import look_at_least


def test_samples_that_are_no_coins_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or 1"):
        Bernoulli.versus(0.5, 0.7).statistic(np.array([0.5]))


def test_outcomes_that_are_none_are_refused() -> None:
    process = Categorical.designed((0.5, 0.5), effect=0.1)
    for wrong in (0.7, 2.0, -1.0, math.nan, math.inf):
        for refusing in (process, NoOutcomeOff((0.5, 0.5), 0.1)):
            with pytest.raises(ValueError, match=f"outcomes must be whole numbers in 0 … 1, got {wrong}"):
                refusing.statistic(np.array([0.0, wrong]))


IN_RANGE = {"low": 0.0, "high": 1.0, "alpha": 1e-6}
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a defect that is none": (lambda: design.bernoulli(0.5, 0.5, alpha=1e-6), r"q1 must differ from q0 = 0\.5.*0\.5"),
    "no false alarm ever": (lambda: design.bernoulli(0.5, 0.8, alpha=0.0), r"alpha must lie in \(0, 1\), got 0\.0"),
    "alpha is no number": (lambda: design.bernoulli(0.5, 0.8, alpha=math.nan), "alpha must be finite, got nan"),
    "errors that need no sample": (lambda: design.bernoulli(0.5, 0.8, alpha=0.5, beta=0.5), r"alpha \+ beta .* 0\.5"),
    "a coin that always shows 1": (
        lambda: design.bernoulli(0.5, 1.0, alpha=1e-6),
        r"q1 must lie in \(0, 1\), got 1\.0",
    ),
    "an effect beyond all samples": (lambda: design.bernoulli(0.5, 0.5 + 1e-9, alpha=1e-6), "q1 − q0 must be larger"),
    "the wrong way round": (
        lambda: design.fixed_size_bernoulli(0.8, 0.5, alpha=1e-6, beta=1e-3),
        "q0 must lie below q1",
    ),
    "no effect": (lambda: design.two_sided_mean(0.5, 0.0, **IN_RANGE), r"effect must be positive, got 0\.0"),
    "a mean out of range": (
        lambda: design.two_sided_mean(1.5, 0.1, **IN_RANGE),
        r"m must lie in .*\[0\.0, 1\.0\].*1\.5",
    ),
    "no defect in range": (
        lambda: design.two_sided_mean(0.5, 0.6, **IN_RANGE),
        r"effect must lie below 0\.5.*got 0\.6",
    ),
    "a negative slack": (
        lambda: design.two_sided_mean(0.5, 0.1, **IN_RANGE, slack=-1.0),
        r"slack must not be negative, got -1\.0",
    ),
    "a single outcome": (
        lambda: design.categorical([1.0], 0.1, alpha=1e-6),
        r"p must have entries in \[0, 1\).*got 1\.0",
    ),
    "no law": (lambda: Categorical.designed((0.5, 0.6), effect=0.1), r"p must sum to 1, got 1\.1"),
    "a negative probability": (lambda: NoOutcomeOff((1.5, -0.5), 0.1), r"p must have entries in \[0, 1\).*got 1\.5"),
    "more than there is": (
        lambda: design.categorical((0.5, 0.5), 0.6, alpha=1e-6),
        r"effect must lie below 0\.5.*0\.6",
    ),
    "no draws": (lambda: design.categorical((0.5, 0.5), 0.1, draws=0, alpha=1e-6), "draws must be at least 1, got 0"),
    "no such coin": (
        lambda: design.characteristics(design.bernoulli(0.5, 0.8, alpha=1e-6), 1.5),
        r"q must lie .* 1\.5",
    ),
    "more ones than samples": (lambda: intervals.proportion(5, 3), "ones must be at most n = 3, got 5"),
    "a negative count": (lambda: intervals.proportion(-1, 3), "ones must be at least 0, got -1"),
    "more ones than a fixed number": (lambda: intervals.clopper_pearson(5, 3), "ones must be at most n = 3, got 5"),
    "certainty": (lambda: intervals.proportion(1, 3, alpha=0.0), r"alpha must lie in \(0, 1\), got 0\.0"),
    "certainty of a median": (lambda: intervals.median([1.0], alpha=2.0), r"alpha must lie in \(0, 1\), got 2\.0"),
    "a sample out of range": (
        lambda: intervals.mean([2.0], low=0.0, high=1.0),
        r"x must lie in .*\[0\.0, 1\.0\], got 2\.0",
    ),
    "a sample that is no number": (lambda: intervals.mean([math.nan], low=0.0, high=1.0), "x must lie in .* got nan"),
    "no sample": (lambda: intervals.mean([], low=0.0, high=1.0), "x must have at least one sample"),
    "no range": (lambda: intervals.mean([1.0], low=1.0, high=1.0), r"low must lie below high = 1\.0, got 1\.0"),
    "a budget above 1": (lambda: budget.shares({"a": 1.0}, budget=5.0), r"budget must lie in \(0, 1\), got 5\.0"),
    "a gate above 1": (lambda: budget.gate([], budget=5.0), r"budget must lie in \(0, 1\), got 5\.0"),
    "a rate of 0": (lambda: budget.suspects([], rate=0.0), r"rate must lie in \(0, 1\), got 0\.0"),
    "an infinite weight": (lambda: budget.shares({"a": 1.0, "b": math.inf}), r"weights\['b'\] must be finite, got inf"),
    "no cells": (lambda: budget.shares({}), "weights must have at least one cell"),
    "a look that never comes": (lambda: look_at_least(math.nan), "n must be finite, got nan"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_design_that_makes_no_sense_is_refused(name: str) -> None:
    """Before any work: some of these had no end."""
    build, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        build()


def test_a_product_of_two_rows_is_a_law() -> None:
    """Rows of a kernel may be off 1 by their rounding, and a product of two by more."""
    row = np.array([0.1] * 10)
    row[0] += 10 * np.finfo(float).eps
    assert Categorical.designed(np.outer(row, row).ravel().tolist(), effect=0.01).size == 100
