"""The records of a run of statistical cells; their JSON is that of `robust_core.json`.

Commands read them in a process that need not load numpy.
"""

from dataclasses import dataclass, field
from typing import Literal

from robust_core.json import Extended

Outcome = Literal["holds", "violated", "undecided"]
CellOutcome = Literal["holds", "violated", "undecided", "pending"]
ControlOutcome = Literal["violated", "missed", "pending"]
ALPHA = 1e-3
"""Intervals describe, they do not gate: one in a thousand may miss."""


@dataclass(frozen=True)
class Interval:
    """lower <= truth <= upper, except with probability alpha; `estimate` is the natural point estimate."""

    lower: Extended
    estimate: Extended
    upper: Extended
    alpha: float = ALPHA

    def __str__(self) -> str:
        return f"{self.estimate:.3g} [{self.lower:.3g}, {self.upper:.3g}]"

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


@dataclass(frozen=True)
class Decision:
    """The outcome with the evidence *at the stopping time* (its running maximum would not be an e-value).

    `log_factors` is the evidence against the claim at every point of the common grid, `path` the way there:
    (n, log E against, log E in favour) at every look.
    """

    outcome: CellOutcome
    n: int
    log_against: Extended
    log_favour: Extended
    log_factors: tuple[Extended, ...]
    path: tuple[tuple[int, Extended, Extended], ...] = ()


@dataclass(frozen=True, kw_only=True)
class CellResult(Decision):
    """The decision on a cell: its share of the error budget, the measured intervals, a diagnosis where it is violated.

    `alpha` and `beta` are the probabilities of a false *violated* and a false *holds*; `effect` says what *holds*
    excludes; `law` is the name of the statistical law, where that is known.
    """

    law: str
    cell: str
    seed_set: str
    n_max: int
    alpha: float
    beta: float
    effect: str
    intervals: dict[str, Interval] = field(default_factory=dict)
    diagnosis: str = ""
    variant: str = ""
    stream: str = ""
    """Which samples it took: cells with the same stream have the same ones."""

    @property
    def is_open(self) -> bool:
        """Whether it has no verdict."""
        return self.outcome in ("undecided", "pending")

    def __str__(self) -> str:
        measured = "".join(f"; {name} {interval}" for name, interval in self.intervals.items())
        diagnosis = f"looks like: {self.diagnosis}; " if self.diagnosis else ""
        return (
            f"{diagnosis}log E {self.log_against:.1f} against, {self.log_favour:.1f} in favour after n={self.n} "
            f"(alpha={self.alpha:.1e}, beta={self.beta:g}, detects: {self.effect}){measured}"
        )


@dataclass(frozen=True)
class ControlResult:
    """Whether a law catches a negative control, and the first cell that finds it violated, after n replicates."""

    control: str
    outcome: ControlOutcome
    cell: str | None = None
    n: int | None = None


@dataclass(frozen=True)
class Gate:
    """The verdict on a run, how much of the budget stood behind it, and the cells that e-BH suspects."""

    outcome: Outcome
    violated: tuple[str, ...]
    undecided: tuple[str, ...]
    pending: tuple[str, ...]
    log_product: Extended
    budget: float
    spent: float
    suspects: tuple[str, ...]

    @property
    def red(self) -> bool:
        """Whether the run fails."""
        return self.outcome == "violated"

    @property
    def is_open(self) -> bool:
        """Whether a cell has no verdict."""
        return bool(self.undecided or self.pending)


@dataclass(frozen=True)
class RunReport:
    """A run of cells and negative controls in one seed set."""

    size: str
    seed_set: str
    summary: Gate
    cells: tuple[CellResult, ...]
    controls: tuple[ControlResult, ...]

    @property
    def missed(self) -> tuple[str, ...]:
        """The controls that no cell finds violated."""
        return tuple(control.control for control in self.controls if control.outcome == "missed")

    @property
    def is_pending(self) -> bool:
        """Whether a cell or a control was not finished."""
        return bool(self.summary.pending) or any(control.outcome == "pending" for control in self.controls)
