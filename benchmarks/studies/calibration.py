"""False alarms and power, measured over many master seeds.

    python -m benchmarks.studies.calibration [--budget 30min]

Five parts: the statistical suite at quick size with right algorithms, its negative controls (power), the whole
verification of every right variant of the gallery (exact laws at few examples, statistical laws at quick size), what
the full size alone has (cells on pairs, problems and statements that the quick size leaves out, and the controls that
it need not see), and of that the cells that take long. Every seed is a record in the store, so a run that was killed or
whose time ended goes on where it was; the summary is committed as `baselines/calibration.json`, with the code that
measured each part. A part of 0 seeds stays as it was committed. Right algorithms must never be red; the controls show
the power.
"""

import argparse
import functools
import hashlib
import json
import math
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.batch.cells import controls, fingerprint, versions
from benchmarks.cli.conventions import HOLDS, USAGE, VIOLATED, count, require_writable
from benchmarks.cli.timespan import seconds
from benchmarks.runner.store import Store
from robust_core.streams import key

if TYPE_CHECKING:
    from properties.statistics.suite import Planned

STORE = Path(".robust-core") / "calibration.jsonl"
BASELINE = Path(__file__).parents[1] / "baselines" / "calibration.json"
THRESHOLDS = (10.0, 100.0, 1000.0)
"""Under a true claim E exceeds each of these with probability at most its inverse."""
EXAMPLES = 5
"""Problems per exact law and seed in the verification of the gallery."""
DEAR = ("sampling/successors/", "unbiased/two states/(1,1)/")
"""Cells of the full size that take seconds each, for fewer seeds."""
SEEN_IN = {
    "one trajectory of the model": {
        "a walk with 8 % of a wrong kernel": "sampling/successors/garnet/(1,0)/",
        "a walk with bursts of its last successor": "sampling/k2/",
        "a walk that ends up with one action": "sampling/visits/",
    },
    "unbiased update": {"Q-learning with costs 1 % too high": "unbiased/two states/(1,0)/"},
    "convergence to Q*": {"Q-learning with costs 1 % too high": "converges/rate/two states/"},
    "finite-time bound": {"Q-learning with costs counted twice": "finite time/explicit/two states/"},
    "fast path equals reference in law": {
        "Q-learning with larger steps on the fast path": "fast path/two states/sum/",
        "Q-learning with swapped actions on the fast path": "fast path/two states/contrast/",
    },
}
"""By law, the controls of the full size and one cell each that is to see them: being seen elsewhere does not count."""


@functools.cache
def sources() -> bytes:
    """A hash of what the verification of the gallery depends on: that of the batch, all of `properties`, EXAMPLES."""
    import properties

    root = Path(str(properties.__file__)).parent
    digest = hashlib.blake2b(fingerprint() + EXAMPLES.to_bytes(4), digest_size=16)
    for path in sorted(root.rglob("*.py")):
        if "tests" not in path.relative_to(root).parts:
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.digest()


def measured(seed: int, size: Any) -> dict[str, Any]:
    """One run with right algorithms: the gate, and (outcome, n, log E) of every cell."""
    from properties.statistics import budget
    from properties.statistics.suite import results

    ledger = [result.entry for result in results(size, seed_set=f"calibration {seed}")]
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
        result = caught(law, variant, size=size, alpha=alpha, seed_set=f"calibration {seed}")
        found[f"{law.name}: {variant.name}"] = None if result is None else result.entry.decision.n
    return found


