"""The kill matrix: which law catches which wrong algorithm, after how many problems."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.mutants.matrix import EXAMPLES, Kill, all_mutants, kill_matrix, needed_laws, survivors
from benchmarks.report import code
from benchmarks.report.layout import Cell, chapter, commands, table
from benchmarks.report.markup import Html, isolate, slug, tag
from benchmarks.report.section import Content, Line, Section, Work
from benchmarks.report.words import badge
from benchmarks.runner.units import Unit
from robust_core.json import from_data, to_data
from robust_core.text import plural

QUICK_EXAMPLES, SEED = 30, 0
INTRODUCTION = (
    "Every mutant is an algorithm with one bug. A number says how many problems the law needed to catch it (all "
    "mutants of a kind see the same problems); a dot, that the law did not catch it; a blank, that it does not apply. "
    "A mutant is alive if no law catches it."
)
SHADES = ((1, "k1"), (4, "k2"), (16, "k3"))
"""Up to so many problems, so dark."""


@dataclass(frozen=True)
class Kills:
    """The matrix without its times, and the size of the search."""

    examples: int
    seed: int
    kills: tuple[Kill, ...]

    @property
    def mutants(self) -> int:
        """How many mutants there are."""
        return len({kill.mutant for kill in self.kills})

    @property
    def alive(self) -> list[str]:
        """The mutants that no law catches, in words."""
        names = {kill.mutant: f"{kill.name} ({kill.kind})" for kill in self.kills}
        return [names[mutant] for mutant in survivors(self.kills)]


def collect(work: Work) -> Kills:
    """The matrix of all mutants."""
    examples = QUICK_EXAMPLES if work.quick else EXAMPLES
    kills = (from_data(Kill, kill) for module in work.compute(units(examples)) for kill in module)
    return Kills(examples, SEED, tuple(kills))


def units(examples: int) -> list[Unit]:
    """The work of this section: one unit per module of mutants, whose problems are drawn once."""
    modules = dict.fromkeys(key.partition(":")[0] for key in all_mutants())
    common = {"examples": examples, "seed": SEED}
    return [Unit(f"{__name__}:kill", {"module": module, **common, "code": code.of(module)}) for module in modules]


def kill(module: str, examples: int, seed: int, code: str) -> Any:
    """The data of all mutants of a module, without times; `code` is part of what the result is kept under."""
    from properties.process.loading import load

    # A wrong algorithm's numbers may overflow; that is for the laws to see, not for the terminal.
    with np.errstate(all="ignore"):
        return [to_data(replace(kill, seconds=0.0)) for kill in kill_matrix(load(module), examples=examples, seed=seed)]


def render(record: Kills) -> Content:
    """What was caught by kind, which laws are needed, and the matrix for every kind, folded if all are caught."""
    alive, count = record.alive, record.mutants
    word = "alive" if alive else "caught"
    line = tag("p", badge(word, f"{count - len(alive)} of {count} caught"), *(f" alive: {name}" for name in alive))
    kinds = dict.fromkeys(kill.kind for kill in record.kills)
    by_kind = {kind: [kill for kill in record.kills if kill.kind == kind] for kind in kinds}
    matrices = [_matrix(kind, kills) for kind, kills in by_kind.items()]
    again = commands(f"robust-core mutants --examples {record.examples} --seed {record.seed}")
    folded = chapter(f"Which law catches which mutant, for {plural(len(kinds), 'kind')}", *matrices, shown=bool(alive))
    parts = [tag("p", INTRODUCTION), line, _kinds(by_kind), folded, _laws(record.kills), again]
    return Content(Html("".join(parts)))


def _kinds(by_kind: Mapping[str, Sequence[Kill]]) -> Html:
    """How many mutants of each kind are caught, and after how many problems at the median."""
    rows = []
    for kind, kills in by_kind.items():
        first: dict[str, float] = {}
        for kill in kills:
            first[kill.mutant] = min(first.get(kill.mutant, math.inf), math.inf if kill.cases is None else kill.cases)
        caught = [cases for cases in first.values() if cases < math.inf]
        median = sorted(caught)[len(caught) // 2] if caught else ""
        hardest = max(caught) if caught else ""
        laws = len({kill.law for kill in kills})
        state = badge("caught" if len(caught) == len(first) else "alive", f"{len(caught)} of {len(first)}")
        rows.append([kind, Cell(state, len(caught) - len(first)), laws, median, hardest])
    head = ["kind", "caught", "laws", "problems, median", "problems, most"]
    return table("Mutants by kind", head, rows, numeric=[2, 3, 4], name="mutants-by-kind")


def _laws(kills: Sequence[Kill]) -> Html:
    """How much each law catches, and what it alone catches."""
    caught = Counter(kill.law for kill in kills if kill.cases is not None)
    asked = Counter(kill.law for kill in kills)
    alone = needed_laws(kills)
    rows = [
        [law, Cell(asked[law], asked[law]), Cell(caught[law], caught[law]), len(alone.get(law, ()))] for law in asked
    ]
    head = ["law", "mutants it applies to", "caught", "caught by it alone"]
    return chapter(
        f"What each of {plural(len(rows), 'law')} catches",
        table("Laws", head, rows, numeric=[1, 2, 3], name="killing-laws"),
    )


def _matrix(kind: str, kills: list[Kill]) -> Html:
    laws = list(dict.fromkeys(kill.law for kill in kills))
    names = dict.fromkeys((kill.mutant, kill.name) for kill in kills)
    entries = {(kill.mutant, kill.law): kill for kill in kills}
    rows, alive = [], 0
    for mutant, name in names:
        row = [entries.get((mutant, law)) for law in laws]
        dead = sum(kill is not None and kill.cases is not None for kill in row)
        alive += not dead
        state = badge("caught", f"by {dead}") if dead else badge("alive")
        first = Cell(tag("span", isolate(name), title=mutant), name)
        rows.append([first, Cell(state, dead), *(_entry(kill) for kill in row)])
    head = ["mutant", "caught", *(tag("span", law, class_="upright") for law in laws)]
    title = f"Kind {kind}: {plural(len(names), 'mutant')}"
    word = badge("alive", f"{alive} alive") if alive else badge("caught", "all caught")
    return chapter(
        [title, " ", word], table(title, head, rows, class_="kills", name=f"kills-{slug(kind)}"), shown=alive > 0
    )


def _entry(kill: Kill | None) -> Cell:
    if kill is None:
        return Cell("", "", "centre")
    if kill.cases is None:
        dot = tag("span", "·", aria_hidden="true")
        return Cell(Html(dot + tag("span", "not caught", class_="unseen")), "", "centre")
    shade = next((shade for most, shade in SHADES if kill.cases <= most), "k4")
    return Cell(kill.cases, kill.cases, f"centre {shade}")


def judge(record: Kills) -> list[Line]:
    """Whether every mutant is caught."""
    alive, count = record.alive, record.mutants
    if alive:
        short = f"{len(alive)} of {plural(count, 'wrong algorithm')} not caught: {', '.join(alive)}"
        return [Line("mutants", "Wrong algorithms", "violated", short)]
    short = f"all {count} wrong algorithms are caught"
    return [Line("mutants", "Wrong algorithms", "holds", short, short)]


SECTION = Section("mutants", "Wrong algorithms × laws", collect, render, judge)
