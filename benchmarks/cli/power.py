"""`robust-core study power`: which regressions a comparison finds in variants of every kind."""

import argparse
from pathlib import Path

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    add_running,
    open_work,
    output_of,
    progress,
    write_record,
)

STORE = Path(".robust-core") / "power.jsonl"
LEAST = 0.9
"""The power below which a regression counts as missed."""


def add_parser(studies: Commands) -> None:
    """The study and its options."""
    parser = studies.add_parser(
        "power",
        help="inject regressions into a variant of every kind and measure how surely they are found",
        description="Compares the example of every kind with itself under other seeds and with injected regressions, "
        "and renews the committed powers by the kinds that were measured. Exit code 1: a regression of the values is "
        "found in less than 90 % of the comparisons, a slowdown was missed, or equal code raised an alarm. Contests of "
        "times are added to the committed ones of the same code.",
        epilog="example: robust-core study power operator batch --budget 5min",
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="a kind of variant (default: all)")
    add_running(parser, STORE, cluster=False)
    add_json(parser, "a JSON object for each result")
    add_quiet(parser, "print only regressions that are missed, and false alarms")
    parser.add_argument("--part", choices=("all", "values", "times"), default="all", help="measure only this part")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the powers (default: the committed ones)")
    parser.set_defaults(run=_power)


def _power(options: argparse.Namespace) -> int:
    from benchmarks.regression.variants import MEASURED
    from benchmarks.runner.pool import single_thread
    from benchmarks.studies import power
    from robust_core.json import dumps
    from robust_core.problem import KINDS
    from robust_core.text import suggestion

    single_thread()
    for kind in options.kinds:
        if kind not in KINDS:
            raise ValueError(f"KIND must be one of {', '.join(KINDS)}, got {kind!r}{suggestion(kind, KINDS)}")
    output = output_of(options, power.BASELINE)
    with open_work(options) as store:
        today = power.run(
            options.kinds or MEASURED,
            store=store,
            workers=options.workers,
            budget_seconds=options.budget,
            part=options.part,
            show=progress,
        )
    write_record(output, power.load(output).renew(today))
    missed = [one for one in today.powers if one.found < LEAST * one.comparisons]
    alarms = [one for one in today.nulls if one.alarms]
    wrong = [one for one in today.timed if one.same in ("worse", "better") or one.verdict != "worse"]
    shown = (*missed, *alarms, *wrong) if options.quiet else (*today.powers, *today.nulls, *today.timed)
    for one in shown:
        print(dumps(one) if options.json else one)
    return VIOLATED if missed or alarms or wrong else HOLDS
