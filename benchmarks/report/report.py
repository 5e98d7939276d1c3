"""The report: one record per section, in the order of the page. A new section is its file and two lines here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.report.section import Section
from benchmarks.report.sections import (
    claims,
    convergence,
    counterexamples,
    mutants,
    panels,
    regression,
    run,
    statistics,
    variants,
    verdict,
)

FORMAT = "robust-core/report/2"
SECTIONS: tuple[Section[Any], ...] = (
    claims.SECTION,
    variants.SECTION,
    mutants.SECTION,
    panels.SECTION,
    convergence.SECTION,
    statistics.SECTION,
    regression.SECTION,
    counterexamples.SECTION,
    run.SECTION,
)
"""In the order of the page, where the verdict comes before them."""


@dataclass(frozen=True)
class Report:
    """Everything that the page shows. A field is named for its section."""

    claims: claims.Claims
    variants: variants.Gallery
    mutants: mutants.Kills
    panels: panels.Panels
    convergence: tuple[convergence.Curve, ...]
    statistics: statistics.Statistics
    regression: regression.Comparison | None
    counterexamples: counterexamples.Counterexamples
    run: run.Run
    verdict: verdict.Verdict
    quick: bool
    format: str = FORMAT


def judge(records: Mapping[str, Any]) -> verdict.Verdict:
    """The verdict that follows from the records of all sections."""
    return verdict.decide(line for section in SECTIONS for line in section.judge(records[section.id]))
