"""Learners of the optimal values."""

from properties.cases.choices import Choices
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


def control_run(choices: Choices, variant: Variant, options: RunOptions = USUAL) -> Run:
    """A problem and a path of any actions."""
    begin = Beginning.choose(choices, variant, options)
    return Run(
        mdp=begin.mdp,
        uncertainty_set=begin.uncertainty_set,
        step_size=schedule(choices, variant),
        initial=begin.table(choices, variant),
        path=begin.path(choices, None),
        tables=table_count(variant),
        swing=begin.swing,
    )


KIND = KindOfVariant(
    case=Run,
    generate=control_run,
    promises=TABULAR_PROMISES,
    canary=Canary("control:LOST_GAMMA", ("sample step", "unbiased step")),
    example=Example(called=f"{LEARNER}; the estimate is Q[s, a]", right="R * V.max()", wrong="R * V.mean()"),
    learner=True,
    learning=TABULAR_LEARNING,
)
