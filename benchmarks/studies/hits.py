"""Hit rates: how often its law meets a mutant, over seeds.

    robust-core study hits --budget 30min

A mutant that dies by luck is not caught. The laws that apply to a mutant are asked in the order of the catalogue, those
on large instances last, until one meets it in a case that every search tries (a trivial case, an instance of a design)
or clearly more often than the least rate. If none does, each law judges more cases, the one that has met the mutant
most often first. So a rate near the least one is that of a thousand cases. Every mutant is a unit of work; the result
is committed as `baselines/hits.json`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.mutants.matrix import all_mutants
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
ROUNDS = (4, 40, 200)
"""Cases per seed; a round follows if no rate of the one before is clearly above the least."""
INSTANCES = 60
"""At most so many instances of a law on large ones; there are fewer."""
LEAST = 0.01
"""The rate below which a mutant does not count as caught."""
LEVEL = 1e-4
"""The probability with which a rate of the least size is called clearly above it."""
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
        '1 of 40 (1 0)'
        """
        return "always" if self.always else f"{sum(self.drawn)} of {self.cases} ({' '.join(map(str, self.drawn))})"

    @property
    def caught(self) -> bool:
        """Whether the mutant dies in every search, or with the least rate."""
        return self.always or self.rate >= LEAST

    @cached_property
    def clearly(self) -> bool:
        """Whether the mutant dies in every search, or its rate is above the least beyond sampling error."""
        from properties.statistics.intervals import clopper_pearson

        if self.always or not self.cases:
            return self.always
        return clopper_pearson(sum(self.drawn), self.cases, alpha=2.0 * LEVEL).lower > LEAST


@dataclass(frozen=True)
class HitRates:
    """The committed result: a line for each mutant, and the code that was run for each module."""

    mutants: tuple[Hits, ...] = ()
    made_by: dict[str, str] = field(default_factory=dict)

    def renew(self, today: "HitRates") -> "HitRates":
        """This result with the mutants of another in place of its own, without those that are gone."""
        measured, there = {one.mutant for one in today.mutants}, names()
        kept = (one for one in self.mutants if one.mutant in there and one.mutant not in measured)
        mutants = sorted((*kept, *today.mutants), key=lambda one: one.mutant)
        return HitRates(tuple(mutants), dict(sorted((self.made_by | today.made_by).items())))


def load(path: Path = BASELINE) -> HitRates:
    """A committed result; none is empty."""
    return from_data(HitRates, json.load(path), str(path)) if path.exists() else HitRates()


def names() -> list[str]:
    """The mutants, as "module:NAME"."""
    return [key.removeprefix(PACKAGE) for key in all_mutants()]


def run(
    mutants: Sequence[str], *, store: Store, workers: int, budget_seconds: float, show: Show = lambda text: None
) -> HitRates:
    """The hit rates of some mutants, as far as the budget goes."""
    modules = {name: name.partition(":")[0] for name in mutants}
    units = {
        name: Unit(f"{__name__}:measure_mutant", {"mutant": name, "code": identity.of(PACKAGE + module)})
        for name, module in modules.items()
    }
    values = run_units(list(units.values()), store=store, workers=workers, budget_seconds=budget_seconds, show=show)
    done = [name for name, unit in units.items() if unit.key in values]
    made_by = {modules[name]: identity.code(PACKAGE + modules[name]) for name in done}
    return HitRates(tuple(from_data(Hits, values[units[name].key]) for name in done), made_by)


def measure_mutant(mutant: str, code: str) -> Any:
    """The data of one mutant: a unit of work; `code` is part of what the result is kept under."""
    import numpy as np

    from properties.process.loading import load as load_module

    ((_, variant),) = load_module(PACKAGE + mutant).items()
    # The numbers of a wrong algorithm may overflow.
    with np.errstate(all="ignore"):
        return to_data(hits_of(mutant, variant))


class _Cases:
    """The cases of a law for a variant, which depend on its kind, sets and options alone, drawn once."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[object, ...], tuple[Iterator[LawCase], list[LawCase]]] = {}

    def __call__(self, law: Law, variant: Variant, number: int, seed: int) -> list[LawCase]:
        """The first cases that a search draws."""
        about = (law.name, variant.kind, variant.sets, tuple(sorted(variant.options.items())), seed)
        rest, drawn = self._drawn.setdefault(about, (law.cases_of(variant, seed), []))
        drawn.extend(islice(rest, max(0, number - len(drawn))))
        return drawn[:number]


@lru_cache(maxsize=1)
def _cases(module: str) -> _Cases:
    return _Cases()


def hits_of(mutant: str, variant: Variant) -> Hits:
    """The record of the law that meets the mutant clearly, or else most often."""
    from properties.judging.verification import applicable

    cases = _cases(mutant.partition(":")[0])
    laws = applicable(variant)
    found = {law.name: Hits(mutant, variant.name, variant.kind, law.name, always=False) for law in laws}
    for number in ROUNDS:
        for law in sorted(laws, key=lambda law: (_of_instances(law), -found[law.name].rate)):
            if _of_instances(law):
                always, drawn = any(_judged(law, variant, cases(law, variant, INSTANCES, SEEDS[0]))), []
            else:
                always = any(_judged(law, variant, law.first_cases(variant)))
                drawn = [list(_judged(law, variant, cases(law, variant, number, seed))) for seed in SEEDS if not always]
            counts = tuple(sum(answers) for answers in drawn)
            one = replace(found[law.name], always=always, drawn=counts, cases=sum(map(len, drawn)))
            if one.clearly:
                return one
            found[law.name] = one
        laws = [law for law in laws if not _of_instances(law)]
    nothing = Hits(mutant, variant.name, variant.kind, "", always=False)
    return max(found.values(), key=lambda one: one.rate, default=nothing)


def _of_instances(law: Law) -> bool:
    return law.large or not law.reducible


def _judged(law: Law, variant: Variant, cases: Iterable[LawCase]) -> Iterator[bool]:
    """Whether the mutant fails, for every case that can be judged."""
    for case in cases:
        try:
            yield judge_case(law, variant, case) is not None
        except CannotBeJudged:
            continue
