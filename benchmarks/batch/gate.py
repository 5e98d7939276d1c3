"""The gate over the records of a run: red or not, what is undecided, what is pending, and the exit code."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.cli.conventions import HOLDS, UNDECIDED, VIOLATED

if TYPE_CHECKING:
    from properties.statistics.budget import Entry
    from properties.statistics.sequential import Outcome

PENDING = "pending"
"""The outcome of a cell whose time or samples ended before its largest size: it can go on."""


def _entry(record: dict[str, Any]) -> "Entry":
    from properties.statistics.budget import Entry
    from properties.statistics.sequential import Decision

    outcome: Outcome = "undecided" if record["outcome"] == PENDING else record["outcome"]
    decision = Decision(outcome, record["n"], record["log_against"], record["log_favour"], tuple(record["log_factors"]))
    return Entry(record["cell"], record["alpha"], record["beta"], record["effect"], decision)


def summary(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The gate over all cells, what is undecided, what is pending, and whom e-BH suspects.

    A pending cell takes part with the evidence it has. To leave it out would put 1 in the place of an E that may be
    smaller, for a reason that may depend on the samples: slow replicates end the time. The clock is asked between
    pieces, so where it stops a cell is a stopping time of its samples, and E there has mean at most 1 like any other.
    """
    from properties.statistics import budget

    ledger = [_entry(record) for record in records]
    pending = [record["cell"] for record in records if record["outcome"] == PENDING]
    gate = budget.gate(ledger)
    return {
        "budget": budget.RUN_BUDGET,
        "spent": gate.spent,
        "outcome": gate.outcome,
        "violated": list(gate.violated),
        "undecided": [cell for cell in gate.undecided if cell not in set(pending)],
        "pending": pending,
        "log_product": gate.log_product,
        "suspects": list(budget.suspects(ledger)),
    }


def exit_code(report: dict[str, Any], *, strict: bool) -> int:
    """0 unless the gate is red or a control was missed; 3 for what is undecided or pending under `strict`."""
    found = report["summary"]
    if found["outcome"] == "violated" or report["missed controls"]:
        return VIOLATED
    waiting = any(control["outcome"] == PENDING for control in report["controls"])
    return UNDECIDED if strict and (found["undecided"] or found["pending"] or waiting) else HOLDS