def verified(seed: int, size: Any) -> dict[str, Any]:
    """One verification of the gallery with a master seed: outcomes by variant, and whatever does not hold.

    The seed is that of `robust-core verify --seed`; seed 0 is left to the documentation, which shows it. Laws on
    large instances ask the same of every seed, so they are asked once, with the first.
    """
    from properties.judging.verification import verify
    from properties.laws.catalogue import LAWS
    from properties.process.loading import built_in
    from properties.statistics.suite import allotted, weight

    found = built_in()
    laws = [law for law in LAWS if seed == 0 or not law.large]
    total = weight(found.values(), size)
    outcomes: dict[str, dict[str, int]] = {}
    wrong = []
    for variant in found.values():
        cells = allotted(variant, size, total=total)
        records = list(verify(variant, examples=EXAMPLES, seed=seed + 1, laws=laws, cells=cells))
        outcomes[variant.name] = dict(Counter(record.outcome for record in records))
        wrong += [f"{r.variant}: {r.law}: {r.outcome}: {r.evidence}" for r in records if r.outcome != "holds"]
    return {"outcomes": outcomes, "wrong": wrong}


def beyond_quick(*, dear: bool) -> list["Planned"]:
    """The cells of a full run whose statement, problem or pair the quick size does not have."""
    from properties.statistics.suite import planned

    known = {_place(item.cell.id) for item in planned("quick")}
    found = [item for item in planned("full") if _place(item.cell.id) not in known]
    return [item for item in found if item.cell.id.startswith(DEAR) == dear]


def _place(name: str) -> str:
    """A cell without its sizes and its variant.

    >>> _place("unbiased/two states/(0,0)/effect=0.03/robust Q-learning")
    'unbiased/two states/(0,0)'
    """
    return "/".join(part for part in name.split("/")[:-1] if "=" not in part)


def larger(seed: int, size: Any) -> dict[str, Any]:
    """What the full size alone has: its quick cells, and its controls, each in the cell that is to see it."""
    from properties.statistics.law import decide
    from properties.statistics.suite import planned

    alpha = min(item.alpha for item in planned(size))
    found = {}
    for law, variant in controls(size):
        place = SEEN_IN.get(law.name, {}).get(variant.name)
        if place is not None:
            (cell,) = (cell for cell in law.cells(variant, size) if cell.id.startswith(place))
            decision = decide(cell, alpha=alpha, seed_set=f"calibration {seed}").entry.decision
            found[f"{law.name}: {variant.name}"] = decision.n if decision.outcome == "violated" else None
    return {"cells": _decided(beyond_quick(dear=False), seed), "controls": found}


def dearest(seed: int, size: Any) -> dict[str, Any]:
    """The cells of the full size that take long."""
    return {"cells": _decided(beyond_quick(dear=True), seed)}


def _decided(items: Iterable["Planned"], seed: int) -> dict[str, Any]:
    from properties.statistics.law import decide

    found = {}
    for item in items:
        decision = decide(item.cell, alpha=item.alpha, seed_set=f"calibration {seed}").entry.decision
        found[item.cell.id] = [decision.outcome, decision.n, decision.log_against]
    return found


