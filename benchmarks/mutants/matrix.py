"""The kill matrix: which law catches which wrong algorithm, after how many problems and in what time.

All mutants of a kind are judged on the same problems, drawn once for every law: the matrix shows the power of the
laws, not the luck of a search. Blocking is ignored; every applicable law is asked.
"""

import importlib
import pkgutil
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from properties.cases.case import LawCase
from properties.judging.blame import CannotBeJudged
from properties.judging.search import judge_case
from properties.laws.law import Law
from robust_core.json import dumps
from robust_core.problem import Variant
from robust_core.text import one_line

EXAMPLES = 60


@dataclass(frozen=True)
class Kill:
    """What one law says of one mutant: the number of problems up to the first violation (None: none found)."""

    mutant: str
    name: str
    kind: str
    law: str
    cases: int | None
    seconds: float
    finding: str

    def to_json(self) -> str:
        """One line of JSON."""
        return dumps(self)


def all_mutants() -> dict[str, Variant]:
    """Every mutant that ships with the suite, by the name under which it is loaded."""
    from properties.process.loading import load
    from properties.variants import mutants

    modules = [f"{mutants.__name__}.{info.name}" for info in pkgutil.iter_modules(mutants.__path__)]
    return {
        key: variant
        for module in modules
        if any(isinstance(value, Variant) for value in vars(importlib.import_module(module)).values())
        for key, variant in load(module).items()
    }


def problems(
    law: Law, variant: Variant, *, examples: int, seed: int, tick: Callable[[], None] = lambda: None
) -> list[LawCase]:
    """The problems that a search of the law on the variant would begin with."""
    drawn = list(law.first_cases(variant))
    for case in islice(law.cases_of(variant, seed), examples):
        tick()
        drawn.append(case)
    return drawn


def kill_matrix(
    variants: Mapping[str, Variant],
    laws: Iterable[Law] | None = None,
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    tick: Callable[[str, str], None] = lambda mutant, law: None,
) -> Iterator[Kill]:
    """One record for every mutant and every law that applies to it, mutant by mutant.

    `tick` hears of the mutant and the law before every problem; what it raises ends the work.
    """
    from properties.judging.verification import applicable

    wanted = None if laws is None else list(laws)
    drawn: dict[tuple[object, ...], list[LawCase]] = {}
    for key, variant in variants.items():
        for law in applicable(variant, wanted):
            at_work = partial(tick, key, law.name)
            # What a law generates depends on these alone, not on the code under test.
            about = (law.name, variant.kind, variant.sets, tuple(sorted(variant.options.items())))
            if about not in drawn:
                drawn[about] = problems(law, variant, examples=examples, seed=seed, tick=at_work)
            yield kill_by(law, key, variant, drawn[about], at_work)


def kill_by(law: Law, key: str, variant: Variant, cases: list[LawCase], tick: Callable[[], None]) -> Kill:
    """What the law says of the mutant on the problems; `tick` is called before each."""
    started = time.perf_counter()
    found: tuple[int | None, str] = (None, "")
    for number, case in enumerate(cases, start=1):
        tick()
        try:
            finding = judge_case(law, variant, case)
        except CannotBeJudged:
            continue  # numbers so wild that no oracle follows catch nothing
        if finding is not None:
            found = (number, str(finding))
            break
    seconds = time.perf_counter() - started
    return Kill(key, variant.name, variant.kind, law.name, found[0], seconds, found[1])


def survivors(kills: Iterable[Kill]) -> list[str]:
    """Mutants that no law catches."""
    caught: dict[str, bool] = {}
    for kill in kills:
        caught[kill.mutant] = caught.get(kill.mutant, False) or kill.cases is not None
    return [mutant for mutant, dead in caught.items() if not dead]


def idle(kills: Iterable[Kill]) -> list[str]:
    """Laws that catch no mutant: each is to be questioned."""
    kills = list(kills)
    busy = {kill.law for kill in kills if kill.cases is not None}
    return [law for law in dict.fromkeys(kill.law for kill in kills) if law not in busy]


