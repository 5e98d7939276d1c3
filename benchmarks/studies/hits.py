"""Hit rates: how often its law meets a mutant, over seeds.

    robust-core study hits --budget 30min

A mutant that dies by luck is not caught. The laws that apply to a mutant are asked in the order of the catalogue, those
on large instances last, until one meets it reliably: in a case that every search tries (a trivial case, an instance of
a design), or in a tenth of the cases drawn with five seeds. Otherwise the law that meets it most often is asked for
more cases. Every module of mutants is a unit of work; the result is committed as `baselines/hits.json`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.mutants.matrix import problems, zoo
from benchmarks.runner import identity
from benchmarks.runner.progress import Show
from benchmarks.runner.schedule import run as run_units
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit
from properties.cases.case import LawCase
from properties.judging.blame import CannotBeJudged
from properties.judging.search import judge_case
from properties.laws.law import Law
from robust_core import json
from robust_core.json import from_data, to_data
from robust_core.problem import Variant

BASELINE = Path(__file__).parents[1] / "baselines" / "hits.json"
SEEDS = (0, 1, 2, 3, 4)
EXAMPLES, MORE = 20, 200
"""Cases per seed; and of a law that meets a mutant rarely."""
INSTANCES = 60
"""At most so many instances of a law on large ones; there are fewer."""
RELIABLE, RARE = 0.1, 0.02
LEAST = 0.01
"""The rate below which a mutant does not count as caught."""
PACKAGE = "properties.variants.mutants."


@dataclass(frozen=True)
class Hits:
    """How often a law meets a mutant: in a case that every search tries, and in the drawn cases of every seed."""

    mutant: str
    name: str
    kind: str
    law: str
    always: bool
    drawn: tuple[int, ...] = ()
    cases: int = 0

    @property
    def rate(self) -> float:
        """The share of the drawn cases that the mutant fails; 0 if none was drawn."""
        return sum(self.drawn) / self.cases if self.cases else 0.0

    @property
    def words(self) -> str:
        """The rate in words.

        >>> Hits("m", "m", "operator", "contraction", False, (1, 0), 40).words
        '1 of 40 drawn cases (1 0)'
        """
        drawn = (
            f"{sum(self.drawn)} of {self.cases} drawn cases ({' '.join(map(str, self.drawn))})" if self.cases else ""
        )
        return "; ".join(["in a case that every search tries"] * self.always + [drawn] * bool(drawn))

    @property
    def caught(self) -> bool:
        """Whether the mutant dies in every search, or with the least rate."""
        return self.always or self.rate >= LEAST


@dataclass(frozen=True)
class HitRates:
    """The committed result: a line for each mutant, and the code that was run for each module."""

    mutants: tuple[Hits, ...] = ()
    made_by: dict[str, str] = field(default_factory=dict)

    def renew(self, today: "HitRates") -> "HitRates":
        """This result with the modules of another in place of its own."""
        kept = (one for one in self.mutants if one.mutant.partition(":")[0] not in today.made_by)
        mutants = sorted((*kept, *today.mutants), key=lambda one: one.mutant)
        return HitRates(tuple(mutants), dict(sorted((self.made_by | today.made_by).items())))


def load(path: Path = BASELINE) -> HitRates:
    """A committed result; none is empty."""
    return from_data(HitRates, json.load(path), str(path)) if path.exists() else HitRates()


def modules() -> list[str]:
    """The modules of mutants, without their package."""
    return list(dict.fromkeys(key.removeprefix(PACKAGE).partition(":")[0] for key in zoo()))


def run(
    wanted: Sequence[str], *, store: Store, workers: int, budget_seconds: float, show: Show = lambda text: None
) -> HitRates:
    """The hit rates of the mutants of some modules, as far as the budget goes."""
    units = {
        name: Unit(f"{__name__}:measured", {"module": name, "code": identity.of(PACKAGE + name)}) for name in wanted
    }
    values = run_units(list(units.values()), store=store, workers=workers, budget_seconds=budget_seconds, show=show)
    done = {name: values[unit.key] for name, unit in units.items() if unit.key in values}
    made_by = {name: identity.code(PACKAGE + name) for name in done}
    return HitRates(tuple(from_data(Hits, one) for found in done.values() for one in found), made_by)


def measured(module: str, code: str) -> Any:
    """The data of all mutants of a module: a unit of work; `code` is part of what the result is kept under."""
    import numpy as np

    from properties.process.loading import load as load_module

    cases = _Cases()
    # The numbers of a wrong algorithm may overflow.
    with np.errstate(all="ignore"):
        return [to_data(_hits(key, variant, cases)) for key, variant in load_module(PACKAGE + module).items()]


class _Cases:
    """The cases of a law for a variant, which depend on its kind, sets and options alone, drawn once."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[object, ...], list[LawCase]] = {}

    def __call__(self, law: Law, variant: Variant, examples: int, seed: int) -> list[LawCase]:
        """The first cases and the drawn ones."""
        about = (law.name, variant.kind, variant.sets, tuple(sorted(variant.options.items())), examples, seed)
        if about not in self._drawn:
            self._drawn[about] = problems(law, variant, examples=examples, seed=seed)
        return self._drawn[about]


def _hits(key: str, variant: Variant, cases: _Cases) -> Hits:
    """The record of the law that meets the mutant reliably, or else most often."""
    from properties.judging.verification import applicable

    mutant = key.removeprefix(PACKAGE)
    laws = sorted(applicable(variant), key=_of_instances)
    best: tuple[Law, Hits] | None = None
    for law in laws:
        found = _instances(law, mutant, variant, cases) if _of_instances(law) else _rate(law, mutant, variant, cases)
        if found.always or found.rate >= RELIABLE:
            return found
        if best is None or found.rate > best[1].rate:
            best = law, found
    if best is None:
        return Hits(mutant, variant.name, variant.kind, "", always=False)
    return _rate(best[0], mutant, variant, cases, MORE) if 0.0 < best[1].rate < RARE else best[1]


def _of_instances(law: Law) -> bool:
    return law.large or not law.reducible


def _instances(law: Law, mutant: str, variant: Variant, cases: _Cases) -> Hits:
    every = cases(law, variant, INSTANCES, 0)
    return Hits(mutant, variant.name, variant.kind, law.name, any(_judged(law, variant, every)))


def _rate(law: Law, mutant: str, variant: Variant, cases: _Cases, examples: int = EXAMPLES) -> Hits:
    first = len(law.first_cases(variant))
    drawn, judged = [], 0
    for seed in SEEDS:
        answers = list(_judged(law, variant, cases(law, variant, examples, seed)[first:]))
        drawn.append(sum(answers))
        judged += len(answers)
    always = any(_judged(law, variant, law.first_cases(variant)))
    return Hits(mutant, variant.name, variant.kind, law.name, always, tuple(drawn), judged)


def _judged(law: Law, variant: Variant, cases: Iterable[LawCase]) -> Iterator[bool]:
    """Whether the mutant fails, for every case that can be judged."""
    for case in cases:
        try:
            yield judge_case(law, variant, case) is not None
        except CannotBeJudged:
            continue
