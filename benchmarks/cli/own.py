"""`robust-core bench` and `robust-core compare` with variants of the user's."""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import (
    HOLDS,
    UNDECIDED,
    VIOLATED,
    fold,
    open_work,
    progress,
    require_writable,
    show_table,
)

if TYPE_CHECKING:
    from benchmarks.regression.compare import Comparison
    from benchmarks.regression.measures import Measurements
    from benchmarks.regression.own import Choice
    from benchmarks.regression.sequential import Effort
    from benchmarks.regression.waivers import Waiver
    from properties.judging.verdict import Outcome, Record


def choice(options: argparse.Namespace) -> "Choice":
    """The problems and seeds that the user chose; options that are for the suite's own measures are refused."""
    from benchmarks.regression.own import Choice
    from robust_core import validate

    if getattr(options, "only", ""):
        raise ValueError(
            "--only selects measures of the suite's learners; for your own variant, name problems by --problem"
        )
    if options.radius is not None and options.model is None:
        raise ValueError("--radius is the radius of --model; the radii of named problems are fixed")
    radius = Choice.radius if options.radius is None else validate.unit_interval("--radius", options.radius)
    return Choice(tuple(options.problem), options.model, radius, seed_set(options))


def seed_set(options: argparse.Namespace) -> str:
    """The name of the seed set."""
    name: str = options.seed_set
    if not name.isprintable() or not name:
        raise ValueError(f"seed set must be a name, got {name!r}")
    return name


def refuse_without_target(options: argparse.Namespace) -> None:
    """Refuse options that the measures of the suite's learners do not have."""
    for name in ("problem", "model", "radius", "replicates", "history", "no_clock"):
        given = getattr(options, name, None)
        if given is not None and given is not False and given != []:
            raise ValueError(f"--{name.replace('_', '-')} is for your own variants: name a TARGET")


def effort(options: argparse.Namespace, *, clock: bool) -> "Effort":
    """How long it may take."""
    from benchmarks.regression.own import SECONDS
    from benchmarks.regression.sequential import Effort

    budget = SECONDS if options.budget == math.inf else options.budget
    # Times are compared on one machine only.
    return Effort(
        budget_seconds=budget,
        clock=clock and options.cluster is None,
        show=progress,
        say=lambda lines: None if options.quiet else print("\n".join(lines), end="\n" * bool(lines), file=sys.stderr),
        cluster=options.cluster,
    )


def bench(options: argparse.Namespace) -> int:
    """Measure variants and print the quantiles of every measure."""
    from benchmarks.regression import baseline, own
    from benchmarks.runner.store import write_whole

    seeds = options.replicates or own.SEEDS
    with open_work(options) as store:
        found = own.bench(
            options.targets, choice(options), seeds=seeds, store=store, effort=effort(options, clock=True)
        )
    if options.output is not None:
        write_whole(options.output, baseline.text(found, reason="measured by robust-core bench"))
    show_bench(options, found)
    return HOLDS


def show_bench(options: argparse.Namespace, found: "Measurements") -> None:
    """Print the quantiles of every measure."""
    from benchmarks.regression import own
    from robust_core.json import dumps

    rows = own.summarize(found)
    if options.json:
        print("\n".join(map(dumps, rows)))
    elif not options.quiet or found.pending:
        names = ("measure", "n", "median", "90 %", "worst")
        cells = [
            (
                f"{row.metric} / {row.variant} / {row.problem}",
                row.n,
                *map(_shown, (row.median, row.quantile, row.worst)),
            )
            for row in rows
        ]
        print(show_table(names, cells))
        if found.pending:
            print(f"pending: {len(found.pending)} measures; a larger --budget gives them time")


def _shown(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.4g}"


