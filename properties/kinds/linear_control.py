"""Learners of the optimal values that are linear in features of pairs of state and action."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from oracles.linear.greedy import GreedyMSPRBE
from properties.cases.case import Case
from properties.cases.choices import FEATURES, Choices
from properties.cases.entry_rules import check_floats, check_full_policy
from properties.cases.runs import LEARNER, USUAL, Beginning, Run, RunOptions, schedule, table_axes, table_count
from properties.kinds import Canary, Example, KindOfVariant, kind_of
from properties.kinds.objective import terms_of
from properties.kinds.off_policy_evaluation import check_path, choose_behaviour
from robust_core.learners.schedules import StepSize
from robust_core.problem import Variant
from robust_core.smoothing import Smoothing
from robust_core.validate import Floats

TRIED = 8
"""Moves of theta away from a tie of actions."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearControlRun(Run):
    """A run with features of pairs (S, A, N) on the actions of a behaviour; `initial` is theta, or (theta, omega)."""

    behaviour: Floats
    features: Floats
    smoothing: Smoothing
    second_step_size: StepSize
    weighs_actions: ClassVar[bool] = True

    def largest_weight(self) -> float:
        """The largest weight that a learner may give to a transition."""
        return 1.0

    def walked_policy(self) -> Floats:
        """The policy whose actions the path has."""
        return self.behaviour

    def objective(self) -> GreedyMSPRBE:
        """J, by the oracle."""
        return GreedyMSPRBE(
            self.mdp,
            self.behaviour,
            self.features,
            **terms_of(self.uncertainty_set, self.smoothing),
        )

    def weights(self, mu: Floats) -> Floats:
        """The probabilities of pairs under the stationary distribution that the objective has."""
        return mu.reshape(self.mdp.cost.shape)

    def apart(self) -> Self:
        """The case with a theta at which J has a gradient, if one is found near."""
        J, theta = self.objective(), self.initial[0] if self.tables else self.initial
        for k in range(TRIED):
            moved = theta + k * 0.375 / (1.0 + np.arange(len(theta)))
            if J.is_smooth(moved):
                return replace(self, initial=np.stack([moved, *self.initial[1:]]) if self.tables else moved)
        return self

    def values(self, theta: Floats) -> tuple[Floats, Floats]:
        """(the value of each pair, the value of each state)."""
        Q = np.asarray(self.features @ theta)
        return Q, Q.min(axis=1)


def linear_control_run(choices: Choices, variant: Variant, options: RunOptions = USUAL) -> LinearControlRun:
    """A problem with features of pairs, and a path of a behaviour."""
    begin = Beginning.choose(choices, variant, options)
    step_size = schedule(choices, variant, visits=False)
    behaviour = choose_behaviour(choices, *begin.mdp.cost.shape)
    N = choices.size("features")
    run = LinearControlRun(
        mdp=begin.mdp,
        uncertainty_set=begin.uncertainty_set,
        step_size=step_size,
        behaviour=behaviour,
        features=choices.array((*begin.mdp.cost.shape, N), FEATURES),
        initial=choices.values((*table_axes(variant), N)),
        smoothing=choices.smoothing(variant),
        second_step_size=schedule(choices, variant, visits=False),
        path=begin.path(choices, behaviour),
        tables=table_count(variant),
    )
    return replace(run, features=choices.faint(run.features))


def _features(name: str, case: Case) -> None:
    check_floats(name, case[name], (*case["mdp"].cost.shape, None))


_LINEAR = kind_of("linear evaluation")
KIND = KindOfVariant(
    case=LinearControlRun,
    generate=linear_control_run,
    promises={
        "semi-gradient": "given the past and the pair, the mean of the next theta is theta + alpha (TQ − Q)(s,a)"
        " psi(s,a), Q = psi·theta, T the robust backup of V = min_a Q; the maximum of V is the smooth one with"
        " options['smoothing']",
        "mean update": _LINEAR.promises["mean update"],
        "fixed point": _LINEAR.promises["fixed point"],
    },
    canary=Canary("linear_control:VANILLA", ("semi-gradient", "semi-gradient, deterministic")),
    example=Example(
        called=f"{LEARNER}; `problem.features` are psi[s, a], the actions are those of `problem.behaviour`; the"
        " estimate is theta, or with `options={'tables': 2}` the pair (theta, omega) of Greedy-GQ",
        right="R * V.max()",
        wrong="R * Q.max()",
    ),
    learner=True,
    rules={
        "step_size": _LINEAR.rules["step_size"],
        "second_step_size": _LINEAR.rules["second_step_size"],
        "behaviour": check_full_policy,
        "features": _features,
        "initial": _LINEAR.rules["initial"],
        "path": check_path,
    },
    learning=("semi-gradient", "mean update"),
    visits=False,
)
