"""Where the cases of a law come from: they are generated, or large instances, or of a design that the law needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from hypothesis import strategies as st

from properties.cases.case import LawCase
from properties.cases.choices import Reader, draw_case, simple_cases
from properties.cases.large import Form, instances
from robust_core.problem import Variant


class Source(Protocol):
    """A source of cases for a variant."""

    def strategy(self, variant: Variant) -> st.SearchStrategy[LawCase]:
        """The cases for a variant."""

    def first(self, variant: Variant) -> Sequence[LawCase]:
        """Cases that are tried before those of the strategy."""


@dataclass(frozen=True)
class Generated:
    """Small cases, drawn by Hypothesis."""

    read: Reader

    def strategy(self, variant: Variant) -> st.SearchStrategy[LawCase]:
        """The cases that are read off choices of Hypothesis."""
        return draw_case(self.read, variant)

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

    def strategy(self, variant: Variant) -> st.SearchStrategy[LawCase]:
        """The instances, each once; one is built when its turn comes."""
        built = instances(self.read, self.forms, variant, self.storages)
        others = self.others(variant)
        return st.integers(0, len(built) + len(others) - 1).map(
            lambda i: built[i]() if i < len(built) else others[i - len(built)]
        )

    def first(self, variant: Variant) -> Sequence[LawCase]:
        """None: all are large."""
        return ()


@dataclass(frozen=True)
class Designed:
    """Cases for which alone the judge of the law is right; nothing can be taken away from them."""

    make: Callable[[], Sequence[LawCase]]

    def strategy(self, variant: Variant) -> st.SearchStrategy[LawCase]:
        """The cases, whatever the variant."""
        return st.sampled_from(self.make())

    def first(self, variant: Variant) -> Sequence[LawCase]:
        """None: the judge is right for its own cases alone."""
        return ()
