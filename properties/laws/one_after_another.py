"""The laws of functions on cases that differ in one argument, asked one after another.

A law judges one case at a time, and a function that keeps its answers under a part of its arguments is right in each.
So the case is asked first, then its neighbours: the same costs with another kernel, the same kernel with other costs,
another discount, another radius, another metric or other bounds, other values, another policy, another smooth maximum.
Then come neighbours that hardly differ, which a key of rounded numbers takes for the case. The judge is that of the law
itself.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from properties.cases.case import LawCase
from properties.cases.choices import Reader, Seeded, radii_of
from properties.cases.scope import OutOfScope
from properties.cases.sources import Large
from properties.judging.verdict import Finding
from properties.kinds.average_cost_planner import average_case
from properties.kinds.objective import objective_case
from properties.kinds.operator import operator_case
from properties.kinds.planner import planner_case
from properties.kinds.policy_gradient import gradient_case
from properties.kinds.sampler import sampler_case
from properties.kinds.smoothed_operator import smoothed_case
from properties.kinds.support import support_case
from properties.laws import (
    average_cost_planner,
    objective,
    operator,
    planner,
    policy_gradient,
    policy_planner,
    sampler,
    smoothed_operator,
    support,
    value_planner,
)
from properties.laws.law import Law
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.smoothing import LogSumExp, Mellowmax

CASES = 8
CLOSE = 2.0**-22
QUICK = 0.5
"""The largest discount of a model that has close neighbours: planners take long for larger ones."""
REVERSED = {"Q": "values", "V": "values", "v": "values", "features": "features"}
"""Fields with a row for each state, in any order, and their names."""


def neighbours(case: Any, variant: Variant) -> Iterator[tuple[str, Any]]:
    """(the name of the change, the changed case) for each argument in turn."""
    smoothings = () if variant.options.get("smoothing") else (LogSumExp, Mellowmax)
    chosen: Any = getattr(case, "uncertainty_set", None)
    if hasattr(case, "mdp"):
        mdp: MDP = case.mdp
        if chosen is None or set(chosen.axes) <= {"radius"}:
            yield "other successors", replace(case, mdp=MDP(mdp.P[:, :, ::-1], mdp.cost, mdp.gamma))
        yield "other costs", replace(case, mdp=MDP(mdp.P, mdp.cost[::-1], mdp.gamma))
        yield "another discount", replace(case, mdp=MDP(mdp.P, mdp.cost, mdp.gamma / 2.0 or 0.5))
    if hasattr(case, "p") and set(chosen.axes) <= {"radius"}:
        yield "another row", replace(case, p=case.p[..., ::-1])
    if np.ndim(getattr(chosen, "radius", [])) == 0:
        # The largest of the levels at which the set is tested: planners of the average cost need long for small ones.
        levels = [r for r in radii_of(variant, type(chosen)) if isinstance(r, float) and r != chosen.radius]
        if levels:
            yield "another radius", replace(case, uncertainty_set=chosen.with_radius(max(levels)))
    if chosen is not None and np.ndim(getattr(chosen, "radius", 0.0)) == 0:
        # What a set has beside its radius: a metric, bounds, restart states, or whether mass stays in the support.
        rows = case.p if hasattr(case, "p") else case.mdp.P
        for place in (0, -1):
            beside = chosen.choose(itemgetter(place), getattr(chosen, "radius", 0.0), rows, np.zeros(rows.shape[-1]))
            for changed in (beside, *_with_one_field(chosen, beside)):
                if changed != chosen:
                    yield "another set of the same radius", replace(case, uncertainty_set=changed)
    for name, meaning in REVERSED.items():
        if hasattr(case, name):
            yield f"other {meaning}", replace(case, **{name: getattr(case, name)[::-1]})
    if hasattr(case, "policy"):
        yield "another policy", replace(case, policy=case.policy[:, ::-1])
    if hasattr(case, "start") and hasattr(case, "mdp"):
        yield "another start", replace(case, start=(case.start + 1) % case.mdp.n_states)
    if hasattr(case, "theta"):
        yield "another theta", replace(case, theta=2.0 * case.theta)
    if hasattr(case, "smoothing"):
        varrho = case.smoothing.varrho
        yield "another varrho", replace(case, smoothing=replace(case.smoothing, varrho=varrho / 2.0))
        for other in smoothings:
            yield "another smooth maximum", replace(case, smoothing=other(varrho))


def _with_one_field(chosen: Any, beside: Any) -> Iterator[Any]:
    """The set with one of several fields as another set has it, where there is such a set."""
    for name in chosen.axes if len(chosen.axes) > 1 else ():
        with suppress(ValueError):
            yield replace(chosen, **{name: getattr(beside, name)})


def close_neighbours(case: Any) -> Iterator[tuple[str, Any]]:
    """The same, each argument moved by a share of it that a rounding to six digits loses.

    The radius is not: a set of a user's is asked for at its own radii.
    """
    chosen: Any = getattr(case, "uncertainty_set", None)
    free = chosen is None or set(chosen.axes) <= {"radius"}
    if hasattr(case, "mdp"):
        mdp: MDP = case.mdp
        if mdp.gamma > QUICK:
            return
        if free:
            yield "close successors", replace(case, mdp=MDP(_mixed(mdp.P), mdp.cost, mdp.gamma))
        yield "close costs", replace(case, mdp=MDP(mdp.P, (1.0 - CLOSE) * mdp.cost, mdp.gamma))
        yield "a close discount", replace(case, mdp=MDP(mdp.P, mdp.cost, (1.0 - CLOSE) * mdp.gamma))
    if hasattr(case, "p") and free:
        yield "a close row", replace(case, p=_mixed(case.p))
    for name in ("Q", "V", "v", "theta"):
        if hasattr(case, name):
            yield f"a close {name}", replace(case, **{name: (1.0 - CLOSE) * getattr(case, name)})


def _mixed(rows: np.ndarray) -> np.ndarray:
    """The rows, and a little of them reversed."""
    return np.asarray((1.0 - CLOSE) * rows + CLOSE * rows[..., ::-1])


def _one_after_another(law: Law, read: Reader) -> Law:
    """The law on a few cases and their neighbours."""

    def cases(variant: Variant) -> Sequence[LawCase]:
        return [read(Seeded(seed), variant) for seed in range(CASES)]

    def judge(variant: Variant, case: LawCase) -> Finding | None:
        if law.judge(variant, case) is not None:
            return None  # the law itself says so
        for what, other in chain(neighbours(case, variant), close_neighbours(case)):
            with suppress(OutOfScope):
                finding: Finding | None = law.judge(variant, other)
                if finding is not None:
                    return replace(finding, what=f"then with {what}: {finding.what}")
        return None

    return replace(
        law,
        name=f"{law.name}, one after another",
        statement=f"{law.statement}; asked for cases that differ in one argument, one after another",
        cases=Large(read, (), others=cases),
        judge=judge,
        after=(*law.after, law.name),
    )


def _named(laws: tuple[Law, ...], name: str) -> Law:
    return next(law for law in laws if law.name == name)


LAWS = (
    _one_after_another(_named(support.LAWS, "support value"), support_case),
    _one_after_another(_named(operator.LAWS, "bellman backup"), operator_case),
    _one_after_another(_named(planner.LAWS, "optimum"), planner_case),
    _one_after_another(_named(value_planner.LAWS, "optimal value"), planner_case),
    _one_after_another(_named(policy_planner.LAWS, "optimal policy"), planner_case),
    _one_after_another(_named(average_cost_planner.LAWS, "average cost"), average_case),
    _one_after_another(_named(smoothed_operator.LAWS, "smoothed backup"), smoothed_case),
    _one_after_another(_named(policy_gradient.LAWS, "policy gradient"), gradient_case),
    _one_after_another(_named(objective.LAWS, "objective"), objective_case),
    _one_after_another(_named(objective.LAWS, "tracked weights"), objective_case),
    _one_after_another(_named(objective.LAWS, "objective gradient"), objective_case),
    _one_after_another(sampler.PATH, sampler_case),
)
