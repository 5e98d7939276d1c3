"""The statistical batch on a cluster: workers make the rows, this process keeps them and decides the cells.

Verdicts are decided here, from the store, by the same code as without a cluster, so they have the same bits; a cell
that finds rows missing asks for all that it needs up to its next look. Workers share no disk with the client.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.batch import cells
from benchmarks.batch.cells import Run, Where
from benchmarks.runner.cluster import connected
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit
from robust_core.streams import key


def piece(size: str, seed_set: str, where: Sequence[Any], start: int, stop: int) -> list[list[float]]:
    """The rows of the replicates start … stop−1 of a cell: a unit of work."""
    from properties.statistics.law import rows_of

    kind, index, part = where
    return rows_of(cells.cells(size, kind, index)[part][1], seed_set, start, stop)


class Wanted(Exception):
    """A cell needs rows that the store does not have: those of the replicates `start` … and some more."""

    def __init__(self, where: Where, name: bytes, start: int) -> None:
        super().__init__(f"the rows {name.hex()} of {where} from {start}")
        self.where, self.name, self.start = where, name, start


@dataclass(frozen=True)
class Asking:
    """The memory of one cell that asks for rows instead of having them computed here."""

    store: Store
    where: Where
    # A cell asks for its pieces in their order, each once.
    _pieces: Iterator[tuple[int, int]] = field(default_factory=cells.all_pieces)

    def get(self, name: bytes) -> list[list[float]]:
        """The rows kept under a key."""
        start, _ = next(self._pieces)
        rows: list[list[float]] | None = self.store.get(name)
        if rows is None:
            raise Wanted(self.where, name, start)
        return rows

    def put(self, name: bytes, rows: list[list[float]]) -> None:
        """Never needed: nothing is computed here."""
        raise AssertionError(f"rows {name.hex()} were computed by the client")


def absent(wanted: Wanted, run: Run, store: Store) -> list[tuple[bytes, Unit]]:
    """The rows that a cell lacks up to its next look: their names in the store and the units that make them."""
    kind, index, part = wanted.where
    cell = cells.cells(run.size, kind, index)[part][1]
    look = next(look for look in cells.looks() if look[-1][1] > wanted.start)
    common = {"size": run.size, "seed_set": run.seed_set, "where": list(wanted.where)}
    needed = []
    for start, stop in look:
        name = key("rows", cells.fingerprint(), run.seed_set, cell.id, cell.content, start, stop)
        if (start == wanted.start) != (name == wanted.name):
            raise AssertionError(f"{cell.id}: rows from {start} are not named as `decide` names them")
        if store.get(name) is None:
            needed.append((name, Unit("benchmarks.batch.on_cluster:piece", common | {"start": start, "stop": stop})))
    return needed


def computed(
    jobs: Sequence[tuple[str, int]], run: Run, path: Path, address: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(place, record) of every cell and control as it is decided."""
    # Time is looked at only where rows are missing: what the store can decide is decided.
    patient = replace(run, deadline=float("inf"))
    missing: dict[int, set[bytes]] = {}
    with connected(address, [__name__]) as session, closing(Store(path)) as store:

        def advance(place: int) -> dict[str, Any] | None:
            kind, index = jobs[place]
            try:
                return cells.record(kind, index, patient, lambda where: Asking(store, where))
            except Wanted as wanted:
                if time.time() > run.deadline:
                    return cells.record(kind, index, replace(patient, samples=wanted.start), lambda where: store)
                needed = absent(wanted, run, store)
            missing[place] = {name for name, _ in needed}
            for name, unit in needed:
                session.submit((place, name), unit)
            return None

        for place in range(len(jobs)):
            if (record := advance(place)) is not None:
                yield place, record
        for (place, name), rows in session.finished():
            store.put(name, rows)
            missing[place].discard(name)
            if not missing[place] and (record := advance(place)) is not None:
                yield place, record
