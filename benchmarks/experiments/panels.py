"""The fifteen panels: what is printed about each, and the record of one under an interpretation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.experiments.interpretations import CONTROL, DEFAULT, INTERPRETATIONS, Figure, Interpretation, of_figure
from benchmarks.experiments.outcome import judged, misses

MANY, SOME, FEW = 400, 100, 30
"""How many seeds (see `outcome`); the plotted envelope uses the first thirty."""
BESIDE_DEFAULT = ("real-dynamics", "gym-reward", "drawn-start", "fresh-features")
"""The interpretations whose number stands beside that of the default: they get as many runs."""


@dataclass(frozen=True)
class Panel:
    """One plot of the paper with its printed numbers (beta belongs to TDC)."""

    id: str
    figure: Figure
    source: str
    p: float
    radius: float
    gamma: float
    alpha: float
    beta: float | None = None


_PRINTED: tuple[tuple[Figure, str, float, float, float | None], ...] = (
    ("frozenlake", "Fig. 1", 0.96, 0.8, None),
    ("cartpole", "Fig. 2", 0.95, 0.2, None),
    ("tdc", "Fig. 3", 0.9, 0.1, 0.5),
    ("rarl", "Fig. 4", 0.9, 0.2, None),
    ("taxi", "Fig. 5", 0.8, 0.3, None),
)
_COLUMNS = (("a", 0.1, 0.1), ("b", 0.05, 0.2), ("c", 0.1, 0.2))

PANELS: dict[str, Panel] = {
    f"{figure}-{letter}": Panel(f"{figure}-{letter}", figure, f"{source}({letter})", p, radius, gamma, alpha, beta)
    for figure, source, gamma, alpha, beta in _PRINTED
    for letter, p, radius in _COLUMNS
}


def runs_of(panel: Panel, interpretation: Interpretation) -> int:
    """How many seeds a panel gets under an interpretation.

    >>> [runs_of(PANELS[panel], DEFAULT) for panel in ("cartpole-a", "taxi-a")]
    [400, 100]
    """
    large = panel.figure in ("taxi", "rarl")
    if interpretation == DEFAULT or interpretation.name in BESIDE_DEFAULT:
        return SOME if large else MANY
    return FEW if large or panel.figure == "cartpole" else SOME


def record(panel: Panel, interpretation: Interpretation = DEFAULT, *, runs: int | None = None) -> dict[str, Any]:
    """The panel under the interpretation: values, controls, claims with intervals, outcome; a pure function of its
    arguments.

    It holds the score of every run (for the trend); under the default interpretation also the curves. Where an
    interpretation has as many runs as the default, how often Student's interval misses when they are drawn again.
    """
    if panel.figure not in interpretation.figures:
        raise ValueError(f"interpretation {interpretation.name!r} is not for {panel.figure}: it changes nothing there")
    count = runs_of(panel, interpretation) if runs is None else runs
    if count < 2:
        raise ValueError(f"runs must be at least 2, got {count}")
    head = {
        "panel": panel.id,
        "source": panel.source,
        "interpretation": interpretation.name,
        "p": panel.p,
        "R": panel.radius,
    }
    body = _experiment(panel.figure, interpretation)(panel, interpretation, count)
    if interpretation == DEFAULT or interpretation.name in BESIDE_DEFAULT:
        body["student misses"] = misses(np.array(body["scores"]))
    return head | {"outcome": body["claims"][0]["outcome"]} | body


def cell(panel: str, interpretation: str) -> dict[str, Any]:
    """The record of a panel under an interpretation, both by name: a unit of work."""
    return record(PANELS[panel], INTERPRETATIONS[interpretation])


def _experiment(
    figure: Figure, interpretation: Interpretation
) -> Callable[[Panel, Interpretation, int], dict[str, Any]]:
    if interpretation.dynamics == "real":
        from benchmarks.experiments.pole import experiment
    elif figure in CONTROL:
        from benchmarks.experiments.control import experiment
    elif figure == "tdc":
        from benchmarks.experiments.gradient import experiment
    else:
        from benchmarks.experiments.adversarial import experiment
    return experiment


def trends(records: dict[tuple[str, str], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """'As p and R get larger the advantage gets more significant': panel c against a (R grows) and b (p grows).

    `records` by panel and interpretation. The runs of a figure share their seeds, so the scores of two panels are
    compared run by run. The words name no size, so any growth that is found reproduces them.
    """
    for figure in CONTROL:
        for interpretation in of_figure(figure):
            found = [records.get((f"{figure}-{letter}", interpretation.name)) for letter in "abc"]
            a, b, c = (None if one is None else np.array(one["scores"]) for one in found)
            if a is None or b is None or c is None:
                continue
            for less, grows in ((a, "R from 0.1 to 0.2"), (b, "p from 0.05 to 0.1")):
                head = {"figure": figure, "interpretation": interpretation.name}
                yield head | judged(f"the advantage grows with {grows}", c - less, 0.0)
