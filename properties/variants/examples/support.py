"""The support function of the total variation ball: the mass R goes from the smallest values to the largest."""

import numpy as np

from robust_core import TotalVariation, Variant


def sigma(uncertainty_set, p, v):
    order = np.argsort(v)
    p = p[..., order]
    taken = np.clip(uncertainty_set.radius - (np.cumsum(p, axis=-1) - p), 0.0, p)
    return (p - taken) @ v[order] + taken.sum(axis=-1) * v.max()


VARIANT = Variant("my support function", "support", sigma, (TotalVariation,), ("support function", "rows"))
