"""Planners on models that are hard to solve (`cases.hard_models`), each judged by the first law of its kind."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from properties.cases.choices import First, Level, Reader, SetChoice, radii_of
from properties.cases.hard_models import (
    SHARES,
    hard_models,
    late,
    nature_relay,
    overtaken,
    relay,
    ring,
    robust_relay,
    shelters,
    small_gains,
    twins,
)
from properties.cases.scope import Scope
from properties.cases.sources import Large
from properties.judging.verdict import Finding
from properties.kinds.average_cost_planner import LEAST, average_case
from properties.kinds.planner import PlannerCase, planner_case
from properties.laws import average_cost_planner, planner, policy_planner, value_planner
from properties.laws.law import Law
from properties.laws.rounding import stated_accuracy
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sets import L1, TotalVariation, UncertaintySet

LONG = 0.99
"""The longest discount for every set."""
TURNING = 0.25
"""The smallest radius at which the nominal and the robust policy of a robust relay differ in every state."""
SHARES_MOVED: dict[type[UncertaintySet], float] = {TotalVariation: 1.0, L1: 0.5}
"""Sets that move the lowest values to the top, and the share that they move as a part of their radius."""
NEAREST = 2.0**-30
"""How near twins are for a planner that is right to rounding."""
SHORT = 0.1
"""The largest radius at which ten steps of a relay are worth their cost."""
SWEEPS = (16, 64)
"""After how many the worst state is another one."""


def _discounted(variant: Variant) -> Sequence[PlannerCase]:
    """The hard models with every set of the variant at its smallest radius: nature shortens horizons.

    At radius 0 all sets are one, so those of the longest horizons are asked for the first set alone. The robust relay
    takes the smallest radius at which it is one, the relay of nature the largest.
    """
    cases = []
    gammas = Scope.of(variant).gammas
    near = twins(_gap(variant), max(gammas or (0.9,)))
    for place, kind in enumerate(variant.sets):
        radius = min(_numbers(radii_of(variant, kind)))
        models = [*([] if place else [near]), *hard_models(gammas)]
        cases += [_case(mdp, kind, radius) for mdp in models if not place or mdp.gamma <= LONG]
        turning = [level for level in _numbers(radii_of(variant, kind)) if TURNING <= level <= 0.5]
        if turning and (gammas is None or LONG in gammas):
            cases += [_case(mdp, kind, min(turning)) for mdp in (robust_relay(min(turning), LONG), shelters(LONG))]
        restarting = [level for level in _numbers(radii_of(variant, kind)) if SHORT <= level <= 0.5]
        if restarting and (gammas is None or LONG in gammas):
            cases += [_case(overtaken(n, min(restarting), LONG), kind, min(restarting)) for n in SWEEPS]
        share = SHARES_MOVED.get(kind, 0.0)
        moving = [level for level in _numbers(radii_of(variant, kind)) if SHORT <= share * level <= 0.5]
        if moving and (gammas is None or LONG in gammas):
            cases += [_case(nature_relay(share * max(moving), LONG), kind, max(moving))]
    return cases


def _average(variant: Variant) -> Sequence[PlannerCase]:
    """The same at the smallest radius that is asked for: with a radius R the horizon is 1/R, as with gamma = 1 − R."""
    cases = []
    for kind in variant.sets:
        given = variant.options.get("radii", (LEAST,))
        radius = min((level for level in given if level >= LEAST), default=1.0)
        gamma = 1.0 - radius
        models = [late(0, gamma), late(0, gamma, SHARES[1]), late(12, gamma), ring(9, gamma), ring(2, gamma)]
        models += [overtaken(n, 0.0, gamma) for n in SWEEPS if gamma]
        models += [twins(_gap(variant), gamma), small_gains(gamma), *([relay(gamma=gamma)] if radius <= SHORT else [])]
        cases += [_case(mdp, kind, radius) for mdp in models]
    return cases


def _gap(variant: Variant) -> float:
    """Four times the accuracy: the mean of two values so far apart is not accurate."""
    return min(max(4.0 * stated_accuracy(variant.options, 1.0), NEAREST), 0.5)


def _numbers(levels: Sequence[Level]) -> list[float]:
    return [level for level in levels if isinstance(level, float)]


def _case(mdp: MDP, kind: type[UncertaintySet], radius: float) -> PlannerCase:
    S = mdp.n_states
    chosen = First().uncertainty_set(SetChoice(kind, radius), np.eye(S), np.arange(float(S)))
    return PlannerCase(mdp=mdp, uncertainty_set=chosen)


def _hard(law: Law, read: Reader, cases: Callable[[Variant], Sequence[PlannerCase]]) -> Law:
    def judge(variant: Variant, case: PlannerCase) -> Finding | None:
        """The judge of the law, which asks for other radii where the variant is for them: here it is for this one."""
        options = {**variant.options, "radii": (float(getattr(case.uncertainty_set, "radius", 0.0)),)}
        finding: Finding | None = law.judge(replace(variant, options=options), case)
        return finding

    return replace(
        law,
        judge=judge,
        name=f"{law.name}, hard",
        statement=f"{law.statement}; where the best action appears late, gains little, or depends on other states,"
        " and where states are nearly alike",
        cases=Large(read, (), others=cases),
        after=(*law.after, law.name),
    )


LAWS = (
    _hard(planner.LAWS[0], planner_case, _discounted),
    _hard(value_planner.LAWS[0], planner_case, _discounted),
    _hard(policy_planner.LAWS[0], planner_case, _discounted),
    _hard(average_cost_planner.LAWS[0], average_case, _average),
)