def beyond(runs: Sequence[dict[str, Any]], dear: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the full size alone has, in sum; a cell that takes long has fewer seeds than the others."""
    cells: dict[str, list[Any]] = {}
    for run in (*runs, *dear):
        for name, outcome in run["cells"].items():
            cells.setdefault(name, []).append(outcome)
    return {
        "seeds": len(runs),
        "dear seeds": len(dear),
        "red": sum(cell["violated"] for cell in (_cell(outcomes) for outcomes in cells.values())),
        "cells": {name: _cell(outcomes) for name, outcomes in cells.items()},
        "controls": {
            name: _control([run["controls"][name] for run in runs]) for name in (runs[0]["controls"] if runs else {})
        },
    }


def verifications(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The verifications of the gallery in sum."""
    variants: dict[str, Counter[str]] = {}
    for run in runs:
        for name, outcomes in run["outcomes"].items():
            variants.setdefault(name, Counter()).update(outcomes)
    return {
        "seeds": len(runs),
        "examples": EXAMPLES,
        "red": sum(any(": undecided: " not in line for line in run["wrong"]) for run in runs),
        "wrong": [line for run in runs for line in run["wrong"]],
        "variants": {name: dict(counts) for name, counts in variants.items()},
    }


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


def run(
    seeds: int,
    control_seeds: int,
    verify_seeds: int = 0,
    full_seeds: int = 0,
    dear_seeds: int = 0,
    *,
    path: Path = STORE,
    size: Any = "quick",
    budget_seconds: float = math.inf,
) -> dict[str, Any]:
    """Measure what the store does not have yet, as far as the time goes, and summarise what there is."""
    store = Store(path)
    end = time.monotonic() + budget_seconds
    parts: tuple[tuple[str, int, Any, Callable[[int, Any], dict[str, Any]], Callable[[], bytes]], ...] = (
        ("right", seeds, size, measured, fingerprint),
        ("wrong", control_seeds, size, misses, fingerprint),
        ("verify", verify_seeds, size, verified, sources),
        ("full", full_seeds, "full", larger, fingerprint),
        ("dear", dear_seeds, "full", dearest, fingerprint),
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for word, wanted, of_size, measure, code in parts:
        names = [key("calibration", word, seed, of_size, code()) for seed in range(wanted)]
        for seed, name in enumerate(names):
            if store.get(name) is None and time.monotonic() < end:
                store.put(name, measure(seed, of_size))
                sys.stderr.write(f"{word} {seed + 1}/{wanted}\n")
        found[word] = [store.get(name) for name in names if store.get(name) is not None]
    store.close()
    report = summary(found["right"], found["wrong"])
    report |= {"verify": verifications(found["verify"]), "full": beyond(found["full"], found["dear"])}
    codes = {word: f"code {code().hex()}, {', '.join(versions())}" for word, _, _, _, code in parts if found[word]}
    return report | {"made by": codes}


PARTS = {
    "right": ("seeds", "red", "cells", "largest log product", "evidence against right algorithms"),
    "wrong": ("control seeds", "controls"),
    "verify": ("verify",),
    "full": ("full",),
}
"""The entries of the summary that each part makes."""


def renewed(before: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """The committed summary with the parts that were measured now."""
    made = report["made by"]
    entries = [name for part, names in PARTS.items() if part in made for name in names]
    merged = {name: report[name] if name in entries or name not in before else before[name] for name in report}
    return merged | {"made by": before.get("made by", {}) | made}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: 1 if a right algorithm was accused."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.calibration", description=str(__doc__).split("\n")[0]
    )
    for option, default, what in (
        ("--seeds", 300, "the right algorithms"),
        ("--control-seeds", 100, "the negative controls"),
        ("--verify-seeds", 100, "the verification of the gallery"),
        ("--full-seeds", 100, "what the full size alone has"),
        ("--dear-seeds", 10, "the cells of the full size that take long"),
    ):
        parser.add_argument(
            option, type=count, default=default, metavar="N", help=f"master seeds for {what} (default {default})"
        )
    parser.add_argument("--budget", type=seconds, default=math.inf, metavar="TIME", help="90s, 30min, 2h")
    parser.add_argument("--store", type=Path, default=STORE, help=f"the record store (default {STORE})")
    parser.add_argument("--output", type=Path, default=BASELINE, help="where the summary goes")
    options = parser.parse_args(arguments)
    wanted = (options.seeds, options.control_seeds, options.verify_seeds, options.full_seeds, options.dear_seeds)
    if not any(wanted):
        parser.error("all parts have 0 seeds: nothing would be measured")
    if bool(options.full_seeds) != bool(options.dear_seeds):
        parser.error("--full-seeds and --dear-seeds make one table: one of them is 0, and its rows would be lost")
    try:
        require_writable("--output", options.output)
    except ValueError as error:
        parser.error(str(error))
    report = run(*wanted, path=options.store, budget_seconds=options.budget)
    if not report["made by"]:
        parser.exit(USAGE, f"{parser.prog}: the time ended before the first seed; {options.output} is as it was\n")
    before = json.loads(options.output.read_text()) if options.output.exists() else {}
    options.output.write_text(json.dumps(renewed(before, report), indent=1, ensure_ascii=False) + "\n")
    accused = report["red"] + report["verify"]["red"] + report["full"]["red"]
    return VIOLATED if accused else HOLDS


if __name__ == "__main__":
    sys.exit(main())
