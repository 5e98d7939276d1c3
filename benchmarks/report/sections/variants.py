"""Variants × laws, kind by kind."""

from typing import Any

from benchmarks.report.layout import Cell, Section, chapter, commands, table
from benchmarks.report.markup import Html, breakable, named, tag
from benchmarks.report.overall import outcome_of
from benchmarks.report.typeset import prose
from benchmarks.report.words import badge, mark, plural

INTRODUCTION = (
    "A law applies to a variant of its kind that makes the claim it tests. Exact laws come first, then the cells of "
    "the statistical ones (with a slash in their name), which share one error budget. A blocked law says nothing new "
    "while an earlier one is violated; an empty place means that the law does not apply."
)


def section(data: dict[str, Any]) -> Section:
    """A summary per variant, and for every kind a table of laws."""
    gallery = data["gallery"]
    variants = gallery["variants"]
    kinds = dict.fromkeys(variant["kind"] for variant in variants)
    parts = [tag("p", INTRODUCTION), _summary(variants)]
    parts += [_kind(kind, [v for v in variants if v["kind"] == kind], gallery["laws"]) for kind in kinds]
    again = commands(
        f"robust-core verify --examples {gallery['examples']} --seed {gallery['seed']}",
        *(f"robust-core verify {v['target']}" for v in variants if v["expected"] == "violated"),
    )
    return Section("variants", "Variants × laws", Html("".join([*parts, again])))


def _summary(variants: list[dict[str, Any]]) -> Html:
    rows = []
    for variant in variants:
        outcome = outcome_of(variant)
        shown = badge(outcome, f"{outcome}, as it must" if variant["expected"] == outcome == "violated" else None)
        wrong = [_cause(record) for record in variant["records"] if record["outcome"] in ("violated", "error")]
        holds = [record for record in variant["records"] if record["outcome"] == "holds"]
        cells = sum(record["statistics"] is not None for record in holds)
        first = [named(variant["name"]), tag("br"), tag("code", breakable(variant["target"]), class_="quiet")]
        rows.append(
            [
                Cell(first, variant["name"]),
                shown,
                variant["kind"],
                len(holds) - cells,
                cells,
                Cell(wrong, class_="causes"),
            ]
        )
    head = ["variant", "verdict", "kind", "exact laws that hold", "statistical cells that hold", "first causes"]
    return table("Variants and their verdicts", head, rows, numeric=[3, 4], class_="variants")


def _cause(record: dict[str, Any]) -> Html:
    return tag("p", tag("strong", record["law"]), ": ", record["evidence"], class_="cause")


def _kind(kind: str, variants: list[dict[str, Any]], laws: dict[str, dict[str, str]]) -> Html:
    asked = dict.fromkeys(record["law"] for variant in variants for record in variant["records"])
    by_law = [{record["law"]: record for record in variant["records"]} for variant in variants]
    rows = []
    for law in asked:
        statement = laws.get(law, {}).get("statement", "")
        name = [breakable(law), tag("div", prose(statement), class_="quiet")] if statement else breakable(law)
        rows.append([Cell(name, law), *(_place(found.get(law)) for found in by_law)])
    title = f"Kind {kind}: {plural(len(asked), 'law')}, {plural(len(variants), 'variant')}"
    head = ["law", *(named(variant["name"]) for variant in variants)]
    wrong = [outcome_of(variant) for variant in variants if outcome_of(variant) != variant["expected"]]
    state = badge("violated", "not as it must be") if wrong else badge("holds", "as it must be")
    return chapter([title, " ", state], table(title, head, rows, class_="matrix"), shown=bool(wrong))


def _place(record: dict[str, Any] | None) -> Cell:
    if record is None:
        return Cell("", "", "centre")
    title = f"{record['outcome']}: {record['evidence']}"
    return Cell(mark(record["outcome"], title), record["outcome"], "centre")
