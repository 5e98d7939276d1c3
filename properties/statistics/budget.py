"""One error budget for a run: shares by weight, a ledger of what was spent, the gate over all cells, e-BH.

A run is red if some cell is *violated* at its own share of the first half of the budget (Bonferroni), or if the
product of the evidence of all cells reaches the second half. The cells have independent streams, so the product
of their e-values at their own stopping times is an e-value. Hence P(red | all claims hold) <= budget.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from properties.statistics.mixtures import WEIGHTS, mixed
from properties.statistics.sequential import Decision, Outcome, probability
from robust_core import validate

RUN_BUDGET = 1e-6
"""The probability of a false red, for a whole run."""
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


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: what a cell was given and what it found."""

    cell: str
    alpha: float
    beta: float
    effect: str
    decision: Decision


@dataclass(frozen=True)
class Gate:
    """The verdict on a run, and how much of the budget stood behind it."""

    outcome: Outcome
    violated: tuple[str, ...]
    undecided: tuple[str, ...]
    log_product: float
    spent: float

    @property
    def red(self) -> bool:
        """Whether the run fails."""
        return self.outcome == "violated"


def log_product(decisions: Iterable[Decision]) -> float:
    """log of the product of independent evidence, formed at every grid point before mixing.

    Per point the product of e-values is an e-value, and so is their mixture. It is far stronger than the product
    of the mixtures when several cells share a small defect.
    """
    total = np.zeros(len(WEIGHTS))
    for decision in decisions:
        total = total + np.array(decision.log_factors)
    return mixed(total)


def gate(ledger: Iterable[Entry], *, budget: float = RUN_BUDGET) -> Gate:
    """Red or not, over all cells of a run that are no controls; without any cell nothing is decided."""
    probability("budget", budget)
    entries = list(ledger)
    violated = tuple(entry.cell for entry in entries if entry.decision.outcome == "violated")
    undecided = tuple(entry.cell for entry in entries if entry.decision.outcome == "undecided")
    product = log_product(entry.decision for entry in entries)
    spent = math.fsum(entry.alpha for entry in entries) + budget / 2.0
    if spent > budget * (1.0 + len(entries) * 2.0**-52):
        raise ValueError(f"the shares add up to {spent:g}, more than the budget {budget:g}")
    outcome: Outcome = "undecided" if undecided or not entries else "holds"
    if violated or product >= -math.log(budget / 2.0):
        outcome = "violated"
    return Gate(outcome, violated, undecided, product, spent)


def suspects(ledger: Iterable[Entry], *, rate: float = FALSE_DISCOVERY_RATE) -> tuple[str, ...]:
    """e-BH: the k cells with the largest E, for the greatest k with E_(k) >= m/(k·rate).

    The expected share of false names is at most `rate`, whatever the dependence (Wang and Ramdas, 2022).
    """
    probability("rate", rate)
    ranked = sorted(ledger, key=lambda entry: -entry.decision.log_against)
    m = len(ranked)
    enough = [k for k in range(1, m + 1) if ranked[k - 1].decision.log_against >= math.log(m / (k * rate))]
    return tuple(entry.cell for entry in ranked[: max(enough, default=0)])
