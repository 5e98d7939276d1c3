"""False alarms and power, measured over many master seeds.

    robust-core study calibration --budget 30min

Five parts: the statistical suite at quick size with right algorithms, its negative controls (power), the whole
verification of every right variant of the gallery (exact laws at few examples, statistical laws at quick size), the
cells that the full size alone has (pairs, problems and statements that the quick size leaves out, and the controls
that it need not see), and of those the cells that take long. Every seed is a unit of work, so a run that was killed or
whose time ended goes on where it was. The summary is committed as `baselines/calibration.json`, with the code that
measured each part; a part of 0 seeds stays as it was committed. Right algorithms must never be red; the controls show
the power.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from benchmarks.batch.cells import controls, plan_cells
from benchmarks.runner import identity
from benchmarks.runner.progress import Show
from benchmarks.runner.schedule import run as run_units
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit
from properties.statistics.law import Size
from properties.statistics.records import CellOutcome
from properties.statistics.suite import Planned
from robust_core import json
from robust_core.json import Extended, from_data, to_data

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


Outcome = tuple[CellOutcome, int, Extended]
"""(outcome, n, log E against) of a cell."""
Caught = dict[str, int | None]
"""By control, the sample size at which it is caught; None if it is missed."""


@dataclass(frozen=True)
class RightRun:
    """One run with right algorithms."""

    red: bool
    log_product: Extended
    cells: dict[str, Outcome]


@dataclass(frozen=True)
class Verifications:
    """One verification of the gallery: outcomes by variant, and a line for every verdict that is not *holds*."""

    outcomes: dict[str, dict[str, int]]
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class FullRun:
    """The cells that the full size alone has, and its controls, each in the cell that is to see it."""

    cells: dict[str, Outcome]
    controls: Caught = field(default_factory=dict)


def right(seed: int, size: Size) -> RightRun:
    """One run with right algorithms: a unit of work."""
    from properties.statistics import budget
    from properties.statistics.suite import results

    ledger = list(results(size, seed_set=f"calibration {seed}"))
    gate = budget.gate(ledger)
    return RightRun(gate.red, gate.log_product, {one.cell: (one.outcome, one.n, one.log_against) for one in ledger})


def wrong(seed: int, size: Size) -> Caught:
    """One run of the negative controls: a unit of work."""
    from properties.statistics.law import catch_control

    found = {}
    for control in controls(size):
        result = catch_control(
            control.law, control.variant, size=size, alpha=control.alpha, seed_set=f"calibration {seed}"
        )
        found[control.name] = None if result is None else result.n
    return found


def verify(seed: int, size: Size, code: str = "") -> Verifications:
    """One verification of the gallery with a master seed: a unit of work; `code` stands for the gallery.

    The seed is that of `robust-core verify --seed`; seed 0 is left to the documentation, which shows it. Laws on
    large instances ask the same of every seed, so they are asked once, with the first.
    """
    from properties.judging import verification
    from properties.laws.catalogue import LAWS
    from properties.process.loading import gallery_variants
    from properties.statistics.suite import allot_cells, weight

    found = gallery_variants()
    laws = [law for law in LAWS if seed == 0 or not law.large]
    total = weight(found.values(), size)
    outcomes: dict[str, dict[str, int]] = {}
    wrong: list[str] = []
    for variant in found.values():
        cells = allot_cells(variant, size, total=total)
        records = list(verification.verify(variant, examples=EXAMPLES, seed=seed + 1, laws=laws, cells=cells))
        outcomes[variant.name] = dict(Counter(record.outcome for record in records))
        wrong += [f"{r.variant}: {r.law}: {r.outcome}: {r.evidence}" for r in records if r.outcome != "holds"]
    return Verifications(outcomes, tuple(wrong))


def full(seed: int, size: Size) -> FullRun:
    """The quick ones among the cells that the full size alone has, and its controls: a unit of work."""
    from properties.statistics.law import decide

    found: Caught = {}
    for control in controls(size):
        place = SEEN_IN.get(control.law.name, {}).get(control.variant.name)
        if place is not None:
            (cell,) = (cell for cell in control.law.cells(control.variant, size) if cell.id.startswith(place))
            result = decide(cell, alpha=control.alpha, seed_set=f"calibration {seed}")
            found[control.name] = result.n if result.outcome == "violated" else None
    return FullRun(_decide(beyond_quick(dear=False), seed), found)


def dear(seed: int, size: Size) -> FullRun:
    """The cells of the full size that take long: a unit of work."""
    return FullRun(_decide(beyond_quick(dear=True), seed))


def _decide(items: Iterable[Planned], seed: int) -> dict[str, Outcome]:
    from properties.statistics.law import decide

    results = [decide(item.cell, alpha=item.alpha, seed_set=f"calibration {seed}") for item in items]
    return {result.cell: (result.outcome, result.n, result.log_against) for result in results}


def beyond_quick(*, dear: bool) -> list[Planned]:
    """The cells of a full run whose statement, problem or pair the quick size does not have."""
    known = {_place(item.cell.id) for item in plan_cells("quick")}
    found = [item for item in plan_cells("full") if _place(item.cell.id) not in known]
    return [item for item in found if item.cell.id.startswith(DEAR) == dear]


def _place(name: str) -> str:
    """A cell without its sizes and its variant.

    >>> _place("unbiased/two states/(0,0)/effect=0.03/robust Q-learning")
    'unbiased/two states/(0,0)'
    """
    return "/".join(part for part in name.split("/")[:-1] if "=" not in part)


@dataclass(frozen=True)
class CellCounts:
    """Outcomes of a cell over the seeds."""

    holds: int
    undecided: int
    violated: int
    mean_n: float
    largest_log_e: float

    @classmethod
    def of(cls, runs: Sequence[Outcome]) -> "CellCounts":
        """Count them."""
        counts = Counter(outcome for outcome, _, _ in runs)
        mean = round(statistics.fmean(n for _, n, _ in runs), 1)
        largest = round(max(log for _, _, log in runs), 2)
        return cls(counts["holds"], counts["undecided"], counts["violated"], mean, largest)

    @property
    def seeds(self) -> int:
        """How many seeds."""
        return self.holds + self.undecided + self.violated


@dataclass(frozen=True)
class ControlCounts:
    """How often a control was caught."""

    caught: int
    of: int
    mean_n: float | None

    @classmethod
    def over(cls, sizes: Sequence[int | None]) -> "ControlCounts":
        """Count them."""
        caught = [n for n in sizes if n is not None]
        return cls(len(caught), len(sizes), round(statistics.fmean(caught), 1) if caught else None)


@dataclass(frozen=True)
class Right:
    """False alarms at quick size; `evidence` is the share of cells whose E exceeds a level."""

    seeds: int
    red: int
    cells: dict[str, CellCounts]
    largest_log_product: float
    evidence: dict[str, float]

    @classmethod
    def of(cls, runs: Sequence[RightRun]) -> "Right":
        """Count them."""
        cells = {name: [run.cells[name] for run in runs] for name in runs[0].cells}
        logs = [log for outcomes in cells.values() for _, _, log in outcomes]
        return cls(
            seeds=len(runs),
            red=sum(run.red for run in runs),
            cells={name: CellCounts.of(outcomes) for name, outcomes in cells.items()},
            largest_log_product=max(run.log_product for run in runs),
            evidence={
                f"P(E >= {level:g})": sum(log >= math.log(level) for log in logs) / len(logs) for level in THRESHOLDS
            },
        )


@dataclass(frozen=True)
class Wrong:
    """Power at quick size."""

    seeds: int
    controls: dict[str, ControlCounts]

    @classmethod
    def of(cls, runs: Sequence[Caught]) -> "Wrong":
        """Count them."""
        return cls(len(runs), {name: ControlCounts.over([run[name] for run in runs]) for name in runs[0]})


@dataclass(frozen=True)
class Verified:
    """Verifications of the gallery: counts of outcomes by variant."""

    seeds: int
    examples: int
    red: int
    wrong: tuple[str, ...]
    variants: dict[str, dict[str, int]]

    @classmethod
    def of(cls, runs: Sequence[Verifications]) -> "Verified":
        """Count them."""
        variants: dict[str, Counter[str]] = {}
        for run in runs:
            for name, outcomes in run.outcomes.items():
                variants.setdefault(name, Counter()).update(outcomes)
        return cls(
            seeds=len(runs),
            examples=EXAMPLES,
            red=sum(any(": undecided: " not in line for line in run.wrong) for run in runs),
            wrong=tuple(line for run in runs for line in run.wrong),
            variants={name: dict(counts) for name, counts in variants.items()},
        )


@dataclass(frozen=True)
class Full:
    """False alarms and power where the full size alone has cells; a cell that takes long has fewer seeds."""

    seeds: int
    dear_seeds: int
    red: int
    cells: dict[str, CellCounts]
    controls: dict[str, ControlCounts]

    @classmethod
    def of(cls, runs: Sequence[FullRun], dear: Sequence[FullRun]) -> "Full":
        """Count them."""
        outcomes: dict[str, list[Outcome]] = {}
        for run in (*runs, *dear):
            for name, outcome in run.cells.items():
                outcomes.setdefault(name, []).append(outcome)
        cells = {name: CellCounts.of(found) for name, found in outcomes.items()}
        names = runs[0].controls if runs else ()
        return cls(
            seeds=len(runs),
            dear_seeds=len(dear),
            red=sum(cell.violated for cell in cells.values()),
            cells=cells,
            controls={name: ControlCounts.over([run.controls[name] for run in runs]) for name in names},
        )


@dataclass(frozen=True)
class Calibration:
    """The committed summary: its parts, where they were measured, and by which code."""

    right: Right | None = None
    wrong: Wrong | None = None
    verify: Verified | None = None
    full: Full | None = None
    made_by: dict[str, str] = field(default_factory=dict)

    @property
    def red(self) -> int:
        """How often a right algorithm was accused."""
        return sum(part.red for part in (self.right, self.verify, self.full) if part is not None)

    def renew(self, today: "Calibration") -> "Calibration":
        """This summary with the parts that were measured today."""
        parts = {name: part for name in PARTS if (part := getattr(today, name)) is not None}
        return replace(self, **parts, made_by=self.made_by | today.made_by)


PARTS = ("right", "wrong", "verify", "full")


def load(path: Path = BASELINE) -> Calibration:
    """A committed summary."""
    return from_data(Calibration, json.load(path), str(path))


@dataclass(frozen=True)
class Seeds:
    """How many master seeds each part takes."""

    right: int = 300
    wrong: int = 100
    verify: int = 100
    full: int = 100
    dear: int = 10


def gallery_code() -> str:
    """A hash of the variants of the gallery, which are loaded by name."""
    from properties.process.loading import gallery_variants

    modules = sorted({target.partition(":")[0] for target in gallery_variants()})
    return " ".join(identity.sources(module) for module in modules)


def units(seeds: Seeds, size: Size = "quick") -> dict[str, list[Unit]]:
    """The units of every part."""
    sizes: Mapping[str, Size] = {"right": size, "wrong": size, "verify": size, "full": "full", "dear": "full"}
    found = {}
    for part, of_size in sizes.items():
        more = {"code": gallery_code()} if part == "verify" and seeds.verify else {}
        found[part] = [
            Unit(f"{__name__}:{part}", {"seed": seed, "size": of_size, **more}) for seed in range(getattr(seeds, part))
        ]
    return found


T = TypeVar("T")


def run(
    seeds: Seeds,
    *,
    store: Store,
    size: Size = "quick",
    workers: int = 1,
    budget_seconds: float = math.inf,
    show: Show = lambda text: None,
) -> Calibration:
    """Measure what the store does not have yet, as far as the time goes, and count what there is."""
    wanted = units(seeds, size)
    everything = [unit for part in wanted.values() for unit in part]
    values = run_units(everything, store=store, workers=workers, budget_seconds=budget_seconds, show=show)

    def read(part: str, kind: type[T]) -> list[T]:
        return [from_data(kind, to_data(values[unit.key])) for unit in wanted[part] if unit.key in values]

    right, wrong = read("right", RightRun), read("wrong", Caught)
    verifications, full, dear = read("verify", Verifications), read("full", FullRun), read("dear", FullRun)
    there = {"right": right, "wrong": wrong, "verify": verifications, "full": full, "dear": dear}
    code = f"code {identity.code(__name__)}, {', '.join(map(' '.join, identity.libraries().items()))}"
    return Calibration(
        right=Right.of(right) if right else None,
        wrong=Wrong.of(wrong) if wrong else None,
        verify=Verified.of(verifications) if verifications else None,
        full=Full.of(full, dear) if full or dear else None,
        made_by={part: code for part, found in there.items() if found},
    )
