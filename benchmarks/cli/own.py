"""`robust-core bench` and `compare` with variants of the user's, `robust-core rank` and `robust-core history`."""

import argparse
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import (
    HOLDS,
    UNDECIDED,
    VIOLATED,
    Commands,
    add_json,
    add_strict,
    progress,
    raise_on_termination,
    require_writable,
)

if TYPE_CHECKING:
    from benchmarks.regression.own import Choice, Found
    from benchmarks.regression.sequential import Effort
    from benchmarks.runner.store import Store
    from properties.judging.verdict import Outcome, Record

STORE = Path(".robust-core") / "regression.jsonl"
HISTORY = Path(".robust-core") / "history"


def _choice(options: argparse.Namespace) -> "Choice":
    from benchmarks.regression.own import Choice
    from robust_core import validate

    if getattr(options, "cluster", None) is not None:
        raise ValueError("--cluster: a variant of yours is measured on this machine; leave the option out")
    if getattr(options, "only", ""):
        raise ValueError("--only selects measures of the suite; for a variant of yours name problems by --problem")
    validate.unit_interval("--radius", options.radius)
    if not options.seed_set.isprintable() or not options.seed_set:
        raise ValueError(f"seed set must be a name, got {options.seed_set!r}")
    return Choice(tuple(options.problem), options.model, options.radius, options.seed_set)


def _effort(options: argparse.Namespace, *, clock: bool) -> "Effort":
    from benchmarks.regression.own import SECONDS
    from benchmarks.regression.sequential import Effort

    budget = SECONDS if options.budget == math.inf else options.budget
    return Effort(budget_seconds=budget, clock=clock, show=progress)


@contextmanager
def _work(options: argparse.Namespace) -> "Iterator[Store]":
    from benchmarks.runner.store import open_store

    with open_store(options.store) as store, raise_on_termination():
        try:
            yield store
        finally:
            progress("")


def bench(options: argparse.Namespace) -> int:
    """Measure variants and print the quantiles of every measure."""
    from benchmarks.regression import baseline, own
    from robust_core.json import dumps

    seeds = options.seeds or own.SEEDS
    with _work(options) as store:
        found = own.bench(
            options.targets, _choice(options), seeds=seeds, store=store, effort=_effort(options, clock=True)
        )
    if options.output is not None:
        baseline.write(options.output, baseline.text(found, reason="measured by robust-core bench"))
    rows = own.summarize(found)
    if options.json:
        print(dumps(rows, indent=1))
    elif not options.quiet or found.pending:
        print(f"{'metric':<16} {'problem':<26} {'n':>5} {'median':>10} {'90 %':>10} {'worst':>10}  variant")
        for row in rows:
            shown = (f"{'inf' if x is None else format(x, '.4g'):>10}" for x in (row.median, row.quantile, row.worst))
            print(f"{row.metric:<16} {row.problem:<26} {row.n:>5} {' '.join(shown)}  {row.variant}")
        if found.pending:
            print(f"{len(found.pending)} measures are pending: give more time by --budget")
    return HOLDS


def compare(options: argparse.Namespace) -> int:
    """Compare old and new code of variants."""
    from benchmarks.cli import junit
    from benchmarks.regression import history, own, table, waivers
    from robust_core.json import dumps

    if len(options.targets) > 2 or (len(options.targets) == 2) == (options.baseline is not None):
        raise ValueError(
            "compare needs OLD and NEW, or NEW with --baseline FILE|REVISION (several variants side by side: "
            f"robust-core rank); got {' '.join(options.targets)}"
        )
    if options.today is not None:
        raise ValueError("--today compares measurements of the suite; leave it out for a variant of yours")
    if options.junit is not None:
        require_writable("--junit", options.junit)
    excused = waivers.read(options.waivers) if options.waivers is not None else ()
    old, new = options.targets if len(options.targets) == 2 else (options.baseline, options.targets[0])
    choice = _choice(options)
    if options.history is not None:
        choice = history.with_fresh_seeds(choice, options.history, new)
    with _work(options) as store:
        effort = _effort(options, clock=not options.no_clock)
        found = own.compare(old, new, choice, store=store, effort=effort, target_only=len(options.targets) == 2)
    if options.history is not None:
        history.add(options.history, found, old=old, new=new)
    found = [waivers.apply(each, excused) for each in found]
    if options.junit is not None:
        junit.write([record for each in found for record in _records(each)], options.junit)
    if options.json:
        print(dumps([each.comparison for each in found], indent=1))
    elif options.markdown:
        print("\n\n".join(table.markdown(each.comparison, each.variant.name) for each in found))
    elif not options.quiet or any(_fails(each) for each in found):
        for each in found:
            print(f"{each.variant.name} ({each.variant.kind}): {table.text(each.comparison, everything=options.all)}")
    return _exit_code(found, strict=options.strict)


