"""The statistical suite as one run: which cells, which share of the budget each has, and the gate at the end."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from properties.statistics import budget, epochs
from properties.statistics.law import Cell, Memory, Result, Size, StatisticalLaw, caught, decide
from properties.verdict import Record, Verdict
from robust_core.variant import Variant


@dataclass(frozen=True)
class Planned:
    """A cell of a run with its share of the error budget."""

    law: StatisticalLaw
    cell: Cell
    alpha: float


def planned(size: Size, variants: Iterable[Variant] | None = None) -> list[Planned]:
    """The cells of a run: every law on every variant that makes its claim (default: on its own right variant)."""
    from properties.statistics.laws import laws

    chosen = [
        (law, cell)
        for law in laws()
        for variant in ([law.right] if variants is None else [v for v in variants if law.applies_to(v)])
        for cell in law.cells(variant, size)
    ]
    if not chosen:
        return []
    shares = budget.shares({cell.id: cell.weight for _, cell in chosen})
    if len(shares) != len(chosen):
        raise ValueError("two cells have the same id: give the variants different names")
    return [Planned(law, cell, shares[cell.id]) for law, cell in chosen]


def results(size: Size, *, epoch: str = epochs.PINNED, memory: Memory | None = None) -> Iterator[Result]:
    """Decide every cell of a run, one after the other."""
    for item in planned(size):
        yield decide(item.cell, alpha=item.alpha, epoch=epoch, memory=memory)


def verify(variant: Variant, *, size: Size = "quick", epoch: str = epochs.PINNED) -> Iterator[Record]:
    """One record per cell of the statistical laws whose claims the variant makes.

    The budget is that of a run in which this variant is alone. A variant that raises has broken the law by that.
    """
    for item in planned(size, [variant]):
        started = time.perf_counter()
        try:
            verdict = decide(item.cell, alpha=item.alpha, epoch=epoch).verdict()
        except Exception as error:
            verdict = Verdict("violated", f"conduct: raised {type(error).__name__}: {error}")
        yield Record(
            variant=variant.name,
            law=f"{item.law.name} [{item.cell.id.removesuffix('/' + variant.name)}]",
            outcome=verdict.outcome,
            evidence=verdict.evidence,
            cases=verdict.cases,
            seconds=time.perf_counter() - started,
            seed=0,
            statistics=verdict.statistics,
        )


def missed(size: Size, *, epoch: str = epochs.PINNED, memory: Memory | None = None) -> list[str]:
    """The negative controls that no cell of their law catches; they spend no budget, for they are wrong."""
    from properties.statistics.laws import laws

    alpha = min(item.alpha for item in planned(size))
    return [
        f"{law.name}: {control.name}"
        for law in laws()
        for control in law.wrong(size)
        if caught(law, control, size=size, alpha=alpha, epoch=epoch, memory=memory) is None
    ]
