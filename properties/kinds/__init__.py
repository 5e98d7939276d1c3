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
    """The signature of `make` in words (`called`), and a bug of one line in the example of the kind.

    The example is in `properties/variants/examples`. It contains the text `right` exactly once; with `wrong` in its
    place the example has the bug.
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

    - `case` is the type of its cases. The fields are written to the file of a case, checked when it is read, and made
      smaller by the reductions.
    - `generate(choices, variant)` builds a case; for a learner it takes the options of the run too.
    - `promises` are the promises that its variants can make, in words.
    - `learner` says that `make` is a factory of learners.
    - `rules` check the entries that only this kind has, or that have another meaning in it; the rules of the other
      entries are in `properties/cases/entry_rules.py`.
    - `tables` are the names of its own entries that have a row for each state.
    - `shape(*arguments)` is the shape of the result, where `make` is a function that returns an array or a number.
    - `learning` are the promises that a learner which never learns cannot keep.
    - `visits` is false if step sizes do not count visits, `episodes` is false if no step ends an episode.
    - `parts` is the number of arrays in an estimate, if every estimate is a tuple.
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
        """The case in which every choice is the first of its list."""
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
    """The promises of all kinds, in words; where the meaning depends on the kind, each meaning with its kinds."""
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
    """The names of the tables that belong to a single kind."""
    return tuple(dict.fromkeys(table for kind in KINDS for table in kind_of(kind).tables))
