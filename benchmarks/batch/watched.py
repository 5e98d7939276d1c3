"""The rows that a cell takes, watched: what they say so far, and whether there is time for more."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from properties.statistics.law import Cell, Memory
    from properties.statistics.sequential import Decision


@dataclass(frozen=True)
class Watched:
    """The memory of one cell that notes its rows, piece by piece, and looks at the clock where rows are missing.

    What the store can decide is decided, however late it is.
    """

    memory: "Memory"
    deadline: float
    taken: list[list[list[float]]] = field(default_factory=list)

    def get(self, name: bytes) -> list[list[float]] | None:
        """The rows kept under a key; OutOfTime where they would have to be computed after the deadline."""
        from properties.statistics.sequential import OutOfTime

        rows = self.memory.get(name)
        if rows is not None:
            self.taken.append(rows)
        elif time.time() > self.deadline:
            raise OutOfTime(self.n)
        return rows

    def put(self, name: bytes, rows: list[list[float]]) -> None:
        """Keep rows."""
        self.memory.put(name, rows)
        self.taken.append(rows)

    @property
    def n(self) -> int:
        """The number of replicates so far."""
        return sum(len(rows) for rows in self.taken)

    def evidence(self, cell: "Cell", alpha: float) -> "Decision":
        """What the rows so far say."""
        import numpy as np

        from properties.statistics.sequential import judge

        plan = cell.plan(alpha)
        total = np.zeros(plan.test.size)
        for rows in self.taken:
            total = total + plan.test.statistic(cell.observe(np.array(rows)))
        return judge(plan, total, self.n)
