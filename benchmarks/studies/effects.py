"""The effects of the right algorithms at full size: rates, ratios and errors, with intervals that hold at every n.

A verdict stops as soon as it is clear, when an interval is still wide; here every cell takes `REPLICATES` runs.
"""

import numpy as np

from benchmarks.batch.cells import plan_cells
from properties.statistics.law import rows_of
from properties.statistics.records import Interval
from properties.statistics.seed_sets import PINNED

REPLICATES = 256
MEASURED = (
    "converges/rate/",
    "finite time/scaling/",
    "finite time/sharpened/",
    "speed/",
    "stationary/",
    "sampling/k2/",
)
"""How the cells begin whose effects are measured."""


def measure() -> dict[str, dict[str, Interval]]:
    """The intervals by cell and effect."""
    found = {}
    for item in plan_cells("full"):
        if item.cell.id.startswith(MEASURED):
            rows = np.array(rows_of(item.cell, PINNED, 0, REPLICATES))
            found[item.cell.id] = dict(item.cell.measure(rows))
    return {cell: intervals for cell, intervals in found.items() if intervals}
