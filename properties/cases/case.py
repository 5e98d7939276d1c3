"""The case of a law; each kind of variant has a type of its own (`properties/kinds`).

A file, a claim and a reduction have a case by the names of its entries (`Case`); `LawCase.entries` and the constructor
translate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from typing import Any, Self, TypeAlias

Case: TypeAlias = dict[str, Any]
Path: TypeAlias = Sequence[Sequence[Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class LawCase:
    """A case: the fields of its kind, and `beside` them the entries that a law asks for, which go to its judge by name.

    A field that may be None is left out of the entries where it is.
    """

    beside: Mapping[str, Any] = field(default_factory=dict)

    def plus(self, **entries: Any) -> Self:
        """The case with more entries beside its fields."""
        return replace(self, beside={**self.beside, **entries})

    def entries(self) -> Case:
        """The case by the names of its entries.

        >>> from properties.kinds.sampler import SamplerCase
        >>> sorted(SamplerCase(mdp=None, policy=None, start=0, steps=3, beside={"s": 1}).entries())
        ['s', 'start', 'steps']
        """
        named = {name: getattr(self, name) for name in self.names()}
        return {name: value for name, value in named.items() if value is not None} | dict(self.beside)

    @classmethod
    def of(cls, entries: Case) -> Self:
        """The case of the entries; those that are not fields stand beside them."""
        own = set(cls.names())
        named = {name: value for name, value in entries.items() if name in own}
        return cls(**named, beside={name: value for name, value in entries.items() if name not in own})

    @classmethod
    def names(cls) -> list[str]:
        """The names of the fields."""
        known: Any = cls
        return list(_names(known))

    @classmethod
    def required_names(cls) -> frozenset[str]:
        """The names of the fields that every case has."""
        return frozenset(each.name for each in fields(cls) if each.default is MISSING and each.name != "beside")


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(cls) if each.name != "beside")
