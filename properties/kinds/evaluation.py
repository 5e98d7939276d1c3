"""Learners of the values of a policy."""

from dataclasses import dataclass

import numpy as np

from properties.cases.case import Case
from properties.cases.choices import Choices
from properties.cases.entry_rules import check_floats
from properties.cases.runs import (
    LEARNER,
    TABULAR_LEARNING,
    TABULAR_PROMISES,
    USUAL,
    Beginning,
    Run,
    RunOptions,
    schedule,
    table_count,
)
from properties.kinds import Canary, Example, KindOfVariant
from robust_core.problem import Variant
from robust_core.validate import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluationRun(Run):
    """A run with the policy that is evaluated."""

    policy: Floats


def evaluation_run(choices: Choices, variant: Variant, options: RunOptions = USUAL) -> EvaluationRun:
    """A problem, a policy and a path of its actions."""
    begin = Beginning.choose(choices, variant, options)
    step_size = schedule(choices, variant)
    policy = begin.policy(choices)
    return EvaluationRun(
        mdp=begin.mdp,
        uncertainty_set=begin.uncertainty_set,
        step_size=step_size,
        policy=policy,
        initial=begin.table(choices, variant),
        path=begin.path(choices, policy),
        tables=table_count(variant),
        swing=begin.swing,
    )


def _initial(name: str, case: Case) -> None:
    """Q (S,A) or V (S,), or several."""
    first = (case["tables"],) if "tables" in case else ()
    axes = 1 if np.ndim(case[name]) == 1 + len(first) else 2
    check_floats(name, case[name], (*first, *case["mdp"].cost.shape[:axes]))


KIND = KindOfVariant(
    case=EvaluationRun,
    generate=evaluation_run,
    promises=TABULAR_PROMISES,
    canary=Canary("evaluation:LOST_GAMMA", ("sample step", "unbiased step")),
    example=Example(
        called=f"{LEARNER}; the estimate is V[s], or Q[s, a] with `options={{'estimates': 'Q'}}`",
        right="self.V[step.s_next]",
        wrong="self.V[step.s]",
    ),
    learner=True,
    learning=TABULAR_LEARNING,
    rules={"initial": _initial},
)
