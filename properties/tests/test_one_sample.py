"""Which sets allow a one-sample update: U(p) is the mixture of the sets around the next states, exactly."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.arithmetic.exact import Vector, distribution
from oracles.planning import truth
from properties.profiles import examples
from robust_core import (
    L1,
    L2,
    BoundedDensity,
    ChiSquare,
    Contamination,
    KullbackLeibler,
    LInfinity,
    LocalAdversary,
    Restart,
    ReverseKullbackLeibler,
    TotalVariation,
    UncertaintySet,
    Wasserstein,
)

LINE = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
WIDTH = Fraction(1, 10**15)
"""More than the width of any enclosure here, and than the rounding of a radius."""


def value(uncertainty_set: UncertaintySet, p: list[float], v: list[float]) -> Fraction:
    """sigma, to WIDTH."""
    return truth.sigma(uncertainty_set, p, v).middle


def plug_in(uncertainty_set: UncertaintySet, p: list[float], v: list[float]) -> Fraction:
    """The mean of sigma around the Dirac at the next state, s' ~ p: what the one-sample update learns."""
    row: Vector = distribution(p).fractions()
    around = (value(uncertainty_set, [float(i == s) for i in range(len(p))], v) for s in range(len(p)))
    return sum((x * y for x, y in zip(row, around, strict=True)), Fraction(0))


rows = st.lists(st.integers(0, 8), min_size=3, max_size=3).filter(any).map(lambda w: [x / sum(w) for x in w])
values = st.lists(st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0]), min_size=3, max_size=3)
radii = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@given(p=rows, v=values, radius=radii)
@examples(60)
def test_contamination_restarts_and_local_adversaries_are_mixtures(
    p: list[float], v: list[float], radius: float
) -> None:
    restart = Restart(radius, np.array([0.0, 1.0, 1.0]))
    for uncertainty_set in (
        Contamination(radius),
        restart,
        LocalAdversary(radius, LINE),
        LocalAdversary(2 * radius, LINE),
    ):
        assert plug_in(uncertainty_set, p, v) == value(uncertainty_set, p, v)


@dataclass(frozen=True)
class Negative:
    """A set, and the set for which its plug-in is right."""

    claimed: UncertaintySet
    learned: UncertaintySet


NEGATIVES = [
    Negative(TotalVariation(0.25), Contamination(0.25)),
    Negative(L1(0.5), Contamination(0.25)),
    Negative(LInfinity(0.125), Contamination(0.125)),
    Negative(KullbackLeibler(0.25), Contamination(0.0)),
    Negative(ChiSquare(0.25), Contamination(0.0)),
    Negative(BoundedDensity(0.25), Contamination(0.0)),
    Negative(ReverseKullbackLeibler(0.25), Contamination(-math.expm1(-0.25))),
]


@pytest.mark.parametrize("case", NEGATIVES, ids=lambda case: case.claimed.kind)
def test_the_plug_in_of_other_sets_learns_another_set(case: Negative) -> None:
    """Where only the best state differs, the mean over next states is sigma of the learned set: the exact limit."""
    p, v = [0.25, 0.25, 0.5], [0.0, 0.0, 1.0]
    wanted = value(case.learned, p, v)
    assert abs(plug_in(case.claimed, p, v) - wanted) <= WIDTH
    assert abs(value(case.claimed, p, v) - wanted) > Fraction(1, 50), "the plug-in would be right"


@pytest.mark.parametrize("uncertainty_set", [L2(0.25), Wasserstein(0.5, LINE)], ids=lambda u: u.kind)
def test_the_plug_in_of_a_ball_with_one_budget_is_biased(uncertainty_set: UncertaintySet) -> None:
    """sigma is concave in p for these balls: the mean over next states is below sigma at p, exactly."""
    p, v = [0.5, 0.0, 0.5], [0.0, 0.5, 4.0]
    bias = plug_in(uncertainty_set, p, v) - value(uncertainty_set, p, v)
    assert bias < -Fraction(1, 1000)
