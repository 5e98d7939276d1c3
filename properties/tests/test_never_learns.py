"""Gross failures are violations under every promise that says anything about learning, for every kind."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from properties.judging.verification import untested_sets, verify
from properties.kinds import kind_of, module_name
from properties.statistics import judging
from properties.statistics.laws import laws
from properties.statistics.suite import allot_cells
from properties.variants.wrong_forms import never_learns, with_share_of_radius
from robust_core import Problem
from robust_core.problem import KINDS, SETLESS, Variant

SECOND = {"batch variance", "batch order", "expected draws", "variance", "rows", "radii per pair"}
"""Promises of functions and learners that do not say where an answer is."""

LEARNED = ("unbiased", "converges", "finite time", "as fast as vanilla", "stationary")
"""Statistical promises about what is learned."""

SLOW = ("policy planner", "off-policy evaluation")
"""Kinds that are tried in the slow environment only."""


def wrong_forms() -> Iterator[Any]:
    """(a name, the wrong form of a right variant, one of its promises), the promises one by one."""
    for kind in KINDS:
        if kind in SETLESS:
            continue
        of_kind = kind_of(kind)
        right: Variant = import_module(f"properties.variants.examples.{module_name(kind)}").VARIANT
        learning = of_kind.learning or [each for each in of_kind.promises if each not in SECOND]
        forms = {"vanilla": with_share_of_radius(right, 0.0), "half the radius": with_share_of_radius(right, 0.5)}
        if of_kind.learning:
            forms["never learns"] = never_learns(right)
        # A promise that no law tests with the options of the example is reported as untested.
        tested = [promise for promise in learning if not untested_sets(replace(right, promises=(promise,)))]
        for number, promise in enumerate(tested):
            for name, wrong in forms.items():
                quick = not number and name == "half the radius" and kind not in SLOW
                marks = [] if quick else [pytest.mark.robust_core_slow]
                yield pytest.param(replace(wrong, promises=(promise,)), id=f"{kind}, {promise}, {name}", marks=marks)


class LinearNeverLearns:
    """A learner whose theta stays at its start, and its omega at 0."""

    def __init__(self, problem: Problem) -> None:
        self.theta = problem.initial

    def update(self, step: Any) -> None:
        """Nothing."""

    def estimate(self) -> Any:
        return self.theta.copy(), 0.0 * self.theta


def statistically_wrong_forms() -> Iterator[Any]:
    """The same for the promises about learning that statistical laws of tables and of TDC test."""
    for law in (each for each in laws() if each.promise in LEARNED):
        for kind in law.kinds:
            right: Variant = import_module(f"properties.variants.examples.{module_name(kind)}").VARIANT
            for name, wrong in {
                "vanilla": with_share_of_radius(right, 0.0),
                "half the radius": with_share_of_radius(right, 0.5),
                "never learns": replace(right, make=LinearNeverLearns) if "linear" in kind else never_learns(right),
            }.items():
                yield pytest.param(replace(wrong, promises=(law.promise,)), id=f"{kind}, {law.promise}, {name}")


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("wrong", list(statistically_wrong_forms()))
def test_a_gross_failure_is_violated_under_every_statistical_promise_about_learning(wrong: Variant) -> None:
    found = (record.outcome for record in judging.records(wrong.name, allot_cells(wrong, "quick")))
    assert "violated" in found


@pytest.mark.parametrize("wrong", list(wrong_forms()))
def test_a_gross_failure_is_violated_under_every_promise_about_learning(wrong: Variant) -> None:
    records = verify(replace(wrong, sets=wrong.sets[:1]), examples=60, shrink=False)
    assert next((each.law for each in records if each.outcome == "violated"), None) is not None
