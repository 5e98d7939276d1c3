"""What a statistical law is: a statement with its null, the cells that decide it, and variants it must catch."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np

from properties.judging.verdict import Verdict
from properties.statistics import design, seed_sets
from properties.statistics.budget import Entry
from properties.statistics.intervals import Interval
from properties.statistics.sequential import BETA, Plan, look_at_least, run
from robust_core.problem import Kind, Variant
from robust_core.sets import UncertaintySet
from robust_core.streams import Part, key
from robust_core.validate import Floats

Size = Literal["quick", "full"]
SIZES: tuple[Size, ...] = ("quick", "full")
PIECE = 64
"""Replicates that are computed and kept together: what a killed run can lose."""

# What a variant can promise beside the exact promises; a statistical law applies where it is promised.
PROMISES: Mapping[str, str] = {
    "converges": "the estimate converges to Q* under a schedule with Σalpha = ∞, Σalpha² < ∞ (Theorem 2)",
    "finite time": "‖Q_T − Q*‖ <= epsilon with the stated probability (Theorem 3)",
    "as fast as vanilla": "the relative error falls as fast as that of the same algorithm with R = 0",
    "unbiased": "the expected update is (1−alpha)·estimate + alpha·(robust Bellman backup)",
    "fast path": "update_many has the law of the loop over update",
    "samples the model": "transitions are one trajectory of (kernel, policy)",
    "stationary": "E‖∇J(theta_W)‖² goes to 0 at the rate of Theorem 5",
}


@dataclass(frozen=True, eq=False)
class Cell:
    """One test on one problem; its samples are a pure function of their keys.

    `sample(seed)` measures one replicate (a row of floats, kept), `observe(rows)` makes of them what the test sees,
    `measure(rows)` the intervals that are reported, `diagnose(rows)` a word on what kind of failure it is.
    `content` is everything but the code that the samples depend on; `kind` says which statement of its law it tests.
    """

    id: str
    plan: Callable[[float], Plan]
    sample: Callable[[bytes], Floats]
    observe: Callable[[Floats], Floats]
    content: tuple[Part, ...] = ()
    weight: float = 1.0
    measure: Callable[[Floats], Mapping[str, Interval]] = field(default=lambda rows: {})
    diagnose: Callable[[Floats], str] = field(default=lambda rows: "")
    kind: str = ""


@dataclass(frozen=True)
class StatisticalLaw:
    """A law of one kind of variant that only samples can decide.

    `null` is what the false-alarm probability speaks of; `right` a variant known to be right, `controls` wrong ones
    that must come out *violated* in some cell. Every kind of cell is violated by some control (`shown`).
    """

    name: str
    kinds: tuple[Kind, ...]
    promise: str
    statement: str
    null: str
    cells: Callable[[Variant, Size], list[Cell]]
    right: Variant
    controls: tuple[Variant, ...]
    claims: tuple[str, ...] = ()
    """The claims of the paper (ids of the catalogue) that it decides, or helps to decide."""
    sets: tuple[type[UncertaintySet], ...] = ()
    """The uncertainty sets its theorem speaks of; none: any, or no set at all."""
    fine_controls: tuple[Variant, ...] = ()
    """Defects that the full size sees and the quick one need not: smaller ones, and those of cells it alone has."""

    def __post_init__(self) -> None:
        if self.promise not in PROMISES:
            raise ValueError(f"law {self.name!r}: promise must be one of {sorted(PROMISES)}, got {self.promise!r}")
        if not self.controls:
            raise ValueError(f"law {self.name!r}: a law without a negative control shows nothing")

    def wrong(self, size: Size) -> tuple[Variant, ...]:
        """The variants that must be caught at a size."""
        return self.controls if size == "quick" else (*self.controls, *self.fine_controls)

    def applies_to(self, variant: Variant) -> bool:
        """Whether the variant is of the law's kind, for a set the law speaks of, and makes its promise."""
        spoken_of = not self.sets or (bool(variant.sets) and variant.sets[0] in self.sets)
        return variant.kind in self.kinds and self.promise in variant.promises and spoken_of


class Memory(Protocol):
    """Where rows are kept between runs, by the content of what they are."""

    def get(self, name: bytes) -> list[list[float]] | None:
        """The rows kept under a key."""

    def put(self, name: bytes, rows: list[list[float]]) -> None:
        """Keep rows."""


class Forgetful:
    """A memory for one run."""

    def __init__(self) -> None:
        self.kept: dict[bytes, list[list[float]]] = {}

    def get(self, name: bytes) -> list[list[float]] | None:
        """The rows kept under a key."""
        return self.kept.get(name)

    def put(self, name: bytes, rows: list[list[float]]) -> None:
        """Keep rows."""
        self.kept[name] = rows


