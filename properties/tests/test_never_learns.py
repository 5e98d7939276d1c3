"""Gross failures are violations under every promise that says anything about learning, for every kind."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from properties.judging.verification import untested, verify
from properties.kinds import kind_of, module_name
from properties.variants.wrong_forms import never_learns, with_share_of_radius
from robust_core.problem import KINDS, SETLESS, Variant

SECOND = {"batch variance", "batch order", "expected draws", "variance", "rows", "radii per pair"}
"""Promises of functions and learners that do not say where an answer is."""

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
        tested = [promise for promise in learning if not untested(replace(right, promises=(promise,)))]
        for number, promise in enumerate(tested):
            for name, wrong in forms.items():
                quick = not number and name == "half the radius" and kind not in SLOW
                marks = [] if quick else [pytest.mark.robust_core_slow]
                yield pytest.param(replace(wrong, promises=(promise,)), id=f"{kind}, {promise}, {name}", marks=marks)


@pytest.mark.parametrize("wrong", list(wrong_forms()))
def test_a_gross_failure_is_violated_under_every_promise_about_learning(wrong: Variant) -> None:
    records = verify(replace(wrong, sets=wrong.sets[:1]), examples=60, shrink=False)
    assert next((each.law for each in records if each.outcome == "violated"), None) is not None
