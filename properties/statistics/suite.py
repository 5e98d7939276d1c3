"""The statistical suite as one run: which cells, which share of the budget each has, and the gate at the end."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from properties.judging.blame import CannotBeJudged
from properties.judging.observation import observed_variant
from properties.statistics import budget, seed_sets
from properties.statistics.law import PROMISES, Cell, Size, StatisticalLaw, decide, shared_rows
from properties.statistics.records import CellResult
from robust_core.problem import Variant


@dataclass(frozen=True)
class Planned:
    """A cell of a run with its share of the error budget."""

    law: StatisticalLaw
    cell: Cell
    alpha: float

    @property
    def name(self) -> str:
        """The cell without its variant: what a record calls it."""
        return self.cell.name


def cells(variant: Variant, size: Size) -> list[tuple[StatisticalLaw, Cell]]:
    """The cells of every law whose promise the variant makes; a law without cells is not judged."""
    if not set(variant.promises) & set(PROMISES):
        return []
    from properties.statistics.laws import laws

    return [(law, cell) for law in laws() if law.applies_to(variant) for cell in _offered(law, variant, size)]


def _offered(law: StatisticalLaw, variant: Variant, size: Size) -> list[Cell]:
    """The cells of a law on a variant, whose set may be one that the oracles do not know."""
    try:
        return law.cells(observed_variant(variant), size)
    except Exception as error:
        return [_hopeless(law.promise, variant.name, CannotBeJudged.because(error))]


def _hopeless(name: str, variant: str, reason: CannotBeJudged) -> Cell:
    """A cell that has no plan, so takes no share of the budget; asked for one it says why."""

    def refuse(_: object) -> NoReturn:
        raise CannotBeJudged(*reason.args)

    return Cell(name, refuse, refuse, refuse, weight=0.0, variant=variant)


def weight(variants: Iterable[Variant], size: Size) -> float:
    """What the cells of several variants weigh together: the run that shares one budget."""
    return sum(cell.weight for variant in variants for _, cell in cells(variant, size))


def allot_cells(variant: Variant, size: Size, *, total: float | None = None) -> list[Planned]:
    """The cells of one variant in a run of cells that weigh `total` together (default: it is alone).

    A verification names the guilty cell by cell and forms no product, so the cells have all of the budget but what is
    kept for exact laws that are decided by sampling.
    """
    found = cells(variant, size)
    # Nothing weighs anything where no cell has a plan.
    whole = (total if total is not None else sum(cell.weight for _, cell in found)) or 1.0
    return [Planned(law, cell, budget.RUN_BUDGET * (1.0 - budget.SAMPLED) * cell.weight / whole) for law, cell in found]


def plan_cells(size: Size) -> list[Planned]:
    """The cells of a run of the suite itself: every law on its own right variant."""
    from properties.statistics.laws import laws

    chosen = [(law, cell) for law in laws() for cell in law.cells(law.right, size)]
    shares = budget.shares({cell.id: cell.weight for _, cell in chosen})
    if len(shares) != len(chosen):
        raise ValueError("two cells have the same id")
    return [Planned(law, cell, shares[cell.id]) for law, cell in chosen]


def results(size: Size, *, seed_set: str = seed_sets.PINNED) -> Iterator[CellResult]:
    """Decide every cell of a run, one after the other."""
    rows = shared_rows()
    for item in plan_cells(size):
        yield decide(item.cell, alpha=item.alpha, seed_set=seed_set, law=item.law.name, rows=rows)
