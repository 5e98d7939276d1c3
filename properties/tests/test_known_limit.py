"""The limits of learners of other kinds: right algorithms of different construction are inside, with room."""

from dataclasses import replace

import numpy as np
import pytest

from oracles.planning import enclosed
from properties.judging.verification import possible_promises
from properties.process.loading import gallery_variants
from properties.statistics.law import StatisticalLaw, decide
from properties.statistics.laws import known_limit
from properties.statistics.laws.known_limit import DOOR, DOOR_GAMMA, DOOR_RADIUS, LAWS, door
from robust_core import Contamination
from robust_core.problem import Variant

BIASED = ("samples",)
"""Options of learners whose limit is another one."""


def right_ones() -> dict[str, Variant]:
    found = {variant.name: variant for variant in known_limit.EXAMPLES.values()}
    for variant in gallery_variants().values():
        learns = variant.kind in known_limit.EXAMPLES and variant.sets and variant.sets[0] is Contamination
        if learns and not set(variant.options) & set(BIASED):
            found[variant.name] = replace(variant, promises=("limit",))
    return found


RIGHT = right_ones()
QUICK = ("policy gradient",)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.robust_core_slow] * (variant.kind not in QUICK))
        for name, variant in RIGHT.items()
    ],
)
def test_right_algorithms_hold(name: str) -> None:
    (law,) = (law for law in LAWS if law.applies_to(RIGHT[name]))
    for seed_set in ("pinned", "1", "2", "3", "4"):
        for cell in law.cells(RIGHT[name], "quick"):
            assert decide(cell, alpha=1e-7, seed_set=seed_set).outcome == "holds"


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_gross_failures_are_far_outside(law: StatisticalLaw) -> None:
    """One run each: the controls are decided by `test_negative_controls_are_violated`."""
    for control in law.controls:
        (cell,) = law.cells(control, "quick")
        assert cell.observe(cell.sample(b"one run of it ..")[None]).tolist() == [1.0]


def test_the_door_is_between_the_break_even_points() -> None:
    b, half = (DOOR_GAMMA * (1.0 - radius) for radius in (DOOR_RADIUS, DOOR_RADIUS / 2.0))
    assert 1.0 / (1.0 - b) < DOOR < 1.0 / (1.0 - half)
    chosen = [np.asarray(enclosed.solve(door(), Contamination(r)).value)[0].argmin() for r in (0.25, 0.125, 0.0)]
    assert chosen == [known_limit.STAY, known_limit.PAY, known_limit.PAY]


def test_the_promise_is_proposed() -> None:
    assert "limit" in possible_promises(replace(known_limit.EXAMPLES["batch"], promises=("batch mean",)))
