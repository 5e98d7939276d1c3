"""Statistical laws: e-process paths, the error budget, and what it was spent on."""

import math
from typing import Any

from benchmarks.report.layout import Cell, Section, chapter, commands, figure, table
from benchmarks.report.markup import Html, breakable, named, tag
from benchmarks.report.plots import Plot, Series
from benchmarks.report.scales import number
from benchmarks.report.typeset import prose
from benchmarks.report.words import badge, plural

INTRODUCTION = (
    "Two e-processes per cell. Against has the null “the claim holds” and decides violated at 1/alpha; in favour has "
    "the null “the claim fails by the stated effect” and decides holds at 1/beta. Both may be looked at as often as "
    "one likes (Ville). Controls are wrong on purpose and must come out violated."
)


def section(data: dict[str, Any]) -> Section:
    """The runs: gate and budget, paths, cells, controls."""
    statistics = data["statistics"]
    parts, plots = [tag("p", INTRODUCTION)], []
    for place, run in enumerate(statistics["runs"]):
        drawn = _paths(run, place)
        plots += [plot for plot, _ in drawn]
        parts += [tag("h3", f"{run['source'].capitalize()}: {plural(len(run['cells']), 'cell')}"), _gate(run)]
        parts += [_budget(run), _figures(drawn), _cells(run), _controls(run), commands(run["command"])]
    parts.append(_gallery(data["gallery"]["variants"]))
    parts.append(chapter("The statistical laws and their nulls", _laws(statistics["laws"])))
    return Section("statistics", "Statistical laws and the error budget", Html("".join(parts)), tuple(plots))


def _gate(run: dict[str, Any]) -> Html:
    gate = run["summary"]
    words = (
        f" Budget {number(gate['budget'])}: the probability that a run of right algorithms comes out red; "
        f"{number(gate['spent'])} of it is given out. Log of the product of all evidence: "
        f"{number(gate['log_product'], 3)}, red from {number(-math.log(gate['budget'] / 2), 3)}."
    )
    return tag("p", badge(gate["outcome"]), words)


def _budget(run: dict[str, Any]) -> Html:
    """What the budget was spent on: half on the cells by weight, half on the product of all."""
    laws: dict[str, list[dict[str, Any]]] = {}
    for cell in run["cells"]:
        laws.setdefault(cell["law"], []).append(cell)
    budget = run["summary"]["budget"]
    rows = []
    for law, cells in laws.items():
        share = math.fsum(cell["alpha"] or 0.0 for cell in cells)
        rows.append(_share(law, len(cells), share, budget, sum(cell["n"] or 0 for cell in cells)))
    rows.append(_share("the product of the evidence of all cells", len(run["cells"]), budget / 2, budget, None))
    head = ["spent on", "cells", "share of alpha", "", "samples taken"]
    return table(f"The error budget, {run['source']}", head, rows, numeric=[1, 2, 4], tools=False)


def _share(law: str, cells: int, share: float, budget: float, samples: int | None) -> list[Any]:
    width = round(100 * share / budget, 1)
    bar = tag("svg", tag("rect", class_="bar", width=width, height=10), class_="share", viewBox="0 0 100 10",
              preserveAspectRatio="none", role="img", aria_label=f"{width:g} percent of the budget")  # fmt: skip
    return [law, cells, number(share, 3), bar, "" if samples is None else samples]


def _paths(run: dict[str, Any], place: int) -> list[tuple[Plot, list[Any]]]:
    """For every law the cell that needed most samples: the longest path says most."""
    slowest: dict[str, dict[str, Any]] = {}
    for cell in run["cells"]:
        if len(cell["path"]) > 1 and cell["n"] > slowest.get(cell["law"], {"n": 0})["n"]:
            slowest[cell["law"]] = cell
    return [(_plot(cell, f"path-{place}-{i}"), _caption(cell)) for i, cell in enumerate(slowest.values())]


