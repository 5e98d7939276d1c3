"""Gross failures made of a right variant: it never learns, or is told a share of the radius."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from robust_core.problem import Problem, Variant
from robust_core.sets import UncertaintySet


class NeverLearns:
    """A learner that stays at its start."""

    def __init__(self, problem: Problem) -> None:
        self.initial = problem.initial

    def update(self, told: Any) -> None:
        """Nothing."""

    def iterate(self) -> None:
        """Nothing."""

    def estimate(self) -> Any:
        """The start."""
        copies = tuple(table.copy() for table in self.initial) if isinstance(self.initial, tuple) else None
        return self.initial.copy() if copies is None else copies


def never_learns(variant: Variant) -> Variant:
    """The variant with a learner that stays at its start."""
    return replace(variant, name=f"{variant.name} that never learns", make=lambda problem, *_: NeverLearns(problem))


def with_share_of_radius(variant: Variant, share: float) -> Variant:
    """The variant, told a share of the radius."""

    def less(value: Any) -> Any:
        if isinstance(value, UncertaintySet):
            return value.with_radius(share * value.radius)  # type: ignore[attr-defined]
        if isinstance(value, Problem):
            return replace(value, uncertainty_set=less(value.uncertainty_set))
        return value

    make: Callable[..., Any] = variant.make
    name = f"{variant.name} with {share:g} of the radius"
    return replace(variant, name=name, make=lambda *args: make(*map(less, args)))
