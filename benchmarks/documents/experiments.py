"""The results as Markdown: docs/experiments.md is rendered from the committed records and nothing else."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from benchmarks.documents import experiments_text
from benchmarks.documents.markdown import table
from benchmarks.experiments import outcome, results
from benchmarks.experiments.divergence import CLAIMED_FOR, judged_divergence
from benchmarks.experiments.interpretations import CONTROL, FIGURES, INTERPRETATIONS, Figure, of_figure
from benchmarks.experiments.panels import PANELS
from benchmarks.experiments.results import Results

Record = dict[str, Any]


def document() -> str:
    """The document of the committed results."""
    return render(results.load_all())


def render(made: Results) -> str:
    """The document of some results."""
    records, trends = made["records"], made["trends"]
    default = {record["panel"]: record for record in records if record["interpretation"] == "default"}
    parts = [
        experiments_text.HEAD,
        _rule(),
        "## Outcomes under the default interpretation",
        _overview(records),
        experiments_text.OUTCOMES,
    ]
    parts += [_sizes(default), _draws(records), _divergence(records)]
    parts += ["## Which interpretations decide", _matrix(records), experiments_text.INTERPRETATIONS]
    parts += [
        "## The trend",
        _trends(trends),
        experiments_text.TREND,
        "## Values and controls",
        experiments_text.VALUES,
    ]
    parts += [_control_values(default), _tdc_values(default), _rarl_values(default)]
    parts += ["## CartPole: cells and the real pole", experiments_text.POLE, _pole(records)]
    parts += ["## Exact values next to Monte Carlo", experiments_text.MONTE_CARLO, _monte_carlo(default)]
    parts += ["## Why", experiments_text.WHY, "## The side claims", _side_claims(default)]
    parts += [
        "## The interpretations",
        _interpretations(),
        "## How to get these numbers",
        experiments_text.REPRODUCE,
        _made_by(made["made by"]),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def number(x: float) -> str:
    """Four digits."""
    return f"{x:.4g}".replace("-", "−")


def effect(claim: Record) -> str:
    """An effect with its interval."""
    low, high = claim["interval"]
    return f"{number(claim['effect'])} [{number(low)}, {number(high)}]"


def _rule() -> str:
    rule = outcome.__doc__ or ""
    return (
        "## The rule\n\n" + rule.split("\n", 2)[2].strip() + f"\n\n`much` is {outcome.MUCH_REWARD} for rewards "
        "(of the way from no skill, the better of the uniform policy and the best constant action, to the optimum), "
        f"log10 2 for squared gradients, {outcome.MUCH_SPREAD} for 'much smaller variance' (three quarters of "
        "disjoint pairs of runs), and 0 where the paper's words name no size (RARL, the trend)."
    )


def _overview(records: Sequence[Record]) -> str:
    rows = []
    for record in sorted(records, key=lambda one: list(PANELS).index(one["panel"])):
        drawn = DRAWS.get(record["interpretation"])
        tdc = record["panel"].startswith("tdc")
        if record["interpretation"] != "default" and not (tdc and drawn):
            continue
        claim = record["claims"][0]
        signs = f"{claim['for']} / {claim['even']} / {claim['against']}"
        where = [record["panel"], record["source"], str(record["p"]), str(record["R"])]
        missed = f"{100 * record['student misses']:.2g} %" if "student misses" in record else "not run"
        checks = [claim["outcome by median"], missed]
        words = f"{claim['claim']}; {drawn}" if tdc else claim["claim"]
        rows.append([*where, f"**{record['outcome']}**, {size(record)}", effect(claim), signs, *checks, words])
    head = ["panel", "paper", "p", "R", "outcome and size", "effect, 99.9 % interval", "for / even / against"]
    return table([*head, "by the median", "Student misses", "claim"], rows)


DRAWS = {"default": "one draw of the features for all runs", "fresh-features": "features drawn anew for every run"}
"""The two interpretations of TDC in the table of outcomes: the paper does not say when the features are drawn."""


def size(record: Record) -> str:
    """The effect in words: a share of the scale, or powers of ten for gradients."""
    found = record["claims"][0]["effect"]
    if record["panel"].startswith("tdc"):
        return f"{found:+.3g} powers of ten".replace("-", "−")
    return f"{100 * found:+.2g} % of the scale".replace("-", "−")


def _sizes(default: dict[str, Record]) -> str:
    """Which reversals are as large as what *reproduced* asks for, and what the median says."""
    reversals = [record for record in default.values() if record["outcome"] == "reversed"]
    claims = {record["panel"]: record["claims"][0] for record in reversals}
    large = [panel for panel, claim in claims.items() if claim["interval"][1] <= -claim["much"]]
    small = [f"{r['panel']} ({size(r)})" for r in reversals if r["panel"] not in large]
    weaker = [
        f"{record['panel']} ({record['claims'][0]['outcome by median']})"
        for record in default.values()
        if record["claims"][0]["outcome by median"] != record["outcome"]
    ]
    said = {"large": _listed(large), "small": _listed(small), "weaker": _listed(weaker)}
    return textwrap.fill(experiments_text.SIZES.format(reversed=len(reversals), **said), WIDTH)


WIDTH = 120


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _draws(records: Sequence[Record]) -> str:
    """The effect on TDC under every draw of the features."""
    found = {(record["panel"], record["interpretation"]): record for record in records}
    names = [
        name
        for name, interpretation in INTERPRETATIONS.items()
        if "tdc" in interpretation.figures and "features" in name
    ]
    rows = []
    for name in ("default", *names):
        cells = [found.get((f"tdc-{letter}", name)) for letter in "abc"]
        shown = ["not run" if one is None else f"{effect(one['claims'][0])}" for one in cells]
        rows.append([name, INTERPRETATIONS[name].what if name != "default" else "the first draw", *shown])
    return experiments_text.DRAWS + "\n" + table(["interpretation", "features", "a", "b", "c"], rows)


def _divergence(records: Sequence[Record]) -> str:
    """'Vanilla TDC may diverge': the outcome, and the counts under every interpretation."""
    found = {(record["panel"], record["interpretation"]): record for record in records}
    rows = []
    for interpretation in of_figure("tdc"):
        here = [found.get((f"tdc-{letter}", interpretation.name)) for letter in "abc"]
        rows.append([interpretation.name, *("not run" if one is None else _diverged(one) for one in here)])
    head = ["interpretation", *(f"{letter} (vanilla, robust of all runs)" for letter in "abc")]
    said = found.get((CLAIMED_FOR, "default"))
    verdict = "not run" if said is None else _diverged(said)
    return (
        textwrap.fill(experiments_text.DIVERGENCE.format(verdict=verdict).strip(), WIDTH) + "\n\n" + table(head, rows)
    )


def _diverged(record: Record) -> str:
    judged = judged_divergence(record)
    counts = judged["diverged"]
    return f"{judged['outcome']} ({counts['vanilla']}, {counts['robust']} of {judged['runs']})"


def _matrix(records: Sequence[Record]) -> str:
    """Outcomes of panels a, b, c under every interpretation; what turns for or against the paper is bold."""
    found = {(record["panel"], record["interpretation"]): record for record in records}
    parts = []
    for figure in FIGURES:
        rows = []
        for interpretation in of_figure(figure):
            cells = [_cell(found, f"{figure}-{letter}", interpretation.name) for letter in "abc"]
            rows.append([interpretation.name, *cells, interpretation.what if interpretation.name != "default" else ""])
        decided = ", ".join(flips(records, figure)) or "no interpretation that was tried"
        parts.append(
            f"### {figure}\n\nDecided by: {decided}.\n\n"
            + table(["interpretation", "a", "b", "c", "what changes"], rows)
        )
    return "\n\n".join(parts)


def _cell(found: dict[tuple[str, str], Record], panel: str, interpretation: str) -> str:
    if (panel, interpretation) not in found:
        return "not run"
    here = found[panel, interpretation]
    shown = here["outcome"] if not _flipped(found, panel, interpretation) else f"**{here['outcome']}**"
    return f"{shown} ({here['claims'][0]['effect']:+.2g})".replace("-", "−")


FAVOURABLE = ("reproduced", "direction only")


def _flipped(found: dict[tuple[str, str], Record], panel: str, interpretation: str) -> bool:
    """Whether the interpretation turns the panel for or against the paper."""
    pair = [
        found[panel, name]["outcome"] in FAVOURABLE for name in (interpretation, "default") if (panel, name) in found
    ]
    return len(set(pair)) == 2


def flips(records: Sequence[Record], figure: Figure) -> list[str]:
    """The interpretations that turn at least one panel of a figure for or against the paper."""
    found = {(record["panel"], record["interpretation"]): record for record in records}
    return [
        interpretation.name
        for interpretation in of_figure(figure)
        if any(_flipped(found, f"{figure}-{letter}", interpretation.name) for letter in "abc")
    ]


def _trends(trends: Sequence[Record]) -> str:
    first = [trend for trend in trends if trend["interpretation"] == "default"]
    rows = [[t["figure"], t["claim"], f"**{t['outcome']}**", effect(t), t["outcome by median"]] for t in first]
    head = ["figure", "claim", "outcome", "change of the effect", "by the median"]
    return table(head, rows) + "\n\nUnder the other interpretations:\n\n" + _other_trends(trends)


def _other_trends(trends: Sequence[Record]) -> str:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for trend in trends:
        if trend["interpretation"] != "default":
            shown = f"{trend['outcome']} ({trend['effect']:+.2g})".replace("-", "−")
            found.setdefault((trend["figure"], trend["interpretation"]), {})[trend["claim"]] = shown
    claims = list(dict.fromkeys(trend["claim"] for trend in trends))
    rows = [[*where, *(shown.get(claim, "not run") for claim in claims)] for where, shown in found.items()]
    return table(["figure", "interpretation", *claims], rows)


def _made_by(how: Record) -> str:
    spent = f", in {how['cpu seconds']:,} seconds of processor time" if "cpu seconds" in how else ""
    return f"The {how['records']} records here were all made by one version of the code ({how['code']}){spent}."


def _control_values(default: dict[str, Record]) -> str:
    learners = ("robust", "vanilla", "shorter horizon")
    fixed = ("optimum", "best constant action", "uniform policy")
    rows = []
    for record in default.values():
        if PANELS[record["panel"]].figure in CONTROL:
            values, limits = record["values"], record["limits"]
            same = f"{record['runs equal to shorter horizon']} of {record['claims'][0]['runs']}"
            shown = [number(values[key]) for key in (*learners, *fixed)]
            rows.append([record["panel"], *shown, *(_range(limits[key]) for key in ("robust", "vanilla")), same])
    head = [
        "panel",
        "robust",
        "vanilla",
        "vanilla at γ(1−R)",
        *fixed,
        "robust, α → 0",
        "vanilla, α → 0",
        "runs robust ≡ γ(1−R)",
    ]
    return table(head, rows)


def _range(ends: list[float]) -> str:
    return number(ends[0]) if ends[0] == ends[1] else f"{number(min(ends))} … {number(max(ends))}"


def _tdc_values(default: dict[str, Record]) -> str:
    rows = []
    for record in default.values():
        if record["panel"].startswith("tdc"):
            learners = ("robust", "vanilla", "shorter horizon")
            runs = record["claims"][0]["runs"]
            shown = [f"{number(record['values'][key])} ({record['diverged'][key]} of {runs})" for key in learners]
            rows.append([record["panel"], *shown, *(number(record["stability"][name]) for name in STABILITY)])
    head = ["panel", "robust", "vanilla", "vanilla at γ(1−R)", *STABILITY.values()]
    return "Squared gradient at the plateau, median (runs diverged):\n\n" + table(head, rows)


STABILITY = {
    "beta max |phi|^2": "β max‖φ‖²",
    "smallest eigenvalue of C": "λ (C)",
    "largest real part": "largest real part",
    "at state": "at s*",
}
"""The fields of a record's `stability`, and their columns."""


