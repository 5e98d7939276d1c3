"""`python -m benchmarks.speed`: the speed table; exit code 1 if a limit is exceeded."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict

from benchmarks.cli.conventions import positive
from benchmarks.speed import q_learning, startup, support, tdc
from benchmarks.speed.timing import Measurement, best_of, closest

PASSES = 4

PARTS: dict[str, Callable[..., list[Measurement]]] = {
    "loops": q_learning.loops,
    "adversary": q_learning.adversary,
    "python": q_learning.against_python,
    "threads": q_learning.threads,
    "tdc": tdc.loops,
    "support": support.rows,
    "help": startup.help_text,
    "first call": startup.first_call,
    "memory": startup.memory,
}


def main() -> int:
    """Measure, print, and say whether every limit is kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument(
        "--passes", type=positive, default=PASSES, metavar="N", help=f"measure all of it N times (default {PASSES})"
    )
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    passes = [_measured(options.parts or list(PARTS), number, options) for number in range(options.passes)]
    lines = [best_of(same) for same in zip(*passes, strict=True)]
    if options.json:
        sys.stdout.writelines(json.dumps(asdict(line)) + "\n" for line in lines)
    else:
        sys.stdout.write(
            f"{_table(lines)}\nOf each comparison the size closest to its limit:\n\n{_table(closest(lines))}"
        )
    return 0 if all(line.within for line in lines) else 1


def _measured(names: list[str], number: int, options: argparse.Namespace) -> list[Measurement]:
    """All lines once; who watches a terminal is told which part is being measured."""
    lines: list[Measurement] = []
    for name in names:
        if sys.stderr.isatty():
            sys.stderr.write(f"pass {number + 1}/{options.passes}: {name}\n")
        lines += PARTS[name](quick=options.quick)
    return lines


def _table(lines: list[Measurement]) -> str:
    head = "| what | size | ours | theirs | ratio | limit |\n|---|---|---|---|---|---|\n"
    return head + "".join(f"{_row(line)}\n" for line in lines)


def _row(line: Measurement) -> str:
    mark = "" if line.within else " **exceeded**"
    return (
        f"| {line.subject} | {line.size} | {_amount(line.ours)} | {_amount(line.theirs)} "
        f"| {line.ratio:.3g} | {line.limit}{mark} |"
    )


def _amount(value: float) -> str:
    if value >= 1e4:
        return f"{value:.3g}"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


if __name__ == "__main__":
    raise SystemExit(main())
