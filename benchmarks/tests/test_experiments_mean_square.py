"""The growth of second moments of TDC: on recursions whose answer is known, and against runs of Figure 3(c)."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments.gradient import DIVERGED, environments_of, objective, trajectory
from benchmarks.experiments.interpretations import DEFAULT
from benchmarks.experiments.mean_square import THRESHOLD, growth, spectral_radius
from benchmarks.experiments.paper import PANELS

PANEL = PANELS["tdc-c"]
RUNS = 2


def test_the_growth_of_a_scalar_recursion_is_the_mean_square() -> None:
    """Independent factors 1/2 and 3/2 with equal probability: E[a²] = 5/4, although E[a] = 1."""
    kernel = np.full((2, 2), 0.5)
    maps = np.empty((2, 2, 1, 1))
    maps[:, 0], maps[:, 1] = 0.5, 1.5
    assert spectral_radius(kernel, maps) == pytest.approx(1.25, rel=1e-9)
    alternating = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert spectral_radius(alternating + 0.0, maps) < 1.25, "a chain that alternates is not an independent draw"


@pytest.mark.robust_core_slow
@pytest.mark.parametrize(("draw", "diverges"), [(0, True), (5, True), (1, False), (9, False)])
def test_the_growth_separates_draws_that_diverge_from_those_that_do_not(draw: int, diverges: bool) -> None:
    environments = environments_of(PANEL, replace(DEFAULT, features=draw))
    assert (growth(environments, PANEL.radius) > THRESHOLD) == diverges
    assert growth(environments, 0.0) < THRESHOLD, "vanilla TDC on the same features"
    T = DEFAULT.tdc_visits * environments.test.mdp.n_states
    for replicate in range(RUNS):
        last = trajectory(environments, "robust", replicate, [T])
        squared = float(objective(environments, "robust", replicate).squared_norm(last)[0])
        assert (squared > DIVERGED) == diverges
