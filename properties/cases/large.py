"""Large instances: many states and actions, long rows, and runs of a thousand steps.

The search tries hundreds of tiny problems, because they are quick, and their counterexamples are small enough to read.
But a bug may need seventeen states, nine successors or the thousandth step: a block of a fast path, a counter that
overflows, a buffer that is full. A few instances, always the same, are enough to see those. They are read as small
cases are, with choices that a form fixes.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeVar

import numpy as np

from properties.cases.case import LawCase
from properties.cases.choices import PROJECTIONS, SMOOTHINGS, VARRHOS, Choices, Level, Reader, Size
from properties.cases.scope import Scope
from robust_core import LogSumExp, Mellowmax, StepSize
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats

# Probabilities of 40 binary digits: float32 would lose some.
FINE = 1 << 40
COLUMNS = 6
# Values that float16 and float32 keys, or a rounding to eight decimals, take for equal.
NEAR = 2.0**-28

T = TypeVar("T")


@dataclass(frozen=True)
class Form:
    """The sizes of a problem, its discount, scale and radius; a path of `steps` is walked `times` over.

    `order` is that of the values along the states: 1 rises, so that the worst is the last, −1 falls, 0 is as drawn;
    a `flat` start is zero everywhere, with no cost below it; in a `near` one equal values differ a little. `kind` is
    the set's place among those of the variant; a kernel that may be `sparse` is as the form has it. The smooth
    maximum, its varrho and the radius of projection (infinite: no projection) are drawn where the form has none.
    """

    sizes: dict[Size, int]
    gamma: float
    scale: float
    radius: float
    steps: int
    times: int
    step_size: StepSize
    without_visits: StepSize
    order: int = 1
    flat: bool = False
    near: bool = False
    kind: int | None = None
    sparse: bool = True
    smoothing: type[LogSumExp | Mellowmax] | None = None
    varrho: float | None = None
    projection: float | None = None


def form_of(
    states: int,
    actions: int,
    features: int,
    *,
    numbers: tuple[float, float, float] = (0.875, 1.0, 0.25),
    steps: int,
    times: int,
    step_size: StepSize,
    plain: StepSize,
    order: int = 1,
    flat: bool = False,
) -> Form:
    """A form, its numbers being (gamma, scale, radius) and `plain` the step size of learners that count no visits."""
    gamma, scale, radius = numbers
    sizes: dict[Size, int] = {
        "states": states,
        "actions": actions,
        "features": features,
        "outcomes": states,
        "columns": COLUMNS,
    }
    return Form(sizes, gamma, scale, radius, steps, times, step_size, plain, order, flat)


class Fixed(Choices):
    """Choices that a form fixes; the others are the bytes of a hash of its sizes, and no level is trivial."""

    def __init__(self, form: Form) -> None:
        self.form, self.data, self.place, self.blocks = form, b"", 0, 0

    def byte(self) -> int:
        """The next byte."""
        return self.take(1)[0]

    def take(self, number: int) -> bytes:
        """The next bytes, so many of them."""
        while len(self.data) - self.place < number:
            seed = f"{sorted(self.form.sizes.items())} {self.blocks}"
            self.data = self.data[self.place :] + hashlib.blake2b(seed.encode()).digest()
            self.place, self.blocks = 0, self.blocks + 1
        self.place += number
        return self.data[self.place - number : self.place]

    def index(self, n: int) -> int:
        """One of 0..n−1."""
        return self.byte() % n

    def pick(self, levels: Sequence[T]) -> T:
        """One of the levels, but no zero where there is a choice."""
        return self.any_of([level for level in levels if level] or levels)

    def size(self, of: Size, allowed: Sequence[int] | None = None) -> int:
        """As the form has it: where that is not allowed, the case is one that no variant is asked for."""
        return self.form.sizes[of]

    def length(self, steps: int, repeats: tuple[int, ...]) -> tuple[int, int]:
        """As the form has it."""
        return self.form.steps, self.form.times

    def scale(self, variant: Variant) -> float:
        """As the form has it; 1 where the variant says the size of costs."""
        return self.form.scale if Scope.of(variant).costs is None else 1.0

    def blank(self) -> bool:
        """As the form has it."""
        return self.form.flat

    def costs(self, variant: Variant, shape: tuple[int, ...]) -> Floats:
        """Levels, zeros among them; a flat start has none below it, as far as the variant is for such costs."""
        drawn, scope = super().costs(variant, shape), Scope.of(variant)
        drawn = np.abs(drawn) if self.form.flat else drawn
        return drawn if scope.costs is None else np.clip(drawn, *scope.costs)

    def values(self, shape: tuple[int, ...]) -> Floats:
        """Levels in the form's order, zeros among them."""
        block = super().values(shape)
        if self.form.near:
            block = block + NEAR * np.argsort(list(self.take(block.size)), kind="stable").reshape(shape)
            block[block.reshape(len(block), -1).min(axis=1).argmax()] += 1.0
        if not self.form.order:
            return block
        return block[np.argsort(block.reshape(len(block), -1).min(axis=1), kind="stable")][:: self.form.order]

    def array(self, shape: tuple[int, ...], levels: tuple[float, ...]) -> Floats:
        """Levels, zeros among them."""
        return np.array([levels[byte % len(levels)] for byte in self.take(int(np.prod(shape)))]).reshape(shape)

    def faint(self, features: Floats) -> Floats:
        """As they are."""
        return features

    def row(self, n: int, home: int, *, deterministic: bool = False) -> Floats:
        """A distribution whose support is nearly everything, or one outcome."""
        if deterministic:
            return np.eye(n)[self.index(n)]
        weights = [byte % 16 for byte in self.take(n)]
        total = sum(weights) + 1
        units = [FINE * weight // total for weight in weights]
        units[home] += FINE - sum(units)
        return np.array(units) / FINE

    def discount(self, gammas: tuple[float, ...], allowed: tuple[float, ...] | None) -> float:
        """As the form has it, unless the variant is for others only."""
        return self.form.gamma if allowed is None or self.form.gamma in allowed else self.pick(allowed)

    def sparse(self) -> bool:
        """As the form has it."""
        return self.form.sparse

    def step_size(self, *, visits: bool) -> StepSize:
        """As the form has it."""
        return self.form.step_size if visits else self.form.without_visits

    def set_kind(self, variant: Variant) -> type[UncertaintySet]:
        """As the form has it; what is chosen afterwards is the same for every kind."""
        drawn = super().set_kind(variant)
        return drawn if self.form.kind is None else variant.sets[self.form.kind]

    def level(self, variant: Variant, kind: type[UncertaintySet]) -> Level:
        """As the form has it, unless the variant or the set is for other radii only."""
        usual = "radii" not in variant.options and self.form.radius in kind.radii
        return self.form.radius if usual else super().level(variant, kind)

    def smoothing(self, variant: Variant) -> LogSumExp | Mellowmax:
        """As the form has it, unless the variant is for another."""
        drawn = super().smoothing(variant) if self.form.smoothing is None else self.form.smoothing(VARRHOS[0])
        kind = SMOOTHINGS.get(variant.options.get("smoothing", ""), type(drawn))
        return kind(self.form.varrho or drawn.varrho)

    def projection(self) -> float | None:
        """As the form has it."""
        if self.form.projection is None:
            return self.any_of(PROJECTIONS)
        return self.form.projection if np.isfinite(self.form.projection) else None


def instances(
    read: Reader, forms: Sequence[Form], variant: Variant, storages: Sequence[bool] = (True,)
) -> list[Callable[[], LawCase]]:
    """Every form with every set of the variant and every storage of the kernel, each built when it is called."""
    kinds = range(len(variant.sets)) or (None,)
    every = [replace(form, kind=kind, sparse=sparse) for form, kind, sparse in product(forms, kinds, storages)]
    make: Any = lambda form: lambda: read(Fixed(form), variant)  # noqa: E731
    return [make(form) for form in every]
