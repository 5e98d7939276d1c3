"""The effects of all panels in one picture: three forests, with zero and the size that the paper's words ask for.

TDC's first rows are over draws of the features, and the share of runs that diverge is drawn with them; the one fixed
draw is an example. Beside 'robust beats RARL' stand the two comparisons that turn it: plain Q-learning on the same
samples, and training on the perturbed MDP.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from benchmarks.experiments.divergence import judge_divergence
from benchmarks.experiments.outcome import Claim
from benchmarks.experiments.paper import PANELS
from benchmarks.experiments.records import PanelRun
from benchmarks.report.forest import Forest, Group, Row, draw
from benchmarks.report.markup import Html, tag
from benchmarks.report.scales import number, percent, with_interval
from benchmarks.report.words import look

AGAINST_VANILLA = {"frozenlake": "FrozenLake, robust − vanilla", "cartpole": "CartPole, robust − vanilla",
                   "taxi": "Taxi, robust − vanilla"}  # fmt: skip
PLAIN = "robust earns more than vanilla"
CAPTION = (
    "Effects with 99.9 % intervals; to the right of zero favours the paper. The dashed line is the size that 'much' "
    "asks for; the paper names no size for RARL. A filled mark is the claim as printed, under the default "
    "interpretation (for TDC with features drawn anew for every run); a hollow mark stands beside it. FrozenLake: both "
    "learners stay at the level of no skill with the printed step. Taxi: the deficit shrinks where p is larger. "
    "RARL: plain Q-learning on the same samples earns more than robust Q-learning, and training on "
    "the perturbed MDP turns panel a."
)


def picture(runs: Sequence[PanelRun]) -> Html:
    """The forests of rewards, of squared gradients and of diverged runs, as far as there are runs for them."""
    columns = [(_rewards(runs),), (_gradients(runs), _diverged(runs))]
    drawn = [tag("div", *map(draw, shown)) for column in columns if (shown := [one for one in column if one.groups])]
    if not drawn:
        return Html("")
    return tag("div", tag("div", *drawn, class_="grid"), tag("p", CAPTION, class_="quiet"), class_="effects")


def _rewards(runs: Sequence[PanelRun]) -> Forest:
    groups = [
        _group(title, _claims(runs, figure, "default"), _share) for figure, title in AGAINST_VANILLA.items()
    ]  # fmt: skip
    groups += [
        _group("Taxi, robust − RARL, worst case", _claims(runs, "rarl", "default"), _share),
        _group("… trained on the perturbed MDP", _claims(runs, "rarl", "perturbed-training"), _share, hollow=True),
        _group("… robust − plain Q-learning", _claims(runs, "rarl", "default", PLAIN), _share, hollow=True),
    ]
    return Forest("Effects on rewards", "share of the way from no skill to the optimum", _filled(groups))


def _gradients(runs: Sequence[PanelRun]) -> Forest:
    groups = [
        _group("TDC, features drawn anew for every run", _claims(runs, "tdc", "fresh-features"), _powers),
        _group("… one draw for all runs: an example", _claims(runs, "tdc", "default"), _powers, hollow=True),
        _group("… a second draw", _claims(runs, "tdc", "second-features"), _powers, hollow=True),
    ]
    return Forest("Effects on squared gradients", "powers of ten, log vanilla − log robust", _filled(groups))


def _diverged(runs: Sequence[PanelRun]) -> Forest:
    fresh = [run for run in runs if PANELS[run.panel].figure == "tdc" and run.interpretation == "fresh-features"]
    groups = []
    for learner in ("robust", "vanilla"):
        rows = []
        for run in fresh:
            assert run.diverged is not None
            found = judge_divergence(run.diverged, run.runs)
            low, high = found.intervals[learner]
            share = found.diverged[learner] / run.runs
            words = f"{found.diverged[learner]} of {run.runs}, {_interval(share, low, high)}"
            rows.append(Row(run.panel, words, share, low, high, "bad" if learner == "robust" else "dim"))
        groups.append(Group(f"{learner} TDC diverges, features drawn anew", tuple(rows)))
    return Forest("Runs of TDC that diverge", "share of the runs", _filled(groups))


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
) -> Group:
    rows = [
        Row(
            panel, f"{symbol} {with_interval(one.effect, *one.interval, show)}", one.effect, *one.interval, kind, hollow
        )
        for panel, one in found
        for kind, symbol in [look(one.outcome)]
    ]
    much = max((one.much for _, one in found), default=0.0)
    return Group(title, tuple(rows), much or None)


def _filled(groups: Iterable[Group]) -> tuple[Group, ...]:
    return tuple(group for group in groups if group.rows)


_share = partial(percent, digits=2)
_powers = partial(number, digits=3)
