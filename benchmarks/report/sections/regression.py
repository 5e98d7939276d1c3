"""Today against the baseline, cell by cell."""

from collections import Counter
from typing import Any

from benchmarks.report.layout import Cell, Section, commands, table
from benchmarks.report.markup import Html, named, tag
from benchmarks.report.scales import number
from benchmarks.report.words import badge

INTRODUCTION = (
    "Deterministic quantities are compared exactly, statistical ones seed by seed with an interval; equivalent is a "
    "positive finding: the whole interval lies within the margin. Each statistical cell has an equal share of alpha. "
    "Ratios of times are in the last section: they differ from run to run and do not decide."
)
ABSENT = "There is nothing to compare with: no baseline was found."


def section(data: dict[str, Any]) -> Section:
    """The table of cells with effects and intervals."""
    found = data["regression"]
    if found is None:
        return Section("regression", "Against the baseline", tag("p", ABSENT))
    counts = Counter(cell["verdict"] for cell in found["cells"])
    tally = tag("p", *(part for word, n in counts.most_common() for part in (badge(word, f"{n} {word}"), " ")))
    listed = comparison("Cells", found["cells"])
    seeds = "the same seeds" if found["paired"] else "different seeds"
    facts = f"On {seeds}; alpha {number(found['alpha'])} for all cells together. Baseline: {found['reason']}"
    quiet = tag("p", facts, class_="quiet")
    body = Html(tag("p", INTRODUCTION) + tally + listed + quiet + commands(*found["commands"]))
    return Section("regression", "Against the baseline", body)


HEAD = ("metric", "variant", "problem", "verdict", "baseline", "today", "effect and interval", "margin", "n", "note")


def comparison(caption: str, cells: list[dict[str, Any]]) -> Html:
    """Cells of a comparison as a table."""
    return table(caption, HEAD, [_row(cell) for cell in cells], numeric=[4, 5, 6, 7, 8], class_="compare")


def _row(cell: dict[str, Any]) -> list[Any]:
    direction = {"lower": "lower is better", "higher": "higher is better"}.get(cell["direction"], "must not change")
    metric = [tag("span", cell["metric"], title=f"{direction}; {cell['kind']}"), f" ({cell['unit']})"]
    sides = [Cell(_side(cell[name]), _key(cell[name])) for name in ("baseline", "today")]
    names = [named(cell["variant"]), named(cell["problem"])]
    effect = Cell(_effect(cell), _key(cell["effect"]))
    margin = number(cell["margin"], 3) if cell["margin"] else "exact"
    return [
        Cell(metric, cell["metric"]),
        *names,
        badge(cell["verdict"]),
        *sides,
        effect,
        margin,
        cell["n"],
        cell["note"],
    ]


def _side(value: Any) -> Any:
    """A number, or the beginning of what is longer (a policy, a hash)."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    text = "" if value is None else str(value)
    return tag("span", text[:8] + "…", title=text[:2000]) if len(text) > 12 else text


def _key(value: Any) -> Any:
    return value if isinstance(value, (int, float)) else ""


def _effect(cell: dict[str, Any]) -> str:
    if cell["effect"] is None:
        return ""
    ends = [number(cell[name], 3) if cell[name] is not None else "∞" for name in ("lower", "upper")]
    return number(cell["effect"], 3) + (f" [{', '.join(ends)}]" if cell["kind"] != "deterministic" else "")
