"""Laws that apply to any variant of a kind; `LAWS` has them all, cheapest and most basic first."""

from properties.laws import (
    every_learner,
    horizon,
    instructions,
    large,
    large_learning,
    linear,
    linear_mean,
    mean_update,
    operator,
    planner,
    policy_planner,
    sampler,
    support,
    tabular_path,
    tabular_step,
    value_planner,
)
from properties.laws.law import Law

LAWS: tuple[Law, ...] = (
    *support.LAWS,
    *operator.LAWS,
    *planner.LAWS,
    *value_planner.LAWS,
    *policy_planner.LAWS,
    *sampler.LAWS,
    *every_learner.LAWS,
    *tabular_step.LAWS,
    *mean_update.LAWS,
    *instructions.LAWS,
    *tabular_path.LAWS,
    *linear.LAWS,
    *linear_mean.LAWS,
    every_learner.BATCH,
    *large.LAWS,
    *large_learning.LAWS,
    *horizon.LAWS,
)
