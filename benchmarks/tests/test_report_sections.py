"""What the sections say: units, directions and open ends, what comes first, controls, and which code made it."""

import html
import re
from typing import Any

import pytest

from benchmarks.report.data import panels as panel_data
from benchmarks.report.effects import ORDER
from benchmarks.report.layout import table
from benchmarks.report.overall import verdict
from benchmarks.report.sections import claims, counterexamples, mutants, panels, regression, statistics, variants
from benchmarks.report.words import with_entry
from benchmarks.tests.report_sample import comparison, sample


def shown(markup: str) -> str:
    """The text that a reader sees, spaces as one."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def rows(markup: str) -> list[list[str]]:
    """The cells of the body of the first table, as text."""
    body = markup.partition("<tbody>")[2].partition("</tbody>")[0]
    return [[shown(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in body.split("</tr>") if row]


def entries(markup: str) -> list[dict[str, str]]:
    """The rows of all tables, by heading."""
    found = []
    for one in re.findall(r"<table.*?</table>", markup):
        head = [shown(cell) for cell in re.findall(r"<th\b.*?</th>", one.partition("<tbody>")[0])]
        found += [dict(zip(head, row, strict=True)) for row in rows(one)]
    return found


def compared(*cells: dict[str, Any]) -> list[dict[str, str]]:
    data = sample()
    data["regression"]["cells"] = list(cells)
    return entries(regression.section(data).body)


def test_what_must_be_looked_at_comes_first() -> None:
    verdicts = ("equivalent", "better", "undecided", "changed", "worse", "equivalent")
    found = compared(*(comparison(word, word) for word in verdicts))
    assert [row["variant"] for row in found] == sorted(verdicts, key=ORDER.index)
    assert found[0]["verdict"] == "▼ worse"
    assert "note" not in found[0]


def test_a_column_is_there_as_soon_as_one_row_needs_it() -> None:
    found = compared(comparison("a"), comparison("b", note="the seeds differ"))
    assert [row["note"] for row in found] == ["", "the seeds differ"]
    listed = table("T", ["a", "b", "c"], [["x", "", 1], ["y", None, 2]], numeric=[2])
    assert entries(listed) == [{"a": "x", "c": "1"}, {"a": "y", "c": "2"}]
    assert listed.count('class="num"') == 3
    assert "<th" in table("T", ["a", "b"], [])


def _chapters(markup: str) -> dict[str, bool]:
    """The first lines of what is folded, and whether it is open."""
    found = re.findall(r'<details class="chapter"( open="open")?><summary>(.*?)</summary>', markup)
    return {shown(summary): bool(opened) for opened, summary in found}


def test_long_parts_are_folded_where_all_is_well_and_open_where_it_is_not() -> None:
    data = sample()
    assert _chapters(mutants.section(data).body)["Kind control: 6 mutants ✓ all caught"] is False
    assert _chapters(variants.section(data).body) == {"Kind control: 4 laws, 2 variants ✓ as it must be": False}
    assert _chapters(regression.section(data).body) == {"Cells: = 1 equivalent": False}
    for record in data["kills"]["records"]:
        record["cases"] = None if record["mutant"] == "zoo:0" else record["cases"]
    assert _chapters(mutants.section(data).body)["Kind control: 6 mutants ✗ 1 alive"] is True
    data["gallery"]["variants"][0]["records"][0]["outcome"] = "violated"
    assert _chapters(variants.section(data).body) == {"Kind control: 4 laws, 2 variants ✗ not as it must be": True}
    data["statistics"]["runs"][0]["controls"][0]["outcome"] = "holds"
    assert _chapters(statistics.section(data).body)["Negative controls: 0 of 1 caught"] is True


@pytest.mark.parametrize(
    ("cell", "effect", "margin"),
    [
        ({"effect": 0.02, "lower": -0.01, "upper": 0.05}, "+2 % [−1 %, +5 %]", "10 %"),
        ({"effect": 0.02, "lower": None, "upper": None}, "+2 % [−∞, +∞]", "10 %"),
        ({"effect": -0.002, "lower": None, "upper": 0.001, "scale": "absolute", "unit": "‖Q*‖", "margin": 0.005},
         "−0.002 [−∞, +0.001] ‖Q*‖", "0.005 ‖Q*‖"),
        ({"effect": 1, "lower": None, "upper": None, "scale": "absolute", "unit": "sweeps", "margin": 0.0,
          "kind": "deterministic"}, "+1 sweeps", "exact"),
        ({"effect": 0.0, "lower": 0.0, "upper": 0.0}, "0 % [0 %, 0 %]", "10 %"),
        ({"effect": None}, "", "10 %"),
    ],
)  # fmt: skip
def test_effects_and_margins_have_their_unit(cell: dict[str, Any], effect: str, margin: str) -> None:
    (found,) = compared(comparison("v", **cell))
    assert (found.get("effect and interval", ""), found["margin"]) == (effect, margin)


@pytest.mark.parametrize(
    ("direction", "words"),
    [("lower", "lower is better"), ("higher", "higher is better"), ("exact", "must not change")],
)
def test_the_direction_is_a_column(direction: str, words: str) -> None:
    assert compared(comparison("v", direction=direction))[0]["direction"] == words


def panel(data: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in data["panels"]["panels"] if one["panel"] == name)


def captions(data: dict[str, Any]) -> dict[str, str]:
    found = map(shown, re.findall(r"<figcaption>.*?</figcaption>", panels.section(data).body))
    return dict(zip((one["panel"] for one in data["panels"]["panels"]), found, strict=True))


def test_every_effect_of_a_panel_names_its_unit() -> None:
    for name, text in captions(sample()).items():
        unit = "powers of ten" if name.startswith("tdc") else "of the scale"
        assert unit in text, name
        assert ("%" in text.partition(unit)[0].rpartition("[")[2]) == (unit == "of the scale")
    spread = {"claim": "robust runs vary much less", "effect": 0.1, "interval": [-0.1, 0.3]}
    assert panels.effect(spread, "tdc").endswith("of the pairs of runs, for minus against")


def test_the_median_speaks_where_it_says_something_else() -> None:
    data = sample()
    claim = panel(data, "taxi-a")["claims"][0]
    claim["outcome by median"] = claim["outcome"]
    assert "by the median" not in captions(data)["taxi-a"]
    claim["outcome by median"] = "not reproduced"
    assert "; by the median not reproduced" in captions(data)["taxi-a"]


def test_curves_that_lie_on_each_other_are_named_and_keep_their_legend() -> None:
    data = sample()
    one = panel(data, "frozenlake-a")
    robust, shorter = (next(c for c in one["curves"] if c["name"] == n) for n in ("robust", "vanilla at γ(1−R)"))
    shorter.update({part: list(robust[part]) for part in ("mean", "low", "high")})
    one["same as"] = panel_data.coincidences(one["curves"])
    assert "The curve of vanilla at γ(1−R) lies on that of robust." in captions(data)["frozenlake-a"]
    legend = panels.section(data).body.partition('data-plot="frozenlake-a"')[2].partition("</figure>")[0]
    assert re.findall(r"</svg>([^<]+)</li>", legend) == ["robust", "vanilla", "vanilla at γ(1−R)"]
    shorter["mean"] = [shorter["mean"][0] + 1.0, *shorter["mean"][1:]]
    assert panel_data.coincidences(one["curves"]) == []


RECORD: dict[str, Any] = {
    "values": {"robust": 0.5, "vanilla": 0.25, "shorter horizon": 0.5, "optimum": 1.0, "best constant action": 0.125,
               "uniform policy": 0.0625, "that action": 1.0},
    "claims": [{"runs": 400}],
    "runs equal to shorter horizon": 399,
    "limits": {"robust": [0.75, 0.75], "vanilla": [0.75, 0.875]},
    "monte carlo": {"robust": 0.51, "robust exact": 0.5, "robust standardised error": -1.5},
}  # fmt: skip


def test_controls_have_their_exact_values_beside_monte_carlo() -> None:
    data = sample()
    for one in data["panels"]["panels"]:
        one["controls"] = panel_data.controls(RECORD) if one["panel"] == "frozenlake-a" else []
    table = panels.section(data).body.partition("Values and controls")[2].partition("</table>")[0]
    found = {row[0]: row[1] for row in rows(table)}
    assert found == {
        "robust": "0.5",
        "robust, last policies of 30 runs, by Monte Carlo": "0.51 (exactly 0.5: 1.5 standard errors apart)",
        "vanilla": "0.25",
        "vanilla at γ(1−R)": "0.5 (as robust in 399 of 400 runs)",
        "optimum": "1",
        "best constant action": "0.125",
        "uniform policy": "0.0625",
        "robust, where it converges, α → 0": "0.75",
        "vanilla, where it converges, α → 0": "0.75 (or 0.875, by the choice among equal actions)",
    }


def test_fields_that_results_lack_are_left_out() -> None:
    bare = {name: RECORD[name] for name in ("values", "claims")}
    assert [row[0] for row in panel_data.controls(bare)][:3] == ["robust", "vanilla", "vanilla at γ(1−R)"]
    data = sample()
    for name in ("why", "code"):
        data["panels"].pop(name)
    for one in data["panels"]["panels"]:
        for name in ("controls", "same as"):
            one.pop(name)
        one["interpretations"] = one["interpretations"][:1]
        for claim in one["claims"]:
            claim.pop("outcome by median")
    assert "Values and controls" not in panels.section(data).body


def test_a_interpretation_that_stands_beside_the_default_is_in_the_caption() -> None:
    data = sample()
    one = panel(data, "tdc-a")
    beside = {**one["interpretations"][0], "interpretation": "fresh-features", "outcome": "reversed", "effect": -3.0}
    one["interpretations"] = [*(r for r in one["interpretations"] if r["interpretation"] == "default"), beside]
    assert "with features drawn anew for every run: reversed, −3 [" in captions(data)["tdc-a"]


def test_interpretations_have_their_intervals_and_figures_their_reasons() -> None:
    data = sample()
    body = panels.section(data).body
    table = body.partition("Interpretations of cartpole")[2].partition("</table>")[0]
    cells = [cell for row in rows(table) for cell in row[1:] if "not run" not in cell]
    assert cells
    assert all(re.search(r"\[.*, .*\] of the scale", cell) for cell in cells)
    assert {one["figure"] for one in data["panels"]["why"]} >= {"", "tdc", "rarl"}
    tdc = body.partition("against vanilla TDC")[2].partition("<h3>")[0]
    assert "<strong>TDC: " in tdc
    assert "last column" not in shown(body)


@pytest.mark.parametrize(("made", "present", "flagged"), [("aa", "aa", False), ("aa", "bb", True), ("", "bb", True)])
def test_results_of_other_code_are_flagged(made: str, present: str, flagged: bool) -> None:
    data = sample()
    data["panels"]["code"] = {"made by": made, "present": present}
    text = shown(panels.section(data).body)
    assert ("other code" in text) == flagged
    assert present in text
    (line,) = (part for part in verdict(data)["parts"] if part["id"] == "panels")
    assert ("made by other code" in line["short"]) == flagged


def test_results_of_other_libraries_are_not_called_those_of_other_code() -> None:
    data = sample()
    data["panels"]["code"] = {"made by": "aa", "present": "bb", "libraries": [["gymnasium", "1.4.0", "absent"]]}
    text = shown(panels.section(data).body)
    assert "other libraries" in text
    assert "gymnasium 1.4.0 then, absent now" in text
    (line,) = (part for part in verdict(data)["parts"] if part["id"] == "panels")
    assert line["short"].endswith("(made with other libraries)")
    assert "other code" not in text + line["short"]


def test_the_claims_name_the_present_code() -> None:
    assert "0123456789ab" in shown(claims.section(sample()).body)


def test_cards_show_values_in_words() -> None:
    data = sample()
    (found,) = data["counterexamples"]["found"]
    found["case"]["step_size"] = {"steps": {"clock": "constant", "power": 1.0, "scale": 0.5}}
    body = counterexamples.section(data).body
    assert "step size clock constant, power 1, scale 0.5" in shown(body)


def test_cards_say_what_a_counterexample_refutes_and_leave_no_empty_brackets() -> None:
    data = sample()
    committed = data["counterexamples"]["committed"]
    assert any(with_entry(example["what"]) != example["what"] for example in committed), "there is something to tidy"
    body = counterexamples.section(data).body
    for line in map(shown, re.findall(r'<p class="what">.*?</p>', body)):
        assert not re.search(r"\[[\d, ]*\]$", line), line
    assert body.count("refutes the printed statement") == len(committed)
    committed[0]["outcome"] = "holds"
    assert "refutes nothing any more" in counterexamples.section(data).body
