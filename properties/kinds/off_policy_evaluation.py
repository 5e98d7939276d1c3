"""Learners of the values of a policy, linear in features, from transitions of another policy."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from properties.cases.case import Case
from properties.cases.choices import FEATURES, Choices
from properties.cases.entry_rules import RULES, SMALLEST, check_full_policy, check_number, require
from properties.cases.runs import LEARNER, USUAL, Beginning, RunOptions, schedule
from properties.kinds import Canary, Example, KindOfVariant, kind_of
from properties.kinds.linear_evaluation import LinearRun, inside
from robust_core.problem import Variant
from robust_core.validate import Floats

SHARES = (1, 2, 4, 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class OffPolicyRun(LinearRun):
    """A run on the actions of a `behaviour` that takes every action; `initial` is (theta, omega)."""

    behaviour: Floats
    second_projection: float | None = None
    weighs_actions: ClassVar[bool] = True

    def largest_weight(self) -> float:
        """The largest importance ratio, or its inverse."""
        return float(max(1.0, (self.policy / self.behaviour).max()))

    def walked_policy(self) -> Floats:
        """The policy whose actions the path has."""
        return self.behaviour


def off_policy_run(choices: Choices, variant: Variant, options: RunOptions = USUAL) -> OffPolicyRun:
    """A problem with features, two policies and a path of the actions of the second."""
    begin = Beginning.choose(choices, variant, options)
    step_size = schedule(choices, variant, visits=False)
    policy, behaviour = begin.policy(choices), choose_behaviour(choices, *begin.mdp.cost.shape)
    N = choices.size("features")
    K, second = (choices.projection() if options.projected else None for _ in range(2))
    smallest = min(np.inf if K is None else K, np.inf if second is None else second)
    run = OffPolicyRun(
        mdp=begin.mdp,
        uncertainty_set=begin.uncertainty_set,
        step_size=step_size,
        policy=policy,
        behaviour=behaviour,
        features=choices.array((begin.mdp.n_states, N), FEATURES),
        initial=inside(choices.values((2, N)), smallest),
        smoothing=choices.smoothing(variant),
        second_step_size=schedule(choices, variant, visits=False),
        projection=K,
        second_projection=second,
        path=begin.path(choices, behaviour),
        tables=2,
    )
    return replace(run, features=choices.faint(run.features))


def choose_behaviour(choices: Choices, S: int, A: int) -> Floats:
    """Every action with a probability of few binary digits."""
    rows = np.array([[choices.any_of(SHARES) for _ in range(A)] for _ in range(S)])
    total = 1 << int(rows.sum(axis=1).max() - 1).bit_length()
    rows[:, 0] += total - rows.sum(axis=1)
    return np.asarray(rows / total)


def check_path(name: str, case: Case) -> None:
    """Raise unless it is a path of the behaviour."""
    check_full_policy("behaviour", case)
    RULES[name](name, case | {"policy": case["behaviour"]})


def _second_projection(name: str, case: Case) -> None:
    check_number(name, case[name])
    require(case[name] >= SMALLEST, name, "be positive", case[name])
    start = case["initial"]
    require(inside(start, case[name]) is start, "initial", f"lie well within the ball of radius {case[name]!r}", start)


_LINEAR = kind_of("linear evaluation")
KIND = KindOfVariant(
    case=OffPolicyRun,
    generate=off_policy_run,
    promises={
        "mean update": _LINEAR.promises["mean update"],
        "fixed point": _LINEAR.promises["fixed point"],
        "projected onto two balls": "each step is projected: theta onto the ball of radius projection, omega onto that"
        " of radius second_projection",
    },
    canary=Canary("off_policy_evaluation:VANILLA", ("mean update, linear", "mean update, equal policies")),
    example=Example(
        called=f"{LEARNER}; `problem.policy` is to be evaluated, the actions are those of `problem.behaviour`, which"
        " takes every action; `problem.initial` and the estimate are the pair (theta, omega), which are projected onto"
        " balls of radius `projection` and `second_projection`",
        right="self.ratio(step) * (delta * phi[step.s] - tracked * gradient)",
        wrong="(self.ratio(step) * delta * phi[step.s] - tracked * gradient)",
    ),
    learner=True,
    rules={
        **_LINEAR.rules,
        "behaviour": check_full_policy,
        "path": check_path,
        "second_projection": _second_projection,
    },
    learning=("mean update",),
    visits=False,
    parts=2,
)
