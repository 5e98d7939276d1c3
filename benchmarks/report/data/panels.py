"""The fifteen panels with their interpretations, from the committed results; missing fields are left out."""

import re
from typing import Any

from benchmarks.report.data import code

CURVE_LABELS = {"robust": "robust", "vanilla": "vanilla", "shorter horizon": "vanilla at γ(1−R)", "rarl": "RARL"}
"""In the order in which they are drawn: a learner has the same colour in all panels."""
ENTRY = "benchmarks.experiments.panels"
"""The module whose sources, at any depth, make a record."""
FIXED = ("optimum", "never falling", "best constant action", "uniform policy")
"""What needs no learning, in the order in which it is shown."""
LIMITS = "where it converges, α → 0"
ABOUT = {"FrozenLake": "frozenlake", "CartPole": "cartpole", "TDC": "tdc", "RARL": "rarl", "Taxi": "taxi"}
"""The first word of an explanation, and the figure that it is about."""


_ELSEWHERE = re.compile(r" \((?:last column|columns?|table)\b[^)]*\)")
"""References to the tables of docs/experiments.md, which are others here."""


def collected() -> dict[str, Any]:
    """Panels in the order of the paper, each with its curves, claims, controls, and all its outcomes."""
    from benchmarks.documents import experiments_text
    from benchmarks.documents.experiments import flips
    from benchmarks.experiments.interpretations import INTERPRETATIONS
    from benchmarks.experiments.panels import PANELS
    from benchmarks.experiments.results import load, load_all

    records, trends = load()
    made_by = load_all()["made by"]
    panels = []
    for name, panel in PANELS.items():
        mine = [record for record in records if record["panel"] == name]
        default = next((record for record in mine if record["interpretation"] == "default"), None)
        if default is not None:
            panels.append({**_shown(default), "figure": panel.figure, "gamma": panel.gamma, "alpha": panel.alpha,
                           "beta": panel.beta,
                           "interpretations": [_interpretation(record) for record in mine]})  # fmt: skip
    figures = dict.fromkeys(panel["figure"] for panel in panels)
    return {
        "panels": panels,
        "trends": trends,
        "decided by": {figure: flips(records, figure) for figure in figures},
        "interpretations": [
            {"name": name, "what": interpretation.what} for name, interpretation in INTERPRETATIONS.items()
        ],
        "why": explanations(getattr(experiments_text, "WHY", "")),
        "code": code.compared(str(made_by.get("code", "")), ENTRY, made_by.get("libraries")),
    }


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    names = ("panel", "source", "p", "R", "outcome", "steps", "claims", "times", "values")
    shown = {name: record[name] for name in names}
    order = list(CURVE_LABELS)
    curves = sorted(record["curves"].items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))
    shown["curves"] = [{"name": CURVE_LABELS.get(name, name), **curve} for name, curve in curves]
    shown["controls"] = controls(record)
    shown["same as"] = coincidences(shown["curves"])
    return shown


def controls(record: dict[str, Any]) -> list[list[Any]]:
    """What the learners reached and what needs no learning: [who, exact value, Monte Carlo or None, remark]."""
    values, sampled, limits = record["values"], record.get("monte carlo", {}), record.get("limits", {})
    diverged, runs = record.get("diverged", {}), record["claims"][0]["runs"]
    rows: list[list[Any]] = []
    for name, label in CURVE_LABELS.items():
        if name in values:
            remark = f"{diverged[name]} of {runs} runs diverged" if name in diverged else ""
            if name == "shorter horizon" and "runs equal to shorter horizon" in record:
                remark = f"as robust in {record['runs equal to shorter horizon']} of {runs} runs"
            rows.append([label, values[name], _sampled(sampled, name), remark])
    rows += [[name, values[name], None, ""] for name in FIXED if name in values]
    for name, ends in limits.items():
        rows.append([f"{CURVE_LABELS.get(name, name)}, {LIMITS}", ends[0], None, _other_end(ends)])
    return rows


def _sampled(found: dict[str, float], name: str) -> dict[str, float] | None:
    """The last policies of thirty runs in the paper's way, by trajectories, next to their exact value."""
    fields = {"sampled": name, "exact": f"{name} exact", "errors": f"{name} standardised error"}
    return {key: found[field] for key, field in fields.items()} if set(fields.values()) <= found.keys() else None


def _other_end(ends: list[float]) -> str:
    return "" if ends[0] == ends[-1] else f"or {ends[-1]:.4g}, by the choice among equal actions"


def coincidences(curves: list[dict[str, Any]]) -> list[list[str]]:
    """Pairs of names whose curves lie on each other at every time."""
    return [
        [later["name"], earlier["name"]]
        for place, later in enumerate(curves)
        for earlier in curves[:place]
        if all(later[part] == earlier[part] for part in ("mean", "low", "high"))
    ]


def explanations(text: str) -> list[dict[str, str]]:
    """The paragraphs of an explanation, each with its title and the figure that it is about ("" for all).

    >>> explanations("**TDC: it grows.** Because\\nof steps.")
    [{'figure': 'tdc', 'title': 'TDC: it grows.', 'text': 'Because of steps.'}]
    """
    found = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        line = _ELSEWHERE.sub("", " ".join(paragraph.split()))
        title, _, rest = line.removeprefix("**").partition("**") if line.startswith("**") else ("", "", line)
        if line:
            first = re.split(r"\W", title, maxsplit=1)[0]
            found.append({"figure": ABOUT.get(first, ""), "title": title.strip(), "text": rest.strip()})
    return found


def _interpretation(record: dict[str, Any]) -> dict[str, Any]:
    claim = record["claims"][0]
    return {
        "interpretation": record["interpretation"],
        "outcome": record["outcome"],
        "by median": claim.get("outcome by median", ""),
        "effect": claim["effect"],
        "interval": claim["interval"],
        "runs": claim["runs"],
    }
