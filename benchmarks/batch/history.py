"""What the record store knows of runs: which began in which seed set, and the verdict of every cell at every size.

Like rows, these records are appended and never changed. A verdict is a function of its name (code, size, seed set,
cell, stretch), so it may be written by whoever comes to it. Names begin with a word in plain text and can be listed.
"""

import math
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.runner.store import DEFAULT, Store
from properties.statistics import budget, seed_sets
from properties.statistics.law import Size
from properties.statistics.records import CellResult
from robust_core import json
from robust_core.json import from_data, to_data

FRESH = "fresh"
"""The word for a seed set of today, on the command line."""
LARGEST_STRETCH = 64.0
"""How far n_max of an undecided cell is raised. The effect that n samples see falls like 1/√n: there it is an eighth
of the stated one, and a claim that is still undecided wants another design, not more samples."""
_RUN, _FINISHED, _VERDICT = "run", "run finished", "verdict"


@dataclass(frozen=True)
class Verdict:
    """The result of a cell when n_max is raised by `stretch`."""

    stretch: float
    result: CellResult

    @property
    def is_undecided(self) -> bool:
        """Whether it calls for a larger size."""
        return self.result.outcome == "undecided"

    @property
    def next_stretch(self) -> float:
        """The stretch at which an undecided cell goes on: twice as far, up to the largest."""
        return max(self.stretch, min(2.0 * self.stretch, LARGEST_STRETCH))


@dataclass(frozen=True)
class _Name:
    """What a verdict is kept under."""

    code: str
    size: str
    seed_set: str
    cell: str
    stretch: float


@dataclass(frozen=True)
class History:
    """The runs of one code at one size."""

    store: Store
    code: str
    size: Size

    def begin(self, seed_set: str, only: str) -> None:
        """A run of the cells whose id contains `only` begins in a seed set, which is its own from now on."""
        self.store.put(self._name(_RUN, only, seed_set), True)

    def finish(self, seed_set: str, only: str) -> None:
        """Nothing of the run is pending any more."""
        self.store.put(self._name(_FINISHED, only, seed_set), True)

    def runs(self) -> list[tuple[str, str]]:
        """(only, seed set) of every run that began, the oldest first."""
        return [(only, seed_set) for code, size, only, seed_set in self._listed(_RUN) if (code, size) == self._own]

    def find_unfinished(self, only: str) -> str | None:
        """The seed set of the latest run of these cells that was not finished."""
        seed_sets = [seed_set for selection, seed_set in self.runs() if selection == only]
        left = (
            seed_set
            for seed_set in reversed(seed_sets)
            if self.store.get(self._name(_FINISHED, only, seed_set)) is None
        )
        return next(left, None)

    def keep(self, stretch: float, result: CellResult) -> None:
        """Keep the verdict of a cell without its path and its intervals; a pending cell has none."""
        if result.outcome != "pending":
            name = self._name(_VERDICT, result.seed_set, result.cell, float(stretch))
            self.store.put(name, replace(result, path=(), intervals={}, diagnosis=""))

    def verdicts(self) -> dict[str, dict[str, Verdict]]:
        """By seed set and cell, the verdict at the largest size it was tried at; the oldest seed set first."""
        found: dict[str, dict[str, Verdict]] = {}
        for name, verdict in self._verdicts():
            if (name.code, name.size) == self._own:
                cells = found.setdefault(name.seed_set, {})
                if name.cell not in cells or cells[name.cell].stretch < verdict.stretch:
                    cells[name.cell] = verdict
        return found

    def starting_stretches(self) -> dict[str, float]:
        """By cell, the stretch that it begins with in a new seed set because other code left it undecided.

        Rows of other code say nothing about this one and are not taken, but how many samples a cell wanted is known.
        """
        latest: dict[tuple[str, str, str], Verdict] = {}
        for name, verdict in self._verdicts():
            if name.size == self.size and name.code != self.code:
                run = (name.code, name.seed_set, name.cell)
                if run not in latest or latest[run].stretch < verdict.stretch:
                    latest[run] = verdict
        found: dict[str, float] = {}
        for (_, _, cell), verdict in latest.items():
            if verdict.is_undecided:
                found[cell] = max(found.get(cell, 1.0), verdict.next_stretch)
        return found

    def red_cells(self) -> dict[str, dict[str, float]]:
        """By seed set, the cells that other code found red and this code has not judged, with their stretch.

        Samples do not depend on the code. So this code meets the same samples: a change that has nothing to do with the
        cell finds it red again, a fix does not. Nothing is forgotten until it is judged again. Where a seed set was
        red by the joint evidence alone, all its cells are accused.
        """
        latest: dict[str, dict[str, tuple[str, Verdict]]] = {}
        for name, verdict in self._verdicts():
            if name.size == self.size:
                latest.setdefault(name.seed_set, {})[name.cell] = (name.code, verdict)
        found: dict[str, dict[str, float]] = {}
        for seed_set, cells in latest.items():
            others = {cell: verdict for cell, (code, verdict) in cells.items() if code != self.code}
            guilty = {cell for cell, verdict in others.items() if verdict.result.outcome == "violated"}
            if not guilty and _is_red(others.values()):
                guilty = set(others)
            if guilty:
                found[seed_set] = {cell: others[cell].stretch for cell in others if cell in guilty}
        return found

    @property
    def _own(self) -> tuple[str, str]:
        return self.code, self.size

    def _name(self, word: str, *parts: object) -> bytes:
        return json.dumps([word, *self._own, *parts]).encode()

    def _listed(self, word: str) -> Iterator[list[Any]]:
        for name in self.store.names(json.dumps([word]).removesuffix("]").encode() + b","):
            yield json.loads(name.decode())[1:]

    def _verdicts(self) -> Iterator[tuple[_Name, Verdict]]:
        for parts in self._listed(_VERDICT):
            value = self.store.get(json.dumps([_VERDICT, *parts]).encode())
            name = _Name(*parts)
            yield name, Verdict(name.stretch, from_data(CellResult, to_data(value)))


