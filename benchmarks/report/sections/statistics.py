"""Statistical laws: e-process paths, the error budget, and its allocation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report.layout import Cell, chapter, commands, figure, heading, table
from benchmarks.report.markup import Html, breakable, inline, isolate, tag
from benchmarks.report.plots import Plot, Series, share_axes
from benchmarks.report.scales import number
from benchmarks.report.section import Content, Line, Section, Work
from benchmarks.report.sections import variants
from benchmarks.report.words import badge
from properties.statistics.budget import JOINT, SAMPLED
from properties.statistics.records import CellResult, ControlResult, Gate, RunReport
from robust_core.json import from_data, load, to_data
from robust_core.text import plural

SEED_SET = "pinned"
QUICK_COMMAND = "robust-core batch run --size quick"
FULL_COMMAND = "robust-core batch run --size full"
INTRODUCTION = (
    "Every cell has two e-processes. The process against the law has the null hypothesis “the law holds”; the verdict "
    "is violated if it reaches 1/α. The process in favour has the null hypothesis “the law fails by the stated "
    "effect”; the verdict is holds if it reaches 1/β. Both are valid at any stopping time (Ville). Negative controls "
    "are wrong on purpose and must be violated."
)


@dataclass(frozen=True)
class StatisticalRun:
    """All cells and controls of one size; `today` if the present code decided them."""

    source: str
    command: str
    today: bool
    gate: Gate
    cells: tuple[CellResult, ...]
    controls: tuple[ControlResult, ...]
    missed: tuple[str, ...]


@dataclass(frozen=True)
class Allowance:
    """The cells of a variant: how many, their share of alpha together, and their samples."""

    variant: str
    cells: int
    alpha: float
    samples: int


@dataclass(frozen=True)
class StatisticalLaw:
    """A statistical law and the claims of the paper that it decides."""

    name: str
    statement: str
    null: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Statistics:
    """The runs, the laws, and the budget of the verification of variants."""

    runs: tuple[StatisticalRun, ...]
    laws: tuple[StatisticalLaw, ...]
    variants: tuple[Allowance, ...]


def collect(work: Work) -> Statistics:
    """The quick run of the present code and the committed full run."""
    from properties.statistics.laws import laws

    return Statistics(
        runs=(quick_run(work), *committed_runs()),
        laws=tuple(StatisticalLaw(law.name, law.statement, law.null, tuple(law.claims)) for law in laws()),
        variants=allowances(work.result(variants.collect)),
    )


def quick_run(work: Work) -> StatisticalRun:
    """A quick run of all cells and controls with pinned seeds; what the store has is not computed again."""
    from benchmarks.batch.cells import run

    store = work.stores / "statistics.jsonl"
    report = run(size="quick", seed_set=SEED_SET, path=store, workers=work.workers, show=work.show)
    return _run(report, source="quick run of this report", command=QUICK_COMMAND, today=True)


def committed_runs() -> list[StatisticalRun]:
    """The committed full run, if there is one."""
    from benchmarks.documents.statistics import FULL

    if not FULL.exists():
        return []
    report = from_data(RunReport, load(FULL), FULL.name)
    return [_run(report, source="committed full run", command=FULL_COMMAND, today=False)]


def _run(report: RunReport, *, source: str, command: str, today: bool) -> StatisticalRun:
    return StatisticalRun(source, command, today, report.summary, report.cells, report.controls, report.missed)


def allowances(gallery: variants.Gallery) -> tuple[Allowance, ...]:
    """What the cells of the variants were given: their verification has a budget of its own."""
    found = []
    for variant in gallery.variants:
        cells = [verdict.statistics for verdict in variant.verdicts if verdict.statistics is not None]
        if cells:
            alpha = math.fsum(cell.alpha for cell in cells)
            found.append(Allowance(variant.name, len(cells), alpha, sum(cell.n for cell in cells)))
    return tuple(found)


def render(statistics: Statistics) -> Content:
    """The run of this report; the committed one folded."""
    parts, plots = [tag("p", INTRODUCTION)], list[Plot]()
    for place, run in enumerate(statistics.runs):
        slowest = _slowest(run.cells)
        drawn = share_axes([_plot(cell, f"path-{place}-{i}") for i, cell in enumerate(slowest)])
        plots += drawn
        title = f"{run.source.capitalize()}: {plural(len(run.cells), 'cell')}"
        body = [_gate(run.gate), _figures(drawn, slowest), _budget(run, place), _cells(run, place)]
        body += [_controls(run, place), commands(run.command)]
        well = run.gate.outcome == "holds" and not run.missed
        if place == 0:
            parts += [heading(3, title, "statistics-run"), *body]
        else:
            parts.append(chapter([title, " ", badge(run.gate.outcome)], *body, shown=not well))
    parts += [_variants(statistics.variants), chapter("The statistical laws and their nulls", _laws(statistics.laws))]
    return Content(Html("".join(parts)), tuple(plots))


def _gate(gate: Gate) -> Html:
    words = (
        f" Budget {number(gate.budget)}: the largest probability that some cell of correct algorithms is violated; "
        f"allocated {number(gate.spent)}. Log of the product of all evidence: "
        f"{number(gate.log_product, 3)}, violated from {number(-math.log(gate.budget * JOINT), 3)}."
    )
    return tag("p", badge(gate.outcome), words)


def _budget(run: StatisticalRun, place: int) -> Html:
    """How the budget is allocated: half to the cells by weight, the rest to the product of all and to sampled means."""
    laws: dict[str, list[CellResult]] = {}
    for cell in run.cells:
        laws.setdefault(cell.law, []).append(cell)
    budget = run.gate.budget
    rows = [
        _share(law, len(cells), math.fsum(cell.alpha for cell in cells), budget, sum(cell.n for cell in cells))
        for law, cells in laws.items()
    ]
    rows.append(_share("the joint evidence of all cells", len(run.cells), JOINT * budget, budget, None))
    rows.append(_share("exact laws decided by sampling", 0, SAMPLED * budget, budget, None))
    head = ["allocated to", "cells", "share of α", "share of the budget", "samples"]
    listed = table(f"The error budget, {run.source}", head, rows, numeric=[1, 2, 4], name=f"budget-{place}")
    return chapter(f"The allocation of the error budget to {plural(len(laws), 'law')}", listed)


def _share(law: str, cells: int, share: float, budget: float, samples: int | None) -> list[Any]:
    width = round(100 * share / budget, 1)
    bar = tag("svg", tag("rect", class_="bar", width=width, height=10), class_="share", viewBox="0 0 100 10",
              preserveAspectRatio="none", role="img", aria_label=f"{width:g} percent of the budget")  # fmt: skip
    return [law, cells, number(share, 3), bar, samples]


def _slowest(cells: Sequence[CellResult]) -> list[CellResult]:
    """For every law the cell that needed most samples: the longest path says most."""
    slowest: dict[str, CellResult] = {}
    for cell in cells:
        if len(cell.path) > 1 and (cell.law not in slowest or cell.n > slowest[cell.law].n):
            slowest[cell.law] = cell
    return list(slowest.values())


def _plot(cell: CellResult, id_: str) -> Plot:
    n, against, favour = zip(*cell.path, strict=True)
    return Plot(
        id=id_,
        title=f"E-processes of {cell.cell}",
        x_label="samples",
        y_label="log E",
        series=[Series("in favour", n, favour), Series("against", n, against)],
        rules=[("1/α: violated", -math.log(cell.alpha)), ("1/β: holds", -math.log(cell.beta))],
        log_x=True,
    )


def _figures(plots: list[Plot], cells: list[CellResult]) -> Html:
    if not plots:
        return tag("p", "No cell of this run has a path with more than one look.", class_="quiet")
    lead = tag("p", "The longest path of every law that needed more than one look, on the same axes:")
    figures = [
        figure(plot, [tag("strong", cell.law), " ", tag("code", cell.cell), " ", badge(cell.outcome)])
        for plot, cell in zip(plots, cells, strict=True)
    ]
    return Html(lead + tag("div", *figures, class_="grid"))


def _cells(run: StatisticalRun, place: int) -> Html:
    rows = [
        [
            Cell(breakable(cell.cell), cell.cell), cell.law, badge(cell.outcome), cell.n, cell.n_max,
            number(cell.alpha, 2), Cell(number(cell.log_against, 3), to_data(cell.log_against)),
            Cell(number(cell.log_favour, 3), to_data(cell.log_favour)), cell.effect,
        ]
        for cell in run.cells
    ]  # fmt: skip
    head = ["cell", "law", "verdict", "n", "n max", "α", "log E against", "log E in favour", "detects"]
    listed = table(f"Cells, {run.source}", head, rows, numeric=[3, 4, 5, 6, 7], name=f"cells-{place}")
    held = all(cell.outcome == "holds" for cell in run.cells)
    return chapter(f"All {plural(len(rows), 'cell')}", listed, shown=not held)


def _controls(run: StatisticalRun, place: int) -> Html:
    rows = [
        [breakable(one.control), badge("caught" if one.outcome == "violated" else one.outcome), one.n, one.cell]
        for one in run.controls
    ]
    head = ["control", "verdict", "n", "in cell"]
    listed = table(f"Controls, {run.source}", head, rows, numeric=[2], name=f"controls-{place}")
    caught = sum(control.outcome == "violated" for control in run.controls)
    return chapter(f"Negative controls: {caught} of {len(rows)} caught", listed, shown=caught < len(rows))


def _variants(found: Sequence[Allowance]) -> Html:
    rows = [[isolate(one.variant), one.cells, number(one.alpha, 3), one.samples] for one in found]
    head = ["allocated to", "cells", "share of α", "samples"]
    caption = "The error budget of the verification of variants: 1e−6 for the gallery, and for every other variant"
    listed = table(caption, head, rows, numeric=[1, 2, 3], name="allowances")
    return chapter(f"The error budget of {plural(len(rows), 'variant')}", listed) if rows else Html("")


def _laws(laws: Sequence[StatisticalLaw]) -> Html:
    rows = [
        [law.name, inline(law.statement), inline(law.null), [_claim(claim) for claim in law.claims]] for law in laws
    ]
    return table("Statistical laws", ["law", "statement", "null", "claims"], rows, name="statistical-laws")


def _claim(claim: str) -> Html:
    return Html(tag("a", claim, href=f"#claim-{claim}") + " ")


def judge(statistics: Statistics) -> list[Line]:
    """A line per run."""
    return [_line(run) for run in statistics.runs]


def _line(run: StatisticalRun) -> Line:
    gate, name = run.gate, f"Statistical laws, {run.source}"
    if gate.outcome == "violated" or run.missed:
        wrong = [*gate.violated, *(f"control missed: {control}" for control in run.missed)]
        short = ", ".join(wrong) or "the product of all evidence is against them"
        return Line("statistics", name, "violated", short)
    for word, cells in (("undecided", gate.undecided), ("pending", gate.pending)):
        if cells:
            return Line("statistics", name, word, f"{word}: {', '.join(cells)}")
    brief = f"{plural(len(run.cells), 'statistical cell')} hold"
    short = f"{brief}, all {len(run.controls)} controls are caught"
    return Line("statistics", name, "holds", short, brief if run.today else "")


SECTION = Section("statistics", "Statistical laws and the error budget", collect, render, judge)
