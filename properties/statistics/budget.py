"""One error budget for a run: shares by weight, a ledger of what was spent, the gate over all cells, e-BH.

A run is red if some cell is *violated* at its own share of the first half of the budget (Bonferroni), if the joint
evidence of all cells (`log_product`) reaches the share JOINT of it, or if a mean that an exact law decides by sampling
is *violated* at `sampled_level`, for which the rest is kept. Hence P(red | all claims hold) <= budget, by the union
bound, in a run with at most MOST_SAMPLED such means. Under evidence of 1/DOUBT or more a run without a red cell is
*undecided*, as a cell is (`sequential`).

Which evidence may be multiplied: seeds are made of law and problem, not of the variant. So streams of one variant are
independent of each other, cells with a common stream are not, and cells of two variants may have met the same samples.
The mean of e-values is an e-value however they depend on each other; the product is one for independent ones. So
evidence is averaged within a stream, multiplied over the streams of one variant, and averaged over the variants.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from properties.statistics.mixtures import WEIGHTS, log_mixture
from properties.statistics.records import CellResult, Gate, Outcome
from properties.statistics.sequential import DOUBT, probability
from robust_core import validate
from robust_core.validate import Floats

RUN_BUDGET = 1e-6
"""The probability of a false red, for a whole run."""
SAMPLED, MOST_SAMPLED = 2.0**-4, 2**12
"""The share of the budget for means that exact laws decide by sampling, and how many of them it is for: three laws
of 1,365 variants.
"""
JOINT = 0.5 - SAMPLED
"""The share for the joint evidence of all cells."""
FALSE_DISCOVERY_RATE = 0.01
"""The level of e-BH, which names suspects in the report and decides nothing."""


def shares(weights: Mapping[str, float], *, budget: float = RUN_BUDGET) -> dict[str, float]:
    """alpha of every cell: the first half of the budget, split by weight.

    >>> shares({"a": 1.0, "b": 3.0}, budget=8e-6)
    {'a': 1e-06, 'b': 3e-06}
    """
    probability("budget", budget)
    if not weights:
        raise ValueError("weights must have at least one cell, got none")
    for cell, weight in weights.items():
        validate.positive(f"weights[{cell!r}]", weight)
    total = math.fsum(weights.values())
    return {cell: budget / 2.0 * (weight / total) for cell, weight in weights.items()}


def sampled_level() -> float:
    """The level of one mean that an exact law decides by sampling.

    >>> sampled_level() * MOST_SAMPLED + (JOINT + 0.5) * RUN_BUDGET == RUN_BUDGET
    True
    """
    return RUN_BUDGET * SAMPLED / MOST_SAMPLED


def log_product(cells: Iterable[CellResult]) -> float:
    """log of the joint evidence: the mean over variants of the product over streams of the mean over cells.

    Means over cells and products are formed at every grid point before mixing: per point the mean and the product of
    independent e-values are e-values, and so is their mixture. The product is far stronger than that of the mixtures
    when several cells share a small defect.
    """
    streams: dict[str, dict[str, list[Floats]]] = {}
    for cell in cells:
        streams.setdefault(cell.variant, {}).setdefault(cell.stream or cell.cell, []).append(np.array(cell.log_factors))
    products = [log_mixture(sum(map(_log_mean, found.values()), np.zeros(len(WEIGHTS)))) for found in streams.values()]
    return float(_log_mean(np.array(products)[:, None])[0]) if products else 0.0


def _log_mean(logs: Sequence[Floats] | Floats) -> Floats:
    """log of the mean of exp(logs), entry by entry; infinite evidence stays infinite."""
    mean: Floats = np.logaddexp.reduce(np.asarray(logs), axis=0) - math.log(len(logs))
    return mean


def gate(cells: Iterable[CellResult], *, budget: float = RUN_BUDGET) -> Gate:
    """Red or not, over all cells of a run that are not controls; without any cell nothing is decided.

    A pending cell takes part with the evidence it has. To leave it out would put 1 in the place of an E that may be
    smaller, for a reason that may depend on the samples: slow replicates end the time. The clock is asked between
    pieces, so where it stops a cell is a stopping time of its samples, and E there has mean at most 1 like any other.
    """
    probability("budget", budget)
    entries = list(cells)
    product = log_product(entries)
    spent = math.fsum(entry.alpha for entry in entries) + budget / 2.0
    if spent > budget * (1.0 + len(entries) * 2.0**-52):
        raise ValueError(f"the shares add up to {spent:g}, more than the budget {budget:g}")
    violated = _cells_with("violated", entries)
    outcome: Outcome = "undecided" if any(entry.is_open for entry in entries) or not entries else "holds"
    if violated or product >= -math.log(budget * JOINT):
        outcome = "violated"
    elif product >= -math.log(DOUBT):
        outcome = "undecided"
    return Gate(
        outcome=outcome,
        violated=violated,
        undecided=_cells_with("undecided", entries),
        pending=_cells_with("pending", entries),
        log_product=product,
        budget=budget,
        spent=spent,
        suspects=suspects(entries),
    )


def _cells_with(outcome: str, cells: Iterable[CellResult]) -> tuple[str, ...]:
    return tuple(cell.cell for cell in cells if cell.outcome == outcome)


def suspects(cells: Iterable[CellResult], *, rate: float = FALSE_DISCOVERY_RATE) -> tuple[str, ...]:
    """e-BH: the k cells with the largest E, for the greatest k with E_(k) >= m/(k·rate).

    The expected share of false names is at most `rate`, whatever the dependence (Wang and Ramdas, 2022).
    """
    probability("rate", rate)
    ranked = sorted(cells, key=lambda cell: -cell.log_against)
    m = len(ranked)
    enough = [k for k in range(1, m + 1) if ranked[k - 1].log_against >= math.log(m / (k * rate))]
    return tuple(cell.cell for cell in ranked[: max(enough, default=0)])
