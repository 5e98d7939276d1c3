"""The report: one record per section, in the order of the page.

A new section is its file and three lines here: its import, its place in `SECTIONS`, and a field of `Report`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.regression.history import Trend
from benchmarks.report.cards import Card
from benchmarks.report.section import Section
from benchmarks.report.sections import (
    claims,
    convergence,
    counterexamples,
    found,
    history,
    mutants,
    panels,
    regression,
    run,
    statistics,
    variants,
    verdict,
)

FORMAT = "robust-core/report/3"
SECTIONS: tuple[Section[Any], ...] = (
    regression.SECTION,
    history.SECTION,
    variants.SECTION,
    found.SECTION,
    mutants.SECTION,
    statistics.SECTION,
    claims.SECTION,
    panels.SECTION,
    convergence.SECTION,
    counterexamples.SECTION,
    run.SECTION,
)
"""In the order in which they are collected. The page has the verdict, those about the run, those about the paper."""


@dataclass(frozen=True)
class Report:
    """Everything that the page shows. A field is named for its section."""

    regression: regression.Comparison | None
    history: tuple[Trend, ...]
    variants: variants.Gallery
    found: tuple[Card, ...]
    mutants: mutants.Kills
    statistics: statistics.Statistics
    claims: claims.Claims
    panels: panels.Panels
    convergence: tuple[convergence.Curve, ...]
    counterexamples: tuple[Card, ...]
    run: run.Run
    verdict: verdict.Verdict
    quick: bool
    format: str = FORMAT


def judge(records: Mapping[str, Any]) -> verdict.Verdict:
    """The verdict that follows from the records of all sections."""
    return verdict.decide(line for section in SECTIONS for line in section.judge(records[section.id]))
