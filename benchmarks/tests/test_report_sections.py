"""What the sections say: units, directions and open ends, what comes first, controls, and which code made it."""

import html
import math
import re
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.experiments.paper import PANELS
from benchmarks.experiments.records import PanelRun, Sampled
from benchmarks.experiments.results import load_results
from benchmarks.regression.compare import SEVERITY, Row
from benchmarks.report import effects
from benchmarks.report import forest as forests
from benchmarks.report.code import Provenance
from benchmarks.report.layout import table
from benchmarks.report.plots import points
from benchmarks.report.sections import counterexamples, history, mutants, panels, regression, statistics, variants
from benchmarks.report.sections.panels import Control
from benchmarks.report.words import with_entry
from benchmarks.studies import growth
from benchmarks.tests.report_sample import change, law_verdict, measure, sample
from robust_core.json import dumps, from_data, loads
from robust_core.validate import EPS


def shown(markup: str) -> str:
    """The text that a reader sees, spaces as one."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def entries(markup: str) -> list[dict[str, str]]:
    """The rows of all tables, by heading."""
    found = []
    for one in re.findall(r"<table.*?</table>", markup):
        head, _, body = one.partition("<tbody>")
        names = [shown(cell) for cell in re.findall(r"<th\b.*?</th>", head)]
        rows = [re.findall(r"<t[hd].*?</t[hd]>", row) for row in body.split("</tr>")[:-1]]
        found += [dict(zip(names, map(shown, row), strict=True)) for row in rows]
    return found


def compared(*rows: Row) -> list[dict[str, str]]:
    comparison = sample().regression
    assert comparison is not None
    return entries(regression.render(replace(comparison, rows=rows)).body)


def test_what_must_be_looked_at_comes_first() -> None:
    verdicts = ("equivalent", "better", "undecided", "changed", "worse", "equivalent")
    found = compared(*(measure(word, word) for word in verdicts))
    drawn = [row for row in found if "measure" in row]
    assert [row["measure"].split()[2].rstrip(",") for row in drawn] == sorted(verdicts, key=SEVERITY.index)
    found = [row for row in found if "variant" in row]
    assert [row["variant"] for row in found] == sorted(verdicts, key=SEVERITY.index)
    assert found[0]["verdict"] == "▼ worse"
    assert "note" not in found[0]


def test_a_column_is_there_as_soon_as_one_row_needs_it() -> None:
    found = compared(measure("a"), measure("b", note="the seeds differ"))
    assert [row["note"] for row in found if "note" in row] == ["", "the seeds differ"]
    listed = table("T", ["a", "b", "c"], [["x", "", 1], ["y", None, 2]], numeric=[2])
    assert entries(listed) == [{"a": "x", "c": "1"}, {"a": "y", "c": "2"}]
    assert listed.count('class="num"') == 3
    assert "<th" in table("T", ["a", "b"], [])


def _open(markup: str) -> list[bool]:
    """Whether the folded parts are open, in their order."""
    return [bool(opened) for opened in re.findall(r'<details class="chapter"( open="open")?>', markup)]


def test_long_parts_are_folded_where_all_is_well_and_open_where_it_is_not() -> None:
    report = sample()
    assert _open(mutants.render(report.mutants).body) == [False] * 3
    assert _open(variants.render(report.variants).body) == [False] * 2
    assert report.regression is not None
    assert _open(regression.render(report.regression).body) == [False]
    assert _open(statistics.render(report.statistics).body) == [False] * 5
    kills = tuple(replace(kill, cases=None) if kill.mutant == "zoo:0" else kill for kill in report.mutants.kills)
    assert _open(mutants.render(replace(report.mutants, kills=kills)).body) == [True, True, False]
    first, *others = report.variants.variants
    wrong = replace(first, verdicts=(law_verdict("start", "violated"),))
    assert _open(variants.render(replace(report.variants, variants=(wrong, *others))).body) == [True] * 2
    (run,) = report.statistics.runs
    missed = replace(run, controls=(replace(run.controls[0], outcome="missed"),))
    assert _open(statistics.render(replace(report.statistics, runs=(missed,))).body) == [
        False,
        False,
        True,
        False,
        False,
    ]


def test_infinite_evidence_is_drawn_shown_and_kept_in_json() -> None:
    record = sample().statistics
    (run,) = record.runs
    (cell,) = run.cells
    cell = replace(cell, log_favour=math.inf, path=((16, -0.5, 2.0), (20, -math.inf, math.inf)))
    record = replace(record, runs=(replace(run, cells=(cell,)),))
    assert from_data(statistics.Statistics, loads(dumps(record))) == record
    (plot,) = statistics.render(record).plots
    assert points(plot)[-1][1:] == ["samples 20", "in favour: ∞", "against: −∞"]
    (row,) = [row for row in entries(statistics.render(record).body) if "log E in favour" in row]
    assert row["log E in favour"] == "∞"


@pytest.mark.parametrize(
    ("fields", "effect", "margin"),
    [
        ({"effect": 0.02, "lower": -0.01, "upper": 0.05}, "+2\xa0% [−1\xa0%, +5\xa0%]", "−9.09\xa0% … +10\xa0%"),
        ({"effect": 0.02, "lower": None, "upper": None}, "+2\xa0% [−∞, +∞]", "−9.09\xa0% … +10\xa0%"),
        ({"effect": -0.002, "lower": None, "upper": 0.001, "scale": "absolute", "unit": "‖Q*‖", "margin": 0.005},
         "−0.002 [−∞, +0.001] ‖Q*‖", "−0.005 … +0.005 ‖Q*‖"),
        ({"effect": 1, "lower": None, "upper": None, "scale": "absolute", "unit": "sweeps", "margin": 0.0,
          "kind": "deterministic"}, "+1 sweeps", "exact"),
        ({"effect": 0.0, "lower": 0.0, "upper": 0.0}, "0\xa0% [0\xa0%, 0\xa0%]", "−9.09\xa0% … +10\xa0%"),
        ({"effect": None}, "", "−9.09\xa0% … +10\xa0%"),
    ],
)  # fmt: skip
def test_effects_and_margins_have_their_unit(fields: dict[str, Any], effect: str, margin: str) -> None:
    found = measure("v", **fields)
    assert (regression.effect(found), regression.margin(found)) == (effect, margin)


@pytest.mark.parametrize(
    ("direction", "words"),
    [("lower", "lower is better"), ("higher", "higher is better"), ("exact", "must not change")],
)
def test_the_direction_is_a_column(direction: str, words: str) -> None:
    assert compared(measure("v", direction=direction))[-1]["direction"] == words


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"effect": 0.1, "scale": "relative", "margin": 0.1}, 1.0),
        ({"effect": 1 / 1.1 - 1, "scale": "relative", "margin": 0.1}, -1.0),
        ({"effect": 0.25, "scale": "absolute", "margin": 0.5}, 0.5),
        ({"effect": 0.25, "scale": "absolute", "margin": 0.5, "direction": "higher"}, -0.5),
        ({"effect": None}, None),
        ({"effect": 3.0, "margin": 0.0, "kind": "deterministic"}, None),
    ],
)
def test_a_forest_has_its_unit_in_margins_and_worse_on_the_right(fields: dict[str, Any], place: float | None) -> None:
    row = measure("v", **fields)
    assert regression.in_margins(row, row.effect) == (None if place is None else pytest.approx(place, rel=4 * EPS))


def test_a_trend_has_its_change_point_and_its_margin() -> None:
    (changed, quiet) = sample().history
    (plot, other) = history.render((changed, quiet)).plots
    assert plot.marks == [("change since ddddddd", 3.0)]
    assert other.marks == []
    assert [name for name, _ in plot.rules] == ["no change", "margin", "margin"]
    assert points(plot)[-1][1:] == ["revision eeeeeee", "effect: 6.1 (−∞ … 9)"]
    assert len(points(plot)) == 4, "a record without an effect has no point"
    text = shown(history.render((changed, quiet)).body)
    assert "Halve the step size" in text
    assert "There is no history yet" in shown(history.render(()).body)
    (line,) = history.judge((changed, quiet))
    assert (line.outcome, line.decides) == ("change point", False)


def test_plots_of_a_figure_have_the_same_axes() -> None:
    drawn = panels.render(sample().panels).plots
    cart = [plot.scales() for plot in drawn if plot.id.startswith("cartpole")]
    assert len(cart) == 3
    assert len({(x.low, x.high, y.low, y.high) for x, y in cart}) == 1
    rules = [name for plot in drawn for name, _ in plot.rules]
    assert rules.count("optimum") == rules.count("no skill") >= 9


def panel(name: str) -> PanelRun:
    """A panel under the default interpretation."""
    return next(one for one in sample().panels.panels if one.panel == name)


def caption(*runs: PanelRun) -> str:
    """The caption of the figure of a panel with these runs."""
    record = replace(sample().panels, runs=runs)
    (found,) = re.findall(r"<figcaption>.*?</figcaption>", panels.render(record).body)
    return shown(found)


def test_every_effect_of_a_panel_names_its_unit() -> None:
    for one in sample().panels.panels:
        for claim in one.claims:
            unit = "powers of ten" if one.panel.startswith("tdc") else "of the scale"
            if claim.claim.startswith("robust runs vary"):
                unit = "of the pairs of runs, for minus against"
            text = panels.effect(claim, PANELS[one.panel].figure)
            assert text.endswith(f"] {unit}")
            assert ("%" in text) == (unit != "powers of ten")
        assert shown(panels.effect(one.first, PANELS[one.panel].figure)) in caption(one)


def test_the_median_speaks_where_it_says_something_else() -> None:
    one = panel("taxi-a")
    first, *others = one.claims
    same = replace(first, median=first.effect, median_interval=first.interval, outcome_by_median=first.outcome)
    assert "by the median" not in caption(replace(one, claims=(same, *others)))
    other = replace(first, median=0.0, median_interval=(None, None), outcome_by_median="not reproduced")
    assert "; by the median not reproduced" in caption(replace(one, claims=(other, *others)))


def test_curves_that_lie_on_each_other_are_named_and_keep_their_legend() -> None:
    one = panel("frozenlake-a")
    assert one.curves is not None
    robust = one.curves["robust"]
    same = replace(one, curves={**one.curves, "shorter horizon": robust})
    assert panels.coincidences(panels.curves(same)) == [("vanilla at γ(1−R)", "robust")]
    assert "The curve of vanilla at γ(1−R) lies on that of robust." in caption(same)
    body = panels.render(replace(sample().panels, runs=(same,))).body
    legend = body.partition('data-plot="frozenlake-a"')[2].partition("</figure>")[0]
    names = ["robust", "vanilla", "vanilla at γ(1−R)", panels.BAND]
    assert re.findall(r"</svg>([^<]+)</li>", legend) == names
    moved = replace(robust, mean=(robust.mean[0] + 1.0, *robust.mean[1:]))
    assert panels.coincidences(panels.curves(replace(one, curves={**one.curves, "shorter horizon": moved}))) == []


def _panel_run() -> PanelRun:
    """The committed run of the first panel with other numbers."""
    values = {"robust": 0.5, "vanilla": 0.25, "shorter horizon": 0.5, "optimum": 1.0, "best constant action": 0.125,
              "uniform policy": 0.0625, "that action": 1.0}  # fmt: skip
    return replace(
        load_results().runs[0],
        values=values,
        equal_to_shorter_horizon=399,
        limits={"robust": (0.75, 0.75), "vanilla": (0.75, 0.875)},
        monte_carlo={"robust": Sampled(0.51, 0.5, -1.5), "vanilla": Sampled(0.26, 0.25, 0.5)},
    )


def test_controls_have_their_exact_values_beside_monte_carlo() -> None:
    one = _panel_run()
    found = panels.controls(one)
    assert found == [
        Control("robust", 0.5, Sampled(0.51, 0.5, -1.5)),
        Control("vanilla", 0.25, Sampled(0.26, 0.25, 0.5)),
        Control("vanilla at γ(1−R)", 0.5, remark="as robust in 399 of 400 runs"),
        Control("optimum", 1.0),
        Control("best constant action", 0.125),
        Control("uniform policy", 0.0625),
        Control("robust, where it converges, α → 0", 0.75),
        Control("vanilla, where it converges, α → 0", 0.75, remark="or 0.875, by the choice among equal actions"),
    ]
    body = panels.render(replace(sample().panels, runs=(one,))).body
    rows = {row[""]: row[one.source] for row in entries(body.partition("Values and controls")[2]) if "" in row}
    sampled = [f"{name}, last policies of 30 runs, by Monte Carlo" for name in ("robust", "vanilla")]
    assert list(rows) == ["robust", sampled[0], "vanilla", sampled[1], *(control.name for control in found[2:])]
    assert rows[sampled[0]] == "0.51 (exactly 0.5: 1.5 standard errors apart)"
    assert rows["vanilla at γ(1−R)"] == "0.5 (as robust in 399 of 400 runs)"


def test_an_interpretation_that_stands_beside_the_default_is_in_the_caption() -> None:
    runs = [run for run in sample().panels.runs if run.panel == "tdc-a"]
    (beside,) = (run for run in runs if run.interpretation == "fresh-features")
    words = f"with features drawn anew for every run: {beside.outcome}, {panels.effect(beside.first, 'tdc')}"
    assert words in caption(*runs)


def test_the_trends_are_those_of_the_default_interpretation() -> None:
    assert {trend.interpretation for trend in sample().panels.trends} == {"default"}


def test_interpretations_have_their_intervals_and_figures_their_reasons() -> None:
    record = sample().panels
    body = panels.render(record).body
    (listed,) = re.findall(r"<table[^>]*><caption>Interpretations of cartpole.*?</table>", body)
    cells = [cell for row in entries(listed) for cell in list(row.values())[1:] if "not run" not in cell]
    assert cells
    assert all(re.search(r"\[.*, .*\] of the scale", cell) for cell in cells)
    assert {one.figure for one in record.why} >= {"", "tdc", "rarl"}
    tdc = body.partition("against vanilla TDC")[2].partition("<h3>")[0]
    assert "<strong>TDC: " in tdc
    assert not any("last column" in one.text for one in record.why)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (Provenance("aa", "aa"), ""),
        (Provenance("aa", "bb"), "other code"),
        (Provenance("", "bb"), "other code"),
        (Provenance("aa", "bb", (("gymnasium", "1.4.0", "absent"),)), "other libraries"),
    ],
)
def test_results_of_other_code_or_other_libraries_are_flagged(code: Provenance, words: str) -> None:
    report = sample()
    report = change(report, panels=replace(report.panels, code=code))
    text = shown(panels.render(report.panels).body)
    (line,) = (line for line in report.verdict.lines if line.section == "panels")
    for known in ("other code", "other libraries"):
        assert (known in text) == (known in line.short) == (known == words)
    assert all(f"{name} {before} then, {now} now" in text for name, before, now in code.libraries)
    assert code.libraries or code.present in text


def test_cards_show_values_in_words() -> None:
    (found,) = sample().found
    values = dict(found.values)
    assert values["step size"] == "clock constant, power 1, rate 0, scale 0.5"
    assert values["set"] == "contamination, 0.25"
    assert values["γ"] == "0.5"
    assert (found.deviation.got, found.deviation.wanted, found.deviation.allowed) == (0.5, 0.75, 1e-15)


def test_cards_say_what_a_counterexample_refutes_and_leave_no_empty_brackets() -> None:
    cards = sample().counterexamples
    assert any(with_entry(card.deviation.what) != card.deviation.what for card in cards), "there is something to tidy"
    body = counterexamples.render(cards).body
    for line in map(shown, re.findall(r'<p class="what">.*?</p>', body)):
        assert not re.search(r"\[[\d, ]*\]$", line), line
    assert body.count(" refutes the printed statement") == len(cards)
    first, *others = cards
    lost = (replace(first, outcome="holds"), *others)
    assert "no longer refutes the printed statement" in counterexamples.render(lost).body


def test_the_first_picture_of_the_panels_is_the_forest_of_effects() -> None:
    """Every panel has a row with its numbers; zero and 'much' are drawn; TDC's first rows are over draws."""
    record = sample().panels
    body = panels.render(record).body
    pictures, _, rest = body.partition(panels.INTRODUCTION[:20])
    assert "svg" not in pictures.partition('class="effects"')[0]
    assert 'class="plot"' in rest
    for one in record.panels:
        effect = panels.effect(one.first, PANELS[one.panel].figure).partition("]")[0]
        assert effect in pictures, one.panel
    asked = sum(row.asked is not None for row in effects._rewards(record.runs) + effects._gradients(record.runs))
    assert pictures.count('class="asked"') == asked > 15
    assert pictures.index("features drawn anew for every run") < pictures.index("one draw for all runs")


def test_a_forest_puts_effects_intervals_and_sizes_on_one_axis() -> None:
    row = forests.Effect("x", "holds", 1.0, -1.0, 3.0, "1", asked=2.0)
    axis = forests.axis_of([row], "u")
    assert axis.low <= -1.0
    assert axis.high >= 3.0
    drawn = forests.forest("t", axis, [row], name="n")
    assert f'class="whisker" x1="{axis.at(-1.0)}" x2="{axis.at(3.0)}"' in drawn
    assert f'class="asked" x1="{axis.at(2.0)}"' in drawn
    assert f'class="axis" x1="{axis.at(0.0)}"' in drawn
    assert "tip-head" not in drawn
    assert effects.picture(()) == ""


def test_every_draw_of_the_features_has_its_certificate_on_the_page() -> None:
    found = growth.load_committed()
    body = effects.growth_picture(found)
    assert [body.count(f"{one.learner}, draw {one.draw}<") for one in found] == [3] * len(found)
    assert body.count("</span> diverges</span>") == sum(one.interval[0] > 0 for one in found)
    assert effects.growth_picture(()) == ""
