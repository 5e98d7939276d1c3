"""The exit code of a run of statistical cells, and whether a run may be a baseline."""

from collections.abc import Iterable

from benchmarks.batch.cells import Selection
from benchmarks.cli.conventions import HOLDS, UNDECIDED, VIOLATED
from properties.statistics.records import ControlResult, Gate, RunReport


def exit_code(gates: Iterable[Gate], controls: Iterable[ControlResult], *, strict: bool) -> int:
    """0 unless a gate is red or a control was missed; 3 for what is undecided or pending under `strict`."""
    gates, outcomes = list(gates), {control.outcome for control in controls}
    if any(gate.red for gate in gates) or "missed" in outcomes:
        return VIOLATED
    return UNDECIDED if strict and (any(gate.is_open for gate in gates) or "pending" in outcomes) else HOLDS


def require_whole(report: RunReport) -> None:
    """Refuse as a baseline a run that is not a finished one of all cells and all controls at full size."""
    whole = Selection.of("full")
    wanted = [item.cell.id for item in whole.cells] + [control.name for control in whole.controls]
    outcomes: dict[str, str] = {cell.cell: cell.outcome for cell in report.cells}
    outcomes |= {control.control: control.outcome for control in report.controls}
    if missing := [name for name in wanted if name not in outcomes]:
        raise ValueError(f"must have all cells and controls of the full size, {missing[0]!r} is missing")
    if pending := [name for name, outcome in outcomes.items() if outcome == "pending"]:
        raise ValueError(f"must be finished, {pending[0]!r} is pending")
