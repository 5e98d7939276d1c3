"""Variants × laws: the records of a verification of the gallery, and of variants that the user names."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.report.data import code
from benchmarks.runner.units import Unit
from properties.judging.verdict import Record
from properties.statistics.law import Size

EXAMPLES, QUICK_EXAMPLES, SEED = 200, 25, 0
SIZE: Size = "quick"
"""Of the statistical laws."""
NEGATIVE = "properties.variants.gallery.negative."
"""Variants that must not hold: their place among the real ones is to show it."""


def units(examples: int) -> list[Unit]:
    """The work of this part: one unit per variant of the gallery."""
    from benchmarks.documents.gallery import variants
    from properties.statistics.suite import weight

    known = variants()
    common = {"examples": examples, "seed": SEED, "weight": weight(known.values(), SIZE)}
    return [
        Unit(
            "benchmarks.report.data.gallery:verified",
            {"target": target, **common, "code": code.of(target.partition(":")[0])},
        )
        for target in known
    ]


def verified(target: str, examples: int, seed: int, weight: float, code: str) -> dict[str, Any]:
    """The records of one variant of the gallery, without times: exact laws, then the cells of the statistical ones.

    `weight` is that of all cells of the gallery, which share one error budget; `code` is part of what the result is
    kept under.
    """
    from properties.judging.verification import on_untested, verify
    from properties.process.loading import load
    from properties.statistics.suite import allotted

    (variant,) = load(target).values()
    cells = allotted(variant, SIZE, total=weight)
    with TemporaryDirectory(prefix="robust-core-report-") as folder:
        records = verify(variant, name=target, examples=examples, seed=seed, keep=Path(folder), cells=cells)
        return _entry(target, variant, [*on_untested(variant, seed=seed), *records])


def verified_apart(
    target: str, *, examples: int, seed: int = SEED, show: Callable[[str], None] = lambda law: None
) -> list[dict[str, Any]]:
    """The records of the user's variants, each in a process of its own; never kept, for their code can be anything."""
    from properties.judging.verification import on_untested
    from properties.process.isolation import verify_isolated
    from properties.process.loading import load

    found = []
    for name, variant in load(target).items():
        records = on_untested(variant, seed=seed)
        with TemporaryDirectory(prefix="robust-core-report-") as folder:
            for message in verify_isolated(name, examples=examples, seed=seed, keep=Path(folder), size=SIZE):
                if isinstance(message, Record):
                    records.append(message)
                else:
                    show(f"{variant.name}: {message}")
            found.append(_entry(name, variant, records))
    return found


def _entry(target: str, variant: Any, records: Iterable[Record]) -> dict[str, Any]:
    return {
        "target": target,
        "name": variant.name,
        "kind": variant.kind,
        "claims": list(variant.promises),
        "expected": "violated" if target.startswith(NEGATIVE) else "holds",
        "records": [_plain(record) for record in records],
    }


def _plain(record: Record) -> dict[str, Any]:
    """The record without its time, its versions and the place of its counterexample, but with its content."""
    kept = ("law", "outcome", "evidence", "cases", "seed", "blocked_by", "table")
    data = {name: value for name, value in asdict(record).items() if name in kept}
    numbers = record.statistics or {}
    data["statistics"] = {name: numbers.get(name) for name in ("law", "n", "alpha", "beta")} if numbers else None
    data["counterexample"] = None
    if record.counterexample is not None:
        path = Path(record.counterexample)
        data["counterexample"] = {"file": path.name, **json.loads(path.read_text(encoding="utf-8"))}
    return data


def laws() -> dict[str, dict[str, str]]:
    """Every law by name: its statement and the claim it tests."""
    from properties.laws.catalogue import LAWS

    return {law.name: {"statement": law.statement, "claim": law.promise or ""} for law in LAWS}
