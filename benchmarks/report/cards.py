"""Counterexamples as cards: the model as a picture, the numbers side by side, and the command that judges it again."""

from dataclasses import dataclass
from typing import Any

from benchmarks.report.diagrams import Model
from benchmarks.report.diagrams import draw as draw_model
from benchmarks.report.layout import commands, fold
from benchmarks.report.markup import Html, inline, tag
from benchmarks.report.scales import number
from benchmarks.report.words import with_entry
from properties.judging.deviation import Deviation, in_digits, in_few_digits
from robust_core.json import loads
from robust_core.mdp import MDP

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

    `values` are the arguments of the case, in words; a model that is too large to be drawn is only named there.
    """

    file: str
    about: str
    title: str
    outcome: str
    deviation: Deviation
    model: Model | None
    values: tuple[tuple[str, str], ...]


def read_case(text: str) -> tuple[Model | None, tuple[tuple[str, str], ...]]:
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
        return ", ".join(
            _words(value) if isinstance(value, list | str) else number(value) for value in content.values()
        )
    return f"({', '.join(map(_value, content))})" if kind == "list" else _words(content)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(item)}" for name, item in value.items())
    if isinstance(value, list):
        return f"({', '.join(map(_words, value))})"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value, 6)
    return str(value)


def draw(card: Card, title: Html, state: Html) -> Html:
    """The card: what it is about, its state, and the case folded behind it."""
    name = card.file.rpartition("/")[2].removesuffix(".json")
    head = tag("h3", tag("code", card.about), " ", state)
    replay = commands(f"robust-core replay {card.file}", lead="Replay")
    picture = draw_model(card.model, f"model of {card.about}") if card.model is not None else ""
    results = card.deviation.side_by_side
    table = tag("pre", results, tabindex="0") if results else ""
    case = fold(tag("span", "The case"), picture, _sides(card.deviation), table, _values(card), replay)
    return tag("article", head, tag("p", title), case, class_="card", id=f"example-{name}")


def _sides(found: Deviation) -> Html:
    """The value next to the one that the statement implies."""
    if found.got is None and found.wanted is None:
        return tag("p", with_entry(found.what))
    allowed = in_digits(found.allowed, found.got, found.wanted)
    got, wanted = in_few_digits(found.got, found.wanted, found.allowed)
    rows = (("got", got), ("expected", wanted), ("allowed error", allowed))
    entries = [(tag("dt", label), tag("dd", tag("span", value, class_="value"))) for label, value in rows]
    return Html(tag("p", inline(with_entry(found.what)), class_="what") + tag("dl", entries, class_="sides"))


def _values(card: Card) -> Html:
    entries = [(tag("dt", tag("span", name)), tag("dd", value)) for name, value in card.values]
    return tag("dl", entries, class_="case") if entries else Html("")
