"""The panel runs as units of work: kept in a store, on several processes or a cluster, resumed after a stop."""

import math
import multiprocessing
import resource
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.experiments.interpretations import DEFAULT, Interpretation, of_figure
from benchmarks.experiments.paper import PANELS, Panel
from benchmarks.experiments.records import PanelRun
from benchmarks.experiments.results import MadeBy, present_code
from benchmarks.runner.identity import libraries
from benchmarks.runner.schedule import run
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit
from robust_core.json import from_data

STORE = Path(".robust-core") / "experiments.jsonl"
Choice = tuple[Panel, Interpretation]


def all_choices() -> list[Choice]:
    """Every panel with every interpretation that matters for it; those of the default interpretation first.

    >>> choices = all_choices()
    >>> choices[0][1].name, choices[15][1].name
    ('default', 'not-slippery')
    """
    choices = [(panel, interpretation) for panel in PANELS.values() for interpretation in of_figure(panel.figure)]
    return sorted(choices, key=lambda choice: choice[1] != DEFAULT)


def unit(panel: Panel, interpretation: Interpretation) -> Unit:
    """The unit of work that computes a panel under an interpretation."""
    return Unit("benchmarks.experiments.panels:compute_run", {"panel": panel.id, "interpretation": interpretation.name})


def compute(
    choices: Sequence[Choice],
    *,
    store: Store,
    workers: int = 1,
    cluster: str | None = None,
    budget_seconds: float = math.inf,
    show: Callable[[str], None] = lambda line: None,
) -> dict[tuple[str, str], PanelRun]:
    """The runs by panel and interpretation, in the order of the choices; those in the store are not computed again.

    No run is begun after the budget, so some may be missing.
    """
    units = [unit(panel, interpretation) for panel, interpretation in choices]
    # The long ones first, so that no worker is left alone with one at the end.
    order = sorted(units, key=lambda one: (one.arguments["interpretation"] != "default", LONG.index(figure_of(one))))
    values = run(order, store=store, workers=workers, cluster=cluster, show=show, budget_seconds=budget_seconds)
    return {
        (panel.id, interpretation.name): from_data(PanelRun, values[one.key], str(one))
        for (panel, interpretation), one in zip(choices, units, strict=True)
        if one.key in values
    }


LONG = ("rarl", "cartpole", "taxi", "frozenlake", "tdc")
"""The figures by how long their panels take."""


def figure_of(one: Unit) -> str:
    """The figure that a unit belongs to.

    >>> figure_of(unit(PANELS["taxi-b"], DEFAULT))
    'taxi'
    """
    return PANELS[one.arguments["panel"]].figure


def provenance(runs: int, *, timed: bool) -> MadeBy:
    """The present code as the one that computed all runs; the processor time is known if this process did all of it."""
    if not timed:
        return MadeBy(present_code(), runs, libraries())
    for worker in multiprocessing.active_children():
        worker.join()  # the time of a worker is known when it has ended
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return MadeBy(present_code(), runs, libraries(), round(sum(who.ru_utime + who.ru_stime for who in spent)))
