"""The statistical suite at night: first what earlier nights left undecided, at twice the size, then a fresh seed set.

    python -m benchmarks.batch.nights --budget 60min

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
times n_max, and is listed every night from then on. A red seed set stays red until the code changes. Code that changed
takes no rows of the old one; a cell that was undecided with the old begins in the fresh seed set with the size it was
owed, which is known before its first sample.
"""

import argparse
import functools
import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.batch import cells as batch
from benchmarks.batch.cells import Run, opened, say
from benchmarks.batch.gate import PENDING, summary
from benchmarks.batch.history import History, Verdict, warnings
from benchmarks.cli.conventions import HOLDS, UNDECIDED, USAGE, VIOLATED, interruptible
from benchmarks.runner.pool import single_thread

REOPENED_SHARE = 0.5
"""The part of the time that goes to earlier nights before the fresh seed set begins: a backlog cannot starve it."""


@dataclass(frozen=True)
class Task:
    """A cell, by its place in `planned(size)`, that goes on in a seed set at a size."""

    seed_set: str
    stretch: float
    index: int


def reopened(history: History, only: str, tonight: str) -> list[Task]:
    """What earlier runs of this code left open, the oldest seed set first."""
    indices = _indices(history.size)
    verdicts, owed = history.verdicts(), history.owed()
    expected: dict[str, dict[str, None]] = {}
    for selection, seed_set in history.runs():
        expected.setdefault(seed_set, {}).update((cell, None) for cell in indices if selection in cell)
    for seed_set, found in verdicts.items():
        expected.setdefault(seed_set, {}).update((cell, None) for cell in found)
    tasks: list[Task] = []
    for seed_set, cells in expected.items():
        known = verdicts.get(seed_set, {})
        wanted = [cell for cell in cells if only in cell and cell in indices and seed_set != tonight]
        sizes = {cell: _next(known.get(cell), owed.get(cell, 1.0)) for cell in wanted}
        left = [Task(seed_set, stretch, indices[cell]) for cell, stretch in sizes.items() if stretch is not None]
        tasks += sorted(left, key=lambda task: task.stretch)
    return tasks


def _next(verdict: Verdict | None, first: float) -> float | None:
    """The stretch at which a cell goes on; None if it is decided or has reached the largest."""
    if verdict is None:
        return first
    return verdict.due if verdict.undecided and verdict.due > verdict.stretch else None


def _indices(size: Any) -> dict[str, int]:
    from properties.statistics.suite import planned

    return {item.cell.id: index for index, item in enumerate(planned(size))}


@dataclass(frozen=True)
class Night:
    """How a night works: where rows are kept, with how many processes, and what it says meanwhile."""

    size: Any
    path: Path
    workers: int = 1
    show: Callable[[str], None] = lambda line: None

    def advance(self, tasks: Sequence[Task], deadline: float) -> dict[Task, dict[str, Any]]:
        """The records of cells that go on, until the deadline."""
        found: dict[Task, dict[str, Any]] = {}
        for (seed_set, stretch), group in itertools.groupby(tasks, key=lambda task: (task.seed_set, task.stretch)):
            chosen = list(group)
            common = Run(self.size, seed_set, deadline, stretch=stretch)
            self.show(f"{seed_set}, {stretch:g} x n_max: {len(chosen)} cells")
            records = batch.work(
                [("cell", task.index) for task in chosen], common, self.path, workers=self.workers, show=self.show
            )
            found |= dict(zip(chosen, records, strict=True))
        return found

    def controls(self, seed_set: str, only: str, deadline: float) -> list[dict[str, Any]]:
        """The records of the negative controls."""
        jobs = [job for job in batch.chosen(self.size, only, with_controls=True) if job[0] == "control"]
        return batch.work(jobs, Run(self.size, seed_set, deadline), self.path, workers=self.workers, show=self.show)


