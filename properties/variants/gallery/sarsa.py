"""Robust SARSA for a fixed policy.

It does not promise to be monotone in R: max V is a maximum of averages over actions, and the sampled Q(s',a') may
exceed it, so more weight on max V can lower the target.
"""

from functools import partial

from properties.variants.gallery import PATHWISE, STATISTICAL
from robust_core import SARSA, Contamination, TabularLearner, Variant

VARIANT = Variant(
    "robust SARSA",
    "evaluation",
    partial(TabularLearner, SARSA),
    (Contamination,),
    ("unbiased", "sample form, next action", *PATHWISE, *STATISTICAL),
    options={"estimates": "Q"},
)
