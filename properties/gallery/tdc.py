"""Robust TDC (Algorithm 2), smoothed by LSE or mellow-max as the problem says."""

from functools import partial

from robust_core import Contamination, LinearLearner, Variant

VARIANT = Variant(
    "robust TDC",
    "linear evaluation",
    partial(LinearLearner, "TDC"),
    (Contamination,),
    ("TDC", "projected", "scale", "rotation"),
)