def _fails(found: "Found") -> bool:
    return bool(found.comparison.counts["worse"] or found.comparison.counts["changed"])


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


def _exit_code(found: "list[Found]", *, strict: bool) -> int:
    from benchmarks.cli.bench import exit_code

    codes = [exit_code(each.comparison, strict=strict) for each in found]
    return VIOLATED if VIOLATED in codes else UNDECIDED if UNDECIDED in codes else HOLDS


def add_parser(commands: Commands) -> None:
    """`rank` and `history`."""
    from benchmarks.cli.bench import add_measuring, add_targets

    rank = commands.add_parser(
        "rank",
        help="compare several variants side by side: ranks with simultaneous intervals",
        description="Measures variants of one kind on the same seeds and gives every one a range of ranks in each "
        "measure. All ranges hold at once with probability 0.99.",
        epilog="example: robust-core rank a.py b.py c.py --budget 60s",
    )
    add_targets(rank, "variants: file.py[:NAME] or package.module[:NAME]; a file may hold several")
    add_measuring(rank)
    add_json(rank, "the ranking as one JSON object")
    rank.set_defaults(run=_rank)
    _add_history(commands)


def _rank(options: argparse.Namespace) -> int:
    from benchmarks.regression import own
    from robust_core.json import dumps

    if not options.targets:
        raise ValueError("name at least two variants, e.g. robust-core rank a.py b.py")
    with _work(options) as store:
        found = own.rank(options.targets, _choice(options), store=store, effort=_effort(options, clock=False))
    if options.json:
        print(dumps(found, indent=1))
        return HOLDS
    last = ("", "")
    for row in found.ranks:
        if (row.metric, row.problem) != last:
            print(f"{row.metric} / {row.problem} (n={row.n})")
            last = row.metric, row.problem
        span = f"{row.best}" if row.best == row.last else f"{row.best}-{row.last}"
        median = "inf" if row.median is None else f"{row.median:.4g}"
        print(f"  rank {span:<7} median {median:<10} {row.variant}")
    print(f"all ranks hold at once with probability {1.0 - found.alpha:g}")
    return HOLDS


def _add_history(commands: Commands) -> None:
    history = commands.add_parser(
        "history",
        help="list the comparisons of a history, with change points",
        description="Reads the records that `compare --history` has added: one line per comparison. A change point is "
        "an alarm of an e-detector; the probability of a false one within n records is at most n/10,000.",
        epilog="example: robust-core history .robust-core/history",
    )
    history.add_argument(
        "folder", nargs="?", type=Path, default=HISTORY, metavar="FOLDER", help=f"the history (default {HISTORY})"
    )
    history.add_argument("--merge", type=Path, metavar="FOLDER", help="add the records of another history to it")
    add_json(history, "the records and change points as one JSON object")
    add_strict(history, "changed")
    history.set_defaults(run=_history)


def _history(options: argparse.Namespace) -> int:
    from benchmarks.regression import history
    from robust_core.json import dumps

    if options.merge is not None:
        added = history.merge(options.folder, options.merge)
        print(f"{added} records added to {options.folder}", file=sys.stderr)
    records = history.read(options.folder)
    found = history.trends(records)
    if options.json:
        print(dumps({"records": [history.short(record) for record in records], "trends": found}, indent=1))
    else:
        print(history.text(records, found))
    return UNDECIDED if options.strict and any(trend.alarm is not None for trend in found) else HOLDS
