"""Counterexamples: the committed ones to the paper's claims, judged again, and those that verification found.

Each is a card: the model as a picture, the numbers side by side, and the command that judges it again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.report.diagrams import Model, draw
from benchmarks.report.layout import commands, fold
from benchmarks.report.markup import Html, inline, isolate, tag
from benchmarks.report.scales import number
from benchmarks.report.section import Content, Line, Section, Work
from benchmarks.report.sections import variants
from benchmarks.report.words import badge, plural, with_entry
from robust_core.json import loads
from robust_core.mdp import MDP

INTRODUCTION = (
    "The smallest cases found in which a printed statement of the paper fails, judged again for this report. Each "
    "refutes the statement as it is printed, not the code. Circles are states, squares actions with their cost c, "
    "arrows transitions with their probability."
)
FOUND = "Found by verification in variants that violate a law (files beside this page):"
SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ", "lam": "λ", "mu": "μ",
    "tau": "τ", "omega": "ω", "rho": "ρ", "varrho": "ϱ", "psi": "ψ", "phi": "φ",
    "radius": "R", "uncertainty_set": "set", "n_states": "S", "s_next": "s′", "c_hat": "ĉ", "step_size": "step size",
    "log2_psi_0": "log₂ ‖ψ_0‖", "log2_Q_0": "log₂ Q_0", "log_T": "log T",
}  # fmt: skip
"""Arguments of a case as a reader knows them; the others are shown by their names."""


@dataclass(frozen=True)
class Card:
    """A counterexample as it is shown.

    `values` are the arguments of the case, in words; a model that is too large to be drawn is only named there. Where
    nothing was compared, `got` is empty and `what` says it all.
    """

    file: str
    about: str
    title: str
    outcome: str
    what: str
    got: str
    wanted: str
    allowed: str
    model: Model | None
    values: tuple[tuple[str, str], ...]
    table: str = ""


@dataclass(frozen=True)
class Counterexamples:
    """The committed ones to printed statements of the paper, and those found in variants."""

    committed: tuple[Card, ...]
    found: tuple[Card, ...]


def collect(work: Work) -> Counterexamples:
    """Every committed counterexample with its present judgement, and those of the gallery."""
    return Counterexamples(tuple(committed_cards()), tuple(find(work.result(variants.collect))))


def committed_cards() -> Iterable[Card]:
    """A counterexample that has lost its force has the outcome *holds*."""
    from properties.claims import catalogue, evidence

    for claim in catalogue().values():
        for path, example in evidence.counterexamples(claim):
            assert claim.printed is not None
            finding = claim.printed.judge(**example.case)
            compared = ("", "", "")
            if finding is not None:
                compared = (_text(finding.got), _text(finding.wanted), f"{finding.allowed:.3g}")
            yield Card(
                f"properties/counterexamples/{path.name}",
                claim.id,
                claim.title,
                "holds" if finding is None else "violated",
                example.finding if finding is None else finding.what,
                *compared,
                *_case(example.to_json()),
            )


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def find(gallery: variants.Gallery) -> Iterable[Card]:
    """The counterexamples of a verification."""
    for variant in gallery.variants:
        for verdict in variant.verdicts:
            if verdict.counterexample is not None:
                what, _, numbers = verdict.evidence.partition(": got ")
                got, _, rest = numbers.partition(", wanted ")
                wanted, _, allowed = rest.rpartition(" within ")
                yield Card(
                    f"counterexamples/{verdict.counterexample.file}",
                    verdict.law,
                    f"{variant.name}: {verdict.law}",
                    verdict.outcome,
                    what,
                    got.strip("'"),
                    wanted.strip("'"),
                    allowed,
                    *_case(verdict.counterexample.text),
                    table=verdict.table or "",
                )


def _case(text: str) -> tuple[Model | None, tuple[tuple[str, str], ...]]:
    """The model of a counterexample in JSON, and the arguments of its case in words."""
    case = loads(text, infinite=True)["case"]
    model, values = None, []
    if "mdp" in case:
        mdp = MDP.from_dict(case.pop("mdp")["mdp"])
        model = Model.of(mdp)
        values = [("gamma", number(mdp.gamma, 6))] if model is not None else [("mdp", repr(mdp))]
    values += [(name, _value(encoded)) for name, encoded in case.items()]
    return model, tuple((SYMBOLS.get(name, name), value) for name, value in values if value not in ("()", ""))


def _value(encoded: dict[str, Any]) -> str:
    """A tagged value in words."""
    ((kind, content),) = encoded.items()
    if kind == "set":
        return ", ".join(value if isinstance(value, str) else number(value) for value in content.values())
    return f"({', '.join(map(_value, content))})" if kind == "list" else _words(content)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(item)}" for name, item in value.items())
    if isinstance(value, list):
        return f"({', '.join(map(_words, value))})"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value, 6)
    return str(value)


def render(record: Counterexamples) -> Content:
    """A card for every counterexample."""
    parts = [tag("p", INTRODUCTION), tag("div", *map(_committed_card, record.committed), class_="cards")]
    if record.found:
        parts += [tag("p", FOUND), tag("div", *map(_found_card, record.found), class_="cards")]
    parts.append(commands("robust-core replay FILE", lead="Judge one again"))
    return Content(Html("".join(parts)))


def _committed_card(card: Card) -> Html:
    """A committed counterexample that still refutes is a finding about the paper; one that does not is a fault."""
    stands = badge("refuted", "refutes the printed statement")
    return _card(card, inline(card.title), stands if card.outcome == "violated" else badge("missed", LOST))


LOST = "no longer refutes the printed statement"


def _found_card(card: Card) -> Html:
    return _card(card, isolate(card.title), badge(card.outcome))


def _card(card: Card, title: Html, state: Html) -> Html:
    name = card.file.rpartition("/")[2].removesuffix(".json")
    head = tag("h3", tag("code", card.about), " ", state)
    replay = commands(f"robust-core replay {card.file}", lead="Replay")
    picture = draw(card.model, f"model of {card.about}") if card.model is not None else ""
    table = tag("pre", card.table, tabindex="0") if card.table else ""
    # The script opens it where there is room.
    case = fold("The case", picture, _sides(card), table, _values(card), replay, class_="roomy")
    return tag("article", head, tag("p", title), case, class_="card", id=f"example-{name}")


def _sides(card: Card) -> Html:
    """The value next to the one that the statement implies."""
    if not card.got:
        return tag("p", with_entry(card.what))
    rows = (("got", card.got), ("expected", card.wanted), ("allowed error", card.allowed))
    entries = [(tag("dt", label), tag("dd", tag("span", value, class_="value"))) for label, value in rows]
    return Html(tag("p", inline(with_entry(card.what)), class_="what") + tag("dl", entries, class_="sides"))


def _values(card: Card) -> Html:
    entries = [(tag("dt", tag("span", name)), tag("dd", value)) for name, value in card.values]
    return tag("dl", entries, class_="case") if entries else Html("")


def judge(record: Counterexamples) -> list[Line]:
    """Whether every committed counterexample still refutes its statement."""
    name = "Counterexamples to the paper"
    lost = [card.about for card in record.committed if card.outcome != "violated"]
    if lost:
        return [Line("counterexamples", name, "violated", f"no longer counterexamples: {', '.join(lost)}")]
    short = f"{plural(len(record.committed), 'counterexample')} to printed statements confirmed"
    return [Line("counterexamples", name, "holds", short)]


SECTION = Section("counterexamples", "Counterexamples", collect, render, judge)
