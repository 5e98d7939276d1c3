"""Vanilla Q-learning, offered for robust problems: right for radius 0 only, so its claims do not hold."""

from dataclasses import replace

from properties.gallery import PATHWISE
from robust_core import Q_LEARNING, Contamination, Problem, TabularLearner, Variant


def learner(problem: Problem) -> TabularLearner:
    """A Q-learner that has not heard of the uncertainty set."""
    return TabularLearner(Q_LEARNING, replace(problem, uncertainty_set=Contamination(0.0)))


VARIANT = Variant(
    "vanilla Q-learning", "control", learner, (Contamination,), ("unbiased", "sample form", "monotone in R", *PATHWISE)
)