@dataclass(frozen=True)
class Result:
    """A decided cell: its line in the ledger, the measured intervals, and a diagnosis where it is violated."""

    entry: Entry
    intervals: Mapping[str, Interval]
    diagnosis: str

    def verdict(self) -> Verdict:
        """The result in the words of all laws."""
        decision = self.entry.decision
        measured = "".join(f"; {name} {interval}" for name, interval in self.intervals.items())
        diagnosis = f"looks like: {self.diagnosis}; " if self.diagnosis else ""
        evidence = (
            f"{diagnosis}log E {decision.log_against:.1f} against, {decision.log_favour:.1f} in favour "
            f"after n={decision.n} (alpha={self.entry.alpha:.1e}, beta={self.entry.beta:g}, "
            f"detects: {self.entry.effect}){measured}"
        )
        return Verdict(decision.outcome, evidence, decision.n, statistics=self.numbers())

    def numbers(self) -> dict[str, Any]:
        """The result as plain data."""
        decision = self.entry.decision
        return {
            "cell": self.entry.cell,
            "n": decision.n,
            "alpha": self.entry.alpha,
            "beta": self.entry.beta,
            "effect": self.entry.effect,
            "log_against": decision.log_against,
            "log_favour": decision.log_favour,
            "log_factors": list(decision.log_factors),
            "path": [list(look) for look in decision.path],
            "intervals": {name: asdict(interval) for name, interval in self.intervals.items()},
            "diagnosis": self.diagnosis,
        }


def rows_of(cell: Cell, seed_set: str, start: int, stop: int) -> list[list[float]]:
    """The rows of the replicates start … stop−1: a pure function of its arguments."""
    seeds = (seed_sets.replicate(seed_set, cell.id, "sample", i, *cell.content) for i in range(start, stop))
    return [np.ravel(cell.sample(seed)).tolist() for seed in seeds]


def decide(
    cell: Cell,
    *,
    alpha: float,
    seed_set: str = seed_sets.PINNED,
    memory: Memory | None = None,
    fingerprint: bytes = b"",
    out_of_time: Callable[[], bool] = lambda: False,
    stretch: float = 1.0,
) -> Result:
    """Run a cell to its verdict, taking rows from memory where it has them; OutOfTime leaves it pending.

    `fingerprint` stands for the code; `stretch` raises n_max for a cell that was undecided.
    """
    kept = Forgetful() if memory is None else memory
    plan = cell.plan(alpha)
    if stretch != 1.0:
        plan = replace(plan, n_max=look_at_least(stretch * plan.n_max))
    taken: list[list[float]] = []

    def evidence(start: int, stop: int) -> Floats:
        name = key("rows", fingerprint, seed_set, cell.id, cell.content, start, stop)
        rows = kept.get(name)
        if rows is None:
            rows = rows_of(cell, seed_set, start, stop)
            kept.put(name, rows)
        taken.extend(rows)
        return plan.test.statistic(cell.observe(np.array(rows)))

    decision = run(plan, evidence, piece=PIECE, out_of_time=out_of_time)
    table = np.array(taken)
    entry = Entry(cell.id, plan.alpha, plan.beta, plan.test.effect, decision)
    # A wrong variant's numbers may be infinite or none; its verdict must not depend on how they print.
    with np.errstate(all="ignore"):
        return Result(entry, cell.measure(table), cell.diagnose(table) if decision.outcome == "violated" else "")


def caught(
    law: StatisticalLaw,
    control: Variant,
    *,
    size: Size,
    alpha: float,
    seed_set: str,
    memory: Memory | None = None,
    fingerprint: bytes = b"",
) -> Result | None:
    """The first cell of a control that is violated; None if the law misses it."""
    for cell in law.cells(control, size):
        result = decide(cell, alpha=alpha, seed_set=seed_set, memory=memory, fingerprint=fingerprint)
        if result.entry.decision.outcome == "violated":
            return result
    return None


def shown(
    law: StatisticalLaw, kind: str, *, size: Size, alpha: float, seed_set: str = seed_sets.PINNED
) -> tuple[Variant, Result] | None:
    """A control that a cell of this kind finds violated, the fine ones first; None: nothing shows that it can fail.

    `caught` stops at the first cell that is violated, so it is silent on the cells after it.
    """
    for control in reversed(law.wrong(size)):
        for cell in (cell for cell in law.cells(control, size) if cell.kind == kind):
            result = decide(cell, alpha=alpha, seed_set=seed_set)
            if result.entry.decision.outcome == "violated":
                return control, result
    return None


def once(function: Callable[[], Callable[[bytes], Floats]]) -> Callable[[bytes], Floats]:
    """A sample function that is built at its first use: listing cells stays cheap."""
    built = functools.cache(function)

    def sample(seed: bytes) -> Floats:
        return built()(seed)

    return sample


def above(column: int, bound: float) -> Callable[[Floats], Floats]:
    """1 where a measurement exceeds a bound, or is no number at all."""
    return lambda rows: (~(rows[:, column] <= bound)).astype(float)


def above_multiple(column: int, factor: float, other: int) -> Callable[[Floats], Floats]:
    """1 where a measurement exceeds a multiple of another, or is not finite."""

    def observe(rows: Floats) -> Floats:
        x, y = rows[:, column], rows[:, other]
        return (~(np.isfinite(x) & (x <= factor * y))).astype(float)

    return observe


def bernoulli_plan(q0: float, q1: float) -> Callable[[float], Plan]:
    """The plan of the claim P(X = 1) <= q0 against q1, as a function of alpha."""
    return lambda alpha: design.bernoulli(q0, q1, alpha=alpha, beta=BETA)
