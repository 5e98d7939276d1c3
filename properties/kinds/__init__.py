"""The kinds of variants, one file each: the module has the name of the kind and defines `KIND`.

A kind carries what the suite needs of it, so that nothing else has to list kinds.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from properties.cases.case import LawCase
from properties.cases.choices import First
from properties.cases.entry_rules import Rule
from robust_core.problem import KINDS, Kind, Variant


@dataclass(frozen=True)
class Example:
    """What is said of the kind's module in `properties/variants/examples`: how `make` is called, and a bug of one line.

    The bug has the text `wrong` in the place of `right`, which the module has once.
    """

    called: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Canary:
    """A mutant, as MODULE:NAME of `properties.variants.mutants`, and two laws that catch it within a few problems.

    It is tried in every process that judges a variant of the kind.
    """

    mutant: str
    laws: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class KindOfVariant:
    """A kind of variant.

    `case` is the type of its cases: its fields are what a file of a case holds, what is checked when it is read and
    what the reductions make smaller. `generate(choices, variant)` builds a case; that of a `learner`, which is a kind
    whose `make` is a factory of learners, takes the options of its run too. `promises` are those that its variants can
    make, in words. `rules` are added to those of `properties/cases/entry_rules.py` for entries that only this kind has,
    or that mean something else in it. `tables` are entries of its own with a row for each state. `shape` gives, where
    `make` is a function that returns an array or a number, the shape of that for its arguments. A kind with `learning`
    is one of learners of some sort: these are its promises that one which never learns cannot keep. Without `visits`
    step sizes count no visits. Where all estimates are tuples of so many tables or vectors, that is `parts`.
    Without `episodes` no step ends one.
    """

    case: type[LawCase]
    generate: Callable[..., LawCase]
    promises: Mapping[str, str]
    canary: Canary
    example: Example
    learner: bool = False
    rules: Mapping[str, Rule] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    shape: Callable[..., tuple[int, ...]] | None = None
    learning: tuple[str, ...] = ()
    visits: bool = True
    parts: int | None = None
    episodes: bool = True

    def trivial_case(self, variant: Variant) -> LawCase:
        """The case of first choices."""
        return self.generate(First(), variant)


def module_name(kind: str) -> str:
    """The name of the modules of a kind.

    >>> module_name("linear evaluation")
    'linear_evaluation'
    """
    return kind.replace(" ", "_").replace("-", "_")


@cache
def kind_of(kind: str) -> KindOfVariant:
    """The kind of that name."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r:.80}")
    found = importlib.import_module(f"{__name__}.{module_name(kind)}").KIND
    assert isinstance(found, KindOfVariant)
    return found


def learner_kinds() -> tuple[Kind, ...]:
    """The kinds of learners."""
    return tuple(kind for kind in KINDS if kind_of(kind).learner)


def promises() -> dict[str, str]:
    """The promises of all kinds, in words; of kinds for which a promise means different things, with their names."""
    found: dict[str, dict[str, list[str]]] = {}
    for kind in KINDS:
        for promise, words in kind_of(kind).promises.items():
            found.setdefault(promise, {}).setdefault(words, []).append(kind)
    return {
        promise: next(iter(meanings))
        if len(meanings) == 1
        else "; ".join(f"{', '.join(kinds)}: {words}" for words, kinds in meanings.items())
        for promise, meanings in found.items()
    }


def own_tables() -> tuple[str, ...]:
    """The names of the tables that single kinds have."""
    return tuple(dict.fromkeys(table for kind in KINDS for table in kind_of(kind).tables))
