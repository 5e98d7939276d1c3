"""Robust Q-learning (Algorithm 1)."""

from functools import partial

from properties.variants.gallery import PATHWISE, STATISTICAL
from robust_core import Q_LEARNING, Contamination, TabularLearner, Variant

VARIANT = Variant(
    "robust Q-learning",
    "control",
    partial(TabularLearner, Q_LEARNING),
    (Contamination,),
    ("unbiased", "sample form", "monotone in R", *PATHWISE, *STATISTICAL, "finite time", "as fast as vanilla"),
)
