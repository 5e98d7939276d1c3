"""Laws of off-policy evaluation beside the mean update, which is that of linear evaluation (`linear_mean`).

Under the stationary distribution of the behaviour, r = pi(a|s)/behaviour(a|s), the mean of r delta phi is that of the
policy, and a term of the state alone may have the ratio or not: E[r|s] = 1. So the laws ask for means, never for a
form.
"""

from dataclasses import replace
from typing import cast

import numpy as np

from properties.cases import runs
from properties.cases.choices import Choices
from properties.cases.sources import Generated
from properties.judging.verdict import Finding
from properties.kinds.off_policy_evaluation import OffPolicyRun
from properties.laws.comparison import compare
from properties.laws.law import Law
from properties.laws.learning import advance, arrays, new_learner
from properties.laws.linear import COMPONENTS
from properties.laws.linear_mean import judge_mean, read_mean, tracking
from properties.laws.rounding import UNIT, linear_step_bound
from robust_core.problem import Kind, Variant
from robust_core.sets import Contamination

KIND: tuple[Kind, ...] = ("off-policy evaluation",)
BALLS = (0.5, 1.0, 0.25, 2.0, 4.0)
PARTS = ("theta", "omega")
TIMES = (1, 1, 8)
"""How many times a path is walked: some forty steps show balls that change."""


def _onto_ball(x: np.ndarray, K: float) -> np.ndarray:
    norm = float(np.linalg.norm(x))
    return x if norm <= K else x * (K / norm)


def _projected(variant: Variant, case: OffPolicyRun) -> Finding | None:
    """The first step with balls is the projection of the first step without, for every transition of the path."""
    free = replace(case, projection=None, second_projection=None)
    cost = float(np.abs(case.mdp.cost).max())
    theta, omega = case.initial
    bounds = linear_step_bound(case.features, theta, omega, cost, case.smoothing.varrho)
    for step in dict.fromkeys(map(tuple, case.path)):
        inside, outside = (arrays(advance(new_learner(variant, run), [step]).estimate()) for run in (case, free))
        for name, got, x, bound, K in zip(PARTS, inside, outside, bounds, _balls(case), strict=True):
            wanted = _onto_ball(x, K)
            # Both steps round, and a projection is a non-expansion.
            allowed = 4.0 * (case.largest_weight() * bound + UNIT * float(np.abs(wanted).max()))
            when = f" after one step from {step[0]} to {step[3]}, onto the ball of radius {K:g}"
            finding = compare(got, wanted, allowed, name, after=when, axes=COMPONENTS)
            if finding is not None:
                return finding
    return _stays_inside(variant, case)


def _balls(case: OffPolicyRun) -> tuple[float, float]:
    radii = case.projection, case.second_projection
    return cast(tuple[float, float], tuple(np.inf if K is None else K for K in radii))


def _stays_inside(variant: Variant, case: OffPolicyRun) -> Finding | None:
    learner = new_learner(variant, case)
    for number, step in enumerate(case.path):
        for name, x, K in zip(PARTS, arrays(advance(learner, [step]).estimate()), _balls(case), strict=True):
            allowed = K * (4 * case.features.shape[1] + 16) * UNIT
            norm = float(np.linalg.norm(x))
            if not norm <= K + allowed:
                return Finding(f"norm of {name} after step {number + 1}", norm, f"at most {K}", allowed)
    return None


def _read_balls(choices: Choices, variant: Variant) -> OffPolicyRun:
    """Large costs and small balls, of different sizes: many steps lead out of them, in long paths too."""
    case = cast(OffPolicyRun, runs.run(choices, variant, least=1, ends=False))
    first = choices.index(len(BALLS))
    second = (first + 1 + choices.index(len(BALLS) - 1)) % len(BALLS)
    K, other = BALLS[first], BALLS[second]
    start = case.initial
    while np.abs(start).max() > 0.25 * min(K, other):
        start = start / 2.0
    path = [*case.path] * choices.any_of(TIMES)
    return replace(case, projection=K, second_projection=other, initial=start, path=path)


def _read_equal(choices: Choices, variant: Variant) -> OffPolicyRun:
    """A case whose policy is that of the behaviour."""
    case = cast(OffPolicyRun, read_mean(choices, variant))
    case = replace(case, policy=case.behaviour)
    return case if case.path else cast(OffPolicyRun, tracking(case))


LAWS = (
    Law(
        "mean update, equal policies",
        KIND,
        "mean update",
        "the promised mean, where the behaviour is the policy itself: all ratios are 1",
        Generated(_read_equal),
        judge_mean,
        after=("start", "run purity"),
        unprojected=True,
        sets=(Contamination,),
    ),
    Law(
        "projection onto two balls",
        KIND,
        "projected onto two balls",
        "a first step is the projection of the step without balls, θ onto its own, ω onto the other; both stay there",
        Generated(_read_balls),
        _projected,
        after=("start", "run purity"),
    ),
)
