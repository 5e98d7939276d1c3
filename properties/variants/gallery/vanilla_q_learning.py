"""Vanilla Q-learning: the robust problem with radius 0, and no other."""

from dataclasses import replace

from properties.variants.gallery import PATHWISE, STATISTICAL
from robust_core import Q_LEARNING, Contamination, Problem, TabularLearner, Variant


def learner(problem: Problem) -> TabularLearner:
    """A Q-learner that does not look at the uncertainty set."""
    return TabularLearner(Q_LEARNING, replace(problem, uncertainty_set=Contamination(0.0)))


VARIANT = Variant(
    "vanilla Q-learning",
    "control",
    learner,
    (Contamination,),
    ("unbiased", "sample form", *PATHWISE, *STATISTICAL, "finite time"),
    options={"radii": (0.0,)},
)
