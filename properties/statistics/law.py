"""What a statistical law is: a statement with its null, the cells that decide it, and variants it must catch."""

import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from properties.cases.scope import ANY, Scope
from properties.statistics import design, seed_sets, sequential
from properties.statistics.records import CellResult, Decision, Interval
from properties.statistics.sequential import BETA, Piece, Plan
from robust_core.mdp import MDP
from robust_core.problem import Kind, Variant
from robust_core.sets import UncertaintySet
from robust_core.streams import Part
from robust_core.validate import Floats

Size = Literal["quick", "full"]
SIZES: tuple[Size, ...] = ("quick", "full")
PIECE = 64
"""Replicates that are computed and kept together: what a killed run can lose."""
Rows = list[list[float]]
"""One list of measurements a replicate."""

# What a variant can promise beside the exact promises; a statistical law applies where it is promised.
PROMISES: Mapping[str, str] = {
    "converges": "the estimate converges to Q* under a schedule with Σalpha = ∞, Σalpha² < ∞ (Theorem 2)",
    "finite time": "‖Q_T − Q*‖ <= epsilon with the stated probability (Theorem 3)",
    "as fast as vanilla": "the relative error falls as fast as that of the same algorithm with R = 0",
    "unbiased": "the expected update is (1−alpha)·estimate + alpha·(robust Bellman backup)",
    "fast path": "the estimate after update_many has the distribution of that after the loop over update",
    "samples the model": "transitions are one trajectory of (kernel, policy)",
    "limit": "the estimate goes to the truth of the problem; steps along a policy gradient lead to an optimal policy",
    "stationary": "theta and omega go to a stationary point of J and to omega(theta), E‖∇J(theta_W)‖² to 0 (Theorem 5)",
}


@dataclass(frozen=True, eq=False)
class Cell:
    """One test on one problem; its samples are a pure function of their keys.

    `sample(seed)` measures one replicate (a row of floats, kept), `observe(rows)` makes of them what the test sees,
    `measure(rows)` the intervals that are reported, `diagnose(rows)` a word on what kind of failure it is.
    `kind` says which statement of its law it tests.

    Seeds are made of the seed set, `stream`, `content` and the number of the replicate. The stream names law and
    problem and never the variant: to rename or to edit a variant is no rerun, and two variants meet the same samples.
    `content` is everything but the code that the samples depend on. Cells of one variant with the same stream and
    content have the same `sample` and share its rows, so their evidence is dependent (`budget.log_product`).
    """

    name: str
    plan: Callable[[float], Plan]
    sample: Callable[[bytes], Floats]
    observe: Callable[[Floats], Floats]
    content: tuple[Part, ...] = ()
    weight: float = 1.0
    measure: Callable[[Floats], Mapping[str, Interval]] = field(default=lambda rows: {})
    diagnose: Callable[[Floats], str] = field(default=lambda rows: "")
    kind: str = ""
    variant: str = ""
    stream: str = ""
    """By default the name of the cell."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stream", self.stream or self.name)

    @property
    def id(self) -> str:
        """Its name, and the variant."""
        return f"{self.name}/{self.variant}" if self.variant else self.name

    @property
    def samples(self) -> tuple[Part, ...]:
        """What its seeds are made of, beside the seed set and the number of the replicate."""
        return (self.stream, *self.content)


@dataclass(frozen=True)
class StatisticalLaw:
    """A law of one kind of variant that only samples can decide.

    `null` is what the false-alarm probability speaks of; `right` a variant known to be right, `controls` wrong ones
    that must be judged *violated* in some cell. Every kind of cell is violated by some control (`find_caught_control`).
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
    purposes: Mapping[str, str] = field(default_factory=dict)
    """By kind of cell, why it is there although wrong algorithms pass it."""
    models: Callable[[Variant], Sequence[MDP]] = lambda variant: ()
    """The models of its quick cells; the law is for variants whose options leave one of them."""

    def __post_init__(self) -> None:
        if self.promise not in PROMISES:
            raise ValueError(f"law {self.name!r}: promise must be one of {sorted(PROMISES)}, got {self.promise!r}")
        if not self.controls:
            raise ValueError(f"law {self.name!r}: a law without a negative control shows nothing")

    def wrong(self, size: Size) -> tuple[Variant, ...]:
        """The variants that must be caught at a size."""
        return self.controls if size == "quick" else (*self.controls, *self.fine_controls)

    def applies_to(self, variant: Variant) -> bool:
        """Whether the variant is of the law's kind, for its sets and models, and makes its promise."""
        spoken_of = not self.sets or (bool(variant.sets) and variant.sets[0] in self.sets)
        if not (variant.kind in self.kinds and self.promise in variant.promises and spoken_of):
            return False
        scope = replace(Scope.of(variant), radii=None)
        return scope == ANY or any(map(scope.has, self.models(variant)))


def rows_of(cell: Cell, seed_set: str, start: int, stop: int) -> Rows:
    """The rows of the replicates start … stop−1: a pure function of its arguments."""
    seeds = (seed_sets.replicate(seed_set, cell.stream, "sample", i, *cell.content) for i in range(start, stop))
    return [np.ravel(cell.sample(seed)).tolist() for seed in seeds]


