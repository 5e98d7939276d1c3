"""Defects of public planners and learners, each re-created from its description as a small variant.

The descriptions are those of issue trackers. A variant makes the promises that an honest author of such an algorithm
makes, at radius 0 where the public one is not robust. The split in two halves by date was committed before any of them
was judged: the first half may be looked at while laws are written, the second is judged once.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from robust_core.problem import Variant

Made = TypeVar("Made")


@dataclass(frozen=True)
class Fault:
    """A defect: where and when it was reported, in one sentence, and the variant that has it."""

    source: str
    date: str
    defect: str
    variant: Variant


class Faults(list[Fault]):
    """The faults of a module, each told above the algorithm that has it; its docstring says what is wrong."""

    def of(
        self, source: str, date: str, variant_of: Callable[..., Variant], name: str, *arguments: Any
    ) -> Callable[[Made], Made]:
        """Add the decorated algorithm, `make`, as `variant_of(name, make, *arguments)`."""

        def add(make: Made) -> Made:
            said = inspect.cleandoc(make.__doc__ or "")
            self.append(Fault(source, date, said[:1].lower() + said[1:-1], variant_of(name, make, *arguments)))
            return make

        return add


def catalogue() -> tuple[Fault, ...]:
    """All faults, the oldest first."""
    found = (fault for module in _modules() for fault in module.FAULTS)
    return tuple(sorted(found, key=lambda fault: (fault.date, fault.source)))


def halves() -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    """The older half and the newer half."""
    faults = catalogue()
    middle = len(faults) // 2
    return faults[:middle], faults[middle:]


def right() -> tuple[Variant, ...]:
    """The algorithms that the faults are made of, without them.

    They must hold: else a fault could die of a mistake in its copy.
    """
    return tuple(variant for module in _modules() for variant in module.RIGHT)


def _modules() -> list[Any]:
    return [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
