"""Collect what the report shows: run what is missing, take what is kept, and return plain data."""

import datetime
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.cli.conventions import termination_raised
from benchmarks.report import manners, overall
from benchmarks.report.data import claims, convergence, counterexamples, gallery, kills, panels, regression, statistics
from benchmarks.runner.identity import processor
from benchmarks.runner.store import Store

FORMAT = "robust-core/report/1"
STORES = Path(".robust-core")
"""Where results are kept: those of the report, and those of `bench` and of the statistical batches."""
PARTS = 8
Show = Callable[[str], None]


@manners.notes_elsewhere()
@termination_raised()
def collect(
    *,
    targets: Sequence[str] = (),
    quick: bool = False,
    workers: int = 1,
    stores: Path = STORES,
    baseline: Path | None = None,
    show: Show = lambda line: None,
) -> dict[str, Any]:
    """Everything the page shows, as plain JSON data; `targets` are variants to judge beside the gallery,
    `baseline` what to compare with (default: the committed one).

    What the stores have is not computed again, and every result is kept as it comes. The same code and seeds give the
    same data but for `run`, which holds all times and versions.
    """
    clock = _Clock(show)
    begun = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    data: dict[str, Any] = {"format": FORMAT, "quick": quick}
    store = stores / "report.jsonl"
    with clock.part("claims"):
        data["claims"], data["claims code"] = claims.collected(), claims.code()
    with clock.part("variants"):
        data["gallery"] = _gallery(targets, quick, workers, store, clock.say)
    with clock.part("mutants"):
        data["kills"] = _kills(quick, workers, store, clock.say)
    with clock.part("panels"):
        data["panels"] = panels.collected()
    with clock.part("convergence"):
        data["convergence"] = _computed(convergence.units(), workers, store, clock.say)
    with clock.part("statistics"):
        data["statistics"] = _statistics(workers, stores / "statistics.jsonl", clock.say)
    with clock.part("regression"):
        data["regression"], speed = regression.collected(
            baseline=baseline, store=stores / "regression.jsonl", workers=workers, show=clock.say
        )
    with clock.part("counterexamples"):
        data["counterexamples"] = {
            "committed": counterexamples.committed(),
            "found": counterexamples.found(data["gallery"]["variants"]),
        }
    data["verdict"] = overall.verdict(data)
    data["run"] = {"begun": begun, "seconds": clock.seconds, "versions": _versions(), "speed": speed}
    return data


class _Clock:
    """Says what is under way, and how long each part took."""

    def __init__(self, show: Show) -> None:
        self.show, self.seconds = show, list[list[Any]]()
        self.begun = 0

    def say(self, line: str) -> None:
        """Say what is under way in the part that is."""
        self.show(f"[part {self.begun}/{PARTS}] {line}")

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time one part."""
        self.begun += 1
        self.say(name)
        started = time.perf_counter()
        yield
        self.seconds.append([name, round(time.perf_counter() - started, 2)])


def _computed(units: Any, workers: int, path: Path, show: Show) -> list[Any]:
    """The values of units in their order."""
    from benchmarks.runner.units import run

    store = Store(path)
    try:
        values = run(units, store=store, workers=workers, show=show)
    finally:
        store.close()
    return [values[unit.key] for unit in units]


def _gallery(targets: Sequence[str], quick: bool, workers: int, store: Path, show: Show) -> dict[str, Any]:
    examples = gallery.QUICK_EXAMPLES if quick else gallery.EXAMPLES
    variants = [found for target in targets for found in gallery.verified_apart(target, examples=examples, show=show)]
    variants += _computed(gallery.units(examples), workers, store, show)
    return {"examples": examples, "seed": gallery.SEED, "laws": gallery.laws(), "variants": variants}


def _kills(quick: bool, workers: int, store: Path, show: Show) -> dict[str, Any]:
    from benchmarks.mutants.matrix import EXAMPLES

    examples = kills.QUICK_EXAMPLES if quick else EXAMPLES
    records = [record for part in _computed(kills.units(examples), workers, store, show) for record in part]
    return {"examples": examples, "seed": kills.SEED, "records": records}


def _statistics(workers: int, store: Path, show: Show) -> dict[str, Any]:
    today = statistics.today(store, workers=workers, show=show)
    runs = [statistics.plain(today, source="quick run of this report", command=statistics.QUICK_COMMAND, today=True)]
    full = statistics.committed()
    if full is not None:
        runs.append(statistics.plain(full, source="committed full run", command=statistics.FULL_COMMAND, today=False))
    return {"runs": runs, "laws": statistics.laws()}


def _versions() -> list[list[str]]:
    from properties.judging.verdict import versions

    found = {**versions(), "system": platform.platform(), "processor": processor()}
    return [list(pair) for pair in found.items()]
