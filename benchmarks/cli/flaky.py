"""`robust-core study flaky`: do tests of signals, pipes, clocks and processes fail by chance?"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import (
    HOLDS,
    KEPT,
    VIOLATED,
    Commands,
    add_budget,
    add_json,
    add_quiet,
    progress,
    raise_on_termination,
)

if TYPE_CHECKING:
    from benchmarks.studies.flaky import Condition, Progress

COUNTS = Path(".robust-core") / "flaky.json"


def add_parser(studies: Commands) -> None:
    """The study and its options."""
    parser = studies.add_parser(
        "flaky",
        help="repeat the tests that depend on signals, pipes, clocks and processes",
        description="Repeats tests within one process 200 times and tests that start commands 20 times: on the machine "
        "as it is, beside busy processes, and by a caller that ignores SIGINT. Needs a clone. Exit code 1: a test "
        "failed.",
        epilog="example: robust-core study flaky --share 0.05 --budget 10min",
    )
    parser.add_argument(
        "--share", type=_share, default=1.0, metavar="X", help="of the repetitions, at least one (default 1)"
    )
    parser.add_argument("--counts", type=Path, default=COUNTS, metavar="FILE", help=f"default: {COUNTS}")
    add_budget(parser)
    add_json(parser, "the counts")
    add_quiet(parser, "print nothing unless a test failed")
    parser.set_defaults(run=_flaky, resume=KEPT)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.0 < share <= 1.0:
        raise argparse.ArgumentTypeError(f"must be a number in (0, 1], got {text!r:.80}")
    return share


def _flaky(options: argparse.Namespace) -> int:
    from benchmarks.studies import flaky

    try:
        with raise_on_termination():  # its busy processes would compute for ever
            found = flaky.run(options.counts, seconds=options.budget, share=options.share, show=progress)
    finally:
        progress("")
    failed = {name: count for name, count in found.counts.items() if count.failures}
    if options.json:
        from robust_core.json import dumps

        print(dumps(found))
    elif failed or not options.quiet:
        for condition in flaky.CONDITIONS:
            print(_line(condition, found))
        for name, count in failed.items():
            print(f"failed {count.failures} of {count.runs}: {name}: {' '.join(count.message.split())}")
    return VIOLATED if failed else HOLDS


def _line(condition: "Condition", found: "Progress") -> str:
    """The counts under one condition."""
    from benchmarks.studies.flaky import WORDS

    mine = [count for name, count in found.counts.items() if name.startswith(f"{condition}: ")]
    runs, failures = sum(count.runs for count in mine), sum(count.failures for count in mine)
    done = [f"{key.split(': ')[1]} {number} x" for key, number in found.done.items() if key.startswith(condition)]
    return f"{WORDS[condition]}: {failures} of {runs} runs of {len(mine)} tests failed ({', '.join(done) or 'pending'})"
