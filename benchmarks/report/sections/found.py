"""The counterexamples that the verification of this run found in variants."""

from collections.abc import Iterable, Sequence

from benchmarks.report.cards import Card, draw, read_case
from benchmarks.report.layout import chapter, commands
from benchmarks.report.markup import Html, isolate, tag
from benchmarks.report.section import Content, Section, Work
from benchmarks.report.sections import variants
from benchmarks.report.words import badge
from properties.judging.deviation import Deviation
from robust_core.text import plural

INTRODUCTION = (
    "The smallest failing case of every violated law, as a file beside this page. Violations of the negative variants, "
    "which are wrong on purpose, are folded."
)
INTENDED = "violated, as intended"


def collect(work: Work) -> tuple[Card, ...]:
    """The counterexamples of the variants of this report."""
    return tuple(find(work.result(variants.collect)))


def find(gallery: variants.Gallery) -> Iterable[Card]:
    """The counterexamples of a verification."""
    for variant in gallery.variants:
        for verdict in variant.verdicts:
            if verdict.counterexample is not None:
                yield Card(
                    f"counterexamples/{verdict.counterexample.file}",
                    verdict.law,
                    f"{variant.name}: {verdict.law}",
                    INTENDED if variant.expected == "violated" == verdict.outcome else verdict.outcome,
                    verdict.deviation or Deviation(verdict.evidence),
                    *read_case(verdict.counterexample.text),
                )


def render(cards: Sequence[Card]) -> Content:
    """The cards of variants that should hold, then the others, folded."""
    if not cards:
        return Content(tag("p", "No law is violated, so there is no counterexample."))
    wrong = [card for card in cards if card.outcome != INTENDED]
    intended = [card for card in cards if card.outcome == INTENDED]
    parts = [tag("p", INTRODUCTION)]
    if wrong:
        parts.append(tag("div", *map(_card, wrong), class_="cards"))
    if intended:
        title = [f"{plural(len(intended), 'counterexample')} to negative variants ", badge(INTENDED)]
        parts.append(chapter(title, tag("div", *map(_card, intended), class_="cards")))
    parts.append(commands("robust-core replay FILE", lead="Judge one again"))
    return Content(Html("".join(parts)))


def _card(card: Card) -> Html:
    return draw(card, isolate(card.title), badge(card.outcome))


SECTION = Section("found", "Counterexamples found", collect, render)
