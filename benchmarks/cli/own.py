"""`robust-core bench` and `robust-core compare` with variants of the user's."""

import argparse
import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import (
    HOLDS,
    UNDECIDED,
    VIOLATED,
    open_work,
    progress,
    require_writable,
)

if TYPE_CHECKING:
    from benchmarks.regression.compare import Comparison
    from benchmarks.regression.own import Choice, Found
    from benchmarks.regression.sequential import Effort
    from properties.judging.verdict import Outcome, Record


def choice(options: argparse.Namespace) -> "Choice":
    """The problems and seeds that the user chose; options that are for the suite's own measures are refused."""
    from benchmarks.regression.own import Choice
    from robust_core import validate

    if getattr(options, "only", ""):
        raise ValueError(
            "--only selects measures of the suite's learners; for your own variant, name problems by --problem"
        )
    validate.unit_interval("--radius", options.radius)
    if not options.seed_set.isprintable() or not options.seed_set:
        raise ValueError(f"seed set must be a name, got {options.seed_set!r}")
    return Choice(tuple(options.problem), options.model, options.radius, options.seed_set)


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
    from robust_core.json import dumps

    seeds = options.replicates or own.SEEDS
    with open_work(options) as store:
        found = own.bench(
            options.targets, choice(options), seeds=seeds, store=store, effort=effort(options, clock=True)
        )
    if options.output is not None:
        write_whole(options.output, baseline.text(found, reason="measured by robust-core bench"))
    rows = own.summarize(found)
    if options.json:
        print("\n".join(map(dumps, rows)))
    elif not options.quiet or found.pending:
        print(f"{'metric':<16} {'problem':<26} {'n':>5} {'median':>10} {'90 %':>10} {'worst':>10}  variant")
        for row in rows:
            shown = (f"{'inf' if x is None else format(x, '.4g'):>10}" for x in (row.median, row.quantile, row.worst))
            print(f"{row.metric:<16} {row.problem:<26} {row.n:>5} {' '.join(shown)}  {row.variant}")
        if found.pending:
            print(f"{len(found.pending)} measures are pending: a larger --budget gives them time")
    return HOLDS


def compare(options: argparse.Namespace) -> int:
    """Compare old and new code of variants."""
    from benchmarks.cli import junit
    from benchmarks.regression import history, own, table, waivers
    from robust_core.json import dumps
    from robust_core.text import one_line

    if len(options.targets) > 2 or (len(options.targets) == 2) == (options.baseline is not None):
        raise ValueError(
            "compare needs OLD and NEW, or NEW with --baseline FILE|REVISION (several variants side by side: "
            f"robust-core rank); got {' '.join(options.targets)}"
        )
    if options.today is not None:
        raise ValueError("--today compares measurements of the suite's learners; leave it out for your own variant")
    if options.junit is not None:
        require_writable("--junit", options.junit)
    excused = waivers.read(options.waivers) if options.waivers is not None else ()
    old, new = options.targets if len(options.targets) == 2 else (options.baseline, options.targets[0])
    chosen = choice(options)
    if options.history is not None:
        chosen = history.with_fresh_seeds(chosen, options.history, new)
    with open_work(options) as store:
        limits = effort(options, clock=not options.no_clock)
        found = own.compare(old, new, chosen, store=store, effort=limits, target_only=len(options.targets) == 2)
    if options.history is not None:
        history.add(options.history, found, old=old, new=new)
    found = [waivers.apply(each, excused) for each in found]
    if options.junit is not None:
        junit.write([record for each in found for record in _records(each)], options.junit)
    if options.json:
        print("\n".join(dumps(each.comparison) for each in found))
    elif options.markdown:
        print("\n\n".join(table.markdown(each.comparison, one_line(each.variant.name)) for each in found))
    elif not options.quiet or any(fails(each.comparison) for each in found):
        for each in found:
            title = f"{one_line(each.variant.name)} ({each.variant.kind})"
            print(f"{title}: {table.text(each.comparison, everything=options.all)}")
    return _exit_code(found, strict=options.strict)


def _records(found: "Found") -> "Iterator[Record]":
    """The measures as records, for JUnit."""
    from benchmarks.regression import table
    from properties.judging.verdict import Record

    outcomes: dict[str, Outcome] = {"worse": "violated", "changed": "violated", "undecided": "undecided"}
    for row in found.comparison.rows:
        outcome: Outcome = "holds" if row.waived else outcomes.get(row.verdict, "holds")
        name = f"{row.metric} / {row.problem}"
        yield Record(
            found.variant.name, name, outcome, table.line(row).strip(), row.n, 0.0, 0, target=found.variant.target
        )


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


def _exit_code(found: "list[Found]", *, strict: bool) -> int:
    codes = [exit_code(each.comparison, strict=strict) for each in found]
    return VIOLATED if VIOLATED in codes else UNDECIDED if UNDECIDED in codes else HOLDS
