"""`robust-core panels`: the fifteen panels of Section 6 and Appendix E."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.cli.conventions import (
    HOLDS,
    KEPT,
    add_budget,
    add_cluster,
    add_json,
    add_quiet,
    add_store,
    add_workers,
    complete_with,
    progress,
    termination_raised,
)

if TYPE_CHECKING:
    from benchmarks.experiments.interpretations import Interpretation
    from benchmarks.experiments.panels import Panel

# Spelled out so that completion need not import the panels; a test compares them.
PANELS = tuple(f"{figure}-{part}" for figure in ("frozenlake", "cartpole", "tdc", "rarl", "taxi") for part in "abc")
REPRODUCED, PENDING = "reproduced", "pending"


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command and its options."""
    panels = commands.add_parser(
        "panels",
        help="reproduce the paper's experiments: one outcome for each of the fifteen panels",
        description="Runs the panels of Section 6 and Appendix E with their controls. Nothing is read from the "
        "committed results, so the output shows whether they can be had again; what this code has computed before is "
        "taken from the store.",
        epilog="example: robust-core panels --panel frozenlake-c --interpretation continuing",
    )
    add_json(panels)
    add_quiet(panels, "only panels that are not reproduced")
    panel = panels.add_argument("--panel", metavar="ID", help="one panel, e.g. taxi-b (default: all fifteen)")
    complete_with(panel, lambda: PANELS)
    interpretation = panels.add_argument(
        "--interpretation", metavar="NAME", default="default", help="a named interpretation, or 'all'"
    )
    complete_with(interpretation, _interpretations)
    add_workers(panels)
    add_cluster(panels)
    add_budget(panels)
    add_store(panels, Path(".robust-core") / "experiments.jsonl")
    panels.set_defaults(run=_panels, resume=KEPT)


def _panels(options: argparse.Namespace) -> int:
    cells = _cells(options.panel, options.interpretation)

    from benchmarks.experiments.work import computed
    from benchmarks.runner.units import opened

    with opened(options.store) as store, termination_raised():
        try:
            made = computed(
                cells,
                store=store,
                workers=options.workers,
                cluster=options.cluster,
                budget_seconds=options.budget,
                show=progress,
            )
        finally:
            progress("")
    for panel, interpretation in cells:
        pending = {
            "panel": panel.id,
            "interpretation": interpretation.name,
            "p": panel.p,
            "R": panel.radius,
            "outcome": PENDING,
        }
        record = made.get((panel.id, interpretation.name), pending)
        record.pop("scores", None)
        if not options.quiet or record["outcome"] != REPRODUCED:
            print(json.dumps(record, allow_nan=False) if options.json else _line(record), flush=True)
    return HOLDS


def _interpretations() -> list[str]:
    from benchmarks.experiments.interpretations import INTERPRETATIONS

    return ["all", *INTERPRETATIONS]


def _cells(panel: str | None, interpretation: str) -> list[tuple["Panel", "Interpretation"]]:
    """The cells asked for, checked before any of them is run."""
    from benchmarks.experiments.interpretations import INTERPRETATIONS, of_figure
    from benchmarks.experiments.panels import PANELS

    if panel is not None and panel not in PANELS:
        raise ValueError(f"no panel {panel!r}: choose one of {', '.join(PANELS)}")
    if interpretation != "all" and interpretation not in INTERPRETATIONS:
        raise ValueError(f"no interpretation {interpretation!r}: choose 'all' or one of {', '.join(INTERPRETATIONS)}")
    cells = [
        (candidate, choice)
        for candidate in (PANELS.values() if panel is None else [PANELS[panel]])
        for choice in of_figure(candidate.figure)
        if interpretation in ("all", choice.name)
    ]
    if not cells:
        raise ValueError(f"interpretation {interpretation!r} is not for panel {panel!r}: it changes nothing there")
    return cells


def _line(made: dict[str, Any]) -> str:
    sizes = f"p={made['p']:<5} R={made['R']:<4}"
    line = f"{made['panel']:<14}{sizes} {made['interpretation']:<19}{made['outcome']:<15}"
    if made["outcome"] == PENDING:
        return f"{line} the budget was over; the same command goes on"
    claim = made["claims"][0]
    low, high = claim["interval"]
    return f"{line} {claim['effect']:+.4g} [{low:+.4g}, {high:+.4g}] over {claim['runs']} runs"