def run(
    *,
    size: Any,
    path: Path,
    workers: int = 1,
    budget_seconds: float = math.inf,
    with_controls: bool = True,
    only: str = "",
    show: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """One night: reopened cells in their own seed sets, today's seed set, and with the time left the reopened ones
    again.

    The date is read once. The report has a gate for every seed set that this code has seen.
    """
    from properties.statistics import seed_sets

    started, tonight = time.time(), seed_sets.fresh()
    end = started + budget_seconds
    night = Night(size, path, workers, show)
    with opened(path, size) as history:
        history.begin(tonight, only)
        earlier, owed = reopened(history, only, tonight), history.owed()
    indices = _indices(size)
    fresh = [Task(tonight, owed.get(cell, 1.0), index) for cell, index in indices.items() if only in cell]
    found = night.advance(earlier, started + REOPENED_SHARE * budget_seconds)
    found |= night.advance(sorted(fresh, key=lambda task: task.stretch), end)
    checked = night.controls(tonight, only, end) if with_controls else []
    found |= night.advance([task for task in earlier if found[task]["outcome"] == PENDING], end)
    with opened(path, size) as history:
        if not any(record["outcome"] == PENDING for record in [*(found[task] for task in fresh), *checked]):
            history.finish(tonight, only)
        return _report(history, tonight, found, checked)


def _report(
    history: History, tonight: str, found: dict[Task, dict[str, Any]], checked: list[dict[str, Any]]
) -> dict[str, Any]:
    """The gate of every seed set, over the latest verdicts and what tonight brought."""
    latest = history.verdicts()
    for task, record in found.items():
        if record["outcome"] == PENDING:
            latest.setdefault(task.seed_set, {})[record["cell"]] = Verdict(task.seed_set, task.stretch, record)
    order = [
        *(seed_set for seed_set in latest if seed_set != tonight),
        *(seed_set for seed_set in latest if seed_set == tonight),
    ]
    warn = functools.partial(warnings, size=history.size, path=history.store.path)
    return {
        "size": history.size,
        "seed_set": tonight,
        "seed_sets": {
            seed_set: summary([verdict.record for verdict in latest[seed_set].values()]) for seed_set in order
        },
        "stretch": {
            seed_set: {cell: verdict.stretch for cell, verdict in latest[seed_set].items()} for seed_set in order
        },
        "missed controls": [record["control"] for record in checked if record["outcome"] == "missed"],
        "pending controls": [record["control"] for record in checked if record["outcome"] == PENDING],
        "warnings": [
            line
            for seed_set in order
            for verdict in latest[seed_set].values()
            for line in warn([verdict.record], seed_set=seed_set, stretch=verdict.stretch)
        ],
    }


def exit_code(report: dict[str, Any], *, strict: bool) -> int:
    """1 if a seed set is red or a control was missed; 3 for what has no verdict under `strict`."""
    gates = report["seed_sets"].values()
    if report["missed controls"] or any(gate["outcome"] == "violated" for gate in gates):
        return VIOLATED
    open_ends = report["pending controls"] or any(gate["undecided"] or gate["pending"] for gate in gates)
    return UNDECIDED if strict and open_ends else HOLDS


def shown(report: dict[str, Any]) -> list[str]:
    """The end of the output: a line per seed set, a line per missed or unfinished control, the warnings."""
    lines = [
        f"{seed_set}: {gate['outcome']}; error budget {gate['spent']:.2g} of {gate['budget']:.2g}; log product "
        f"{gate['log_product']:.1f}; violated: {', '.join(gate['violated']) or 'none'}"
        for seed_set, gate in report["seed_sets"].items()
    ]
    lines += [f"missed control: {name}" for name in report["missed controls"]]
    lines += [f"warning: pending control: {name}" for name in report["pending controls"]]
    return lines + list(report["warnings"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.batch.nights", description="Continue what is undecided, then run a fresh seed set."
    )
    batch.add_run_options(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = _parser()
    options = parser.parse_args(arguments)
    batch.require_work(parser, options)
    single_thread()
    try:
        report = run(
            size=options.size,
            path=options.store,
            workers=options.workers,
            budget_seconds=options.budget,
            with_controls=not options.no_controls,
            only=options.only,
            show=say,
        )
    except OSError as error:
        parser.exit(USAGE, f"{parser.prog}: {error}\n")
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    for line in shown(report):
        print(line)  # noqa: T201
    return exit_code(report, strict=options.strict)


if __name__ == "__main__":
    sys.exit(interruptible(main, "python -m benchmarks.batch.nights"))
