"""Learners of the values of a policy that are linear in features."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from oracles.linear.msprbe import MSPRBE
from properties.cases.case import Case
from properties.cases.choices import FEATURES, Choices
from properties.cases.entry_rules import SMALLEST, check_floats, check_number, check_step_size, require
from properties.cases.runs import (
    LEARNER,
    TABULAR_PROMISES,
    USUAL,
    Beginning,
    RunOptions,
    schedule,
    table_axes,
    table_count,
)
from properties.kinds import Canary, Example, KindOfVariant
from properties.kinds.evaluation import EvaluationRun
from properties.kinds.objective import terms_of
from robust_core import StepSize
from robust_core.problem import Variant
from robust_core.smoothing import Smoothing
from robust_core.validate import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearRun(EvaluationRun):
    """A run with features, with a ball of projection or without; `initial` is theta, or (theta, omega)."""

    features: Floats
    smoothing: Smoothing
    second_step_size: StepSize
    projection: float | None = None
    weighs_actions: ClassVar[bool] = False
    """Whether a learner may use the probabilities of actions."""

    def largest_weight(self) -> float:
        """The largest weight that a learner may give to a transition."""
        return 1.0

    def walked_policy(self) -> Floats:
        """The policy whose actions the path has."""
        return self.policy

    def objective(self) -> MSPRBE:
        """J, by the oracle."""
        return MSPRBE(
            self.mdp,
            self.policy,
            self.features,
            **terms_of(self.uncertainty_set, self.smoothing),
            behaviour=None if (walked := self.walked_policy()) is self.policy else walked,
        )

    def weights(self, mu: Floats) -> Floats:
        """The probabilities of pairs under the stationary distribution that the objective has."""
        return np.asarray(mu[:, None] * self.walked_policy())

    def apart(self) -> Self:
        """The case with a theta at which J has a gradient."""
        return self

    def values(self, theta: Floats) -> tuple[Floats, Floats]:
        """(the value of each pair, the value of each state)."""
        V = np.asarray(self.features @ theta)
        return np.repeat(V[:, None], self.mdp.n_actions, axis=1), V


def linear_run(choices: Choices, variant: Variant, options: RunOptions = USUAL) -> LinearRun:
    """A problem with features, a policy and a path of its actions."""
    begin = Beginning.choose(choices, variant, options)
    step_size = schedule(choices, variant, visits=False)
    policy = begin.policy(choices)
    N = choices.size("features")
    K = choices.projection() if options.projected else None
    features = choices.array((begin.mdp.n_states, N), FEATURES)
    theta = choices.values((*table_axes(variant), N))
    smoothing, second = choices.smoothing(variant), schedule(choices, variant, visits=False)
    path = begin.path(choices, policy)
    return LinearRun(
        mdp=begin.mdp,
        uncertainty_set=begin.uncertainty_set,
        step_size=step_size,
        initial=theta if K is None else inside(theta, K),
        policy=policy,
        features=choices.faint(features),
        smoothing=smoothing,
        second_step_size=second,
        projection=K,
        path=path,
        tables=table_count(variant),
    )


def inside(theta: Floats, K: float) -> Floats:
    """theta halved until it is well inside the ball of radius K: a projection must leave its bits alone."""
    while max(np.linalg.norm(part) for part in np.atleast_2d(theta)) > 0.75 * K:
        theta = theta / 2.0
    return theta


def _step_size(name: str, case: Case) -> None:
    check_step_size(name, case)
    require(case[name].clock != "visits", name, "not count visits, which linear evaluation has none of", case[name])


def _initial(name: str, case: Case) -> None:
    """Raise unless it is theta (N,), or (theta, omega)."""
    first = (case["tables"],) if "tables" in case else ()
    check_floats(name, case[name], (*first, case["features"].shape[-1]))


def _projection(name: str, case: Case) -> None:
    K = case[name]
    check_number(name, K)
    require(K >= SMALLEST, name, "be positive", K)
    start = case["initial"]
    require(inside(start, K) is start, "initial", f"lie well within the ball of radius {K!r}, the projection", start)


KIND = KindOfVariant(
    case=LinearRun,
    generate=linear_run,
    promises={
        "scale": TABULAR_PROMISES["scale"],
        "mean update": "under the stationary distribution the mean of the next (theta, omega), given the past, is the"
        " step options['expected'] (default: theta follows −½∇J at omega(theta), omega follows −C(omega −"
        " omega(theta))); the start (theta, omega) is free: options['tables'] = 2",
        "fixed point": "where delta is 0 on every transition, no step from (theta, 0) changes anything (the first one,"
        " without a promise of the step or its mean)",
        "TDC": "an update is a step of robust TDC (Algorithm 2)",
        "GTD2": "an update is a step of robust GTD2",
        "projected": "theta and omega never leave the ball of radius K",
        "rotation": "orthogonally changed features give the same values",
    },
    canary=Canary("linear:CORRECTION_SIGN", ("TDC step", "TDC drift")),
    example=Example(
        called=f"{LEARNER}; the estimate is the pair (theta, omega), and omega starts at 0",
        right="delta * phi[step.s] - tracked * gradient",
        wrong="delta * phi[step.s] + tracked * gradient",
    ),
    learner=True,
    learning=("mean update", "TDC", "GTD2"),
    visits=False,
    rules={"step_size": _step_size, "second_step_size": _step_size, "initial": _initial, "projection": _projection},
)
