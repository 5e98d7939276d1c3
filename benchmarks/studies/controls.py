"""Which kind of cell finds which wrong algorithm violated, at quick size, with the pinned seeds.

`caught` stops at the first cell that sees a control; here every cell is asked. A kind of cell that passes a wrong
algorithm must say why it is there (`StatisticalLaw.purposes`).
"""

from properties.statistics.law import decide, shared_rows
from properties.statistics.laws import laws
from properties.statistics.seed_sets import PINNED
from properties.statistics.suite import plan_cells

Outcomes = dict[str, dict[str, dict[str, str]]]
"""By law, control and kind of cell: *violated* if a cell of the kind finds it so, else the outcome of the last."""


def measure() -> Outcomes:
    """Decide every cell of every control."""
    alpha = min(item.alpha for item in plan_cells("quick"))
    found: Outcomes = {}
    for law in laws():
        for control in law.wrong("quick"):
            rows, outcomes = shared_rows(), found.setdefault(law.name, {}).setdefault(control.name, {})
            for cell in law.cells(control, "quick"):
                if outcomes.get(cell.kind) != "violated":
                    outcomes[cell.kind] = decide(cell, alpha=alpha, seed_set=PINNED, rows=rows).outcome
    return found
