"""The parts of the net: each function computes the facts of one part with the present code.

Modules are imported inside the functions, so that a part can be collected while another one is being moved. A name is
made of names that users see (variants, laws, cells, claims), never of the name of a module.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.net.facts import Fact, digest

if TYPE_CHECKING:
    from properties.statistics.law import Cell

Facts = Iterator[Fact]
Collect = Callable[[], Facts]
CHEAP_PANELS = (("frozenlake-c", "short"), ("tdc-a", "default"), ("tdc-c", "fresh-features"))
"""Panels, each under an interpretation, that take about 30 s of processor time together."""
LONGEST_LINE = 400
"""Characters of a line of the page that are frozen; of a longer one also its hash."""
LINE_STARTS = re.compile(r"(?=<(?:section|tr|h[1-6]|p|li|svg|details|table|figure|path|script|style|pre)\b)")
"""The page has few line breaks: a diff needs one before every block."""
CODE = "0" * 12
"""Stands for the hash of any code."""


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def counterexamples() -> Facts:
    """Mutant / law -> the size of the counterexample."""
    from benchmarks.net.sizes import sizes

    for name, text in sizes().items():
        yield Fact(name, text)


def regression(only: str = "") -> Facts:
    """Metric / variant / problem -> the value, or the hash of the values by seed; ratios of times are left out."""
    from benchmarks.regression import baseline, bench
    from benchmarks.regression.measures import Sample, title
    from benchmarks.runner.units import compute
    from robust_core.json import to_data

    jobs = [job for job in bench.jobs(only=only) if job.unit.repeatable]
    measures, _ = bench.collect(jobs, {job.unit.key: compute(job.unit) for job in jobs}, only=only)
    frozen = baseline.load(str(baseline.COMMITTED)).measures
    for measure in measures:
        text = _canonical(to_data(measure))
        value = f"{len(measure.values)} values, {digest(text)}" if isinstance(measure, Sample) else str(measure.value)
        yield Fact(title(measure.name), f"{value}, {'' if measure in frozen else 'not '}in the baseline")


def _decided(cell: "Cell", alpha: float) -> tuple[str, str]:
    """The outcome of a cell with the pinned seeds, and a text with n and the hash of all rows."""
    from properties.statistics import seed_sets
    from properties.statistics.law import decide, rows_of

    taken: list[list[float]] = []

    def rows(cell: "Cell", seed_set: str, start: int, stop: int) -> list[list[float]]:
        piece = rows_of(cell, seed_set, start, stop)
        taken.extend(piece)
        return piece

    decision = decide(cell, alpha=alpha, seed_set=seed_sets.PINNED, rows=rows)
    exact = json.dumps([decision.log_against, decision.log_favour, taken])
    return decision.outcome, f"{decision.outcome}, n={decision.n}, rows and evidence {digest(exact)}"


def rows(only: str = "") -> Facts:
    """Every quick statistical cell, and every negative control up to the cell that catches it."""
    from benchmarks.batch.cells import controls
    from properties.statistics.suite import plan_cells

    cells = plan_cells("quick")
    for item in cells:
        if only in item.cell.id:
            yield Fact(item.cell.id, _decided(item.cell, item.alpha)[1])
    strictest = min(item.alpha for item in cells)
    for control in controls("quick"):
        name = f"control / {control.law.name} / {control.variant.name}"
        if only in name:
            yield Fact(name, "\n".join(_caught(control.law.cells(control.variant, "quick"), strictest)))


def _caught(cells: "Iterable[Cell]", alpha: float) -> Iterator[str]:
    """The cells of a control, one per line, up to the first that is violated."""
    for cell in cells:
        outcome, text = _decided(cell, alpha)
        yield f"{cell.id}: {text}"
        if outcome == "violated":
            return


def panels(again: Iterable[tuple[str, str]] = CHEAP_PANELS) -> Facts:
    """Panel / interpretation -> outcome and hash of the committed record; the cheap ones computed again."""
    from benchmarks.experiments import results
    from benchmarks.experiments.interpretations import INTERPRETATIONS
    from benchmarks.experiments.panels import run_panel
    from benchmarks.experiments.paper import PANELS
    from robust_core.json import to_data

    committed = results.load_results()
    for run in committed.runs:
        yield Fact(f"{run.panel} / {run.interpretation}", f"{run.outcome}, {digest(_canonical(to_data(run)))}")
    yield Fact("trends", digest(_canonical(to_data(committed.trends))))
    for panel, interpretation in again:
        run = run_panel(PANELS[panel], INTERPRETATIONS[interpretation])
        scores = digest(_canonical(to_data(run.scores)))
        yield Fact(
            f"{panel} / {interpretation} / computed again",
            f"{run.outcome}, {digest(_canonical(to_data(replace(run, scores=()))))}, scores {scores}",
        )


def page() -> Facts:
    """The page of the sample report, as if the present code had made the committed panels."""
    from benchmarks.report.code import Provenance
    from benchmarks.report.page import render
    from benchmarks.tests.report_sample import change, sample

    report = sample()
    # Every edit of the code changes its hash, and the remark beside the panels with it.
    text = render(change(report, panels=replace(report.panels, code=Provenance(CODE, CODE))))
    lines = [line for part in text.split("\n") for line in LINE_STARTS.split(part)]
    yield Fact("sha256", digest(text))
    yield Fact("text", "\n".join(_shortened(line) for line in lines))


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} … {digest(line)}"


PARTS: dict[str, Collect] = {
    "counterexamples": counterexamples,
    "regression": regression,
    "rows": rows,
    "panels": panels,
    "page": page,
}