def needed_laws(kills: Iterable[Kill]) -> dict[str, list[str]]:
    """Laws without which some mutants would live: by law, the mutants that it alone catches."""
    by_mutant: dict[str, list[str]] = {}
    for kill in kills:
        if kill.cases is not None:
            by_mutant.setdefault(kill.mutant, []).append(kill.law)
    alone: dict[str, list[str]] = {}
    for mutant, laws in by_mutant.items():
        if len(laws) == 1:
            alone.setdefault(laws[0], []).append(mutant)
    return alone


@dataclass(frozen=True)
class Mutant:
    """A mutant as a table shows it."""

    name: str
    kind: str
    laws: tuple[str, ...]

    @classmethod
    def of(cls, variant: Variant) -> "Mutant":
        """The mutant that a variant is."""
        from properties.judging.verification import applicable

        return cls(variant.name, variant.kind, tuple(law.name for law in applicable(variant)))


@dataclass(frozen=True)
class Table:
    """The part of the matrix for one kind: one line a mutant, one column a law, the number of problems as entry."""

    kind: str
    laws: tuple[str, ...]
    width: int
    columns: int | None = None
    """Of the terminal; None: lines may be of any length."""

    @classmethod
    def of(cls, mutants: Iterable[Mutant], columns: int | None = None) -> "Table":
        """The table for mutants of one kind, before any of them is judged."""
        mutants = list(mutants)
        laws = tuple(dict.fromkeys(law for mutant in mutants for law in mutant.laws))
        return cls(mutants[0].kind, laws, max(len(one_line(mutant.name)) for mutant in mutants), columns)

    def head(self) -> str:
        """What the columns are, and their numbers."""
        columns = [f"  {number:>2} {law}" for number, law in enumerate(self.laws, start=1)]
        numbers = self._row("", [str(number) for number in range(1, len(self.laws) + 1)], "seconds")
        return "\n".join([f"{self.kind}: columns are", *columns, "", numbers])

    def line(self, name: str, kills: Iterable[Kill]) -> str:
        """The line of one mutant."""
        by_law = {kill.law: kill for kill in kills}
        row = [by_law.get(law) for law in self.laws]
        cells = ["" if k is None else "." if k.cases is None else str(k.cases) for k in row]
        quickest = min((k.seconds for k in row if k is not None and k.cases is not None), default=None)
        return self._row(one_line(name), cells, "alive" if quickest is None else f"{quickest:7.3f}")

    def _row(self, name: str, cells: Sequence[str], last: str) -> str:
        """A line, or where the terminal is too narrow the name and below it the cells, so many to a line."""
        line = f"{name:<{self.width}}{''.join(f'{cell:>5}' for cell in cells)}   {last}"
        if self.columns is None or self.width + 5 * len(self.laws) + 10 <= self.columns:
            return line
        fit = (self.columns - 12) // 5
        pieces = ["".join(f"{cell:>5}" for cell in cells[i : i + fit]) for i in range(0, len(cells), fit)]
        pieces[-1] += f"   {last.strip()}"
        return "\n".join([*textwrap.wrap(name, self.columns), *(f"  {piece}".rstrip() for piece in pieces)])


def summary(kills: Iterable[Kill]) -> str:
    """How many mutants are caught, which are alive, and what each law is good for."""
    kills = list(kills)
    mutants = {kill.mutant for kill in kills}
    alive = survivors(kills)
    counts = Counter(kill.law for kill in kills if kill.cases is not None)
    lines = [f"{len(mutants) - len(alive)} of {len(mutants)} mutants caught"]
    lines += [f"  alive: {mutant}" for mutant in alive]
    lines += [f"  caught by {law}: {count}" for law, count in counts.most_common()]
    lines += [f"  catches nothing: {law}" for law in idle(kills)]
    lines += [f"  only {law} catches: {', '.join(mutants)}" for law, mutants in needed_laws(kills).items()]
    return "\n".join(lines)
