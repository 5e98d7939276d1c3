"""Counterexamples drawn: the model as a picture, the numbers side by side, and the command that judges them again."""

from typing import Any

from benchmarks.report import diagrams
from benchmarks.report.layout import Section, commands, fold
from benchmarks.report.markup import Html, named, tag
from benchmarks.report.scales import number
from benchmarks.report.typeset import formula, prose
from benchmarks.report.words import badge, with_entry

INTRODUCTION = (
    "The smallest cases found in which a printed statement of the paper fails, judged again for this report. Each "
    "refutes the statement as it is printed, not the code: as long as it does, all is as it should be. Circles are "
    "states, squares actions with their cost c, arrows transitions with their probability."
)
FOUND = "What verification found in variants that do not obey a law (files beside this page):"
SYMBOLS = {"radius": "R", "uncertainty_set": "set", "n_states": "S", "lam": "λ", "s_next": "s'", "c_hat": "ĉ",
           "log2_psi_0": "log_2 ‖psi_0‖", "log2_Q_0": "log_2 Q_0", "log_T": "log T",
           "step_size": "step size"}  # fmt: skip
WORDS = frozenset({"path", "period", "phase", "policy", "features", "visits", "pair", "speed", "scale", "other", "set",
                   "initial", "step size"})  # fmt: skip


def section(data: dict[str, Any]) -> Section:
    """A card for every counterexample."""
    examples = data["counterexamples"]
    parts = [tag("p", INTRODUCTION), _cards(examples["committed"])]
    if examples["found"]:
        parts += [tag("p", FOUND), _cards(examples["found"])]
    parts.append(commands("robust-core replay FILE", lead="Judge one again"))
    return Section("counterexamples", "Counterexamples", Html("".join(parts)))


def _cards(examples: list[dict[str, Any]]) -> Html:
    return tag("div", *(_card(example) for example in examples), class_="cards")


def _card(example: dict[str, Any]) -> Html:
    name = example["file"].rpartition("/")[2].removesuffix(".json")
    case = dict(example["case"])
    model = _model(case.pop("mdp", None))
    head = tag("h3", tag("code", example["about"]), " ", _badge(example))
    title = tag("p", prose(example["title"]) if "statement" in example["against"] else named(example["title"]))
    picture = _picture(model, example["about"]) if model is not None else Html("")
    parts = [picture, _sides(example), _table(example), _values(model, case), _replay(example)]
    # The script opens it where there is room.
    case_of_it = fold("The case", *parts, class_="roomy")
    return tag("article", head, title, case_of_it, class_="card", id=f"example-{name}")


def _badge(example: dict[str, Any]) -> Html:
    """A committed counterexample that stands is a finding about the paper; one that does not is a fault."""
    if "statement" not in example["against"]:
        return badge(example["outcome"])
    stands = example["outcome"] == "violated"
    return badge("refuted", "refutes the printed statement") if stands else badge("missed", "refutes nothing any more")


def _model(encoded: dict[str, Any] | None) -> dict[str, Any] | None:
    """The kernel as nested lists, whether it was stored dense or sparse."""
    if encoded is None:
        return None
    model = encoded["mdp"]
    if "P" in model:
        return dict(model)
    states, actions = len(model["cost"]), len(model["cost"][0])
    P = [[[0.0] * states for _ in range(actions)] for _ in range(states)]
    for row in range(states * actions):
        for i in range(model["offsets"][row], model["offsets"][row + 1]):
            P[row // actions][row % actions][model["successors"][i]] = model["probabilities"][i]
    return {**model, "P": P}


def _picture(model: dict[str, Any], about: str) -> Html:
    if not diagrams.drawable(model):
        return tag("p", "The model is too large to be drawn.", class_="quiet")
    return diagrams.drawn(model, f"model of {about}")


def _sides(example: dict[str, Any]) -> Html:
    """What came out next to what the statement promises."""
    if not example["got"]:
        return tag("p", with_entry(example["what"]))
    rows = [
        ("came out", tag("span", example["got"], class_="value")),
        ("promised", tag("span", example["wanted"], class_="value")),
        ("error allowed", tag("span", example["allowed"], class_="value")),
    ]
    return Html(
        tag("p", prose(with_entry(example["what"])), class_="what")
        + tag("dl", [(tag("dt", a), tag("dd", b)) for a, b in rows], class_="sides")
    )


def _table(example: dict[str, Any]) -> Html:
    """The variant's and the oracle's results side by side."""
    return tag("pre", example["table"], tabindex="0") if example["table"] else Html("")


def _values(model: dict[str, Any] | None, case: dict[str, Any]) -> Html:
    entries = [("gamma", model["gamma"])] if model is not None else []
    entries += [(name, _value(encoded)) for name, encoded in case.items()]
    shown = [(tag("dt", _symbol(name)), tag("dd", _shown(value))) for name, value in entries if value not in ([], "")]
    return tag("dl", shown, class_="case") if shown else Html("")


def _symbol(name: str) -> Html:
    shown = SYMBOLS.get(name, name)
    return tag("span", shown) if shown in WORDS else formula(shown)


def _value(encoded: dict[str, Any]) -> Any:
    """The content of a tagged value; a set as its kind and radius."""
    (kind, content), *_ = encoded.items()
    if kind == "set":
        return ", ".join(str(value) if isinstance(value, str) else number(value) for value in content.values())
    return [_value(item) for item in content] if kind == "list" else content


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(item)}" for name, item in value.items())
    if isinstance(value, list):
        return f"({', '.join(_shown(item) for item in value)})"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value, 6)
    return str(value)


def _replay(example: dict[str, Any]) -> Html:
    return commands(f"robust-core replay {example['file']}", lead="Replay")