def _plot(cell: dict[str, Any], id_: str) -> Plot:
    # Evidence without a finite logarithm is drawn at the edge; None stands for it in the data.
    n, against, favour = zip(*([-math.inf if x is None else x for x in point] for point in cell["path"]), strict=True)
    return Plot(
        id=id_,
        title=f"E-processes of {cell['cell']}",
        x_label="samples",
        y_label="log E",
        series=[Series("in favour", n, favour), Series("against", n, against)],
        rules=[("1/α: violated", -math.log(cell["alpha"])), ("1/β: holds", -math.log(cell["beta"]))],
        log_x=True,
    )


def _caption(cell: dict[str, Any]) -> list[Any]:
    return [tag("strong", cell["law"]), " ", tag("code", cell["cell"]), " ", badge(cell["outcome"])]


def _figures(drawn: list[tuple[Plot, list[Any]]]) -> Html:
    if not drawn:
        return tag("p", "No cell of this run has a path with more than one look.", class_="quiet")
    lead = tag("p", "The longest path of every law that needed more than one look:")
    return Html(lead + tag("div", *(figure(plot, caption) for plot, caption in drawn), class_="grid"))


def _cells(run: dict[str, Any]) -> Html:
    rows = []
    for cell in run["cells"]:
        logs = [
            Cell(_log(cell[key]), cell[key] if cell[key] is not None else "") for key in ("log_against", "log_favour")
        ]
        sizes = [cell["n"], "" if cell["n_max"] is None else cell["n_max"], number(cell["alpha"] or 0.0, 2)]
        rows.append(
            [
                Cell(breakable(cell["cell"]), cell["cell"]),
                cell["law"],
                badge(cell["outcome"]),
                *sizes,
                *logs,
                cell["effect"],
            ]
        )
    head = ["cell", "law", "verdict", "n", "n max", "alpha", "log E against", "log E in favour", "detects"]
    listed = table(f"Cells, {run['source']}", head, rows, numeric=[3, 4, 5, 6, 7])
    held = all(cell["outcome"] == "holds" for cell in run["cells"])
    return chapter(f"All {plural(len(rows), 'cell')}", listed, shown=not held)


def _log(value: float | None) -> str:
    return "" if value is None else number(value, 3)


def _controls(run: dict[str, Any]) -> Html:
    rows = [
        [breakable(control["control"]), badge("caught" if control["outcome"] == "violated" else control["outcome"]),
         "" if control["n"] is None else control["n"], control["cell"] or ""]
        for control in run["controls"]
    ]  # fmt: skip
    listed = table(f"Controls, {run['source']}", ["control", "verdict", "n", "in cell"], rows, numeric=[2])
    caught = sum(control["outcome"] == "violated" for control in run["controls"])
    return chapter(f"Negative controls: {caught} of {len(rows)} caught", listed, shown=caught < len(rows))


def _gallery(variants: list[dict[str, Any]]) -> Html:
    """What the cells of the variants were given: their verification has a budget of its own."""
    rows = []
    for variant in variants:
        cells = [record["statistics"] for record in variant["records"] if record["statistics"] is not None]
        if cells:
            share = math.fsum(cell["alpha"] or 0.0 for cell in cells)
            samples = sum(cell["n"] or 0 for cell in cells)
            rows.append([named(variant["name"]), len(cells), number(share, 3), samples])
    head = ["spent on", "cells", "share of alpha", "samples taken"]
    caption = "The error budget of the verification of variants: 1e−6 for the gallery, and for every other variant"
    return table(caption, head, rows, numeric=[1, 2, 3], tools=False) if rows else Html("")


def _laws(laws: list[dict[str, Any]]) -> Html:
    rows = [
        [law["name"], prose(law["statement"]), prose(law["null"]), [_claim(claim) for claim in law["claims"]]]
        for law in laws
    ]
    return table("Statistical laws", ["law", "statement", "null", "claims"], rows)


def _claim(claim: str) -> Html:
    return Html(tag("a", claim, href=f"#claim-{claim}") + " ")
