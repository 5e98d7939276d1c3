"""False alarms and power, measured: the whole statistical suite at quick size with many master seeds.

    python -m benchmarks.calibration --seeds 300

Every seed is one record in the store, so a run that was killed goes on where it was; the summary is committed as
`baselines/calibration.json`. Right algorithms must never be red; the controls show the power.
"""

import argparse
import json
import math
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.batch import controls, fingerprint
from benchmarks.store import Store
from robust_core.streams import key

STORE = Path(".robust-core") / "calibration.jsonl"
BASELINE = Path(__file__).parent / "baselines" / "calibration.json"
THRESHOLDS = (10.0, 100.0, 1000.0)
"""Under a true claim E exceeds each of these with probability at most its inverse."""


def measured(seed: int, size: Any) -> dict[str, Any]:
    """One run with right algorithms: the gate, and (outcome, n, log E) of every cell."""
    from properties.statistics import budget
    from properties.statistics.suite import results

    ledger = [result.entry for result in results(size, epoch=f"calibration {seed}")]
    gate = budget.gate(ledger)
    cells = {e.cell: [e.decision.outcome, e.decision.n, e.decision.log_against] for e in ledger}
    return {"red": gate.red, "log_product": gate.log_product, "cells": cells}


def misses(seed: int, size: Any) -> dict[str, Any]:
    """One run of the negative controls: the sample size at which each is caught, None if it is missed."""
    from properties.statistics.law import caught
    from properties.statistics.suite import planned

    alpha = min(item.alpha for item in planned(size))
    found = {}
    for law, variant in controls(size):
        result = caught(law, variant, size=size, alpha=alpha, epoch=f"calibration {seed}")
        found[f"{law.name}: {variant.name}"] = None if result is None else result.entry.decision.n
    return found


def summary(right: Sequence[dict[str, Any]], wrong: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What is committed: counts of outcomes per cell, of reds, of large E, and of controls caught."""
    cells = {name: [run["cells"][name] for run in right] for name in (right[0]["cells"] if right else {})}
    logs = [log for runs in cells.values() for _, _, log in runs]
    return {
        "seeds": len(right),
        "red": sum(run["red"] for run in right),
        "cells": {name: _cell(runs) for name, runs in cells.items()},
        "largest log product": max((run["log_product"] for run in right), default=None),
        "evidence against right algorithms": {
            f"P(E >= {level:g})": sum(log >= math.log(level) for log in logs) / max(len(logs), 1)
            for level in THRESHOLDS
        },
        "control seeds": len(wrong),
        "controls": {name: _control([run[name] for run in wrong]) for name in (wrong[0] if wrong else {})},
    }


def _cell(runs: Iterable[tuple[str, int, float]]) -> dict[str, Any]:
    outcomes, sizes, logs = zip(*runs, strict=True)
    counts = Counter(outcomes)
    return {
        "holds": counts["holds"],
        "undecided": counts["undecided"],
        "violated": counts["violated"],
        "mean n": round(statistics.fmean(sizes), 1),
        "largest log E": round(max(logs), 2),
    }


def _control(sizes: Sequence[int | None]) -> dict[str, Any]:
    caught = [n for n in sizes if n is not None]
    return {"caught": len(caught), "of": len(sizes), "mean n": round(statistics.fmean(caught), 1) if caught else None}


def run(seeds: int, control_seeds: int, *, path: Path = STORE, size: Any = "quick") -> dict[str, Any]:
    """Measure what the store does not have yet, and summarise."""
    store = Store(path)
    found: dict[str, list[dict[str, Any]]] = {"right": [], "wrong": []}
    for word, count, measure in (("right", seeds, measured), ("wrong", control_seeds, misses)):
        for seed in range(count):
            name = key("calibration", word, seed, size, fingerprint())
            if store.get(name) is None:
                store.put(name, measure(seed, size))
                sys.stderr.write(f"{word} {seed + 1}/{count}\n")
            found[word].append(store.get(name))
    store.close()
    return summary(found["right"], found["wrong"])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: 1 if a right algorithm was accused."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=str(__doc__).split("\n")[0])
    parser.add_argument("--seeds", type=int, default=300, help="master seeds for the right algorithms")
    parser.add_argument("--control-seeds", type=int, default=100, help="master seeds for the negative controls")
    parser.add_argument("--store", type=Path, default=STORE, help=f"the record store (default {STORE})")
    parser.add_argument("--output", type=Path, default=BASELINE, help="where the summary goes")
    options = parser.parse_args(arguments)
    report = run(options.seeds, options.control_seeds, path=options.store)
    options.output.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    return int(report["red"] > 0)


if __name__ == "__main__":
    sys.exit(main())
