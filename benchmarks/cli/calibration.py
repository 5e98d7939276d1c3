"""`robust-core study calibration`: false alarms and power of the statistical suite, over many master seeds."""

import argparse
from pathlib import Path

from benchmarks.cli.conventions import (
    HOLDS,
    VIOLATED,
    Commands,
    add_json,
    add_quiet,
    add_running,
    count,
    open_work,
    output_of,
    progress,
    write_record,
)

STORE = Path(".robust-core") / "calibration.jsonl"
PARTS = (
    ("--seeds", "right", 300, "the right algorithms"),
    ("--control-seeds", "wrong", 100, "the negative controls"),
    ("--verify-seeds", "verify", 100, "the verification of the gallery"),
    ("--full-seeds", "full", 100, "the cells that the full size alone has"),
    ("--dear-seeds", "dear", 10, "the cells of the full size that take long"),
)


def add_parser(studies: Commands) -> None:
    """The study and its options."""
    parser = studies.add_parser(
        "calibration",
        help="measure how often right algorithms are accused, and wrong ones caught",
        description="Runs the statistical suite, its negative controls and the verification of the gallery with many "
        "master seeds, and renews the committed summary by the parts that were measured. Exit code 1: a right "
        "algorithm was accused.",
        epilog="example: robust-core study calibration --budget 2min",
    )
    for option, name, default, what in PARTS:
        parser.add_argument(
            option,
            dest=name,
            type=count,
            default=default,
            metavar="N",
            help=f"master seeds for {what} (default {default})",
        )
    add_running(parser, STORE, cluster=False)
    add_json(parser, "the summary")
    add_quiet(parser, "print nothing unless a right algorithm was accused")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the summary (default: the committed one)")
    parser.set_defaults(run=_calibration)


def _calibration(options: argparse.Namespace) -> int:
    from benchmarks.runner.pool import single_thread
    from benchmarks.studies import calibration
    from robust_core.json import dumps

    single_thread()
    seeds = calibration.Seeds(**{name: getattr(options, name) for _, name, _, _ in PARTS})
    if not any(vars(seeds).values()):
        raise ValueError("all parts have 0 seeds: nothing would be measured")
    if bool(seeds.full) != bool(seeds.dear):
        raise ValueError("--full-seeds and --dear-seeds make one table: one of them is 0, and its rows would be lost")
    output = output_of(options, calibration.BASELINE)
    with open_work(options) as store:
        today = calibration.run(
            seeds, store=store, workers=options.workers, budget_seconds=options.budget, show=progress
        )
    if not today.made_by:
        raise ValueError(f"the time ended before the first seed; {output} is as it was")
    before = calibration.load(output) if output.exists() else calibration.Calibration()
    summary = before.renew(today)
    write_record(output, summary)
    if options.json:
        print(dumps(summary))
    elif today.red or not options.quiet:
        print(f"{output}: {today.red} right algorithms accused")
    return VIOLATED if today.red else HOLDS
