"""docs/experiments.md: rendered from the committed results and nothing else."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple

from benchmarks.documents import experiments_text
from benchmarks.documents.markdown import table
from benchmarks.experiments import outcome
from benchmarks.experiments.divergence import CLAIMED_FOR, judge_divergence
from benchmarks.experiments.growth import BLOCKS, Growth
from benchmarks.experiments.interpretations import FIGURES, INTERPRETATIONS, Figure, of_figure
from benchmarks.experiments.outcome import Claim
from benchmarks.experiments.paper import PANELS
from benchmarks.experiments.records import LEARNERS, PanelRun, Trend
from benchmarks.experiments.results import MadeBy, Results, load_results
from benchmarks.studies import bounds, growth

Found = Mapping[tuple[str, str], PanelRun]
"""Runs by panel and interpretation."""


def document() -> str:
    """The document of the committed results."""
    return render(load_results())


def render(results: Results) -> str:
    """The document of some results."""
    runs, found = results.runs, _by_name(results.runs)
    default = {run.panel: run for run in runs if run.interpretation == "default"}
    parts = [
        experiments_text.HEAD,
        _short(found),
        _rule(),
        "## Outcomes under the default interpretation",
        _overview(runs),
        experiments_text.OUTCOMES,
    ]
    parts += [_sizes(default), _draws(found), _divergence(found), _growths(growth.load_committed())]
    parts += ["## Interpretations that flip a result", _matrix(found), experiments_text.INTERPRETATIONS]
    parts += [
        "## The trend",
        _trends(results.trends),
        experiments_text.TREND,
        "## Values and controls",
        experiments_text.VALUES,
    ]
    parts += [_control_values(default), _tdc_values(default), _rarl_values(default)]
    parts += ["## CartPole: cells and the real pole", experiments_text.POLE, _pole(runs)]
    parts += ["## Exact values next to Monte Carlo", experiments_text.MONTE_CARLO, _monte_carlo(default)]
    parts += ["## Why", experiments_text.WHY, "## The side claims", _side_claims(default)]
    parts += [
        "## The interpretations",
        _interpretations(),
        "## How to get these numbers",
        experiments_text.REPRODUCE,
        _made_by(results.made_by),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _short(found: Found) -> str:
    """What was found, in the words that every other page uses, with numbers from the records if all were made."""
    if not {(f"{figure}-{letter}", "default") for figure in FIGURES for letter in "abc"} <= found.keys():
        return ""
    lake = found["frozenlake-a", "default"].values
    turned = found["rarl-a", "perturbed-training"]
    plain = [next(one for one in found[f"rarl-{letter}", "default"].claims if one.claim == PLAIN) for letter in "abc"]
    grown = {learner: _grown(learner) for learner in growth.LEARNERS}
    words = experiments_text.SHORT.format(
        robust_diverged=_shares_diverged(found, "robust"),
        vanilla_diverged=_shares_diverged(found, "vanilla"),
        robust_grows=grown["robust"], vanilla_grows=grown["vanilla"], draws=growth.DRAWS,
        lake_robust=number(lake["robust"]), lake_vanilla=number(lake["vanilla"]),
        lake_constant=number(lake["best constant action"]), lake_optimum=number(lake["optimum"]),
        rarl=_shares([found[f"rarl-{letter}", "default"].first.effect for letter in "abc"]),
        plain=_shares([-one.effect for one in plain]), turned=turned.outcome,
        turned_size=_shares([turned.first.effect]),
        taxi=_shares([-found[f"taxi-{letter}", "default"].first.effect for letter in "abc"]),
        pole=_shares([-found[f"cartpole-{letter}", "default"].first.effect for letter in "abc"]),
    )  # fmt: skip
    items = [" ".join(item.split()) for item in words.strip().removeprefix("- ").split("\n- ")]
    filled = [textwrap.fill(f"- {item}", WIDTH, subsequent_indent="  ", break_on_hyphens=False) for item in items]
    return "## In short\n\n" + "\n".join(filled)


PLAIN = "robust earns more than vanilla"


def _grown(learner: str) -> str:
    """For how many draws the recursion grows, in the panels a, b and c."""
    counts = [
        sum(
            one.interval[0] > 0
            for one in growth.load_committed()
            if (one.panel, one.learner) == (f"tdc-{letter}", learner)
        )
        for letter in "abc"
    ]
    return f"{counts[0]}, {counts[1]} and {counts[2]}"


def _shares(effects: Sequence[float]) -> str:
    """Effects as shares of the scale, in words."""
    words = [f"{100 * x:.2g} %".replace("-", "−") for x in effects]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _by_name(runs: Iterable[PanelRun]) -> Found:
    return {(run.panel, run.interpretation): run for run in runs}


def number(x: float) -> str:
    """Four digits."""
    return f"{x:.4g}".replace("-", "−")


def effect(claim: Claim) -> str:
    """An effect with its interval."""
    low, high = claim.interval
    return f"{number(claim.effect)} [{number(low)}, {number(high)}]"


def _rule() -> str:
    rule = outcome.__doc__ or ""
    return (
        "## The rule\n\n" + rule.split("\n", 2)[2].strip() + f"\n\n`much` is {outcome.MUCH_REWARD} for rewards "
        "(of the way from no skill, the better of the uniform policy and the best constant action, to the optimum), "
        f"log10 2 for squared gradients, {outcome.MUCH_SPREAD} for 'much smaller variance' (three quarters of "
        "disjoint pairs of runs), and 0 where the paper's words name no size (RARL, the trend)."
    )


def _overview(runs: Sequence[PanelRun]) -> str:
    rows = []
    for run in sorted(runs, key=lambda one: list(PANELS).index(one.panel)):
        drawn = DRAWS.get(run.interpretation)
        tdc = run.panel.startswith("tdc")
        if run.interpretation != "default" and not (tdc and drawn):
            continue
        claim = run.first
        signs = f"{claim.in_favour} / {claim.even} / {claim.against}"
        missed = "not run" if run.student_misses is None else f"{100 * run.student_misses:.2g} %"
        words = f"{claim.claim}; {drawn}" if tdc else claim.claim
        where = [run.panel, run.source, run.p, run.radius, f"**{run.outcome}**, {size(run)}"]
        rows.append([*where, effect(claim), signs, claim.outcome_by_median, missed, words])
    head = ["panel", "paper", "p", "R", "outcome and size", "effect, 99.9 % interval", "for / even / against"]
    return table([*head, "by the median", "Student misses", "claim"], rows)


DRAWS = {"default": "one draw of the features for all runs", "fresh-features": "features drawn anew for every run"}
"""The two interpretations of TDC in the table of outcomes: the paper does not say when the features are drawn."""


def size(run: PanelRun) -> str:
    """The effect in words: a share of the scale, or powers of ten for gradients."""
    if run.panel.startswith("tdc"):
        return f"{run.first.effect:+.3g} powers of ten".replace("-", "−")
    return f"{100 * run.first.effect:+.2g} % of the scale".replace("-", "−")


def _sizes(default: Mapping[str, PanelRun]) -> str:
    """Which reversals are as large as what *reproduced* asks for, and what the median says."""
    reversals = [run for run in default.values() if run.outcome == "reversed"]
    large = [run.panel for run in reversals if run.first.interval[1] <= -run.first.much]
    small = [f"{run.panel} ({size(run)})" for run in reversals if run.panel not in large]
    weaker = [
        f"{run.panel} ({run.first.outcome_by_median})"
        for run in default.values()
        if run.first.outcome_by_median != run.outcome
    ]
    said = {"large": _list(large), "small": _list(small), "weaker": _list(weaker)}
    return textwrap.fill(experiments_text.SIZES.format(reversed=len(reversals), **said), WIDTH)


WIDTH = 120


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _draws(found: Found) -> str:
    """The effect on TDC under every draw of the features."""
    names = [one.name for one in of_figure("tdc") if "features" in one.name]
    rows = []
    for name in ("default", *names):
        here = [found.get((f"tdc-{letter}", name)) for letter in "abc"]
        shown = ["not run" if run is None else effect(run.first) for run in here]
        rows.append([name, INTERPRETATIONS[name].what if name != "default" else "the first draw", *shown])
    words = experiments_text.DRAWS.format(
        **{learner: _shares_diverged(found, learner) for learner in ("robust", "vanilla")}
    )
    return textwrap.fill(words.strip(), WIDTH) + "\n\n" + table(["interpretation", "features", "a", "b", "c"], rows)


def _shares_diverged(found: Found, learner: str) -> str:
    """The share of diverged runs in the panels a, b and c with features drawn anew, as words."""
    shares = []
    for letter in "abc":
        run = found.get((f"tdc-{letter}", "fresh-features"))
        shares.append("not run" if run is None or run.diverged is None else f"{run.diverged[learner] / run.runs:.1%}")
    return f"{shares[0]}, {shares[1]} and {shares[2]}".replace("%", " %")


def _divergence(found: Found) -> str:
    """'Vanilla TDC may diverge': the outcome, and the counts under every interpretation."""
    rows = []
    for interpretation in of_figure("tdc"):
        here = [_count_diverged(found.get((f"tdc-{letter}", interpretation.name))) for letter in "abc"]
        rows.append([interpretation.name, *here])
    head = ["interpretation", *(f"{letter} (vanilla, robust of all runs)" for letter in "abc")]
    verdict = _count_diverged(found.get((CLAIMED_FOR, "default")))
    words = textwrap.fill(experiments_text.DIVERGENCE.format(verdict=verdict).strip(), WIDTH)
    return f"{words}\n\n{table(head, rows)}"


def _count_diverged(run: PanelRun | None) -> str:
    if run is None or run.diverged is None:
        return "not run"
    counts, outcome_here = run.diverged, judge_divergence(run.diverged, run.runs).outcome
    return f"{outcome_here} ({counts['vanilla']}, {counts['robust']} of {run.runs})"


def _growths(found: Sequence[Growth]) -> str:
    """The growth of the recursion far out for draws of the features, beside runs that diverged."""
    rows = [[f"tdc-{letter}", learner, *_growth_row(found, f"tdc-{letter}", learner)]
            for letter in "abc" for learner in ("robust", "vanilla")]  # fmt: skip
    head = ["panel", "learner", "draws", "growth below 0", "growth above 0", "runs diverged in one horizon"]
    head += [f"in {growth.LONGER} horizons", "smallest, median and largest growth"]
    head += ["mean square below 0", "mean square above 0", "steps there"]
    words = experiments_text.GROWTH.format(
        horizon=growth.horizon(), blocks=BLOCKS, longer=growth.LONGER, draws=growth.DRAWS,
        surely=surely(found), needed=surely(found) * growth.LONGER,
    )  # fmt: skip
    parts = [textwrap.fill(words.strip(), WIDTH), _mean_squares(found), _bounds(found), table(head, rows)]
    return "\n\n".join([*parts, "`robust-core study growth` measures and certifies them."])


def _mean_squares(found: Sequence[Growth]) -> str:
    """How the certified mean square agrees with the measured growth."""
    decided = [one for one in found if one.interval[0] * one.interval[1] > 0.0 and one.sign]
    others = [one for one in decided if one.growth * one.sign < 0.0]
    named = [f"{one.panel}, draw {one.draw}, {one.learner}" for one in others]
    words = experiments_text.MEAN_SQUARE.format(
        agree=len(decided) - len(others),
        decided=len(decided),
        others=f" (not for {'; '.join(named)})" if named else "",
    )
    return textwrap.fill(words.strip(), WIDTH)


def _bounds(found: Sequence[Growth]) -> str:
    """The draws for which robust TDC is certified to stay bounded, and those for which that was not found."""
    certified = {(one.panel, one.draw) for one in bounds.load_committed()}
    shrinking = [(one.panel, one.draw) for one in found if one.learner == "robust" and one.sign < 0]
    missing = [case for case in shrinking if case not in certified]
    words = experiments_text.BOUNDS.format(
        bounded=_cases([case for case in shrinking if case in certified]),
        open_cases=f", and open for {_cases(missing)}, whose growth is below zero too" if missing else "",
    )
    return textwrap.fill(words.strip(), WIDTH, break_on_hyphens=False)


def _cases(cases: Sequence[tuple[str, int]]) -> str:
    panels = sorted({panel for panel, _ in cases})
    named = [(panel, [str(draw) for name, draw in cases if name == panel]) for panel in panels]
    return "; ".join(f"{panel}, draw{'s' * (len(draws) > 1)} {', '.join(draws)}" for panel, draws in named) or "none"


def surely(found: Sequence[Growth]) -> float:
    """The least growth from which on all runs of all draws diverged within the longer horizon."""
    stayed = max((one.growth for one in found if one.diverged_later < one.runs), default=0.0)
    return min(one.growth for one in found if one.growth > stayed)


def _growth_row(found: Sequence[Growth], panel: str, learner: str) -> list[str]:
    mine = sorted((one for one in found if (one.panel, one.learner) == (panel, learner)), key=lambda one: one.growth)
    runs = sum(one.runs for one in mine)
    sizes = [mine[0].growth, mine[len(mine) // 2].growth, mine[-1].growth]
    shares = sorted(one.share for one in mine)
    return [
        str(len(mine)), str(sum(one.interval[1] < 0 for one in mine)), str(sum(one.interval[0] > 0 for one in mine)),
        f"{sum(one.diverged for one in mine)} of {runs}", f"{sum(one.diverged_later for one in mine)} of {runs}",
        ", ".join(f"{size:+.1f}".replace("-", "−") for size in sizes),
        str(sum(one.sign < 0 for one in mine)), str(sum(one.sign > 0 for one in mine)),
        "all" if learner == "vanilla" else f"{shares[0]:.1%}, {shares[len(mine) // 2]:.1%}".replace("%", " %"),
    ]  # fmt: skip


def _matrix(found: Found) -> str:
    """Outcomes of panels a, b, c under every interpretation; bold where it flips the result."""
    parts = []
    for figure in FIGURES:
        rows = []
        for interpretation in of_figure(figure):
            shown = [_shown_outcome(found, f"{figure}-{letter}", interpretation.name) for letter in "abc"]
            rows.append([interpretation.name, *shown, interpretation.what if interpretation.name != "default" else ""])
        decided = ", ".join(flips(found.values(), figure)) or "no interpretation that was tried"
        parts.append(
            f"### {figure}\n\nThe result flips under: {decided}.\n\n"
            + table(["interpretation", "a", "b", "c", "what changes"], rows)
        )
    return "\n\n".join(parts)


def _shown_outcome(found: Found, panel: str, interpretation: str) -> str:
    if (panel, interpretation) not in found:
        return "not run"
    run = found[panel, interpretation]
    word = f"**{run.outcome}**" if _flips(found, panel, interpretation) else run.outcome
    return f"{word} ({run.first.effect:+.2g})".replace("-", "−")


FAVOURABLE = ("reproduced", "direction only")


def _flips(found: Found, panel: str, interpretation: str) -> bool:
    """Whether the interpretation turns the panel for or against the paper."""
    pair = [found[panel, name].outcome in FAVOURABLE for name in (interpretation, "default") if (panel, name) in found]
    return len(set(pair)) == 2


def flips(runs: Iterable[PanelRun], figure: Figure) -> list[str]:
    """The interpretations that turn at least one panel of a figure for or against the paper."""
    found = _by_name(runs)
    return [
        interpretation.name
        for interpretation in of_figure(figure)
        if any(_flips(found, f"{figure}-{letter}", interpretation.name) for letter in "abc")
    ]


def _trends(trends: Sequence[Trend]) -> str:
    first = [trend for trend in trends if trend.interpretation == "default"]
    rows = [[t.figure, t.claim, f"**{t.outcome}**", effect(t), t.outcome_by_median] for t in first]
    head = ["figure", "claim", "outcome", "change of the effect", "by the median"]
    return table(head, rows) + "\n\nUnder the other interpretations:\n\n" + _other_trends(trends)


def _other_trends(trends: Sequence[Trend]) -> str:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for trend in trends:
        if trend.interpretation != "default":
            shown = f"{trend.outcome} ({trend.effect:+.2g})".replace("-", "−")
            found.setdefault((trend.figure, trend.interpretation), {})[trend.claim] = shown
    claims = list(dict.fromkeys(trend.claim for trend in trends))
    rows = [[*where, *(shown.get(claim, "not run") for claim in claims)] for where, shown in found.items()]
    return table(["figure", "interpretation", *claims], rows)


def _made_by(how: MadeBy) -> str:
    spent = "" if how.cpu_seconds is None else f", in {how.cpu_seconds:,} seconds of processor time"
    return f"The {how.runs} records here were all made by one version of the code ({how.code}){spent}."


def _control_values(default: Mapping[str, PanelRun]) -> str:
    fixed = ("optimum", "best constant action", "uniform policy")
    rows = []
    for run in default.values():
        if run.limits is not None:
            values = [number(run.values[name]) for name in (*LEARNERS, *fixed)]
            limits = [_range(run.limits[name]) for name in LEARNERS[:2]]
            rows.append([run.panel, *values, *limits, f"{run.equal_to_shorter_horizon} of {run.runs}"])
    learners = ["robust", "vanilla", "vanilla at γ(1−R)"]
    return table(["panel", *learners, *fixed, "robust, α → 0", "vanilla, α → 0", "runs robust ≡ γ(1−R)"], rows)


def _range(ends: tuple[float, float]) -> str:
    return number(ends[0]) if ends[0] == ends[1] else f"{number(min(ends))} … {number(max(ends))}"


def _tdc_values(default: Mapping[str, PanelRun]) -> str:
    rows = []
    for run in default.values():
        if run.diverged is not None and run.stability is not None:
            shown = [f"{number(run.values[name])} ({run.diverged[name]} of {run.runs})" for name in LEARNERS]
            rows.append([run.panel, *shown, *map(number, astuple(run.stability))])
    head = ["panel", "robust", "vanilla", "vanilla at γ(1−R)", "β max‖φ‖²", "λ (C)", "largest real part", "at s*"]
    return "Squared gradient at the plateau, median (runs diverged):\n\n" + table(head, rows)


def _rarl_values(default: Mapping[str, PanelRun]) -> str:
    names = ("robust", "rarl", "vanilla", "shorter horizon", "optimum", "best constant action")
    rows = [
        [run.panel, *(number(run.values[name]) for name in names)]
        for run in default.values()
        if run.panel.startswith("rarl")
    ]
    learners = ["robust", "RARL", "vanilla", "vanilla at γ(1−R)"]
    note = "Reward in the worst-case test (the two on the right against the state that is truly worst, the learners "
    return f"{note}against the worst of their own tables, which can be milder):\n\n" + table(
        ["panel", *learners, "robust optimum at radius p", "best constant action"], rows
    )


def _pole(runs: Sequence[PanelRun]) -> str:
    rows = []
    for run in runs:
        if run.panel.startswith("cartpole") and run.interpretation in ("default", "real-dynamics"):
            cells = run.interpretation == "default"
            top = run.values["optimum" if cells else "never falling"]
            shown = [run.values[name] for name in ("robust", "vanilla", "best constant action", "uniform policy")]
            first = [run.panel, "cells" if cells else "real", run.outcome, effect(run.first), run.runs]
            rows.append([*first, *map(number, [*shown, top])])
    head = ["panel", "pole", "outcome", "effect, 99.9 % interval", "runs"]
    return table([*head, "robust", "vanilla", "best constant action", "uniform policy", "top of the scale"], rows)


def _monte_carlo(default: Mapping[str, PanelRun]) -> str:
    rows = []
    for run in default.values():
        if run.monte_carlo is not None:
            sampled = [astuple(run.monte_carlo[learner]) for learner in LEARNERS[:2]]
            rows.append([run.panel, *(number(x) for one in sampled for x in one)])
    return table(["panel", "robust MC", "exact", "z", "vanilla MC", "exact", "z"], rows)


def _side_claims(default: Mapping[str, PanelRun]) -> str:
    rows = [
        [run.panel, claim.claim, claim.outcome, effect(claim)] for run in default.values() for claim in run.claims[1:]
    ]
    return table(["panel", "claim", "outcome", "effect, 99.9 % interval"], rows)


def _interpretations() -> str:
    rows = [
        [interpretation.name, ", ".join(interpretation.figures), interpretation.what]
        for interpretation in INTERPRETATIONS.values()
    ]
    return table(["interpretation", "figures", "what it says"], rows)
