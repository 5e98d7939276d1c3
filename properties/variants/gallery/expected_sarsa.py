"""Robust expected SARSA for a fixed policy."""

from functools import partial

from properties.variants.gallery import PATHWISE, STATISTICAL
from robust_core import EXPECTED_SARSA, Contamination, TabularLearner, Variant

VARIANT = Variant(
    "robust expected SARSA",
    "evaluation",
    partial(TabularLearner, EXPECTED_SARSA),
    (Contamination,),
    ("unbiased", "sample form", "monotone in R", *PATHWISE, *STATISTICAL),
    options={"estimates": "Q"},
)
