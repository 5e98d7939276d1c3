"""What the record store knows of runs: which began in which seed set, and the verdict of every cell at every size.

Like rows, these records are appended and never changed. A verdict is a function of its name (code, size, seed set,
cell, stretch), so it may be written by whoever comes to it. Names begin with a word in plain text and can be listed.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.batch.gate import PENDING
from benchmarks.runner.store import DEFAULT, Store

FRESH = "fresh"
"""The word for a seed set of today, on the command line."""
LARGEST_STRETCH = 64.0
"""How far n_max of an undecided cell is raised. The effect that n samples see falls like 1/√n: there it is an eighth
of the stated one, and a claim that is still undecided wants another design, not more samples."""
_RUN, _FINISHED, _VERDICT = "run", "run finished", "verdict"
_KEPT = (
    "law", "cell", "outcome", "n", "n_max", "alpha", "beta", "effect", "log_against", "log_favour", "log_factors",
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """The outcome of a cell in a seed set when n_max is raised by `stretch`; `record` is its line of the ledger."""

    seed_set: str
    stretch: float
    record: dict[str, Any]

    @property
    def undecided(self) -> bool:
        """Whether it calls for a larger size."""
        return bool(self.record["outcome"] == "undecided")

    @property
    def due(self) -> float:
        """The stretch at which an undecided cell goes on: twice as far, up to the largest."""
        return max(self.stretch, min(2.0 * self.stretch, LARGEST_STRETCH))


@dataclass(frozen=True)
class History:
    """The runs of one code at one size."""

    store: Store
    code: bytes
    size: str

    def begin(self, seed_set: str, only: str) -> None:
        """A run of the cells whose id contains `only` begins in a seed set, which is its own from now on."""
        self.store.put(self._name(_RUN, only, seed_set), True)

    def finish(self, seed_set: str, only: str) -> None:
        """Nothing of the run is pending any more."""
        self.store.put(self._name(_FINISHED, only, seed_set), True)

    def runs(self) -> list[tuple[str, str]]:
        """(only, seed set) of every run that began, the oldest first."""
        return [(only, seed_set) for code, size, only, seed_set in self._listed(_RUN) if self._is_own(code, size)]

    def unfinished(self, only: str) -> str | None:
        """The seed set of the latest run of these cells that was not finished."""
        seed_sets = [seed_set for selection, seed_set in self.runs() if selection == only]
        left = (
            seed_set
            for seed_set in reversed(seed_sets)
            if self.store.get(self._name(_FINISHED, only, seed_set)) is None
        )
        return next(left, None)

    def keep(self, seed_set: str, stretch: float, record: dict[str, Any]) -> None:
        """Keep the verdict of a cell; a pending cell has none."""
        if record["outcome"] != PENDING:
            name = self._name(_VERDICT, seed_set, record["cell"], float(stretch))
            self.store.put(name, {field: record[field] for field in _KEPT})

    def verdicts(self) -> dict[str, dict[str, Verdict]]:
        """By seed set and cell, the verdict at the largest size it was tried at; the oldest seed set first."""
        found: dict[str, dict[str, Verdict]] = {}
        for (code, size, seed_set, cell, stretch), record in self._verdicts():
            if self._is_own(code, size):
                cells = found.setdefault(seed_set, {})
                if cell not in cells or cells[cell].stretch < stretch:
                    cells[cell] = Verdict(seed_set, stretch, record)
        return found

    def owed(self) -> dict[str, float]:
        """By cell, the stretch that it begins with in a new seed set because other code left it undecided.

        Rows of other code say nothing about this one and are not taken, but how many samples a cell wanted is known.
        """
        latest: dict[tuple[str, str, str], Verdict] = {}
        for (code, size, seed_set, cell, stretch), record in self._verdicts():
            name = (code, seed_set, cell)
            if size == self.size and not self._is_own(code, size) and latest.get(name, _NONE).stretch < stretch:
                latest[name] = Verdict(seed_set, stretch, record)
        found: dict[str, float] = {}
        for (_, _, cell), verdict in latest.items():
            if verdict.undecided:
                found[cell] = max(found.get(cell, 1.0), verdict.due)
        return found

    def _is_own(self, code: str, size: str) -> bool:
        return (code, size) == (self.code.hex(), self.size)

    def _name(self, word: str, *parts: object) -> bytes:
        return json.dumps([word, self.code.hex(), self.size, *parts]).encode()

    def _listed(self, word: str) -> Iterator[list[Any]]:
        for name in self.store.names(json.dumps([word]).removesuffix("]").encode() + b","):
            yield json.loads(name)[1:]

    def _verdicts(self) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        for parts in self._listed(_VERDICT):
            yield parts, self.store.get(json.dumps([_VERDICT, *parts]).encode())


_NONE = Verdict("", 0.0, {})


def seed_set_of(word: str, history: History, *, only: str = "") -> str:
    """The seed set of a run, fixed once, at its start: a name stands for itself, 'fresh' for the run's own.

    A run that was killed, or whose budget ended, goes on in the seed set in which it began, whatever the date is now;
    when nothing is left of it, today's begins.
    """
    from properties.statistics import seed_sets

    if word != FRESH:
        return word
    seed_set = history.unfinished(only) or seed_sets.fresh()
    history.begin(seed_set, only)
    return seed_set


def command(*, size: str, seed_set: str, cell: str, stretch: float, path: Path = DEFAULT) -> str:
    """What to type to continue an undecided cell.

    >>> command(size="full", seed_set="pinned", cell="a cell", stretch=2.0)
    "python -m benchmarks.batch.cells --size full --seed-set pinned --stretch 2 --no-controls --only 'a cell'"
    """
    words = [
        "python",
        "-m",
        "benchmarks.batch.cells",
        "--size",
        size,
        "--seed-set",
        seed_set,
        "--stretch",
        f"{stretch:g}",
    ]
    store = [] if path == DEFAULT else ["--store", str(path)]
    return shlex.join([*words, "--no-controls", "--only", cell, *store])


def warnings(
    records: Sequence[dict[str, Any]], *, size: str, seed_set: str, stretch: float, path: Path = DEFAULT
) -> list[str]:
    """A line for every cell of a run that has no verdict, with the command that continues it."""
    lines = []
    for record in records:
        verdict = Verdict(seed_set, stretch, record)
        if verdict.undecided and verdict.due == stretch:
            lines.append(f"warning: undecided at the largest size: {record['cell']} ({seed_set}, n={record['n']})")
        elif record["outcome"] in ("undecided", PENDING):
            due = verdict.due if verdict.undecided else stretch
            way = command(size=size, seed_set=seed_set, cell=record["cell"], stretch=due, path=path)
            lines.append(f"warning: {record['outcome']}: {record['cell']} (n={record['n']}; continue it: {way})")
    return lines
