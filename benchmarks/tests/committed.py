"""What a computation of today shares with the committed results of the panels."""

from benchmarks.experiments.records import PanelRun
from benchmarks.experiments.results import Results
from benchmarks.runner.identity import libraries
from robust_core.json import to_data

CHEAP = ("frozenlake-c", "short")
"""The panel and the interpretation that are computed soonest."""


def comparable(run: PanelRun, results: Results) -> object:
    """The part of a panel run that must be the same as in the committed results.

    Every bit with the libraries that computed the committed results; with others, whose sums may round otherwise, the
    outcome of each claim.
    """
    if results.made_by.libraries == libraries():
        return {name: value for name, value in to_data(run).items() if name != "scores"}
    return [(claim.claim, claim.outcome) for claim in run.claims]