def _rarl_values(default: dict[str, Record]) -> str:
    keys = ("robust", "rarl", "vanilla", "shorter horizon", "optimum", "best constant action")
    rows = [
        [record["panel"], *(number(record["values"][key]) for key in keys)]
        for record in default.values()
        if record["panel"].startswith("rarl")
    ]
    head = [
        "panel",
        "robust",
        "RARL",
        "vanilla",
        "vanilla at γ(1−R)",
        "robust optimum at radius p",
        "best constant action",
    ]
    note = "Reward in the worst-case test (the two on the right against the state that is truly worst, the learners "
    return f"{note}against the worst of their own tables, which can be milder):\n\n" + table(head, rows)


def _pole(records: Sequence[Record]) -> str:
    rows = []
    for record in records:
        if record["panel"].startswith("cartpole") and record["interpretation"] in ("default", "real-dynamics"):
            claim, values = record["claims"][0], record["values"]
            shown = [number(values[key]) for key in ("robust", "vanilla", "best constant action", "uniform policy")]
            top = number(values.get("optimum", values.get("never falling", math.nan)))
            what = "cells" if record["interpretation"] == "default" else "real"
            rows.append([record["panel"], what, record["outcome"], effect(claim), str(claim["runs"]), *shown, top])
    head = ["panel", "pole", "outcome", "effect, 99.9 % interval", "runs"]
    return table([*head, "robust", "vanilla", "best constant action", "uniform policy", "top of the scale"], rows)


def _monte_carlo(default: dict[str, Record]) -> str:
    rows = []
    for record in default.values():
        if "monte carlo" in record:
            found = record["monte carlo"]
            fields = (
                f"{learner}{what}"
                for learner in ("robust", "vanilla")
                for what in ("", " exact", " standardised error")
            )
            rows.append([record["panel"], *(number(found[field]) for field in fields)])
    return table(["panel", "robust MC", "exact", "z", "vanilla MC", "exact", "z"], rows)


def _side_claims(default: dict[str, Record]) -> str:
    rows = [
        [record["panel"], claim["claim"], claim["outcome"], effect(claim)]
        for record in default.values()
        for claim in record["claims"][1:]
    ]
    return table(["panel", "claim", "outcome", "effect, 99.9 % interval"], rows)


def _interpretations() -> str:
    rows = [
        [interpretation.name, ", ".join(interpretation.figures), interpretation.what]
        for interpretation in INTERPRETATIONS.values()
    ]
    return table(["interpretation", "figures", "what it says"], rows)
