"""The same laws on large instances (`cases.large`)."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, cast

import numpy as np

from properties.cases import runs
from properties.cases.choices import SMOOTHINGS, Choices, Reader
from properties.cases.large import Form, form_of, instances
from properties.cases.runs import Run
from properties.cases.scope import Scope
from properties.cases.sources import Generated, Large
from properties.judging.verdict import Finding
from properties.kinds.operator import operator_case
from properties.kinds.planner import PlannerCase, planner_case
from properties.kinds.policy_gradient import gradient_case
from properties.kinds.sampler import sampler_case
from properties.kinds.support import support_case
from properties.laws import (
    average_cost_learner,
    batch,
    linear,
    linear_control,
    linear_mean,
    mean_update,
    objective,
    operator,
    planner,
    policy_gradient,
    policy_planner,
    sampler,
    smoothed_operator,
    support,
)
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.operator import true_backup, where_known
from properties.laws.sampled_mean import sampled_mean
from robust_core import constant, per_visit, polynomial
from robust_core.mdp import MDP
from robust_core.problem import Kind, Variant
from robust_core.sets import Contamination, TotalVariation

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
# Step sizes that fall to 2^-34 or less: a floor of them, at which people stop.
_STEEP = 2.0**30
FALLING = form_of(
    3,
    2,
    2,
    steps=10,
    times=3,
    step_size=per_visit(1.0, rate=_STEEP, power=1.0),
    plain=polynomial(1.0, rate=_STEEP, power=1.0),
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
# Every state and action counts, for a small and for a large varrho too.
SMOOTHED = (*SMOOTH[:4:2], *(replace(form, varrho=varrho) for form in FUNCTIONS[:2] for varrho in (2.0**-20, 2.0**10)))
# A gradient solves systems of 1/(1−gamma); a rational stationary distribution of seventy states takes too long.
CHAINS = (
    form_of(17, 5, 9, **_HALF),
    form_of(18, 2, 9, numbers=(0.75, 2.0**-8, 0.75), order=-1, **_HALF),
)
# A long horizon, which some hundreds of steps do not reach.
HORIZON = (form_of(3, 2, 1, numbers=(0.99, 1.0, 2.0**-20), **_HALF),)
# Walks through more than 64 states.
MANY = replace(FUNCTIONS[3], steps=400)
# More states than a signed byte counts, seventeen actions and nine features.
BROAD = form_of(130, 17, 9, **_HALF)
# Ratios of nine actions.
ACTIONS = form_of(2, 9, 2, **_HALF)
# A history that is longer than a small memory; a learner that draws two steps of it has 1,681 pairs of draws.
HISTORY = (form_of(2, 2, 1, steps=40, times=1, step_size=_SLOW, plain=_SLOW),)
# Histories whose every step counts: many states, of which some were not visited for long; a thousand steps; one
# state that is visited again and again, where a trace that decays by 3/4 is near 4; and the end of a long episode
# through many states, all of which are forgotten.
LATE = (
    form_of(14, 1, 1, steps=64, times=1, step_size=constant(0.5), plain=constant(0.5)),
    form_of(3, 2, 1, steps=20, times=55, step_size=_SLOW, plain=_SLOW),
    form_of(1, 1, 1, numbers=(1.0 - 2.0**-7, 1.0, 2.0**-20), steps=61, times=1, step_size=_SLOW, plain=_SLOW),
    form_of(9, 1, 1, steps=52, times=1, step_size=constant(0.25), plain=constant(0.25)),
)
# Long runs with a free theta, and one that meets the ball of projection again and again.
LINEAR = (
    *WIDE,
    *SMOOTH,
    *(replace(form, projection=np.inf) for form in LONG),
    replace(LONG[1], projection=2.0**-4),
    replace(FALLING, projection=np.inf),
)
STORAGES = (False, True)
EXACT = (Contamination, TotalVariation)
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
    """|TQ − Q| <= (1 + gamma)|Q − Q*|: a table near Q* is nearly left alone by T, which is evaluated in rationals.

    Values of states are those of the table all of whose actions are alike.
    """
    mdp, uncertainty_set = case.mdp, case.uncertainty_set
    Q = np.array(variant.make(mdp, uncertainty_set), dtype=np.float64)
    by_state = uncertainty_set.by_state or variant.kind == "value planner"
    shape = mdp.cost.shape[:1] if by_state else mdp.cost.shape
    if Q.shape != shape or not np.isfinite(Q).all():
        return Finding("the solution", Q.tolist(), f"{' x '.join(map(str, shape))} finite numbers")
    if by_state and not uncertainty_set.by_state:
        tables, error = true_backup(mdp, uncertainty_set, np.repeat(Q[:, None], mdp.n_actions, axis=1))
        image = tables.min(axis=1)
    else:
        image, error = true_backup(mdp, uncertainty_set, Q)
    allowed = (1.0 + mdp.gamma) * planner.allowed_error(variant, mdp, Q) + error
    return compare(Q, where_known(image, Q), allowed, "Q", after=" against TQ", columns=("Q", "TQ"))


def _dear_end(choices: Choices, variant: Variant, read: Reader = planner_case) -> Any:
    """A model whose last state is the worst: it costs four times the largest cost more."""
    case: Any = read(choices, variant)
    cost = case.mdp.cost.copy()
    cost[-1] += 4.0 * np.abs(cost).max()
    dear = MDP(case.mdp.kernel, cost, case.mdp.gamma)
    return replace(case, mdp=dear) if Scope.of(variant).has(dear) else case


def _dear_start(choices: Choices, variant: Variant) -> Any:
    """A run whose theta has the largest value in the last state, by a feature that no other state has."""
    case: Any = linear_control.read(choices, variant)
    features, theta = case.features.copy(), case.initial.copy()
    features[..., -1] = 0.0
    features[-1] = np.eye(len(theta))[-1]
    theta[-1] = 64.0 * (np.abs(theta).max() or 1.0)
    return replace(case, features=features, initial=theta)


def _residual_law(
    kind: Kind, promise: str, after: str, letter: str, read: Reader = planner_case, forms: tuple[Form, ...] = PLANNED
) -> Law:
    return Law(
        f"{after}, large",
        (kind,),
        promise,
        f"|T{letter} − {letter}| ≤ (1 + γ)·accuracy, T in rationals; with many states and actions",
        Large(read, forms, STORAGES),
        _residual,
        after=(after,),
    )


def _named(laws: tuple[Law, ...], name: str) -> Law:
    return next(law for law in laws if law.name == name)


def _late_runs(variant: Variant) -> list[Run]:
    """The first runs with a long history whose sizes the options leave, for a law that samples."""
    allowed = [form for form in LATE if Scope.of(variant).has_sizes(form.sizes["states"], form.sizes["actions"])]
    return [cast(Run, make()) for make in instances(mean_update.read_late, allowed[:1], variant)]


def _late(law: Law, judge: Callable[..., Finding | None]) -> Law:
    """The law on large instances, judged after many of the steps of a run."""
    return replace(law, name=law.name.removesuffix("large") + "late", judge=judge)


def _again(laws: tuple[Law, ...], name: str, forms: tuple[Form, ...]) -> Law:
    """A law of small cases on large ones that are read in the same way."""
    law = _named(laws, name)
    return large(law, cast(Generated, law.cases).read, forms)


LAWS = in_turn(
    (
        replace(
            large(_named(support.LAWS, "support value"), support_case, FUNCTIONS),
            cases=Large(support_case, FUNCTIONS, others=support.hard_rows),
        ),
        large(_named(support.LAWS, "support rows"), support.read_many_rows, FUNCTIONS),
        replace(
            large(_named(operator.LAWS, "bellman backup"), operator_case, FUNCTIONS),
            cases=Large(operator_case, FUNCTIONS, STORAGES, others=operator.hard_backups),
        ),
        _residual_law("planner", "optimal", "optimum", "Q"),
        # A whole backup and the value of a policy are known for these sets alone: enclosing them takes too long.
        replace(
            _residual_law("value planner", "optimal value", "optimal value", "V", _dear_end, FUNCTIONS[1:2]), sets=EXACT
        ),
        replace(_again(policy_planner.LAWS, "optimal policy, close", PLANNED[:1]), sets=EXACT),
        _again(smoothed_operator.LAWS, "smoothed backup", SMOOTHED),
        replace(
            large(_named(policy_gradient.LAWS, "policy gradient"), gradient_case, CHAINS + HORIZON),
            cases=Large(partial(_dear_end, read=gradient_case), CHAINS + HORIZON, others=policy_gradient.near_worst),
        ),
        *(large(law, objective.read_large, CHAINS) for law in objective.LAWS[::2]),
        large(sampler.PATH, sampler_case, (*WIDE, *LONG, MANY), storages=STORAGES),
        large(_named(linear.LAWS, "TDC step"), RUNS, LINEAR),
        large(_named(linear.LAWS, "GTD2 step"), RUNS, LINEAR),
        large(_named(linear_mean.LAWS, "mean update, linear"), linear_mean.read_history, (*CHAINS[1:], ACTIONS)),
        _late(
            large(_named(linear_mean.LAWS, "mean update, linear"), linear_mean.read_history, LONG[1:]),
            linear_mean.late_mean,
        ),
        large(_named(linear_control.LAWS, "semi-gradient"), _dear_start, (*WIDE[:1], BROAD)),
        _late(
            large(_named(linear_control.LAWS, "semi-gradient"), linear_control.read, LONG),
            linear_control.late_semi_gradient,
        ),
        _again(average_cost_learner.LAWS, "relative update", (*WIDE, BROAD)),
        _late(_again(average_cost_learner.LAWS, "relative update", LONG), average_cost_learner.late_update),
        _again(mean_update.LAWS, "mean update", HISTORY),
        replace(
            _late(
                large(_named(mean_update.LAWS, "mean update"), mean_update.read_late, LATE),
                mean_update.late_mean_update,
            ),
            twin=partial(sampled_mean, cases=_late_runs),
        ),
        _again(batch.LAWS, "batch mean", (*WIDE[:1], *LONG)),
    )
)