def compare(options: argparse.Namespace) -> int:
    """Compare old and new code of variants."""
    from benchmarks.regression import history, own
    from robust_core.text import one_line

    if len(options.targets) > 2 or (len(options.targets) == 2) == (options.baseline is not None):
        raise ValueError(
            "compare needs OLD and NEW, or NEW with --baseline FILE|REVISION (several variants side by side: "
            f"robust-core rank); got {' '.join(options.targets)}"
        )
    if options.today is not None:
        raise ValueError("--today compares measurements of the suite's learners; leave it out for your own variant")
    excused = read_waivers(options)
    old, new = options.targets if len(options.targets) == 2 else (options.baseline, options.targets[0])
    chosen = choice(options)
    if options.history is not None:
        chosen = history.with_fresh_seeds(chosen, options.history, new)
    with open_work(options) as store:
        limits = effort(options, clock=not options.no_clock)
        found = own.compare(old, new, chosen, store=store, effort=limits, target_only=len(options.targets) == 2)
    if options.history is not None:
        history.add(options.history, found, old=old, new=new)
    names = [one_line(each.variant.name) for each in found]
    shown = [
        Shown(name, each.comparison, f"{name} ({each.variant.kind}): ", each.variant.target)
        for name, each in zip(names, found, strict=True)
    ]
    return show(options, shown, excused)


@dataclass(frozen=True)
class Shown:
    """A comparison as it is printed: whose it is, what stands before its verdict in a terminal, and the target."""

    name: str
    comparison: "Comparison"
    title: str = ""
    target: str | None = None


def read_waivers(options: argparse.Namespace) -> "tuple[Waiver, ...]":
    """The waivers; files that cannot be read or written are refused before the work."""
    from benchmarks.regression import waivers

    if options.junit is not None:
        require_writable("--junit", options.junit)
    return waivers.read(options.waivers) if options.waivers is not None else ()


def show(options: argparse.Namespace, found: "Sequence[Shown]", excused: "Sequence[Waiver]") -> int:
    """Print comparisons in the form that the options name, with the waived measures marked; the exit code."""
    from benchmarks.cli import junit
    from benchmarks.regression import table, waivers
    from robust_core.json import dumps

    found = [replace(each, comparison=waivers.apply(each.comparison, excused)) for each in found]
    if options.junit is not None:
        junit.write([record for each in found for record in _records(each)], options.junit)
    if options.json:
        print("\n".join(dumps(each.comparison) for each in found))
    elif options.markdown:
        print("\n\n".join(table.markdown(each.comparison, each.name) for each in found))
    elif not options.quiet or any(fails(each.comparison) for each in found):
        for each in found:
            lines = f"{each.title}{table.text(each.comparison, everything=options.all)}".splitlines()
            folded = [fold(line, indent=13) for line in lines]
            print("\n".join(folded))
    codes = [exit_code(each.comparison, strict=options.strict) for each in found]
    return VIOLATED if VIOLATED in codes else UNDECIDED if UNDECIDED in codes else HOLDS


def _records(found: Shown) -> "Iterator[Record]":
    """The measures as records, for JUnit."""
    from benchmarks.regression import table
    from properties.judging.verdict import Record

    outcomes: dict[str, Outcome] = {"worse": "violated", "changed": "violated", "undecided": "undecided"}
    for row in found.comparison.rows:
        name, outcome = f"{row.metric} / {row.problem}", outcomes.get(row.verdict, "holds")
        record = Record(row.variant, name, outcome, table.line(row).strip(), row.n, 0.0, 0, target=found.target)
        yield replace(record, expected=row.waived or None)


def fails(found: "Comparison") -> bool:
    """Whether a measure is worse or changed."""
    return bool(found.counts["worse"] or found.counts["changed"])


def exit_code(found: "Comparison", *, strict: bool) -> int:
    """1 if a measure is worse or changed, 3 for undecided ones under `strict`; better is for a person to look at."""
    from benchmarks.regression.table import is_pending

    if fails(found):
        return VIOLATED
    if undecided := found.counts["undecided"]:
        words = f"{undecided} {'measure is' if undecided == 1 else 'measures are'} undecided"
        if pending := sum(map(is_pending, found.rows)):
            words += f", {pending} of them because the time was over; a larger --budget helps"
        print(f"warning: {words}", file=sys.stderr)
        return UNDECIDED if strict else HOLDS
    return HOLDS
