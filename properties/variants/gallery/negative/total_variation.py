"""Q-learning for the total-variation set by the naive plug-in: the sampled next state replaces the row of the kernel.

sigma around a Dirac at s' is (1−R) V(s') + R max V for *both* sets, so this is the contamination learner under another
name. It converges to the contamination value, which is larger than the total-variation value that it promises. It is
right on deterministic models only, where the sample is the row.

`LIMIT` promises only convergence. No exact law tests that; the statistical laws find the wrong limit.
"""

from dataclasses import replace

from properties.variants.gallery import PATHWISE, STATISTICAL
from robust_core import Q_LEARNING, Contamination, Problem, TabularLearner, TotalVariation, Variant


def learner(problem: Problem) -> TabularLearner:
    """sigma_TV(R) around the Dirac at s' plugged into the Q-learning update."""
    radius = float(getattr(problem.uncertainty_set, "radius"))  # noqa: B009 (any set with a radius)
    return TabularLearner(Q_LEARNING, replace(problem, uncertainty_set=Contamination(radius)))


VARIANT = Variant(
    "naive plug-in Q-learning for total variation",
    "control",
    learner,
    (TotalVariation,),
    ("unbiased", "sample form", "monotone in R", *PATHWISE, *STATISTICAL),
)
LIMIT = Variant(
    "the limit of the naive plug-in for total variation", "control", learner, (TotalVariation,), STATISTICAL
)
