"""What a computation of today shares with the committed results of the panels."""

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.runner.identity import libraries

CHEAP = ("frozenlake-c", "short")
"""The panel and the interpretation that are computed soonest."""


def comparable_with(made: Mapping[str, Any]) -> Callable[[dict[str, Any]], Any]:
    """The part of a record that must come out the same.

    Every bit with the libraries that made the committed results; with others, whose sums may round otherwise, what
    became of each claim.
    """
    if made["made by"]["libraries"] == libraries():
        return lambda record: record
    return lambda record: [(claim["claim"], claim["outcome"]) for claim in record["claims"]]
