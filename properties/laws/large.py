"""The same laws on large instances (`cases.large`)."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from properties.cases import runs
from properties.cases.choices import SMOOTHINGS, Reader
from properties.cases.large import Form, form_of
from properties.cases.sources import Large
from properties.judging.verdict import Finding
from properties.kinds.operator import operator_case
from properties.kinds.planner import PlannerCase, planner_case
from properties.kinds.sampler import sampler_case
from properties.kinds.support import support_case
from properties.laws import linear, operator, planner, sampler, support
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.operator import true_backup, where_known
from robust_core import constant, per_visit, polynomial
from robust_core.problem import Variant

_SLOW = polynomial(1.0, rate=0.01, power=1.0)
# One state is the worst alone, the last one.
WIDE = tuple(
    replace(form, near=True)
    for form in (
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
        # As many actions as states: an axis that is taken for the other one.
        form_of(7, 7, 1, **_HALF),
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
    for states, kind, K in product((18, 70), SMOOTHINGS.values(), (np.inf, 2.0**-4))
)
# Long runs with a free theta, and one that meets the ball of projection again and again.
LINEAR = (
    *WIDE,
    *SMOOTH,
    *(replace(form, projection=np.inf) for form in LONG),
    replace(LONG[1], projection=2.0**-4),
)
STORAGES = (False, True)
RUNS: Reader = runs.run


def large(law: Law, read: Reader, forms: tuple[Form, ...], *, storages: tuple[bool, ...] = (True,)) -> Law:
    """The law on large instances of the forms."""
    return replace(
        law,
        name=f"{law.name}, large",
        statement=f"{law.statement}; with many states, actions and steps",
        cases=Large(read, forms, storages),
        after=(*law.after, law.name),
    )


def in_turn(laws: tuple[Law, ...]) -> tuple[Law, ...]:
    """The laws on large instances, each after those of the laws that its law waits for, where they come before it."""
    found: list[Law] = []
    for law in laws:
        before = {other.name for other in found}
        waits = [name for earlier in law.after if (name := f"{earlier}, large") in before]
        found.append(replace(law, after=(*law.after, *waits)))
    return tuple(found)


def _residual(variant: Variant, case: PlannerCase) -> Finding | None:
    """|TQ − Q| <= (1 + gamma)|Q − Q*|: a table near Q* is nearly left alone by T, which is evaluated in rationals."""
    mdp, uncertainty_set = case.mdp, case.uncertainty_set
    Q = np.array(variant.make(mdp, uncertainty_set), dtype=np.float64)
    shape = mdp.cost.shape[:1] if uncertainty_set.by_state else mdp.cost.shape
    if Q.shape != shape or not np.isfinite(Q).all():
        return Finding("Q*", Q.tolist(), f"{' x '.join(map(str, shape))} finite numbers")
    image, error = true_backup(mdp, uncertainty_set, Q)
    allowed = (1.0 + mdp.gamma) * planner.allowed_error(variant, mdp, Q) + error
    return compare(Q, where_known(image, Q), allowed, "Q", after=" against TQ", columns=("Q", "TQ"))


RESIDUAL = Law(
    "optimum, large",
    ("planner",),
    "optimal",
    "|TQ − Q| ≤ (1 + γ)·accuracy, T in rationals; with many states and actions",
    Large(planner_case, PLANNED, STORAGES),
    _residual,
    after=("optimum",),
)


def _named(laws: tuple[Law, ...], name: str) -> Law:
    return next(law for law in laws if law.name == name)


LAWS = in_turn(
    (
        large(_named(support.LAWS, "support value"), support_case, FUNCTIONS),
        large(_named(support.LAWS, "support rows"), support.read_rows, FUNCTIONS),
        large(_named(operator.LAWS, "bellman backup"), operator_case, FUNCTIONS, storages=STORAGES),
        RESIDUAL,
        large(sampler.PATH, sampler_case, WIDE + LONG, storages=STORAGES),
        large(_named(linear.LAWS, "TDC step"), RUNS, LINEAR),
        large(_named(linear.LAWS, "GTD2 step"), RUNS, LINEAR),
    )
)
