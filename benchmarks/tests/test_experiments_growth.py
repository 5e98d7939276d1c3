"""The growth of TDC far out: on a recursion whose answer is known, against the committed study, and against runs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments.gradient import environments_of
from benchmarks.experiments.growth import growth_rates, mean_square_rate, rates, walk
from benchmarks.experiments.interpretations import DEFAULT
from benchmarks.experiments.paper import PANELS
from benchmarks.studies import growth


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_one_state_grows_by_the_spectral_radius(radius: float) -> None:
    """One state, one feature: the recursion is a fixed matrix, whatever R."""
    gamma, alpha, beta, phi = 0.9, 0.5, 4.0, 1.2
    slope = (gamma - 1.0) * phi * phi
    matrix = np.array([[1 + alpha * slope, -alpha * gamma * phi * phi], [beta * slope, 1 - beta * phi * phi]])
    radius_of = float(np.abs(np.linalg.eigvals(matrix)).max())
    states = np.zeros(401, dtype=np.int64)
    found = rates(np.array([[phi]]), states, gamma, radius, alpha, beta, 2, 200)
    assert found[1] / 200 == pytest.approx(math.log(radius_of), rel=1e-9)


def test_a_walk_visits_by_the_rows_of_the_kernel() -> None:
    cumulative = np.cumsum([[0.25, 0.75], [1.0, 0.0]], axis=1)
    assert walk(cumulative, np.array([0.2, 0.3, 0.999, 0.5])).tolist() == [0, 0, 1, 0, 1]


def test_the_sign_of_the_growth_decides_which_draws_diverge() -> None:
    """Of the committed study: below zero no run diverged, well above zero all did; vanilla hardly ever grows."""
    found = growth.committed()
    assert len(found) == 3 * growth.DRAWS * len(growth.LEARNERS)
    assert not any(one.diverged_later for one in found if one.interval[1] < 0)
    assert all(one.diverged_later == one.runs for one in found if one.growth > 1.5)
    assert all(one.diverged == one.runs for one in found if one.growth > 11.0)
    above = {
        learner: sum(one.interval[0] > 0 for one in found if one.learner == learner) for learner in growth.LEARNERS
    }
    assert above["robust"] > 10 * above["vanilla"]


@pytest.mark.parametrize(
    ("panel", "draw", "learner", "rate", "state"),
    [
        ("tdc-c", 0, "robust", 22.35, 14),
        ("tdc-c", 0, "vanilla", -1.51, None),
        ("tdc-a", 1, "robust", -1.67, 5),
        ("tdc-a", 1, "vanilla", -11.28, None),
    ],
)
def test_the_mean_square_is_certified_near_the_measured_growth(
    panel: str, draw: int, learner: str, rate: float, state: int | None
) -> None:
    """The rates that the page of the experiments names; the sign is that of the measured growth."""
    environments = environments_of(PANELS[panel], replace(DEFAULT, features=draw))
    (low, high), held = mean_square_rate(environments, learner, growth.horizon())
    (known,) = (one for one in growth.committed() if (one.panel, one.draw, one.learner) == (panel, draw, learner))
    assert held == state
    assert rate - 0.01 < low <= high < rate + 0.01
    assert low > 0.0 if known.growth > 0.0 else high < 0.0


@pytest.mark.parametrize("learner", growth.LEARNERS)
def test_the_committed_growth_is_measured_again(learner: str) -> None:
    """Rounding is amplified along a walk, but a mean over it stays within the interval."""
    environments = environments_of(PANELS["tdc-c"], replace(DEFAULT, features=1))
    (known,) = (one for one in growth.committed() if (one.panel, one.draw, one.learner) == ("tdc-c", 1, learner))
    measured = growth_rates(environments, learner, growth.horizon()).mean()
    assert known.interval[0] < measured < known.interval[1]
