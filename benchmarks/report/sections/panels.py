"""The fifteen panels: curves with envelopes, outcomes, and the interpretations that decide."""

import re
from typing import Any

from benchmarks.report.effects import percent, signed
from benchmarks.report.layout import Cell, Section, chapter, commands, figure, table
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
    "The panels of Section 6 and Appendix E under the default interpretation: the mean of 30 runs, the 5th and 95th "
    "percentile. Outcomes follow from a rule fixed in advance, with a 99.9 % interval for the paired effect over all "
    "runs; positive effects favour the paper. Effects on rewards are in % of the scale, which is the way from no skill "
    "(the better of the uniform policy and the best constant action) to the optimum; effects on squared gradients are "
    "in powers of ten, so 1 is a factor of ten. What the paper leaves open is a named interpretation; each other one "
    "changes one choice. The outcome by the median assumes nothing about the law of the scores."
)
VALUES = {
    "tdc": "squared gradient over the second half of the run, median over the runs",
    "rarl": "reward in the worst-case test, mean over the second half of the iterations",
}
VALUES_OF_REWARDS = "discounted reward without perturbation, evaluated exactly, mean over the second half of the run"
OPTIMUM_OF_RARL = "robust optimum at radius p"
BESIDE = {
    "fresh-features": "with features drawn anew for every run",
    "gym-reward": "with rewards as the loop of Gym pays them",
}
"""Interpretations whose number stands beside that of the default, and their words."""


def section(data: dict[str, Any]) -> Section:
    """Three plots per figure, its controls and interpretations, why it is so, and the table of outcomes."""
    panels = data["panels"]
    drawn, parts = [], [tag("p", INTRODUCTION), _provenance(panels), _outcomes(panels["panels"]), _why(panels, "")]
    for name in dict.fromkeys(panel["figure"] for panel in panels["panels"]):
        mine = [panel for panel in panels["panels"] if panel["figure"] == name]
        plots = [_plot(panel) for panel in mine]
        drawn += plots
        figures = [figure(plot, _caption(panel)) for plot, panel in zip(plots, mine, strict=True)]
        parts += [tag("h3", TITLES.get(name, name)), tag("div", *figures, class_="grid"), _why(panels, name)]
        parts += [_controls(name, mine), _interpretations(name, mine, panels)]
    parts += [_trends(panels["trends"]), chapter("What the interpretations mean", _meanings(panels["interpretations"]))]
    parts.append(commands("robust-core panels --panel ID --interpretation NAME", AGAIN))
    note = "The plotted results are the committed ones (benchmarks/experiments/results.json); these commands run them "
    parts.append(tag("p", note, "again.", class_="quiet"))
    return Section("panels", "The fifteen panels", Html("".join(parts)), tuple(drawn))


AGAIN = "python -m benchmarks.experiments"


def _provenance(panels: dict[str, Any]) -> Html:
    """Which code made the results, and whether it is the present one."""
    found = panels.get("code", {})
    made, present = found.get("made by", ""), found.get("present", "")
    if made and made == present:
        return tag("p", "Made by the present code, ", tag("code", made), ".", class_="quiet")
    if libraries := found.get("libraries"):
        moved = ", ".join(f"{name} {before} then, {now} now" for name, before, now in libraries)
        told = f" made by the present code with {moved}. Numbers may still be the same; "
        return tag("p", badge("other libraries"), told, tag("code", AGAIN), " makes them again.", class_="flag warn")
    known = (
        ["made by the code ", tag("code", made), ", "] if made else ["the results do not say which code made them, "]
    )
    last = ["and the present code with its libraries is ", tag("code", present), ". Numbers may still be the same; "]
    return tag(
        "p", badge("other code"), " ", *known, *last, tag("code", AGAIN), " makes them again.", class_="flag warn"
    )


def _why(panels: dict[str, Any], name: str) -> Html:
    """The explanations that are about a figure, or about none in particular."""
    mine = [one for one in panels.get("why", ()) if one["figure"] == name]
    return Html("".join(tag("p", tag("strong", prose(one["title"])), " ", emphasised(one["text"])) for one in mine))


def emphasised(text: str) -> Html:
    """Prose in which *words* between stars are emphasised.

    >>> emphasised("of the *robust* one")
    'of the <em>robust</em> one'
    """
    parts = re.split(r"(?<!\w)\*(\w[^*]*)\*(?!\w)", text)
    return Html("".join(tag("em", part) if place % 2 else prose(part) for place, part in enumerate(parts)))


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
    claim = panel["claims"][0]
    sizes = prose(f"p = {panel['p']}, R = {panel['R']}")
    parts = [tag("strong", panel["source"]), " ", sizes, " ", badge(panel["outcome"]), " "]
    parts += [effect(claim, panel["figure"]), *_by_median(claim)]
    for name, words in BESIDE.items():
        beside = next((one for one in panel["interpretations"] if one["interpretation"] == name), None)
        if beside is not None:
            parts.append(f"; {words}: {beside['outcome']}, {effect(beside, panel['figure'])}")
    parts.append(". ")
    parts += [f"The curve of {later} lies on that of {earlier}. " for later, earlier in panel.get("same as", ())]
    return parts


def _by_median(claim: dict[str, Any]) -> list[Any]:
    """What the median says, where it says something else."""
    word = claim.get("outcome by median", claim["outcome"])
    return [] if word == claim["outcome"] else [f"; by the median {word}"]


