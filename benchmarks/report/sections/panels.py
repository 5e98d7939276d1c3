"""The fifteen panels: curves with envelopes, outcomes, and the readings that decide."""

from typing import Any

from benchmarks.report.layout import Cell, Section, commands, figure, fold, table
from benchmarks.report.markup import Html, tag
from benchmarks.report.plots import Plot, Series
from benchmarks.report.scales import number
from benchmarks.report.typeset import prose
from benchmarks.report.words import badge

TITLES = {
    "frozenlake": "Frozen Lake: robust against vanilla Q-learning",
    "cartpole": "Cart-Pole: robust against vanilla Q-learning",
    "tdc": "Frozen Lake: robust against vanilla TDC",
    "rarl": "Taxi: robust Q-learning against RARL",
    "taxi": "Taxi: robust against vanilla Q-learning",
}
Y_LABELS = {"tdc": "‖∇J‖²", "rarl": "reward in the worst case"}
INTRODUCTION = (
    "The panels of Section 6 and Appendix E under the default reading: the mean of 30 runs with the 5th and 95th "
    "percentile. Outcomes follow from a rule fixed in advance, with a 99.9 % interval for the paired effect over all "
    "runs; positive effects favour the paper. What the paper leaves open is a named reading; each other reading "
    "changes one choice."
)


def section(data: dict[str, Any]) -> Section:
    """Three plots per figure, its readings, and the table of outcomes."""
    panels = data["panels"]
    drawn, parts = [], [tag("p", INTRODUCTION), _outcomes(panels["panels"])]
    for name in dict.fromkeys(panel["figure"] for panel in panels["panels"]):
        mine = [panel for panel in panels["panels"] if panel["figure"] == name]
        plots = [_plot(panel) for panel in mine]
        drawn += plots
        figures = [figure(plot, _caption(panel)) for plot, panel in zip(plots, mine, strict=True)]
        parts += [tag("h3", TITLES.get(name, name)), tag("div", *figures, class_="grid"), _readings(name, mine, panels)]
    parts += [_trends(panels["trends"]), fold("What the readings mean", _meanings(panels["readings"]))]
    parts.append(commands("robust-core panels --panel ID --reading NAME", "python -m benchmarks.experiments"))
    note = "The plotted results are the committed ones (benchmarks/experiments/results.json); these commands run them "
    parts.append(tag("p", note, "again.", class_="quiet"))
    return Section("panels", "The fifteen panels", Html("".join(parts)), tuple(drawn))


def _plot(panel: dict[str, Any]) -> Plot:
    series = [
        Series(curve["name"], panel["times"], curve["mean"], curve["low"], curve["high"]) for curve in panel["curves"]
    ]
    rules = [("optimum", panel["values"]["optimum"])] if "optimum" in panel["values"] else []
    return Plot(
        id=panel["panel"],
        title=f"{panel['source']}: p = {panel['p']}, R = {panel['R']}",
        x_label="iterations" if panel["figure"] == "rarl" else "steps",
        y_label=Y_LABELS.get(panel["figure"], "discounted reward"),
        series=series,
        rules=rules,
        log_y=panel["figure"] == "tdc",
    )


def _caption(panel: dict[str, Any]) -> list[Any]:
    title = tag("strong", panel["source"])
    sizes = prose(f"p = {panel['p']}, R = {panel['R']}")
    return [title, " ", sizes, " ", badge(panel["outcome"]), " ", _effect(panel["claims"][0])]


def _effect(claim: dict[str, Any]) -> str:
    low, high = claim["interval"]
    return f"{number(claim['effect'], 3)} [{number(low, 3)}, {number(high, 3)}]"


def _outcomes(panels: list[dict[str, Any]]) -> Html:
    rows = []
    for panel in panels:
        for claim in panel["claims"]:
            signs = f"{claim['for']} / {claim['even']} / {claim['against']}"
            rows.append([
                Cell(tag("code", panel["panel"]), panel["panel"]), panel["source"], badge(claim["outcome"]),
                prose(claim["claim"]), Cell(_effect(claim), claim["effect"]), number(claim["much"], 3), signs,
            ])  # fmt: skip
    head = ["panel", "paper", "outcome", "claim", "effect and interval", "much", "runs for / even / against"]
    return fold("All claims of all panels, with effects and intervals", table("Claims of the panels", head, rows))


def _readings(figure_name: str, panels: list[dict[str, Any]], data: dict[str, Any]) -> Html:
    by_panel = [{reading["reading"]: reading for reading in panel["readings"]} for panel in panels]
    names = dict.fromkeys(name for found in by_panel for name in found)
    rows = [[tag("code", name), *(_reading(found.get(name)) for found in by_panel)] for name in names]
    head = ["reading", *(panel["source"] for panel in panels)]
    decided = ", ".join(data["decided by"].get(figure_name, ())) or "no reading that was tried"
    line = tag("p", tag("span", "Turned for or against the paper by: ", class_="lead"), decided, ".")
    return Html(
        line + fold(f"Outcomes under all {len(names)} readings", table(f"Readings of {figure_name}", head, rows))
    )


def _reading(found: dict[str, Any] | None) -> Cell:
    if found is None:
        return Cell(badge("not run"), "")
    return Cell([badge(found["outcome"]), f" {number(found['effect'], 2)}"], found["effect"])


def _trends(trends: list[dict[str, Any]]) -> Html:
    rows = [[trend["figure"], prose(trend["claim"]), badge(trend["outcome"]), Cell(_effect(trend), trend["effect"])]
            for trend in trends]  # fmt: skip
    return table("The trend: does the advantage grow with p and R?", ["figure", "claim", "outcome", "change"], rows)


def _meanings(readings: list[dict[str, str]]) -> Html:
    return tag("dl", *((tag("dt", tag("code", one["name"])), tag("dd", one["what"])) for one in readings))
