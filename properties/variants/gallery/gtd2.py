"""Robust GTD2."""

from functools import partial

from robust_core import Contamination, LinearLearner, Variant

VARIANT = Variant(
    "robust GTD2",
    "linear evaluation",
    partial(LinearLearner, "GTD2"),
    (Contamination,),
    ("GTD2", "projected", "scale", "rotation"),
)
FREE = Variant(
    "robust GTD2, free start",
    "linear evaluation",
    partial(LinearLearner, "GTD2"),
    (Contamination,),
    ("GTD2", "mean update", "fixed point", "projected", "rotation"),
    options={"tables": 2},
)