def effect(claim: dict[str, Any], figure_name: str) -> str:
    """The effect of a claim with its interval and its unit in words.

    >>> effect({"effect": -0.009, "interval": [-0.017, -0.001]}, "taxi")
    '−0.9\\xa0% [−1.7\\xa0%, −0.1\\xa0%] of the scale'
    >>> effect({"effect": -12.0, "interval": [-12.5, -11.5]}, "tdc")
    '−12 [−12.5, −11.5] powers of ten'
    """
    unit, in_percent = unit_of(claim, figure_name)
    low, middle, high = (
        signed(percent(x, 2) if in_percent else number(x, 3))
        for x in (claim["interval"][0], claim["effect"], claim["interval"][1])
    )
    return f"{middle} [{low}, {high}] {unit}"


def unit_of(claim: dict[str, Any], figure_name: str) -> tuple[str, bool]:
    """The unit of an effect in words, and whether it is in percent."""
    if "runs vary" in claim.get("claim", ""):
        return "of the pairs of runs, for minus against", True
    return ("powers of ten", False) if figure_name == "tdc" else ("of the scale", True)


def _outcomes(panels: list[dict[str, Any]]) -> Html:
    rows = []
    for panel in panels:
        for claim in panel["claims"]:
            signs = f"{claim['for']} / {claim['even']} / {claim['against']}"
            in_percent = unit_of(claim, panel["figure"])[1]
            much = percent(claim["much"], 2) if in_percent else number(claim["much"], 3)
            rows.append([
                Cell(tag("code", panel["panel"]), panel["panel"]), panel["source"], badge(claim["outcome"]),
                badge(claim["outcome by median"]) if "outcome by median" in claim else "",
                prose(claim["claim"]), Cell(effect(claim, panel["figure"]), claim["effect"]),
                Cell(much if claim["much"] else "any", claim["much"]), signs,
            ])  # fmt: skip
    head = ["panel", "paper", "outcome", "by the median", "claim", "effect and interval", "asked for",
            "runs for / even / against"]  # fmt: skip
    return chapter("All claims of all panels, with effects and intervals", table("Claims of the panels", head, rows))


def _controls(figure_name: str, panels: list[dict[str, Any]]) -> Html:
    """The exact values of learners and controls side by side, and Monte Carlo where there is some."""
    found = [{row[0]: row for row in panel.get("controls", ())} for panel in panels]
    names = dict.fromkeys(name for rows in found for name in rows)
    rows = []
    for name in names:
        label = OPTIMUM_OF_RARL if (figure_name, name) == ("rarl", "optimum") else name
        rows.append([label, *(_control(here.get(name)) for here in found)])
        if any(here.get(name) and here[name][2] for here in found):
            rows.append(
                [f"{name}, last policies of 30 runs, by Monte Carlo", *(_sampled(here.get(name)) for here in found)]
            )
    head = ["", *(panel["source"] for panel in panels)]
    caption = f"Values and controls: {VALUES.get(figure_name, VALUES_OF_REWARDS)}"
    return (
        chapter("Values and controls", table(caption, head, rows, class_="controls", tools=False)) if rows else Html("")
    )


def _control(row: list[Any] | None) -> Cell:
    if row is None:
        return Cell("")
    remark = tag("span", f" ({row[3]})", class_="quiet") if row[3] else ""
    return Cell([number(row[1]), remark], row[1])


def _sampled(row: list[Any] | None) -> Cell:
    if row is None or row[2] is None:
        return Cell("")
    found = row[2]
    facts = f" (exactly {number(found['exact'])}: {number(abs(found['errors']), 2)} standard errors apart)"
    return Cell([number(found["sampled"]), tag("span", facts, class_="quiet")], found["sampled"])


def _interpretations(figure_name: str, panels: list[dict[str, Any]], data: dict[str, Any]) -> Html:
    by_panel = [
        {interpretation["interpretation"]: interpretation for interpretation in panel["interpretations"]}
        for panel in panels
    ]
    names = dict.fromkeys(name for found in by_panel for name in found)
    rows = [
        [tag("code", name), *(_interpretation(found.get(name), figure_name) for found in by_panel)] for name in names
    ]
    head = ["interpretation", *(panel["source"] for panel in panels)]
    decided = ", ".join(data["decided by"].get(figure_name, ())) or "no interpretation that was tried"
    line = tag("p", tag("span", "Turned for or against the paper by: ", class_="lead"), decided, ".")
    listed = table(f"Interpretations of {figure_name}", head, rows, class_="interpretations")
    return Html(line + chapter(f"Outcomes under all {len(names)} interpretations, with intervals", listed))


def _interpretation(found: dict[str, Any] | None, figure_name: str) -> Cell:
    if found is None:
        return Cell(badge("not run"), "")
    shown = tag("div", effect(found, figure_name), class_="quiet")
    return Cell([badge(found["outcome"]), f" {found['runs']} runs", shown], found["effect"])


def _trends(trends: list[dict[str, Any]]) -> Html:
    rows = [
        [trend["figure"], prose(trend["claim"]), badge(trend["outcome"]),
         badge(trend["outcome by median"]) if "outcome by median" in trend else "",
         Cell(effect(trend, trend["figure"]), trend["effect"])]
        for trend in trends
    ]  # fmt: skip
    head = ["figure", "claim", "outcome", "by the median", "change of the effect"]
    return table("The trend: does the advantage grow with p and R?", head, rows)


def _meanings(interpretations: list[dict[str, str]]) -> Html:
    return tag("dl", *((tag("dt", tag("code", one["name"])), tag("dd", one["what"])) for one in interpretations))
