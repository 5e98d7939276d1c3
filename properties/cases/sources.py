"""Where the cases of a law come from: they are generated, or large instances, or of a design that the law needs."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from properties.cases.case import LawCase
from properties.cases.choices import Reader, draw_cases, simple_cases
from properties.cases.large import Form, instances
from properties.cases.scope import Scope
from robust_core.problem import Variant


class Source(Protocol):
    """A source of cases for a variant."""

    def draw(self, variant: Variant, seed: str) -> Iterator[LawCase]:
        """The cases for a variant, in an order that the seed gives, each once."""

    def first(self, variant: Variant) -> Sequence[LawCase]:
        """Cases that are tried before those that are drawn."""


@dataclass(frozen=True)
class Generated:
    """Small cases, drawn at random."""

    read: Reader

    def draw(self, variant: Variant, seed: str) -> Iterator[LawCase]:
        """The cases that are read off choices of the seed."""
        return draw_cases(self.read, variant, seed)

    def first(self, variant: Variant) -> Sequence[LawCase]:
        """The trivial case and some that are nearly trivial."""
        return simple_cases(self.read, variant)


@dataclass(frozen=True)
class Large:
    """Every form with every set of the variant and every storage of the kernel, and `others`."""

    read: Reader
    forms: tuple[Form, ...]
    storages: tuple[bool, ...] = (True,)
    others: Callable[[Variant], Sequence[LawCase]] = lambda variant: ()

    def draw(self, variant: Variant, seed: str) -> Iterator[LawCase]:
        """The instances, each once; one is built when its turn comes."""
        built = instances(self.read, self.forms, variant, self.storages)
        others = self.others(variant)
        for i in _shuffled(len(built) + len(others), seed):
            yield built[i]() if i < len(built) else others[i - len(built)]

    def first(self, variant: Variant) -> Sequence[LawCase]:
        """None: all are large."""
        return ()

    def is_for(self, variant: Variant) -> bool:
        """Whether the options of the variant leave any of the instances."""
        scope = Scope.of(variant)
        sized = any(scope.has_sizes(form.sizes["states"], form.sizes["actions"]) for form in self.forms)
        if sized or replace(scope, radii=None) == Scope():
            return True
        models = (getattr(case, "mdp", None) for case in self.others(variant))
        return any(mdp is not None and scope.has(mdp) for mdp in models)


@dataclass(frozen=True)
class Designed:
    """Cases for which alone the judge of the law is right; nothing can be taken away from them."""

    make: Callable[[], Sequence[LawCase]]

    def draw(self, variant: Variant, seed: str) -> Iterator[LawCase]:
        """The cases, whatever the variant."""
        cases = self.make()
        return (cases[i] for i in _shuffled(len(cases), seed))

    def first(self, variant: Variant) -> Sequence[LawCase]:
        """None: the judge is right for its own cases alone."""
        return ()


def _shuffled(number: int, seed: str) -> list[int]:
    """0 … number − 1 in an order that the seed gives."""
    return random.Random(seed).sample(range(number), number)
