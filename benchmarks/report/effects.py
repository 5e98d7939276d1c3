"""The effects of all panels: three forests, with zero and the size that the paper's words ask for.

TDC's first rows are over draws of the features, and the share of runs that diverge is drawn with them; the one fixed
draw is an example. Beside 'robust beats RARL' stand the two comparisons that flip it: plain Q-learning on the same
samples, and training on the perturbed MDP.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from benchmarks.experiments.divergence import CLAIMED_FOR, judge_divergence
from benchmarks.experiments.growth import Growth
from benchmarks.experiments.outcome import Claim
from benchmarks.experiments.paper import PANELS
from benchmarks.experiments.records import PanelRun
from benchmarks.report.forest import Effect, axis_of, forest
from benchmarks.report.layout import chapter
from benchmarks.report.markup import Html, tag
from benchmarks.report.scales import number, percent, with_interval

AGAINST_VANILLA = {"frozenlake": "FrozenLake, robust − vanilla", "cartpole": "CartPole, robust − vanilla",
                   "taxi": "Taxi, robust − vanilla"}  # fmt: skip
PLAIN = "robust earns more than vanilla"
CAPTION = (
    "Effects with 99.9 % intervals; to the right of zero favours the paper. The dashed line is the size that 'much' "
    "asks for; the paper names no size for RARL. A filled mark is the claim as printed, under the default "
    "interpretation (for TDC with features drawn anew for every run); a hollow mark stands beside it. FrozenLake: both "
    "learners stay at the level of no skill with the printed step. Taxi: the deficit shrinks where p is larger. "
    "RARL: plain Q-learning on the same samples earns more than robust Q-learning, and training on "
    "the perturbed MDP flips the result of panel a."
)


def picture(runs: Sequence[PanelRun]) -> Html:
    """The forests of rewards, of squared gradients and of diverged runs, as far as there are runs for them."""
    found = [
        ("Effects on rewards", "share of the way from no skill to the optimum", _rewards(runs), "rewards"),
        ("Effects on squared gradients", "powers of ten, log vanilla − log robust", _gradients(runs), "gradients"),
        ("Runs of TDC that diverge", "share of the runs", _diverged(runs), "diverged"),
    ]
    drawn = [
        forest(title, axis_of(effects, label), effects, name=f"effects-{name}", what="panel")
        for title, label, effects, name in found
        if effects
    ]
    if not drawn:
        return Html("")
    first, *others = drawn
    folded = [chapter("Effects on squared gradients, and runs of TDC that diverge", *others)] if others else []
    return tag("div", tag("p", CAPTION, class_="quiet"), first, *folded, class_="effects")


def _rewards(runs: Sequence[PanelRun]) -> list[Effect]:
    groups = [_group(title, _claims(runs, figure, "default"), _share) for figure, title in AGAINST_VANILLA.items()]
    groups += [
        _group("Taxi, robust − RARL, worst case", _claims(runs, "rarl", "default"), _share),
        _group("… trained on the perturbed MDP", _claims(runs, "rarl", "perturbed-training"), _share, hollow=True),
        _group("… robust − plain Q-learning", _claims(runs, "rarl", "default", PLAIN), _share, hollow=True),
    ]
    return [effect for group in groups for effect in group]


def _gradients(runs: Sequence[PanelRun]) -> list[Effect]:
    groups = [
        _group("TDC, features drawn anew for every run", _claims(runs, "tdc", "fresh-features"), _powers),
        _group("… one draw for all runs: an example", _claims(runs, "tdc", "default"), _powers, hollow=True),
        _group("… a second draw", _claims(runs, "tdc", "second-features"), _powers, hollow=True),
    ]
    return [effect for group in groups for effect in group]


def _diverged(runs: Sequence[PanelRun]) -> list[Effect]:
    fresh = [run for run in runs if PANELS[run.panel].figure == "tdc" and run.interpretation == "fresh-features"]
    found = []
    for learner in ("robust", "vanilla"):
        for run in fresh:
            assert run.diverged is not None
            judged = judge_divergence(run.diverged, run.runs)
            low, high = judged.intervals[learner]
            share = judged.diverged[learner] / run.runs
            words = f"{judged.diverged[learner]} of {run.runs}, {_interval(share, low, high)}"
            name = _name(run.panel, f"{learner} TDC diverges, features drawn anew")
            found.append(Effect(name, "finding", share, low, high, words, run.panel))
    return found


def _name(panel: str, about: str) -> list[Html]:
    return [tag("code", panel), Html(" "), tag("span", about, class_="quiet")]


GROWTH = (
    "The growth rate of TDC for large theta over one horizon, for each draw of the features, with a 99.9 % interval. "
    "It decides divergence: below zero no run diverges; above zero every run diverges sooner or later. The number "
    "after the interval is the certified rate of the mean square, for robust TDC with the maximum held at one state. "
    "The counts are runs that diverged in one and in eight horizons. Hollow marks: vanilla TDC on the same features."
)


def growth_picture(found: Sequence[Growth]) -> Html:
    """The growth rate for every draw of the features: a forest for each panel, that of the paper's claim first."""
    if not found:
        return Html("")
    panels = sorted({one.panel for one in found}, key=lambda panel: (panel != CLAIMED_FOR, panel))
    ordered = sorted(found, key=lambda one: (one.learner, -one.growth))
    forests = [_growth_forest(panel, [one for one in ordered if one.panel == panel]) for panel in panels]
    folded = [chapter(f"The same for {panel}", drawn) for panel, drawn in zip(panels[1:], forests[1:], strict=True)]
    return tag("div", tag("p", GROWTH, class_="quiet"), forests[0], *folded, class_="effects")


def _growth_forest(panel: str, mine: Sequence[Growth]) -> Html:
    effects = [_growth_effect(one) for one in mine]
    axis = axis_of(effects, "log of the growth over one horizon")
    return forest(f"Growth of TDC for large theta, {panel}", axis, effects, name=f"effects-growth-{panel}", what="draw")


def _growth_effect(one: Growth) -> Effect:
    rate = _powers(one.mean_square[1])
    counts = f"{one.diverged} and {one.diverged_later} of {one.runs}"
    words = f"{with_interval(one.growth, *one.interval, _powers)}; {rate}; {counts}"
    verdict = "stays" if one.interval[1] < 0.0 else "diverges" if one.interval[0] > 0.0 else "undecided"
    name, key = f"{one.learner}, draw {one.draw}", f"{one.learner} {one.draw:02}"
    return Effect(name, verdict, one.growth, *one.interval, words, key, hollow=one.learner == "vanilla")


def _interval(share: float, low: float, high: float) -> str:
    return f"{percent(share, 3)} [{percent(low, 2)}, {percent(high, 3)}]"


def _claims(
    runs: Iterable[PanelRun], figure: str, interpretation: str, claim: str | None = None
) -> list[tuple[str, Claim]]:
    """A claim of every panel of a figure under an interpretation: the first, or the one of this name."""
    mine = [run for run in runs if PANELS[run.panel].figure == figure and run.interpretation == interpretation]
    return [(run.panel, one) for run in mine for one in run.claims if one.claim == (claim or run.first.claim)]


def _group(
    title: str, found: Sequence[tuple[str, Claim]], show: Callable[[float], str], *, hollow: bool = False
) -> list[Effect]:
    return [
        Effect(
            _name(panel, title), one.outcome, one.effect, *one.interval, with_interval(one.effect, *one.interval, show),
            panel, one.much or None, hollow,
        )
        for panel, one in found
    ]  # fmt: skip


_share = partial(percent, digits=2)
_powers = partial(number, digits=3)
