"""The kill matrix: wrong algorithms × laws."""

from collections import Counter
from typing import Any

from benchmarks.report.layout import Cell, Section, chapter, commands, table
from benchmarks.report.markup import Html, named, tag
from benchmarks.report.overall import survivors
from benchmarks.report.words import badge, plural

INTRODUCTION = (
    "Every mutant is an algorithm with one slip. A number is how many problems the law needed to catch it (all mutants "
    "of a kind see the same problems); a dot means that the law did not catch it; an empty place, that it does not "
    "apply. A mutant is alive if no law catches it."
)
SHADES = ((1, "k1"), (4, "k2"), (16, "k3"))
"""Up to so many problems, so dark."""


def section(data: dict[str, Any]) -> Section:
    """What was caught, which laws are needed, and the matrix for every kind."""
    kills = data["kills"]
    records = kills["records"]
    alive = survivors(records)
    count = len({record["mutant"] for record in records})
    word = "alive" if alive else "caught"
    line = tag("p", badge(word, f"{count - len(alive)} of {count} caught"), *(f" alive: {name}" for name in alive))
    kinds = dict.fromkeys(record["kind"] for record in records)
    matrices = [_matrix(kind, [r for r in records if r["kind"] == kind]) for kind in kinds]
    again = commands(f"robust-core mutants --examples {kills['examples']} --seed {kills['seed']}")
    body = Html("".join([tag("p", INTRODUCTION), line, *matrices, _laws(records), again]))
    return Section("mutants", "Wrong algorithms × laws", body)


def _laws(records: list[dict[str, Any]]) -> Html:
    """How much each law catches, and what it alone catches."""
    caught = Counter(record["law"] for record in records if record["cases"] is not None)
    asked = Counter(record["law"] for record in records)
    by_mutant: dict[str, list[str]] = {}
    for record in records:
        if record["cases"] is not None:
            by_mutant.setdefault(record["mutant"], []).append(record["law"])
    alone = Counter(laws[0] for laws in by_mutant.values() if len(laws) == 1)
    rows = [[law, Cell(asked[law], asked[law]), Cell(caught[law], caught[law]), alone[law]] for law in asked]
    head = ["law", "mutants asked about", "caught", "caught by it alone"]
    return chapter(f"What each of {plural(len(rows), 'law')} catches", table("Laws", head, rows, numeric=[1, 2, 3]))


def _matrix(kind: str, records: list[dict[str, Any]]) -> Html:
    laws = list(dict.fromkeys(record["law"] for record in records))
    names = dict.fromkeys((record["mutant"], record["name"]) for record in records)
    entries = {(record["mutant"], record["law"]): record for record in records}
    rows, alive = [], 0
    for mutant, name in names:
        row = [entries.get((mutant, law)) for law in laws]
        dead = sum(record is not None and record["cases"] is not None for record in row)
        alive += not dead
        state = badge("caught", f"by {dead}") if dead else badge("alive")
        first = Cell(tag("span", named(name), title=mutant), name)
        rows.append([first, Cell(state, dead), *(_entry(record) for record in row)])
    head = ["mutant", "caught", *(tag("span", law, class_="upright") for law in laws)]
    title = f"Kind {kind}: {plural(len(names), 'mutant')}"
    word = badge("alive", f"{alive} alive") if alive else badge("caught", "all caught")
    return chapter([title, " ", word], table(title, head, rows, class_="kills"), shown=alive > 0)


def _entry(record: dict[str, Any] | None) -> Cell:
    if record is None:
        return Cell("", "", "centre")
    cases = record["cases"]
    if cases is None:
        return Cell(
            Html(tag("span", "·", aria_hidden="true") + tag("span", "not caught", class_="unseen")), "", "centre"
        )
    shade = next((shade for most, shade in SHADES if cases <= most), "k4")
    return Cell(cases, cases, f"centre {shade}")
