"""A panel under an interpretation: which experiment it is, its record, and the trends over panels."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.experiments import adversarial, control, gradient, pole
from benchmarks.experiments.interpretations import CONTROL, DEFAULT, INTERPRETATIONS, Interpretation, of_figure
from benchmarks.experiments.outcome import judge
from benchmarks.experiments.paper import PANELS, Panel, run_count
from benchmarks.experiments.records import PanelRun, Trend
from robust_core.json import to_data


def run_panel(panel: Panel, interpretation: Interpretation = DEFAULT, *, runs: int | None = None) -> PanelRun:
    """The panel under the interpretation: a pure function of its arguments."""
    if panel.figure not in interpretation.figures:
        raise ValueError(f"interpretation {interpretation.name!r} is not for {panel.figure}: it changes nothing there")
    count = run_count(panel, interpretation) if runs is None else runs
    if count < 2:
        raise ValueError(f"runs must be at least 2, got {count}")
    if interpretation.dynamics == "real":
        return pole.experiment(panel, interpretation, count)
    if panel.figure in CONTROL:
        return control.experiment(panel, interpretation, count)
    if panel.figure == "tdc":
        return gradient.experiment(panel, interpretation, count)
    return adversarial.experiment(panel, interpretation, count)


def compute_run(panel: str, interpretation: str) -> Any:
    """The data of a panel run, both by name: a unit of work."""
    return to_data(run_panel(PANELS[panel], INTERPRETATIONS[interpretation]))


def trends(runs: Mapping[tuple[str, str], PanelRun]) -> Iterator[Trend]:
    """'As p and R get larger the advantage gets more significant': panel c against a (R grows) and b (p grows).

    `runs` by panel and interpretation. The runs of a figure share their seeds, so the scores of two panels are
    compared run by run. The words name no size, so any growth that is found reproduces them.
    """
    for figure in CONTROL:
        for interpretation in of_figure(figure):
            found = [runs.get((f"{figure}-{letter}", interpretation.name)) for letter in "abc"]
            a, b, c = (None if one is None else np.array(one.scores) for one in found)
            if a is None or b is None or c is None:
                continue
            for less, grows in ((a, "R from 0.1 to 0.2"), (b, "p from 0.05 to 0.1")):
                claim = judge(f"the advantage grows with {grows}", c - less, 0.0)
                yield Trend(**asdict(claim), figure=figure, interpretation=interpretation.name)
