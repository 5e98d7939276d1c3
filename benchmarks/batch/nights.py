"""The statistical suite at night: first what earlier nights left undecided, at twice the size, then a fresh seed set.

    robust-core batch night --budget 60min

Every seed set is a run of its own, with its own samples and its own budget of 1e-6: over N nights a false red has
probability at most N·1e-6, and the output says which seed set is red. To reopen a seed set spends nothing more. Its
cells keep their shares, their samples go on where they stopped (rows are taken from the record store, none is computed
twice), and E goes on being multiplied up: the same nonnegative supermartingale, looked at once more. By Ville's
inequality P(E_n >= 1/alpha for some n) <= alpha holds for all n together, whoever decides to go on, for whatever
reason; this is optional continuation. It holds for the product over the cells as well: in the order in which the
samples were taken it is one supermartingale, for every point of the grid and so for the mixture. Nothing may be
started afresh in the same seed set, and nothing is.

The state is what the record store has (`benchmarks.batch.history`): a run that began and has cells without a verdict
goes on in its own seed set, at the size it had; an undecided cell goes on at twice its size, up to `LARGEST_STRETCH`
times n_max, and is listed every night from then on. Code that changed takes no rows of the old one. A red seed set
stays red until changed code judges its red cells again, in the same seed set and so on the same samples: only a change
that fixes them makes them green. A cell that was undecided with the old code begins in the fresh seed set with the size
it was owed, which is known before its first sample.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.batch.cells import Batch, Runner, Selection, open_history, plan_cells
from benchmarks.batch.history import History, Verdict, warnings
from benchmarks.runner.progress import Show, now
from properties.statistics import budget, seed_sets
from properties.statistics.law import Size
from properties.statistics.records import CellResult, ControlResult, Gate

REOPENED_SHARE = 0.5
"""The part of the time that goes to earlier nights before the fresh seed set begins: a backlog cannot starve it."""


@dataclass(frozen=True)
class Task:
    """A cell that goes on in a seed set at a size."""

    seed_set: str
    stretch: float
    cell: str


@dataclass(frozen=True)
class NightReport:
    """A gate for every seed set that this code has seen, the factor by which n_max of each cell was raised, and the
    negative controls, which ran in the seed set of the night."""

    size: str
    seed_set: str
    seed_sets: dict[str, Gate]
    stretch: dict[str, dict[str, float]]
    controls: tuple[ControlResult, ...]
    warnings: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every seed set holds, and every control was caught."""
        gates = all(gate.outcome == "holds" for gate in self.seed_sets.values())
        return gates and all(one.outcome == "violated" for one in self.controls)

    def lines(self) -> list[str]:
        """The end of the output: a line per seed set, a line per missed or unfinished control, the warnings."""
        lines = [
            f"{seed_set}: {gate.outcome}; error budget {gate.spent:.2g} of {gate.budget:.2g}; log product "
            f"{gate.log_product:.1f}; violated: {', '.join(gate.violated) or 'none'}"
            for seed_set, gate in self.seed_sets.items()
        ]
        lines += [f"missed control: {one.control}" for one in self.controls if one.outcome == "missed"]
        lines += [f"warning: pending control: {one.control}" for one in self.controls if one.outcome == "pending"]
        return lines + list(self.warnings)


def open_tasks(history: History, only: str, tonight: str) -> list[Task]:
    """The cells that earlier runs of this code left open or other code found red, the oldest seed set first."""
    known = [item.cell.id for item in plan_cells(history.size)]
    verdicts, owed, accused = history.verdicts(), history.starting_stretches(), history.red_cells()
    expected: dict[str, dict[str, None]] = {}
    for selection, seed_set in history.runs():
        expected.setdefault(seed_set, {}).update((cell, None) for cell in known if selection in cell)
    for seed_set, found in verdicts.items():
        expected.setdefault(seed_set, {}).update((cell, None) for cell in found)
    for seed_set, sizes in accused.items():
        expected.setdefault(seed_set, {}).update((cell, None) for cell in sizes)
    tasks: list[Task] = []
    for seed_set, cells in expected.items():
        before = verdicts.get(seed_set, {})
        wanted = [cell for cell in cells if only in cell and cell in known and seed_set != tonight]
        first = {cell: max(owed.get(cell, 1.0), accused.get(seed_set, {}).get(cell, 1.0)) for cell in wanted}
        following = {cell: _next(before.get(cell), first[cell]) for cell in wanted}
        left = [Task(seed_set, stretch, cell) for cell, stretch in following.items() if stretch is not None]
        tasks += sorted(left, key=lambda task: task.stretch)
    return tasks


