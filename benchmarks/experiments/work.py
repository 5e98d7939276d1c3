"""The panels as units of work: kept in a store, on several processes or a cluster, resumed where a run stopped."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments.interpretations import DEFAULT, Interpretation, of_figure
from benchmarks.experiments.panels import PANELS, Panel
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit, run

STORE = Path(".robust-core") / "experiments.jsonl"
Cell = tuple[Panel, Interpretation]


def all_cells() -> list[Cell]:
    """Every panel with every interpretation that matters for it; those of the default interpretation first.

    >>> cells = all_cells()
    >>> cells[0][1].name, cells[15][1].name
    ('default', 'not-slippery')
    """
    cells = [(panel, interpretation) for panel in PANELS.values() for interpretation in of_figure(panel.figure)]
    return sorted(cells, key=lambda cell: cell[1] != DEFAULT)


def unit(panel: Panel, interpretation: Interpretation) -> Unit:
    """The unit of work that makes the record of a panel under an interpretation."""
    return Unit("benchmarks.experiments.panels:cell", {"panel": panel.id, "interpretation": interpretation.name})


def computed(
    cells: Sequence[Cell],
    *,
    store: Store,
    workers: int = 1,
    cluster: str | None = None,
    budget_seconds: float = math.inf,
    show: Callable[[str], None] = lambda line: None,
) -> dict[tuple[str, str], dict[str, Any]]:
    """The records by panel and interpretation, in the order of the cells; the store's are not made again.

    No cell is begun after the budget, so some may lack.
    """
    units = [unit(panel, interpretation) for panel, interpretation in cells]
    # The long ones first, so that no worker is left alone with one at the end.
    order = sorted(units, key=lambda one: (one.arguments["interpretation"] != "default", LONG.index(figure_of(one))))
    values = run(order, store=store, workers=workers, cluster=cluster, show=show, budget_seconds=budget_seconds)
    return {
        (panel.id, interpretation.name): values[one.key]
        for (panel, interpretation), one in zip(cells, units, strict=True)
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
