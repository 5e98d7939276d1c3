"""Collect the report: run what is missing, take what is kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.cli.conventions import raise_on_termination
from benchmarks.report.report import SECTIONS, Report, judge
from benchmarks.report.section import STORES, Show, Work
from properties.process import hypothesis_storage


@hypothesis_storage.temporary_storage()
@raise_on_termination()
def collect(
    *,
    targets: Sequence[str] = (),
    quick: bool = False,
    workers: int = 1,
    stores: Path = STORES,
    baseline: Path | None = None,
    history: Path | None = None,
    show: Show = lambda line: None,
) -> Report:
    """Everything the page shows.

    `targets` are variants to judge beside the gallery, `baseline` is the file to compare with (default: the committed
    one), and `history` is the folder whose trends are drawn (default: that in the stores).

    What the stores have is not computed again, and every result is kept as it comes. The same code and seeds give the
    same report except for `run`, which holds all times and versions.
    """
    work = Work(targets, quick, workers, stores, baseline, history, show)
    records: dict[str, Any] = {}
    for place, section in enumerate(SECTIONS, start=1):
        with work.part(section.id, f"part {place}/{len(SECTIONS)}"):
            records[section.id] = work.result(section.collect)
    return Report(**records, verdict=judge(records), quick=quick)
