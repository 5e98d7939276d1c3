"""Does a comparison find what it must, and only that? Defects on purpose, and fresh seeds without a defect.

    python -m benchmarks.studies.injected --seed-sets 5 --workers 2

Every defect is compared with the undisturbed code on the same seeds, in several seed sets (sets of seeds); the share of
the error budget of a cell is that of a whole comparison. The control compares seed sets with each other, seed against
other seed, without a defect: whatever is not equivalent or undecided there is a false alarm.
"""

import argparse
import functools
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cli.conventions import positive
from benchmarks.regression.bench import PINNED, bench
from benchmarks.regression.compare import SEVERITY, compared
from benchmarks.runner.store import Store
from benchmarks.studies.defects import DEFECTS

STORE = Path(".robust-core") / "injected.jsonl"
Side = dict[str, Any]
Measure = Callable[..., Side]
"""measure(seed set=…, only=…, injected=…): one side of a comparison."""


def seed_sets(count: int) -> list[str]:
    """The pinned seeds and so many others."""
    return [PINNED, *(f"injected {number}" for number in range(1, count))]


def with_defect(name: str, seed_set: str, reference: Side, measure: Measure) -> Side:
    """The reference with the cells of a defective learner in place of the right ones."""
    touched = [f"/ {variant} /" for variant in DEFECTS[name].variants] or ["time ratio /", "speed-up /"]
    cells = {_name(cell): cell for cell in reference["cells"]}
    for only in touched:
        measured = measure(seed_set=seed_set, only=only, injected=name)
        cells |= {_name(cell): cell for cell in measured["cells"]}
    return reference | {"cells": list(cells.values())}


def _name(cell: dict[str, Any]) -> tuple[str, str, str]:
    return cell["metric"], cell["variant"], cell["problem"]


def findings(found: dict[str, Any]) -> Counter[tuple[str, str]]:
    """How many cells of each metric have each verdict, hashes and other deterministic cells left out."""
    cells = (cell for cell in found["cells"] if cell["kind"] != "deterministic")
    return Counter((cell["verdict"], cell["metric"]) for cell in cells)


def alarms(found: dict[str, Any]) -> int:
    """Statistical cells and ratios that are better, worse or changed."""
    return sum(count for (verdict, _), count in findings(found).items() if verdict in ("better", "worse", "changed"))


def row(name: str, comparisons: Sequence[dict[str, Any]]) -> str:
    """A line of the table: in how many seed sets the defect was found, and by what in the first one."""
    caught = sum(alarms(found) > 0 for found in comparisons)
    by = findings(comparisons[0])
    words = []
    for verdict in SEVERITY[:4]:
        seen = [f"{metric} ({count})" for (word, metric), count in sorted(by.items()) if word == verdict]
        words += [f"*{verdict}*: {', '.join(seen)}"] if seen else []
    return f"| {name} | {DEFECTS[name].text} | {caught}/{len(comparisons)} | {'; '.join(words)} |"


def false_alarms(sides: Sequence[Side]) -> Iterable[tuple[str, str, dict[str, Any]]]:
    """Every seed set against every later one: (seed set, seed set, comparison)."""
    for place, first in enumerate(sides):
        for second in sides[place + 1 :]:
            yield first["seed_set"], second["seed_set"], compared(first, second)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: 1 if a defect was missed in some seed set, or if there was a false alarm."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.injected", description=__doc__)
    parser.add_argument("defects", nargs="*", metavar="DEFECT", help=f"any of: {', '.join(DEFECTS)} (default: all)")
    parser.add_argument("--seed-sets", type=positive, default=1, help="sets of seeds (default 1: the pinned ones)")
    parser.add_argument("--workers", type=positive, default=os.cpu_count() or 1, help="processes (default: all cores)")
    parser.add_argument("--store", type=Path, default=STORE, help=f"the record store (default {STORE})")
    options = parser.parse_args(arguments)
    if unknown := set(options.defects) - DEFECTS.keys():
        parser.error(f"no defect {', '.join(sorted(unknown))}; there are {', '.join(DEFECTS)}")
    measure = functools.partial(bench, store=Store(options.store), workers=options.workers, show=_progress)
    references = {seed_set: measure(seed_set=seed_set) for seed_set in seed_sets(options.seed_sets)}
    _say("| defect | what it is | found in seed sets | in the first by (number of cells) |\n|---|---|---|---|")
    missed = 0
    for name in options.defects or DEFECTS:
        sides = {seed_set: with_defect(name, seed_set, side, measure) for seed_set, side in references.items()}
        comparisons = [compared(references[seed_set], side) for seed_set, side in sides.items()]
        missed += sum(not alarms(found) for found in comparisons)
        _say(row(name, comparisons))
    false = 0
    for first, second, found in false_alarms(list(references.values())):
        false += alarms(found)
        _say(f"{first} against {second}, no defect: {alarms(found)} false alarms, {found['counts']}")
    return int(missed + false > 0)


def _progress(line: str) -> None:
    sys.stderr.write(line + "\n")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