def shared_rows() -> Callable[[Cell, str, int, int], Rows]:
    """`rows_of` for the cells of one law on one variant: rows of a common stream are computed once."""
    known: dict[tuple[object, ...], Rows] = {}

    def rows(cell: Cell, seed_set: str, start: int, stop: int) -> Rows:
        place = (cell.samples, seed_set, start, stop)
        if place not in known:
            known[place] = rows_of(cell, seed_set, start, stop)
        return known[place]

    return rows


def steps(
    cell: Cell, *, alpha: float, seed_set: str = seed_sets.PINNED, law: str = "", stretch: float = 1.0
) -> Generator[list[Piece], list[Rows], CellResult]:
    """Decide a cell: yields the pieces up to the next look, is sent their rows, in their order, and returns the result.

    Fewer pieces of rows than asked for mean that no more will come: the cell is then *pending*. `stretch` raises n_max
    for a cell that was undecided.
    """
    plan = cell.plan(alpha)
    n_max = plan.n_max
    plan = plan.stretch_by(stretch)
    taken: Rows = []
    deciding = sequential.steps(plan, piece=PIECE)
    wanted = next(deciding)
    while True:
        pieces = yield wanted
        taken += [row for rows in pieces for row in rows]
        statistics = [plan.test.statistic(cell.observe(np.array(rows))) for rows in pieces]
        try:
            wanted = deciding.send(statistics)
        except StopIteration as end:
            decision: Decision = end.value
            break
    # A wrong variant's numbers may be infinite or none; its verdict must not depend on how they print.
    with np.errstate(all="ignore"):
        intervals = {} if decision.outcome == "pending" else dict(cell.measure(np.array(taken)))
        diagnosis = cell.diagnose(np.array(taken)) if decision.outcome == "violated" else ""
    return CellResult(
        **vars(decision),
        law=law,
        cell=cell.id,
        variant=cell.variant,
        stream=cell.stream,
        seed_set=seed_set,
        n_max=n_max,
        alpha=plan.alpha,
        beta=plan.beta,
        effect=plan.test.effect,
        intervals=intervals,
        diagnosis=diagnosis,
    )


def decide(
    cell: Cell,
    *,
    alpha: float,
    seed_set: str = seed_sets.PINNED,
    law: str = "",
    stretch: float = 1.0,
    rows: Callable[[Cell, str, int, int], Rows] = rows_of,
) -> CellResult:
    """The result of a cell whose rows are computed here; OutOfTime from `rows` leaves it *pending*."""
    return sequential.drive(
        steps(cell, alpha=alpha, seed_set=seed_set, law=law, stretch=stretch),
        lambda start, stop: rows(cell, seed_set, start, stop),
    )


def catch_control(
    law: StatisticalLaw, control: Variant, *, size: Size, alpha: float, seed_set: str
) -> CellResult | None:
    """The first cell of a control that is violated; None if the law misses it."""
    rows = shared_rows()
    for cell in law.cells(control, size):
        result = decide(cell, alpha=alpha, seed_set=seed_set, law=law.name, rows=rows)
        if result.outcome == "violated":
            return result
    return None


def find_caught_control(
    law: StatisticalLaw, kind: str, *, size: Size, alpha: float
) -> tuple[Variant, CellResult] | None:
    """A control that a cell of this kind finds violated, the fine ones first; None: nothing shows that it can fail.

    `catch_control` stops at the first cell that is violated, so it is silent on the cells after it.
    """
    for control in reversed(law.wrong(size)):
        for cell in (cell for cell in law.cells(control, size) if cell.kind == kind):
            result = decide(cell, alpha=alpha, seed_set=seed_sets.PINNED)
            if result.outcome == "violated":
                return control, result
    return None


def once(function: Callable[[], Callable[[bytes], Floats]]) -> Callable[[bytes], Floats]:
    """A sample function that is built at its first use: listing cells stays cheap."""
    built = functools.cache(function)

    def sample(seed: bytes) -> Floats:
        return built()(seed)

    return sample


def above(column: int, bound: float) -> Callable[[Floats], Floats]:
    """1 where a measurement exceeds a bound or is NaN."""
    return lambda rows: (~(rows[:, column] <= bound)).astype(float)


def above_multiple(column: int, factor: float, other: int, *, most: float = np.inf) -> Callable[[Floats], Floats]:
    """1 where a measurement exceeds a multiple of another, or is not finite.

    Of the other no more than `most` counts, the error of the start: a ratio alone would be easy for large errors.
    """

    def observe(rows: Floats) -> Floats:
        x, y = rows[:, column], rows[:, other]
        return (~(np.isfinite(x) & (x <= factor * np.minimum(y, most)))).astype(float)

    return observe


def bernoulli_plan(q0: float, q1: float) -> Callable[[float], Plan]:
    """The plan of the claim P(X = 1) <= q0 against q1, as a function of alpha."""
    return lambda alpha: design.bernoulli(q0, q1, alpha=alpha, beta=BETA)
