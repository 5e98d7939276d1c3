"""The fifteen panels with their readings, from the committed results."""

from typing import Any

CURVE_LABELS = {"robust": "robust", "vanilla": "vanilla", "shorter horizon": "vanilla at γ(1−R)", "rarl": "RARL"}
"""In the order in which they are drawn: a learner has the same colour in all panels."""


def collected() -> dict[str, Any]:
    """Panels in the order of the paper, each with its curves, claims, and outcome under every reading."""
    from benchmarks.experiments.panels import PANELS
    from benchmarks.experiments.readings import READINGS
    from benchmarks.experiments.results import load
    from benchmarks.experiments.tables import flips

    records, trends = load()
    panels = []
    for name, panel in PANELS.items():
        mine = [record for record in records if record["panel"] == name]
        default = next((record for record in mine if record["reading"] == "default"), None)
        if default is not None:
            panels.append({**_shown(default), "figure": panel.figure, "gamma": panel.gamma, "alpha": panel.alpha,
                           "beta": panel.beta, "readings": [_reading(record) for record in mine]})  # fmt: skip
    figures = dict.fromkeys(panel["figure"] for panel in panels)
    return {
        "panels": panels,
        "trends": trends,
        "decided by": {figure: flips(records, figure) for figure in figures},
        "readings": [{"name": name, "what": reading.what} for name, reading in READINGS.items()],
    }


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    names = ("panel", "source", "p", "R", "outcome", "steps", "claims", "times", "values")
    shown = {name: record[name] for name in names}
    order = list(CURVE_LABELS)
    curves = sorted(record["curves"].items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))
    shown["curves"] = [{"name": CURVE_LABELS.get(name, name), **curve} for name, curve in curves]
    return shown


def _reading(record: dict[str, Any]) -> dict[str, Any]:
    claim = record["claims"][0]
    return {
        "reading": record["reading"],
        "outcome": record["outcome"],
        "effect": claim["effect"],
        "interval": claim["interval"],
        "runs": claim["runs"],
    }
