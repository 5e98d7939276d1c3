"""The growth of TDC far out for many draws of the features of Figure 3, beside runs: the certificate of divergence."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from benchmarks.experiments.gradient import environments_of
from benchmarks.experiments.growth import Growth, growth_of
from benchmarks.experiments.interpretations import DEFAULT
from benchmarks.experiments.paper import PANELS
from robust_core.json import from_data, load

FILE = Path(__file__).parents[1] / "baselines" / "growth.json"
DRAWS, RUNS, LONGER = 24, 3, 8
LEARNERS = ("robust", "vanilla")


def horizon() -> int:
    """Steps of a run of Figure 3 under the default interpretation."""
    states = environments_of(PANELS["tdc-a"], DEFAULT).test.mdp.n_states
    return DEFAULT.tdc_visits * states


def measure() -> list[Growth]:
    """Every panel of Figure 3, every draw, robust and vanilla TDC."""
    found = []
    for panel in (panel for panel in PANELS.values() if panel.figure == "tdc"):
        for draw in range(DRAWS):
            environments = environments_of(panel, replace(DEFAULT, features=draw))
            found += [growth_of(environments, learner, horizon(), runs=RUNS, longer=LONGER) for learner in LEARNERS]
    return found


@cache
def load_committed() -> tuple[Growth, ...]:
    """The committed study."""
    return tuple(from_data(list[Growth], load(FILE), FILE.name))
