"""Variants × laws: the verification of the gallery and of variants that the user names, kind by kind."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report import code
from benchmarks.report.layout import Cell, chapter, commands, fold, table
from benchmarks.report.markup import Html, breakable, inline, isolate, slug, tag
from benchmarks.report.section import Content, Line, Section, Show, Work, worst
from benchmarks.report.words import badge, mark
from benchmarks.runner.units import Unit
from properties.judging.counterexample import Counterexample, to_file
from properties.judging.deviation import Deviation
from properties.judging.verdict import Record
from properties.process.session import Description
from properties.statistics.law import Size
from robust_core.json import from_data, to_data
from robust_core.problem import Variant
from robust_core.text import plural

EXAMPLES, QUICK_EXAMPLES, SEED = 200, 25, 0
SIZE: Size = "quick"
"""Of the statistical laws."""
GALLERY = "properties.variants.gallery."
NEGATIVE = f"{GALLERY}negative."
"""Variants that must be violated: they show that the laws can fail."""
INTRODUCTION = (
    "A law applies to a variant of its kind that makes the promise it tests. Exact laws come first, then the cells of "
    "the statistical laws, which share one error budget. A blocked law waits for an earlier one that is violated; a "
    "blank means that the law does not apply."
)


@dataclass(frozen=True)
class CellNumbers:
    """How many samples a cell of a statistical law took, and its share of alpha."""

    n: int
    alpha: float


@dataclass(frozen=True)
class Example:
    """A counterexample: the name and the text of its file."""

    file: str
    text: str


@dataclass(frozen=True)
class LawVerdict:
    """The verdict of one law on a variant, without its time."""

    law: str
    outcome: str
    evidence: str
    statistics: CellNumbers | None = None
    deviation: Deviation | None = None
    counterexample: Example | None = None


@dataclass(frozen=True)
class VariantResult:
    """A variant with the verdicts of its laws, and the outcome that it should have."""

    target: str
    name: str
    kind: str
    expected: str
    verdicts: tuple[LawVerdict, ...]

    @property
    def outcome(self) -> str:
        """The worst outcome of its laws; blocked laws follow their cause."""
        return worst({verdict.outcome for verdict in self.verdicts})


@dataclass(frozen=True)
class Gallery:
    """The variants, the size of the search, and the statements of the exact laws by name."""

    examples: int
    seed: int
    laws: dict[str, str]
    variants: tuple[VariantResult, ...]


def collect(work: Work) -> Gallery:
    """The user's variants, then the gallery."""
    from properties.laws.catalogue import LAWS

    examples = QUICK_EXAMPLES if work.quick else EXAMPLES
    variants = verify_apart(work.targets, examples=examples, show=work.show)
    variants += [from_data(VariantResult, data) for data in work.compute(units(examples))]
    return Gallery(examples, SEED, {law.name: law.statement for law in LAWS}, tuple(variants))


def units(examples: int) -> list[Unit]:
    """The work of this section: one unit per variant of the gallery."""
    from benchmarks.documents.gallery import variants
    from properties.statistics.suite import weight

    known = variants()
    common = {"examples": examples, "seed": SEED, "weight": weight(known.values(), SIZE)}
    return [
        Unit(f"{__name__}:verify_here", {"target": target, **common, "code": code.of(target.partition(":")[0])})
        for target in known
    ]


def verify_here(target: str, examples: int, seed: int, weight: float, code: str) -> Any:
    """The data of one variant of the gallery: exact laws, then the cells of the statistical ones.

    `weight` is that of all cells of the gallery, which share one error budget; `code` is part of what the result is
    kept under.
    """
    from properties.judging.verification import on_untested, verify
    from properties.process.loading import load
    from properties.statistics.suite import allot_cells

    (variant,) = load(target).values()
    cells = allot_cells(variant, SIZE, total=weight)
    records = verify(variant, name=target, examples=examples, seed=seed, cells=cells, sampled=True)
    return to_data(_result(target, variant, [*on_untested(variant, seed=seed), *records]))


def verify_apart(targets: Sequence[str], *, examples: int, show: Show = lambda line: None) -> list[VariantResult]:
    """The user's variants, judged in workers; never kept, for their code can be anything."""
    from properties.process.session import Effort, Judged, LawBegun, Session, VariantEnded

    found, records = list[VariantResult](), list[Record]()
    with Session(targets, size=SIZE, waiting=lambda place: show(f"loading {place}")) as session:
        for event in session.verify(Effort(examples, SEED)):
            if isinstance(event, LawBegun):
                show(f"{event.variant.name}: {event.law}")
            elif isinstance(event, Judged):
                records.append(event.record)
            elif isinstance(event, VariantEnded):
                found.append(_result(event.variant.target, event.variant, records))
                records = []
    return found


def _result(target: str, variant: Variant | Description, records: Iterable[Record]) -> VariantResult:
    expected = "violated" if target.startswith(NEGATIVE) else "holds"
    verdicts = tuple(_law_verdict(record) for record in records)
    return VariantResult(target, variant.name, variant.kind, expected, verdicts)


def _law_verdict(record: Record) -> LawVerdict:
    """The verdict in a record; an untested promise is undecided."""
    numbers, example = record.statistics, record.counterexample
    if isinstance(example, Counterexample):
        example = example.to_data()
    return LawVerdict(
        law=record.law,
        outcome="undecided" if record.outcome == "untested" else record.outcome,
        evidence=record.evidence,
        statistics=CellNumbers(numbers.n, numbers.alpha) if numbers else None,
        deviation=record.deviation,
        counterexample=None if example is None else Example(*to_file(example)),
    )


