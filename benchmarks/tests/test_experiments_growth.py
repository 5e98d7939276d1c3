"""The growth of TDC far out: on a recursion whose answer is known, against the committed study, and against runs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments.gradient import environments_of
from benchmarks.experiments.growth import growth_rates, mean_square_rate, rates, walk
from benchmarks.experiments.interpretations import DEFAULT
from benchmarks.experiments.paper import PANELS
from benchmarks.studies import bounds, growth


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_one_state_grows_by_the_spectral_radius(radius: float) -> None:
    """One state, one feature: the recursion is a fixed matrix, whatever R."""
    gamma, alpha, beta, phi = 0.9, 0.5, 4.0, 1.2
    slope = (gamma - 1.0) * phi * phi
    matrix = np.array([[1 + alpha * slope, -alpha * gamma * phi * phi], [beta * slope, 1 - beta * phi * phi]])
    radius_of = float(np.abs(np.linalg.eigvals(matrix)).max())
    states = np.zeros(401, dtype=np.int64)
    found, largest = rates(np.array([[phi]]), states, gamma, radius, alpha, beta, 2, 200)
    assert largest.tolist() == pytest.approx([1.0])
    assert found[1] / 200 == pytest.approx(math.log(radius_of), rel=1e-9)


def test_a_walk_visits_by_the_rows_of_the_kernel() -> None:
    cumulative = np.cumsum([[0.25, 0.75], [1.0, 0.0]], axis=1)
    assert walk(cumulative, np.array([0.2, 0.3, 0.999, 0.5])).tolist() == [0, 0, 1, 0, 1]


def test_the_sign_of_the_growth_decides_which_draws_diverge() -> None:
    """Of the committed study: below zero no run diverged, well above zero all did; vanilla hardly ever grows."""
    found = growth.load_committed()
    assert len(found) == 3 * growth.DRAWS * len(growth.LEARNERS)
    assert not any(one.diverged_later for one in found if one.interval[1] < 0)
    assert all(one.diverged_later == one.runs for one in found if one.growth > 1.5)
    assert all(one.diverged == one.runs for one in found if one.growth > 11.0)
    above = {
        learner: sum(one.interval[0] > 0 for one in found if one.learner == learner) for learner in growth.LEARNERS
    }
    assert above["robust"] > 10 * above["vanilla"]


def test_the_certified_mean_square_has_the_sign_of_the_measured_growth() -> None:
    """Of the committed study. For vanilla TDC the mean square grows at least as fast as typical paths (Jensen)."""
    found = growth.load_committed()
    decided = [one for one in found if one.interval[0] * one.interval[1] > 0 and one.sign]
    assert len(decided) > 0.9 * len(found)
    assert not [one for one in decided if one.growth * one.sign < 0]
    assert all(one.mean_square[1] > one.interval[0] for one in found if one.learner == "vanilla")


@pytest.mark.parametrize(("panel", "draw", "learner"), [("tdc-c", 0, "robust"), ("tdc-a", 1, "vanilla")])
def test_the_committed_mean_square_is_certified_again(panel: str, draw: int, learner: str) -> None:
    environments = environments_of(PANELS[panel], replace(DEFAULT, features=draw))
    (known,) = (one for one in growth.load_committed() if (one.panel, one.draw, one.learner) == (panel, draw, learner))
    low, high = mean_square_rate(environments, learner, growth.horizon(), held=known.held)
    known_low, known_high = known.mean_square
    assert low is not None
    assert known_low is not None
    assert max(low, known_low) <= min(high, known_high)


@pytest.mark.parametrize("learner", growth.LEARNERS)
def test_the_committed_growth_is_measured_again(learner: str) -> None:
    """Rounding is amplified along a walk, but a mean over it stays within the interval."""
    environments = environments_of(PANELS["tdc-c"], replace(DEFAULT, features=1))
    (known,) = (one for one in growth.load_committed() if (one.panel, one.draw, one.learner) == ("tdc-c", 1, learner))
    blocks, _ = growth_rates(environments, learner, growth.horizon())
    measured = blocks.mean()
    assert known.interval[0] < measured < known.interval[1]


def test_a_committed_bound_is_certified_again_and_a_changed_one_is_not() -> None:
    first = bounds.load_committed()[0]
    assert bounds.is_certified(first)
    assert not bounds.is_certified(replace(first, draw=0))
    assert not bounds.is_certified(replace(first, weights=bounds.pack(-bounds.unpack(first.weights))))


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("bound", bounds.load_committed()[1:], ids=lambda one: f"{one.panel}-{one.draw}")
def test_every_committed_bound_is_certified_again(bound: bounds.Bound) -> None:
    assert bounds.is_certified(bound)


def test_a_draw_that_is_certified_to_stay_bounded_does_not_diverge() -> None:
    found = {(one.panel, one.draw): one for one in growth.load_committed() if one.learner == "robust"}
    assert all(found[one.panel, one.draw].diverged_later == 0 for one in bounds.load_committed())
    assert all(found[one.panel, one.draw].growth < 0.0 for one in bounds.load_committed())


def test_weights_are_kept_as_upper_triangles() -> None:
    M = np.array([[[1.0, 0.25], [0.25, 2.0]], [[3.0, -0.5], [-0.5, 4.0]]])
    assert bounds.pack(M) == ((1.0, 0.25, 2.0), (3.0, -0.5, 4.0))
    assert (bounds.unpack(bounds.pack(M)) == M).all()