def _is_red(verdicts: Iterable[Verdict]) -> bool:
    """Whether the joint evidence of cells is beyond what the budget allows a product."""
    return budget.log_product(verdict.result for verdict in verdicts) >= -math.log(budget.RUN_BUDGET * budget.JOINT)


def seed_set_of(word: str, history: History, *, only: str = "") -> str:
    """The seed set of a run, fixed once, at its start: a name stands for itself, 'fresh' for the run's own.

    A run that was killed, or whose budget ended, goes on in the seed set in which it began, whatever the date is now;
    when nothing is left of it, today's begins.
    """
    if word != FRESH:
        return word
    seed_set = history.find_unfinished(only) or seed_sets.fresh()
    history.begin(seed_set, only)
    return seed_set


def command(*, size: str, seed_set: str, cell: str, stretch: float, path: Path = DEFAULT) -> str:
    """The command that continues an undecided cell.

    >>> command(size="full", seed_set="pinned", cell="a cell", stretch=2.0)
    "robust-core batch run --size full --seed-set pinned --stretch 2 --no-controls --only 'a cell'"
    """
    words = ["robust-core", "batch", "run", "--size", size, "--seed-set", seed_set, "--stretch", f"{stretch:g}"]
    store = [] if path == DEFAULT else ["--store", str(path)]
    return shlex.join([*words, "--no-controls", "--only", cell, *store])


def warnings(results: Iterable[CellResult], *, size: str, stretch: float, path: Path = DEFAULT) -> list[str]:
    """A line for every cell of a run that has no verdict, with the command that continues it."""
    lines = []
    for result in results:
        verdict, seed_set = Verdict(stretch, result), result.seed_set
        if verdict.is_undecided and verdict.next_stretch == stretch:
            lines.append(f"warning: undecided at the largest size: {result.cell} ({seed_set}, n={result.n})")
        elif result.is_open:
            due = verdict.next_stretch if verdict.is_undecided else stretch
            way = command(size=size, seed_set=seed_set, cell=result.cell, stretch=due, path=path)
            lines.append(f"warning: {result.outcome}: {result.cell} (n={result.n}; continue it: {way})")
    return lines
