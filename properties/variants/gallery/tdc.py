"""Robust TDC (Algorithm 2), smoothed by LSE as in the paper, or by mellow-max."""

from functools import partial

from robust_core import Contamination, LinearLearner, Variant

_PROMISES = ("TDC", "projected", "scale", "rotation", "stationary")
LOG_SUM_EXP = Variant(
    "robust TDC with LSE",
    "linear evaluation",
    partial(LinearLearner, "TDC"),
    (Contamination,),
    _PROMISES,
    options={"smoothing": "lse"},
)
MELLOWMAX = Variant(
    "robust TDC with mellow-max",
    "linear evaluation",
    partial(LinearLearner, "TDC"),
    (Contamination,),
    _PROMISES,
    options={"smoothing": "mellowmax"},
)
FREE = Variant(
    "robust TDC, free start",
    "linear evaluation",
    partial(LinearLearner, "TDC"),
    (Contamination,),
    ("TDC", "mean update", "fixed point", "projected", "rotation"),
    options={"tables": 2},
)
