"""The case of a law: one type a kind of variant.

A file, a claim and a reduction have a case by the names of its entries (`Case`); `LawCase.entries` and the constructor
translate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Self, TypeAlias

from robust_core import StepSize
from robust_core.mdp import MDP
from robust_core.sets import UncertaintySet
from robust_core.smoothing import Smoothing
from robust_core.validate import Floats

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
        return [each.name for each in fields(cls) if each.name != "beside"]

    @classmethod
    def needed(cls) -> frozenset[str]:
        """The names of the fields that every case has."""
        return frozenset(each.name for each in fields(cls) if each.default is MISSING and each.name != "beside")


@dataclass(frozen=True, kw_only=True, eq=False)
class SupportCase(LawCase):
    """For a support function: a set around the row p, or around each of several, and values."""

    uncertainty_set: UncertaintySet
    p: Floats
    v: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannerCase(LawCase):
    """For a planner: a model and a set."""

    mdp: MDP
    uncertainty_set: UncertaintySet


@dataclass(frozen=True, kw_only=True, eq=False)
class OperatorCase(PlannerCase):
    """For an operator: a model, a set and two tables."""

    Q: Floats
    other: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplerCase(LawCase):
    """For a sampler: a model, a policy, the first state and the number of steps."""

    mdp: MDP
    policy: Floats
    start: int
    steps: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Run(LawCase):
    """For a learner: its problem, and the path it walks."""

    mdp: MDP
    uncertainty_set: UncertaintySet
    step_size: StepSize
    initial: Floats
    path: Path


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluationRun(Run):
    """For the evaluation of a policy."""

    policy: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearRun(EvaluationRun):
    """For linear evaluation, with a ball of projection or without; `initial` is theta."""

    features: Floats
    smoothing: Smoothing
    second_step_size: StepSize
    projection: float | None = None


def policy_of(run: Run) -> Floats | None:
    """The policy that is evaluated; None for control."""
    return run.policy if isinstance(run, EvaluationRun) else None
