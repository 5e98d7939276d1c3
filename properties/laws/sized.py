"""The same laws on problems of size: many states and actions, long rows, and runs of a thousand steps.

The search tries hundreds of tiny problems, because they are quick, and what they show is small enough to read. But a
slip may need seventeen states, nine successors or the thousandth step: a block of a fast path, a counter that
overflows, a buffer that is full. A handful of problems, always the same, is enough to see those.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from properties.cases.tape import COSTS, PROJECTIONS, RADII, SCALES, SMOOTHINGS, VALUES, VARRHOS, WHOLE, Tape
from properties.judging.verdict import Finding
from properties.laws import linear, operator, planner, sampler, support
from properties.laws.comparison import compared
from properties.laws.law import Case, Law
from properties.laws.learning import read_run
from properties.laws.operator import exact_backup
from properties.laws.rounding import UNIT
from robust_core import StepSize, constant, per_visit, polynomial
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import UncertaintySet
from robust_core.validate import Floats

# Probabilities of 40 binary digits: float32 would lose some.
FINE = 1 << 40
COLUMNS = 6
# Values that float16 and float32 keys, or a rounding to eight decimals, take for equal.
NEAR = 2.0**-28
Reader = Callable[[Tape, Variant], Case]


@dataclass(frozen=True)
class Form:
    """The sizes of a problem, its discount, scale and radius; a path of `steps` is walked `times` over.

    `order` is that of the values along the states: 1 rises, so that the worst is the last, −1 falls, 0 is as drawn;
    a `flat` start is zero everywhere, with no cost below it; in a `near` one equal values differ a little. `kind` is
    the set's place among those of the variant; a kernel that may be `sparse` is as the form has it. The smooth
    maximum and the radius of projection are drawn where the form has none.
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
    near: bool = False
    kind: int | None = None
    sparse: bool = True
    smoothing: type[Any] | None = None
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
# Functions are cheap: more states and actions, values in every order, and near ties among them.
_HALF: dict[str, Any] = {"steps": 30, "times": 1, "step_size": constant(0.5), "plain": constant(0.125)}
FUNCTIONS = tuple(
    replace(form, near=True)
    for form in (
        form_of(17, 5, 1, order=0, **_HALF),
        form_of(17, 5, 1, **_HALF),
        form_of(40, 9, 1, numbers=(1.0 - 2.0**-14, 2.0**40, 0.75), order=-1, **_HALF),
        form_of(70, 18, 1, **_HALF),
    )
)
# A planner that iterates needs 1/(1−gamma) sweeps for each digit, each over all pairs.
PLANNED = (
    form_of(17, 5, 1, numbers=(0.99, 1.0, 0.25), **_HALF),
    form_of(40, 9, 1, numbers=(0.99, 2.0**40, 0.75), **_HALF),
)
# Values of moderate size, so that every state counts in a smooth maximum, and a ball so small that steps lead out of
# it; 18 states and nine features are more than a block of sixteen or eight, seventy more than one of 64.
SMOOTH = tuple(
    replace(form_of(states, 2, 9, numbers=(0.875, 2.0**-8, 0.25), **_HALF), smoothing=kind, projection=K)
    for states, kind, K in product((18, 70), SMOOTHINGS, (np.inf, 2.0**-4))
)
ENDLESS = (form_of(1, 1, 1, steps=20, times=250, step_size=_SLOW, plain=_SLOW),)
STORAGES = (False, True)
# (states, discount): the second has a horizon of 4096 steps, which two states make cheap.
RINGS = ((9, 0.99), (2, 1.0 - 2.0**-12))


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
        """One of the options, but no zero where there is a choice; scale, radius and smoothing are the form's."""
        if options is SCALES:
            return self.form.scale
        if options is RADII:
            return self.form.radius
        if options is PROJECTIONS and self.form.projection is not None:
            return self.form.projection
        if self.form.smoothing is not None and (options is SMOOTHINGS or options is VARRHOS):
            return self.form.smoothing if options is SMOOTHINGS else VARRHOS[0]
        chosen = [option for option in options if option] or list(options)
        return chosen[self.byte() % len(chosen)]

    def size(self, of: str) -> int:
        """As the form has it."""
        return self.form.sizes[of]

    def discount(self, gammas: tuple[float, ...]) -> float:
        """As the form has it."""
        return self.form.gamma

    def sparse(self) -> bool:
        """As the form has it."""
        return self.form.sparse

    def set_kind(self, variant: Variant) -> type[UncertaintySet]:
        """As the form has it; what follows on the tape is the same for every kind."""
        drawn = super().set_kind(variant)
        return drawn if self.form.kind is None else variant.sets[self.form.kind]

    def length(self, steps: int, repeats: tuple[int, ...]) -> tuple[int, int]:
        """As the form has it."""
        return self.form.steps, self.form.times

    def step_size(self, *, visits: bool) -> StepSize:
        """As the form has it."""
        return self.form.step_size if visits else self.form.without_visits

    def blank(self) -> bool:
        """As the form has it."""
        return self.form.flat

    def array(self, shape: tuple[int, ...], levels: tuple[float, ...]) -> Floats:
        """Levels, zeros among them; values are in the form's order."""
        drawn = [levels[self.byte() % len(levels)] for _ in range(int(np.prod(shape)))]
        block = np.array(drawn).reshape(shape)
        if levels is VALUES and self.form.near:
            block = block + NEAR * np.argsort([self.byte() for _ in drawn], kind="stable").reshape(shape)
            block[block.reshape(len(block), -1).min(axis=1).argmax()] += 1.0
        if levels is COSTS and self.form.flat:
            return np.abs(block)
        if levels is not VALUES or not self.form.order:
            return block
        return block[np.argsort(block.reshape(len(block), -1).min(axis=1), kind="stable")][:: self.form.order]

    def values(self, n: int, most: int) -> Floats:
        """Levels in the form's order."""
        return self.array((n,), VALUES)

    def row(self, n: int, most: int, home: int, shares: tuple[int, ...]) -> Floats:
        """A distribution whose support is nearly everything, or one outcome where mass is moved as a whole."""
        if shares is WHOLE:
            return np.eye(n)[self.byte() % n]
        weights = [self.byte() % 16 for _ in range(n)]
        units = [FINE * weight // (sum(weights) + 1) for weight in weights]
        units[home] += FINE - sum(units)
        return np.array(units) / FINE


def _cases(
    read: Reader, forms: tuple[Form, ...], storages: tuple[bool, ...] = (True,)
) -> Callable[[Variant], st.SearchStrategy[Case]]:
    """Every form with every set of the variant and every storage of the kernel."""

    def cases(variant: Variant) -> st.SearchStrategy[Case]:
        kinds = range(len(variant.sets)) or (None,)
        every = [replace(form, kind=kind, sparse=sparse) for form, kind, sparse in product(forms, kinds, storages)]
        return st.sampled_from(every).map(lambda form: read(SizedTape(form), variant))

    return cases


def sized(law: Law, read: Reader, forms: tuple[Form, ...], *, storages: tuple[bool, ...] = (True,)) -> Law:
    """The law on problems of the forms."""
    return replace(
        law,
        name=f"{law.name}, sized",
        statement=f"{law.statement}; with many states, actions and steps",
        cases=_cases(read, forms, storages),
        after=(*law.after, law.name),
    )


def in_turn(laws: tuple[Law, ...]) -> tuple[Law, ...]:
    """The sized laws, each of which waits for the sized forms of what its law waits for, where they come before it."""
    found: list[Law] = []
    for law in laws:
        before = {other.name for other in found}
        waits = [name for earlier in law.after if (name := f"{earlier}, sized") in before]
        found.append(replace(law, after=(*law.after, *waits)))
    return tuple(found)


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


def _ring(states: int, gamma: float, uncertainty_set: UncertaintySet) -> Case:
    """One after the other for ever, one of them at a cost: nothing mixes, so each digit takes all its sweeps."""
    P = np.roll(np.eye(states), 1, axis=1)[:, None, :]
    return {"mdp": MDP(P, np.eye(states)[:, :1], gamma), "uncertainty_set": uncertainty_set}


def _planned(variant: Variant) -> st.SearchStrategy[Case]:
    """Models of size, and rings of long horizon for every set at its smallest radius."""
    radius = min(variant.options.get("radii", RADII))
    kinds: tuple[Any, ...] = variant.sets
    rings = [_ring(states, gamma, kind(radius)) for (states, gamma), kind in product(RINGS, kinds)]
    return st.one_of(_cases(planner.read, PLANNED, STORAGES)(variant), st.sampled_from(rings))


RESIDUAL = Law(
    "optimum, sized",
    ("planner",),
    "optimal",
    "|TQ − Q| ≤ (1 + γ)·accuracy, T in rationals; with many states and actions",
    _planned,
    _residual,
    after=("optimum",),
)


def _named(laws: tuple[Law, ...], name: str) -> Law:
    return next(law for law in laws if law.name == name)


LAWS = in_turn(
    (
        sized(_named(support.LAWS, "support value"), support.read, FUNCTIONS),
        sized(_named(support.LAWS, "support rows"), support.read_rows, FUNCTIONS),
        sized(_named(operator.LAWS, "bellman backup"), operator.read, FUNCTIONS, storages=STORAGES),
        RESIDUAL,
        sized(sampler.PATH, sampler.read, WIDE + LONG, storages=STORAGES),
        sized(_named(linear.LAWS, "TDC step"), read_path, WIDE + LONG + SMOOTH + ENDLESS),
        sized(_named(linear.LAWS, "GTD2 step"), read_path, WIDE + LONG + SMOOTH + ENDLESS),
    )
)
