"""The fifteen panels of the paper from the committed results: curves, outcomes, and the interpretations that decide."""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.experiments.growth import Growth
from benchmarks.experiments.interpretations import INTERPRETATIONS
from benchmarks.experiments.outcome import Claim
from benchmarks.experiments.paper import PANELS
from benchmarks.experiments.records import Curve, PanelRun, Sampled, Trend
from benchmarks.experiments.results import load_results
from benchmarks.report import effects
from benchmarks.report.code import Provenance, compare
from benchmarks.report.layout import Cell, chapter, commands, figure, heading, table
from benchmarks.report.markup import Html, inline, tag
from benchmarks.report.plots import Plot, Series, share_axes
from benchmarks.report.scales import number, percent, with_interval
from benchmarks.report.section import Content, Line, Section, Work
from benchmarks.report.words import badge

ENTRY = "benchmarks.experiments.panels"
"""The module whose sources, at any depth, make a record."""
AGAIN = "robust-core panels --write"
TITLES = {
    "frozenlake": "Frozen Lake: robust against vanilla Q-learning",
    "cartpole": "Cart-Pole: robust against vanilla Q-learning",
    "tdc": "Frozen Lake: robust against vanilla TDC",
    "rarl": "Taxi: robust Q-learning against RARL",
    "taxi": "Taxi: robust against vanilla Q-learning",
}
CURVE_LABELS = {"robust": "robust", "vanilla": "vanilla", "shorter horizon": "vanilla at γ(1−R)", "rarl": "RARL"}
"""In the order in which they are drawn: a learner has the same colour in all panels."""
FIXED = ("optimum", "never falling", "best constant action", "uniform policy")
"""What needs no learning, in the order in which it is shown."""
NO_SKILL = ("best constant action", "uniform policy")
BAND = "5th to 95th percentile of the runs"
LIMITS = "where it converges, α → 0"
ABOUT = {"FrozenLake": "frozenlake", "CartPole": "cartpole", "TDC": "tdc", "RARL": "rarl", "Taxi": "taxi"}
"""The first word of an explanation, and the figure that it is about."""
Y_LABELS = {"tdc": "‖∇J‖²", "rarl": "reward in the worst case"}
INTRODUCTION = (
    "The panels of Section 6 and Appendix E under the default interpretation: the mean of 30 runs, the 5th and 95th "
    "percentile. Outcomes follow from a rule fixed in advance, with a 99.9 % interval for the paired effect over all "
    "runs; positive effects favour the paper. Effects on rewards are in % of the scale, the distance from no skill "
    "(the better of the uniform policy and the best constant action) to the optimum; effects on squared gradients are "
    "in powers of ten, so 1 is a factor of ten. A choice that the paper leaves open is a named interpretation; every "
    "other interpretation changes one choice. The outcome by the median assumes nothing about the distribution of the "
    "scores."
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

_ELSEWHERE = re.compile(r" \((?:last column|columns?|table)\b[^)]*\)")
"""References to the tables of docs/experiments.md, which are others here."""


@dataclass(frozen=True)
class Control:
    """The exact value that a learner reached, or of what needs no learning."""

    name: str
    value: float
    sample: Sampled | None = None
    remark: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why the panels of a figure ("": of all) have their outcomes."""

    figure: str
    title: str
    text: str


@dataclass(frozen=True)
class Panels:
    """The panel runs in the order of the paper, the trends under the default interpretation, and what is said of them.

    `decided_by` has by figure the interpretations that flip a result; `interpretations` says what each means.
    """

    runs: tuple[PanelRun, ...]
    trends: tuple[Trend, ...]
    decided_by: dict[str, tuple[str, ...]]
    interpretations: tuple[tuple[str, str], ...]
    why: tuple[Explanation, ...]
    code: Provenance
    growth: tuple[Growth, ...] = ()

    @property
    def panels(self) -> list[PanelRun]:
        """The panels under the default interpretation."""
        return [run for run in self.runs if run.interpretation == "default"]


def collect(work: Work) -> Panels:
    """The committed results."""
    from benchmarks.documents import experiments_text
    from benchmarks.documents.experiments import flips
    from benchmarks.studies import growth

    results = load_results()
    figures = dict.fromkeys(panel.figure for panel in PANELS.values())
    return Panels(
        runs=results.runs,
        trends=tuple(trend for trend in results.trends if trend.interpretation == "default"),
        decided_by={figure: tuple(flips(results.runs, figure)) for figure in figures},
        interpretations=tuple((name, one.what) for name, one in INTERPRETATIONS.items()),
        why=tuple(explanations(experiments_text.WHY)),
        code=compare(results.made_by.code, ENTRY, results.made_by.libraries),
        growth=growth.load_committed(),
    )


def effect(claim: Claim, figure_name: str) -> str:
    """The effect of a claim with its interval and its unit in words."""
    unit = "powers of ten" if figure_name == "tdc" else "of the scale"
    if "runs vary" in claim.claim:
        unit = "of the pairs of runs, for minus against"
    return f"{with_interval(claim.effect, *claim.interval, partial(_amount, claim, figure_name))} {unit}"


def _amount(claim: Claim, figure_name: str, x: float) -> str:
    """A number in the unit of the effect."""
    powers = figure_name == "tdc" and "runs vary" not in claim.claim
    return number(x, 3) if powers else percent(x, 2)


def curves(run: PanelRun) -> dict[str, Curve]:
    """The curves by the names of the legend, in the order in which they are drawn."""
    found = run.curves or {}
    return {label: found[name] for name, label in CURVE_LABELS.items() if name in found}


def controls(run: PanelRun) -> list[Control]:
    """What the learners reached and what needs no learning."""
    values, sampled, diverged = run.values, run.monte_carlo or {}, run.diverged or {}
    found = []
    for name, label in CURVE_LABELS.items():
        if name in values:
            remark = f"{diverged[name]} of {run.runs} runs diverged" if name in diverged else ""
            if name == "shorter horizon" and run.equal_to_shorter_horizon is not None:
                remark = f"as robust in {run.equal_to_shorter_horizon} of {run.runs} runs"
            found.append(Control(label, values[name], sampled.get(name), remark))
    found += [Control(name, values[name]) for name in FIXED if name in values]
    for name, (low, high) in (run.limits or {}).items():
        remark = "" if low == high else f"or {high:.4g}, by the choice among equal actions"
        found.append(Control(f"{CURVE_LABELS[name]}, {LIMITS}", low, remark=remark))
    return found


def coincidences(curves: Mapping[str, Curve]) -> list[tuple[str, str]]:
    """Pairs of names whose curves lie on each other at every time."""
    pairs = itertools.combinations(curves, 2)
    return [(later, earlier) for earlier, later in pairs if curves[later] == curves[earlier]]


def explanations(text: str) -> list[Explanation]:
    """The paragraphs of an explanation, each with its title and the figure that it is about ("" for all).

    >>> explanations("**TDC: it grows.** Because\\nof steps.")
    [Explanation(figure='tdc', title='TDC: it grows.', text='Because of steps.')]
    """
    found = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        line = _ELSEWHERE.sub("", " ".join(paragraph.split()))
        title, _, rest = line.removeprefix("**").partition("**") if line.startswith("**") else ("", "", line)
        first = re.split(r"\W", title, maxsplit=1)[0]
        found.append(Explanation(ABOUT.get(first, ""), title.strip(), rest.strip()))
    return found


def render(record: Panels) -> Content:
    """All effects in one picture; per figure three plots, controls, interpretations and reasons; the outcomes."""
    drawn, parts = [], [effects.picture(record.runs), tag("p", INTRODUCTION), _provenance(record.code)]
    parts += [_outcomes(record.panels), chapter("What all figures have in common", _why(record, ""))]
    for name in dict.fromkeys(map(_figure, record.panels)):
        mine = [run for run in record.runs if _figure(run) == name]
        panels = [run for run in record.panels if _figure(run) == name]
        plots = share_axes([_plot(panel) for panel in panels])
        drawn += plots
        figures = [figure(plot, _caption(panel, mine)) for plot, panel in zip(plots, panels, strict=True)]
        parts += [heading(3, TITLES[name], f"figure-{name}"), tag("div", *figures, class_="grid")]
        if name == "tdc":
            growths = effects.growth_picture(record.growth)
            parts.append(chapter("The growth rate decides divergence: all draws of the features", growths))
        parts.append(_details(record, name, panels, mine))
    parts += [_trends(record.trends), chapter("What the interpretations mean", _meanings(record.interpretations))]
    parts.append(commands("robust-core panels --panel ID --interpretation NAME", AGAIN))
    note = "The plotted results are the committed ones (benchmarks/experiments/results.json); these commands run them "
    parts.append(tag("p", note, "again.", class_="quiet"))
    return Content(Html("".join(parts)), tuple(drawn))


def _details(record: Panels, name: str, panels: Sequence[PanelRun], runs: Sequence[PanelRun]) -> Html:
    """Why a figure is as it is, its values and its interpretations, folded."""
    decided = ", ".join(record.decided_by[name]) or "none of those tried"
    title = ["Reasons, values, and interpretations (those that flip a result: ", tag("em", decided), ")"]
    return chapter(title, _why(record, name), _controls(name, panels), _interpretations(name, panels, runs))


def _figure(run: PanelRun) -> str:
    return PANELS[run.panel].figure


def _provenance(code: Provenance) -> Html:
    """Which code made the results, and whether it is the present one."""
    if code.is_present:
        return tag("p", "Made by the present code, ", tag("code", code.made_by), ".", class_="quiet")
    again = [" The numbers may still be the same; ", tag("code", AGAIN), " computes them again."]
    if code.libraries:
        moved = ", ".join(f"{name} {before} then, {now} now" for name, before, now in code.libraries)
        words = [badge("other libraries"), f" made by the present code with {moved}."]
    else:
        made_by = ["made by the code ", tag("code", code.made_by)] if code.made_by else UNKNOWN
        present = [", and the present code with its libraries is ", tag("code", code.present), "."]
        words = [badge("other code"), " ", *made_by, *present]
    return tag("p", *words, *again, class_="flag warn")


UNKNOWN = ["the results do not say which code made them"]


def _why(record: Panels, name: str) -> Html:
    """The explanations that are about a figure, or about none in particular."""
    mine = [one for one in record.why if one.figure == name]
    return Html("".join(tag("p", tag("strong", inline(one.title)), " ", emphasise(one.text)) for one in mine))


def emphasise(text: str) -> Html:
    """Prose in which *words* between stars are emphasised.

    >>> emphasise("of the *robust* one")
    'of the <em>robust</em> one'
    """
    parts = re.split(r"(?<!\w)\*(\w[^*]*)\*(?!\w)", text)
    return Html("".join(tag("em", part) if place % 2 else inline(part) for place, part in enumerate(parts)))


def _plot(panel: PanelRun) -> Plot:
    name, optimum = _figure(panel), panel.values.get("optimum")
    times = panel.times or ()
    return Plot(
        id=panel.panel,
        title=f"{panel.source}: p = {panel.p}, R = {panel.radius}",
        x_label="iterations" if name == "rarl" else "steps",
        y_label=Y_LABELS.get(name, "discounted reward"),
        series=[
            Series(label, times, curve.mean, curve.low, curve.high, BAND) for label, curve in curves(panel).items()
        ],
        rules=[
            (label, level)
            for label, level in (("optimum", optimum), ("no skill", no_skill(panel)))
            if level is not None
        ],
        log_y=name == "tdc",
    )


def no_skill(panel: PanelRun) -> float | None:
    """The better of the best constant action and the uniform policy, where they are known."""
    known = [panel.values[name] for name in NO_SKILL if name in panel.values]
    return max(known) if known else None


def _caption(panel: PanelRun, runs: Sequence[PanelRun]) -> list[Any]:
    name, claim = _figure(panel), panel.first
    sizes = f" p = {panel.p}, R = {panel.radius} "
    parts = [tag("strong", panel.source), sizes, badge(panel.outcome), f" {effect(claim, name)}"]
    if claim.outcome_by_median != claim.outcome:
        parts.append(f"; by the median {claim.outcome_by_median}")
    beside = [run for run in runs if run.panel == panel.panel and run.interpretation in BESIDE]
    parts += [f"; {BESIDE[run.interpretation]}: {run.outcome}, {effect(run.first, name)}" for run in beside]
    parts.append(". ")
    parts += [f"The curve of {later} lies on that of {earlier}. " for later, earlier in coincidences(curves(panel))]
    return parts


def _outcomes(panels: Sequence[PanelRun]) -> Html:
    rows = []
    for panel in panels:
        for claim in panel.claims:
            much = _amount(claim, _figure(panel), claim.much) if claim.much else "any"
            rows.append([
                Cell(tag("code", panel.panel), panel.panel), panel.source, badge(claim.outcome),
                badge(claim.outcome_by_median), inline(claim.claim),
                Cell(effect(claim, _figure(panel)), claim.effect), Cell(much, claim.much),
                f"{claim.in_favour} / {claim.even} / {claim.against}",
            ])  # fmt: skip
    head = ["panel", "paper", "outcome", "by the median", "claim", "effect and interval", "required",
            "runs for / even / against"]  # fmt: skip
    return chapter(
        "All claims of all panels, with effects and intervals", table("Claims of the panels", head, rows, name="panels")
    )


def _controls(figure_name: str, panels: Sequence[PanelRun]) -> Html:
    """The exact values of learners and controls side by side, and Monte Carlo where there is some."""
    found = [{control.name: control for control in controls(panel)} for panel in panels]
    rows = []
    for name in dict.fromkeys(name for here in found for name in here):
        here = [beside.get(name) for beside in found]
        label = OPTIMUM_OF_RARL if (figure_name, name) == ("rarl", "optimum") else name
        rows.append([label, *map(_exact, here)])
        if any(control is not None and control.sample is not None for control in here):
            rows.append([f"{name}, last policies of 30 runs, by Monte Carlo", *map(_by_monte_carlo, here)])
    head = ["", *(panel.source for panel in panels)]
    caption = f"Values and controls: {VALUES.get(figure_name, VALUES_OF_REWARDS)}"
    listed = table(caption, head, rows, class_="controls")
    return listed if rows else Html("")


def _exact(control: Control | None) -> Cell:
    if control is None:
        return Cell("")
    remark = tag("span", f" ({control.remark})", class_="quiet") if control.remark else ""
    return Cell([number(control.value), remark], control.value)


def _by_monte_carlo(control: Control | None) -> Cell:
    if control is None or control.sample is None:
        return Cell("")
    found = control.sample
    facts = f" (exactly {number(found.exact)}: {number(abs(found.standardised_error), 2)} standard errors apart)"
    return Cell([number(found.mean), tag("span", facts, class_="quiet")], found.mean)


def _interpretations(figure_name: str, panels: Sequence[PanelRun], runs: Sequence[PanelRun]) -> Html:
    found = {(run.panel, run.interpretation): run for run in runs}
    names = dict.fromkeys(run.interpretation for run in runs)
    rows = [
        [tag("code", name), *(_beside(found.get((panel.panel, name)), figure_name) for panel in panels)]
        for name in names
    ]
    head = ["interpretation", *(panel.source for panel in panels)]
    caption = f"Interpretations of {figure_name}: {len(names)}, with intervals"
    return table(caption, head, rows, class_="interpretations", name=f"interpretations-{figure_name}")


def _beside(run: PanelRun | None, figure_name: str) -> Cell:
    if run is None:
        return Cell(badge("not run"), "")
    shown = tag("div", effect(run.first, figure_name), class_="quiet")
    return Cell([badge(run.outcome), f" {run.runs} runs", shown], run.first.effect)


def _trends(trends: Sequence[Trend]) -> Html:
    rows = [
        [trend.figure, inline(trend.claim), badge(trend.outcome), badge(trend.outcome_by_median),
         Cell(effect(trend, trend.figure), trend.effect)]
        for trend in trends
    ]  # fmt: skip
    head = ["figure", "claim", "outcome", "by the median", "change of the effect"]
    caption = "The trend: does the advantage grow with p and R?"
    return chapter(caption, table(caption, head, rows, name="trends"))


def _meanings(interpretations: Sequence[tuple[str, str]]) -> Html:
    return tag("dl", *((tag("dt", tag("code", name)), tag("dd", what)) for name, what in interpretations))


def judge(record: Panels) -> list[Line]:
    """How many panels have which outcome: a finding about the paper."""
    counts = Counter(panel.outcome for panel in record.panels)
    short = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    if not record.code.is_present:
        short += f" (computed with {'other libraries' if record.code.libraries else 'other code'})"
    return [Line("panels", "Panels of the paper", "finding", short, decides=False)]


SECTION = Section("panels", "The fifteen panels", collect, render, judge, about="paper")
