"""Robust TD(0) for a fixed policy."""

from functools import partial

from properties.variants.gallery import PATHWISE, STATISTICAL
from robust_core import TD0, Contamination, TabularLearner, Variant

VARIANT = Variant(
    "robust TD(0)",
    "evaluation",
    partial(TabularLearner, TD0),
    (Contamination,),
    ("unbiased", "sample form", "monotone in R", *PATHWISE, *STATISTICAL),
    options={"estimates": "V"},
)
