"""`robust-core panels`: the fifteen panels of Section 6 and Appendix E."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import (
    HOLDS,
    Commands,
    add_json,
    add_quiet,
    add_running,
    complete_with,
    open_work,
    progress,
)
from robust_core.text import suggestion

if TYPE_CHECKING:
    from benchmarks.experiments.paper import Panel
    from benchmarks.experiments.records import PanelRun, PendingRun
    from benchmarks.experiments.work import Choice
    from benchmarks.runner.store import Store

# Spelled out so that completion need not import the panels; a test compares them.
PANELS = tuple(f"{figure}-{part}" for figure in ("frozenlake", "cartpole", "tdc", "rarl", "taxi") for part in "abc")
REPRODUCED = "reproduced"


def add_parser(commands: Commands) -> None:
    """The command and its options."""
    panels = commands.add_parser(
        "panels",
        help="reproduce the paper's experiments: one outcome for each of the fifteen panels",
        description="Runs the panels of Section 6 and Appendix E with their controls. Nothing is read from the "
        "committed results, so the output shows whether the results reproduce; runs that this code has computed "
        "before are taken from the store.",
        epilog="example: robust-core panels --panel frozenlake-c --interpretation continuing",
    )
    add_json(panels)
    add_quiet(panels, "print only panels that are not reproduced")
    panel = panels.add_argument("--panel", metavar="ID", help="one panel, e.g. taxi-b (default: all fifteen)")
    complete_with(panel, lambda: PANELS)
    interpretation = panels.add_argument(
        "--interpretation", metavar="NAME", help="a named interpretation, or 'all' (default: default)"
    )
    complete_with(interpretation, _interpretations)
    panels.add_argument(
        "--write", action="store_true", help="run all panels and interpretations, and write the committed results"
    )
    add_running(panels, Path(".robust-core") / "experiments.jsonl")
    panels.set_defaults(run=_panels)


def _panels(options: argparse.Namespace) -> int:
    choices = _choices(options)

    from dataclasses import replace

    from benchmarks.experiments.records import PendingRun
    from robust_core.json import dumps

    with open_work(options) as store:
        runs = _write(choices, store, options) if options.write else _compute(choices, store, options)
    for panel, interpretation in choices:
        pending = PendingRun(panel.id, interpretation.name, panel.p, panel.radius)
        run = runs.get((panel.id, interpretation.name), pending)
        if not options.quiet or run.outcome != REPRODUCED:
            shown = run if isinstance(run, PendingRun) else replace(run, scores=())
            print(dumps(shown) if options.json else _line(run), flush=True)
    return HOLDS


def _compute(choices: list["Choice"], store: "Store", options: argparse.Namespace) -> "dict[tuple[str, str], PanelRun]":
    from benchmarks.experiments import work

    found = work.compute(
        choices,
        store=store,
        workers=options.workers,
        cluster=options.cluster,
        budget_seconds=options.budget,
        show=progress,
    )
    progress("")
    return found


def _write(choices: list["Choice"], store: "Store", options: argparse.Namespace) -> "dict[tuple[str, str], PanelRun]":
    """Compute all runs and replace the committed results, unless some are pending."""
    from benchmarks.experiments import results, work
    from benchmarks.experiments.panels import trends

    store.refresh()
    fresh = options.cluster is None and not any(store.get(work.unit(*choice).key) for choice in choices)
    runs = _compute(choices, store, options)
    if missing := len(choices) - len(runs):
        print(f"robust-core: {missing} panel runs are pending, so nothing is written", file=sys.stderr)
        return runs
    made_by = work.provenance(len(runs), timed=fresh)
    found = results.Results(made_by, tuple(runs.values()), tuple(trends(runs)))
    results.FILE.write_text(results.text(found), encoding="utf-8")
    print(f"robust-core: {results.FILE} is written; now run: robust-core documents experiments", file=sys.stderr)
    return runs


def _interpretations() -> list[str]:
    from benchmarks.experiments.interpretations import INTERPRETATIONS

    return ["all", *INTERPRETATIONS]


def _choices(options: argparse.Namespace) -> list["Choice"]:
    """The panels and interpretations asked for, checked before any of them is run."""
    from benchmarks.experiments.interpretations import INTERPRETATIONS, of_figure
    from benchmarks.experiments.paper import PANELS
    from benchmarks.experiments.work import all_choices

    panel, interpretation = options.panel, options.interpretation or "default"
    if options.write:
        if panel is not None or options.interpretation is not None:
            raise ValueError("--write runs all panels and interpretations: leave --panel and --interpretation out")
        return all_choices()
    if panel is not None and panel not in PANELS:
        raise ValueError(f"no panel {panel!r}; there are {', '.join(PANELS)}{suggestion(panel, PANELS)}")
    if interpretation != "all" and interpretation not in INTERPRETATIONS:
        known = ("all", *INTERPRETATIONS)
        raise ValueError(
            f"no interpretation {interpretation!r}; there are {', '.join(known)}{suggestion(interpretation, known)}"
        )
    candidates: list[Panel] = list(PANELS.values()) if panel is None else [PANELS[panel]]
    choices = [
        (candidate, choice)
        for candidate in candidates
        for choice in of_figure(candidate.figure)
        if interpretation in ("all", choice.name)
    ]
    if not choices:
        raise ValueError(f"interpretation {interpretation!r} is not for panel {panel!r}: it changes nothing there")
    return choices


def _line(run: "PanelRun | PendingRun") -> str:
    from benchmarks.experiments.records import PendingRun

    sizes = f"p={run.p:<5} R={run.radius:<4}"
    line = f"{run.panel:<14}{sizes} {run.interpretation:<19}{run.outcome:<15}"
    if isinstance(run, PendingRun):
        return f"{line} the budget was over; the same command continues"
    low, high = run.first.interval
    line += f" {run.first.effect:+.4g} [{low:+.4g}, {high:+.4g}] over {run.runs} runs"
    if run.diverged is None:
        return line
    shares = (f"{learner} {100.0 * run.diverged[learner] / run.runs:.3g} %" for learner in ("robust", "vanilla"))
    return f"{line}\n{'':<14}diverged: {', '.join(shares)}"
