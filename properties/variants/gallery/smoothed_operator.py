"""The smoothed robust Bellman operator of a policy (Theorem 4), by its worst kernel: the softmax is nature's law.

smax(V) = Σ w V + (entropy of w)/varrho for LSE, w the softmax of varrho V; for mellow-max less log(S)/varrho. This
writes the maximum by that identity, not by a logarithm of a sum.
"""

import numpy as np

from robust_core import MDP, Contamination, LogSumExp, UncertaintySet, Variant
from robust_core.smoothing import Smoothing
from robust_core.validate import Floats


def backup(mdp: MDP, uncertainty_set: UncertaintySet, policy: Floats, smoothing: Smoothing, V: Floats) -> Floats:
    """T_pi V with the smooth maximum."""
    R = float(getattr(uncertainty_set, "radius", 0.0))
    weights = np.exp(smoothing.varrho * (V - V.max()))
    total = float(weights.sum())
    weights = weights / total
    # −Σ w log w, with log w = varrho(V − max V) − log(total).
    entropy = np.log(total) - smoothing.varrho * float(weights @ (V - V.max()))
    counted = 0.0 if isinstance(smoothing, LogSumExp) else np.log(V.size)
    smooth = float(weights @ (V - V.max())) + V.max() + (entropy - counted) / smoothing.varrho
    Q = mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * smooth)
    return np.asarray((policy * Q).sum(axis=1))


VARIANT = Variant(
    "smoothed robust Bellman operator", "smoothed operator", backup, (Contamination,), ("smoothed bellman",)
)
