"""The committed counterexamples to the claims of the paper, judged again for this report."""

from collections.abc import Iterable, Sequence

from benchmarks.report.cards import Card, draw, read_case
from benchmarks.report.layout import chapter, commands
from benchmarks.report.markup import Html, inline, tag
from benchmarks.report.section import Content, Line, Section, Work
from benchmarks.report.words import badge
from properties.judging.deviation import Deviation
from robust_core.text import plural

INTRODUCTION = (
    "The smallest cases found in which a printed statement of the paper fails, judged again for this report. Each "
    "refutes the statement as it is printed, not the code. Circles are states, squares are actions with their cost c, "
    "and arrows are transitions with their probability."
)
LOST = "no longer refutes the printed statement"


def collect(work: Work) -> tuple[Card, ...]:
    """Every committed counterexample with its present judgement."""
    return tuple(committed_cards())


def committed_cards() -> Iterable[Card]:
    """A counterexample that has lost its force has the outcome *holds*."""
    from properties.claims import catalogue, evidence

    for claim in catalogue().values():
        for path, example in evidence.counterexamples(claim):
            assert claim.printed is not None
            finding = claim.printed.judge(**example.case)
            yield Card(
                f"properties/counterexamples/{path.name}",
                claim.id,
                claim.title,
                "holds" if finding is None else "violated",
                Deviation(example.finding) if finding is None else finding.deviation(),
                *read_case(example.to_json()),
            )


def render(cards: Sequence[Card]) -> Content:
    """A card for every counterexample, folded; those that no longer refute anything are in sight."""
    lost = [card for card in cards if card.outcome != "violated"]
    stand = [card for card in cards if card.outcome == "violated"]
    parts = [tag("p", INTRODUCTION)]
    if lost:
        parts.append(tag("div", *map(_card, lost), class_="cards"))
    title = [f"{plural(len(stand), 'counterexample')}: ", badge("refuted", "refute the printed statement")]
    parts.append(chapter(title, tag("div", *map(_card, stand), class_="cards")))
    parts.append(commands("robust-core replay FILE", lead="Judge one again"))
    return Content(Html("".join(parts)))


def _card(card: Card) -> Html:
    """One that still refutes is a finding about the paper; one that does not is a fault of this project."""
    stands = badge("refuted", "refutes the printed statement")
    return draw(card, inline(card.title), stands if card.outcome == "violated" else badge("missed", LOST))


def judge(cards: Sequence[Card]) -> list[Line]:
    """Whether every committed counterexample still refutes its statement."""
    name = "Counterexamples to the paper"
    lost = [card.about for card in cards if card.outcome != "violated"]
    if lost:
        return [Line("counterexamples", name, "violated", f"no longer counterexamples: {', '.join(lost)}")]
    short = f"{plural(len(cards), 'counterexample')} to printed statements confirmed"
    return [Line("counterexamples", name, "holds", short)]


SECTION = Section("counterexamples", "Counterexamples to the paper", collect, render, judge, about="paper")
