"""The same laws on problems of size: many states and actions, long rows, and runs of a thousand steps.

The search tries hundreds of tiny problems, because they are quick, and what they show is small enough to read. But a
slip may need seventeen states, nine successors or the thousandth step: a block of a fast path, a counter that
overflows, a buffer that is full. A handful of problems, always the same, is enough to see those.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from properties.law import Case, Law
from properties.laws import linear, operator, planner, sampler, support
from properties.laws.cases import GAMMAS, RADII, SCALES, VALUES, WHOLE, Tape
from properties.laws.comparison import compared
from properties.laws.learning import read_run
from properties.laws.operator import exact_backup
from properties.laws.rounding import UNIT
from properties.verdict import Finding
from robust_core import StepSize, constant, per_visit, polynomial
from robust_core.mdp import MDP
from robust_core.uncertainty import UncertaintySet
from robust_core.validate import Floats
from robust_core.variant import Variant

# Probabilities of 40 binary digits: float32 would lose some.
FINE = 1 << 40
COLUMNS = 6
Reader = Callable[[Tape, Variant], Case]


@dataclass(frozen=True)
class Form:
    """The sizes of a problem, its discount, scale and radius; a path of `steps` is walked `times` over.

    `order` is that of the values along the states: 1 rises, so that the worst is the last, −1 falls, 0 is as drawn;
    a `flat` start is the same everywhere.
    """

    sizes: dict[str, int]
    gamma: float
    scale: float
    radius: float
    steps: int
    times: int
    step_size: StepSize
    without_visits: StepSize
    order: int = 1
    flat: bool = False


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
    sizes = {"states": states, "actions": actions, "features": features, "outcomes": states, "columns": COLUMNS}
    return Form(sizes, gamma, scale, radius, steps, times, step_size, plain, order, flat)


_SLOW = polynomial(1.0, rate=0.01, power=1.0)
WIDE = (
    form_of(17, 5, 3, steps=30, times=1, step_size=constant(0.5), plain=constant(0.125)),
    form_of(
        40,
        9,
        6,
        numbers=(1.0 - 2.0**-14, 2.0**40, 0.75),
        steps=30,
        times=1,
        step_size=per_visit(1.0, rate=1.0, power=1.0),
        plain=_SLOW,
    ),
)
# 1,100 steps: beyond a thousand, and a single pair is visited more than a thousand times. Ends of episodes keep its
# value moving, so that no step is without effect.
LONG = (
    form_of(1, 1, 1, steps=20, times=55, step_size=per_visit(1.0, rate=0.01, power=1.0), plain=constant(0.125)),
    form_of(3, 2, 2, steps=20, times=55, step_size=_SLOW, plain=_SLOW),
)


class SizedTape(Tape):
    """Bytes without end, the same for the same form; sizes are those of the form, and nothing is trivial."""

    def __init__(self, form: Form) -> None:
        super().__init__(b"")
        self.form, self.blocks = form, 0

    def byte(self) -> int:
        """The next byte."""
        if self.place == len(self.data):
            seed = f"{sorted(self.form.sizes.items())} {self.blocks}"
            self.data, self.place, self.blocks = hashlib.blake2b(seed.encode()).digest(), 0, self.blocks + 1
        return super().byte()

    def pick(self, options: tuple[Any, ...]) -> Any:
        """One of the options, but no zero where there is a choice; discount, scale and radius are the form's."""
        if options is GAMMAS:
            return self.form.gamma
        if options is SCALES:
            return self.form.scale
        if options is RADII:
            return self.form.radius
        chosen = [option for option in options if option] or list(options)
        return chosen[self.byte() % len(chosen)]

    def size(self, of: str) -> int:
        """As the form has it."""
        return self.form.sizes[of]

    def length(self, steps: int, repeats: tuple[int, ...]) -> tuple[int, int]:
        """As the form has it."""
        return self.form.steps, self.form.times

    def step_size(self, *, visits: bool) -> StepSize:
        """As the form has it."""
        return self.form.step_size if visits else self.form.without_visits

    def array(self, shape: tuple[int, ...], levels: tuple[float, ...]) -> Floats:
        """Levels, zeros among them; values are in the form's order."""
        drawn = [levels[self.byte() % len(levels)] for _ in range(int(np.prod(shape)))]
        block = np.array(drawn).reshape(shape)
        if levels is VALUES and self.form.flat:
            return np.full(shape, block.flat[0])
        if levels is not VALUES or not self.form.order:
            return block
        return block[np.argsort(block.reshape(len(block), -1).min(axis=1), kind="stable")][:: self.form.order]

    def row(self, n: int, most: int, home: int, shares: tuple[int, ...]) -> Floats:
        """A distribution whose support is nearly everything, or one outcome where mass is moved as a whole."""
        if shares is WHOLE:
            return np.eye(n)[self.byte() % n]
        weights = [self.byte() % 16 for _ in range(n)]
        units = [FINE * weight // (sum(weights) + 1) for weight in weights]
        units[home] += FINE - sum(units)
        return np.array(units) / FINE


def _cases(read: Reader, forms: tuple[Form, ...]) -> Callable[[Variant], st.SearchStrategy[Case]]:
    return lambda variant: st.sampled_from(forms).map(lambda form: read(SizedTape(form), variant))


def sized(law: Law, read: Reader, forms: tuple[Form, ...]) -> Law:
    """The law on problems of the forms."""
    return replace(
        law,
        name=f"{law.name}, sized",
        statement=f"{law.statement}; with many states, actions and steps",
        cases=_cases(read, forms),
        after=(*law.after, law.name),
    )


def read_path(tape: Tape, variant: Variant) -> Case:
    """A run, some steps of which end an episode."""
    return read_run(tape, variant, ends=True)


def _residual(variant: Variant, mdp: MDP, uncertainty_set: UncertaintySet) -> Finding | None:
    """|TQ − Q| <= (1 + gamma)|Q − Q*|: a table near Q* is nearly left alone by T, which is evaluated in rationals."""
    Q = np.array(variant.make(mdp, uncertainty_set), dtype=np.float64)
    if Q.shape != mdp.cost.shape or not np.isfinite(Q).all():
        return Finding("Q*", Q.tolist(), f"{mdp.cost.shape[0]} x {mdp.cost.shape[1]} finite numbers")
    image = exact_backup(mdp, uncertainty_set, Q)
    allowed = (1.0 + mdp.gamma) * planner.promised(variant, mdp, Q) + UNIT * float(np.abs(image).max())
    return compared(Q, image, allowed, "Q", after=" against TQ", columns=("Q", "TQ"))


RESIDUAL = Law(
    "optimum, sized",
    ("planner",),
    "optimal",
    "|TQ − Q| <= (1 + gamma)·accuracy, T in rationals; with many states and actions",
    _cases(planner.read, WIDE),
    _residual,
    after=("optimum",),
)


def _named(laws: tuple[Law, ...], name: str) -> Law:
    return next(law for law in laws if law.name == name)


LAWS = (
    sized(_named(support.LAWS, "support value"), support.read, WIDE),
    sized(_named(support.LAWS, "support rows"), support.read_rows, WIDE),
    sized(_named(operator.LAWS, "bellman backup"), operator.read, WIDE),
    RESIDUAL,
    sized(sampler.PATH, sampler.read, WIDE + LONG),
    sized(_named(linear.LAWS, "TDC step"), read_path, WIDE + LONG),
    sized(_named(linear.LAWS, "GTD2 step"), read_path, WIDE + LONG),
)