def _next(verdict: Verdict | None, first: float) -> float | None:
    """The stretch at which a cell goes on; None if it is decided or has reached the largest."""
    if verdict is None:
        return first
    return verdict.next_stretch if verdict.is_undecided and verdict.next_stretch > verdict.stretch else None


def advance(runner: Runner, tasks: Sequence[Task], deadline: float) -> dict[Task, CellResult]:
    """The results of cells that go on, until the deadline."""
    size = runner.history.size
    items = {item.cell.id: item for item in plan_cells(size)}
    found: dict[Task, CellResult] = {}
    for (seed_set, stretch), group in itertools.groupby(tasks, key=lambda task: (task.seed_set, task.stretch)):
        chosen = list(group)
        runner.show(f"{seed_set}, {stretch:g} x n_max: {len(chosen)} cells")
        selection = Selection(tuple(items[task.cell] for task in chosen), ())
        results, _ = runner.decide(Batch(size, seed_set, stretch=stretch), selection, deadline)
        found |= dict(zip(chosen, results, strict=True))
    return found


def run(
    *,
    size: Size,
    path: Path,
    workers: int = 1,
    budget_seconds: float = math.inf,
    with_controls: bool = True,
    only: str = "",
    show: Show = lambda line: None,
) -> NightReport:
    """One night: reopened cells in their own seed sets, today's seed set, and with the time left the reopened ones
    again.

    The date is read once. The report has a gate for every seed set that this code has seen.
    """
    started, tonight = now(), seed_sets.fresh()
    end = started + budget_seconds
    with open_history(path, size) as history:
        runner = Runner(history, workers, show=show)
        history.begin(tonight, only)
        earlier, owed = open_tasks(history, only, tonight), history.starting_stretches()
        selection = Selection.of(size, only, with_controls=with_controls)
        fresh = [Task(tonight, owed.get(item.cell.id, 1.0), item.cell.id) for item in selection.cells]
        found = advance(runner, earlier, started + REOPENED_SHARE * budget_seconds)
        found |= advance(runner, sorted(fresh, key=lambda task: task.stretch), end)
        _, checked = runner.decide(Batch(size, tonight), Selection((), selection.controls), end)
        found |= advance(runner, [task for task in earlier if found[task].outcome == "pending"], end)
        if "pending" not in {*(found[task].outcome for task in fresh), *(control.outcome for control in checked)}:
            history.finish(tonight, only)
        return _report(history, tonight, found, checked)


def _report(
    history: History, tonight: str, found: dict[Task, CellResult], checked: tuple[ControlResult, ...]
) -> NightReport:
    """The gate of every seed set, over the latest verdicts and the results of this night."""
    latest = history.verdicts()
    for task, result in found.items():
        if result.outcome == "pending":
            latest.setdefault(task.seed_set, {})[result.cell] = Verdict(task.stretch, result)
    order = [*(seed_set for seed_set in latest if seed_set != tonight), *({tonight} & latest.keys())]
    warn = functools.partial(warnings, size=history.size, path=history.store.path)
    verdicts = {seed_set: list(latest[seed_set].values()) for seed_set in order}
    return NightReport(
        size=history.size,
        seed_set=tonight,
        seed_sets={name: budget.gate(verdict.result for verdict in found) for name, found in verdicts.items()},
        stretch={name: {one.result.cell: one.stretch for one in found} for name, found in verdicts.items()},
        controls=checked,
        warnings=tuple(
            line for found in verdicts.values() for one in found for line in warn([one.result], stretch=one.stretch)
        ),
    )
