"""Today against the baseline, cell by cell."""

from collections import Counter
from typing import Any

from benchmarks.report import effects
from benchmarks.report.layout import Cell, Section, chapter, commands, table
from benchmarks.report.markup import Html, named, tag
from benchmarks.report.scales import number
from benchmarks.report.words import badge

INTRODUCTION = (
    "Deterministic quantities are compared exactly, statistical ones seed by seed with an interval; equivalent is a "
    "positive finding: the whole interval lies within the margin. Each statistical cell has an equal share of alpha. "
    "What is worse or changed comes first. Baseline and today are medians over the seeds; effects and margins with % "
    "are shares of the baseline, the others differences in the unit that is named. Ratios of times are in the last "
    "section: they differ from run to run and do not decide."
)
ABSENT = "There is nothing to compare with: no baseline was found."


def section(data: dict[str, Any]) -> Section:
    """The table of cells with effects and intervals."""
    found = data["regression"]
    if found is None:
        return Section("regression", "Against the baseline", tag("p", ABSENT))
    counts = Counter(cell["verdict"] for cell in found["cells"])
    tally = tag(
        "p", *(part for word in sorted(counts, key=effects.urgency) for part in (_count(word, counts[word]), " "))
    )
    listed = comparison("Cells", found["cells"])
    seeds = "the same seeds" if found["paired"] else "different seeds"
    facts = f"On {seeds}; alpha {number(found['alpha'])} for all cells together. Baseline: {found['reason']}"
    quiet = tag("p", facts, class_="quiet")
    body = Html(tag("p", INTRODUCTION) + tally + listed + quiet + commands(*found["commands"]))
    return Section("regression", "Against the baseline", body)


def _count(word: str, n: int) -> Html:
    return badge(word, f"{n} {word}")


HEAD = (
    "metric", "verdict", "variant", "problem", "effect and interval", "margin", "direction", "baseline", "today", "n",
    "note",
)  # fmt: skip


def comparison(caption: str, cells: list[dict[str, Any]]) -> Html:
    """Cells of a comparison as tables: what somebody must look at, the most urgent first; the rest folded away."""
    ordered = sorted(cells, key=lambda cell: effects.urgency(cell["verdict"]))
    quiet = [cell for cell in ordered if cell["verdict"] == "equivalent"]
    parts = []
    if len(quiet) < len(ordered):
        parts.append(_table(caption, [cell for cell in ordered if cell["verdict"] != "equivalent"]))
    if quiet:
        title = f"{caption}: {len(quiet)} equivalent"
        parts.append(chapter([f"{caption}: ", _count("equivalent", len(quiet))], _table(title, quiet)))
    return Html("".join(parts))


def _table(caption: str, cells: list[dict[str, Any]]) -> Html:
    return table(caption, HEAD, [_row(cell) for cell in cells], numeric=[4, 5, 7, 8, 9], class_="compare")


def _row(cell: dict[str, Any]) -> list[Any]:
    return [
        Cell([cell["metric"], tag("span", f" ({cell['unit']})", class_="quiet")], cell["metric"]),
        Cell(badge(cell["verdict"]), effects.urgency(cell["verdict"])),
        named(cell["variant"]),
        named(cell["problem"]),
        Cell(effects.effect(cell), _key(cell["effect"]), "num effect"),
        Cell(effects.margin(cell), _key(cell["margin"])),
        effects.direction(cell),
        *(Cell(_side(cell[name]), _key(cell[name])) for name in ("baseline", "today")),
        cell["n"],
        Cell(cell["note"], class_="remark"),
    ]


def _side(value: Any) -> Any:
    """A number, or the beginning of what is longer (a policy, a hash)."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    text = "" if value is None else str(value)
    return tag("span", text[:8] + "…", title=text[:2000]) if len(text) > 12 else text


def _key(value: Any) -> Any:
    return value if isinstance(value, (int, float)) else ""