def render(gallery: Gallery) -> Content:
    """The variants that somebody must look at, then the others, and for every kind a table of laws."""
    variants = gallery.variants
    mine = [variant for variant in variants if _is_urgent(variant)]
    others = [variant for variant in variants if not _is_urgent(variant)]
    parts = [tag("p", INTRODUCTION), _tally(variants)]
    if mine:
        parts.append(_summary("Your variants, and those that are not as intended", mine, "variants"))
    if others:
        title = f"{plural(len(others), 'variant')} of the gallery"
        parts.append(chapter([title, " ", _state(others)], _summary(title, others, "gallery")))
    kinds = dict.fromkeys(variant.kind for variant in variants)
    tables = [_kind(kind, [v for v in variants if v.kind == kind], gallery.laws) for kind in kinds]
    wrong = any(variant.outcome != variant.expected for variant in variants)
    parts.append(chapter(["Laws of ", plural(len(kinds), "kind"), " ", _state(variants)], *tables, shown=wrong))
    again = commands(f"robust-core verify --examples {gallery.examples} --seed {gallery.seed}")
    negative = [f"robust-core verify {variant.target}" for variant in variants if variant.expected == "violated"]
    rest = fold("Commands for the negative variants", commands(*negative)) if negative else ""
    return Content(Html("".join([*parts, again, rest])))


def _is_urgent(variant: VariantResult) -> bool:
    """Whether it is the user's own, or is not as it should be."""
    return not variant.target.startswith(GALLERY) or variant.outcome != variant.expected


def _tally(variants: Sequence[VariantResult]) -> Html:
    counts = Counter(_outcome(variant) for variant in variants)
    return tag("p", *(part for word, count in counts.items() for part in (badge(word, f"{count} {word}"), " ")))


def _outcome(variant: VariantResult) -> str:
    """The outcome in a word that says whether it is intended."""
    intended = variant.expected == variant.outcome == "violated"
    return f"{variant.outcome}, as intended" if intended else variant.outcome


def _state(variants: Iterable[VariantResult]) -> Html:
    wrong = any(variant.outcome != variant.expected for variant in variants)
    return badge("violated", "not as intended") if wrong else badge("holds", "as intended")


def _summary(caption: str, variants: Iterable[VariantResult], table_name: str) -> Html:
    rows = []
    for variant in variants:
        wrong = [_cause(verdict) for verdict in variant.verdicts if verdict.outcome in ("violated", "error")]
        holds = [verdict for verdict in variant.verdicts if verdict.outcome == "holds"]
        cells = sum(verdict.statistics is not None for verdict in holds)
        name = [isolate(variant.name), tag("br"), tag("code", breakable(variant.target), class_="quiet")]
        counts = [len(holds) - cells, cells]
        shown = badge(_outcome(variant))
        rows.append([Cell(name, variant.name), shown, variant.kind, *counts, Cell(wrong, class_="causes")])
    head = ["variant", "verdict", "kind", "exact laws that hold", "statistical cells that hold", "first causes"]
    return table(caption, head, rows, numeric=[3, 4], class_="variants", name=table_name)


def _cause(verdict: LawVerdict) -> Html:
    return tag("p", tag("strong", verdict.law), ": ", verdict.evidence, class_="cause")


def _kind(kind: str, variants: list[VariantResult], laws: dict[str, str]) -> Html:
    by_law = [{verdict.law: verdict for verdict in variant.verdicts} for variant in variants]
    asked = dict.fromkeys(law for verdicts in by_law for law in verdicts)
    rows = []
    for law in asked:
        statement = laws.get(law, "")
        name = [breakable(law), tag("div", inline(statement), class_="quiet")] if statement else breakable(law)
        marks = [_place(verdicts.get(law), variant) for verdicts, variant in zip(by_law, variants, strict=True)]
        rows.append([Cell(name, law), *marks])
    title = f"Kind {kind}: {plural(len(asked), 'law')}, {plural(len(variants), 'variant')}"
    head = ["law", *(isolate(variant.name) for variant in variants)]
    wrong = any(variant.outcome != variant.expected for variant in variants)
    listed = table(title, head, rows, class_="matrix", name=f"laws-{slug(kind)}")
    return chapter([title, " ", _state(variants)], listed, shown=wrong)


def _place(verdict: LawVerdict | None, variant: VariantResult) -> Cell:
    if verdict is None:
        return Cell("", "", "centre")
    intended = verdict.outcome == "violated" == variant.expected
    word = "violated, as intended" if intended else verdict.outcome
    return Cell(mark(word, f"{verdict.outcome}: {verdict.evidence}"), verdict.outcome, "centre")


def judge(gallery: Gallery) -> list[Line]:
    """Whether every variant has the outcome that it should have."""
    wrong = [variant for variant in gallery.variants if variant.outcome != variant.expected]
    if wrong:
        outcome = worst({one.outcome if one.expected == "holds" else "violated" for one in wrong})
        return [Line("variants", "Variants against laws", outcome, ", ".join(map(_surprise, wrong)))]
    negative = sum(variant.expected == "violated" for variant in gallery.variants)
    positive = len(gallery.variants) - negative
    brief = f"{plural(positive, 'variant')} {'keeps its' if positive == 1 else 'keep their'} promises"
    short = f"{brief}; {plural(negative, 'negative variant')} violated, as intended" if negative else brief
    return [Line("variants", "Variants against laws", "holds", short, brief)]


def _surprise(variant: VariantResult) -> str:
    if variant.expected == "violated":
        return f"{variant.name} should be caught and is not"
    laws = [verdict.law for verdict in variant.verdicts if verdict.outcome == variant.outcome]
    return f"{variant.name}: {', '.join(laws)} {variant.outcome}"


SECTION = Section("variants", "Variants × laws", collect, render, judge)
