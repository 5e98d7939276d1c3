"""What the programs of balls share: members near a proposal, and prices of sets that stay in the support."""

import numpy as np
from numpy.typing import NDArray

from oracles.sets.programs import LEAST_TOTAL, mean, normalised_mean
from robust_core.validate import EPS, Floats


def normalise(p: Floats) -> Floats:
    """Each row over its sum, within (n+1) EPS/2 of the row over its exact sum."""
    return p / p.sum(axis=1, keepdims=True)


def candidates(p: Floats, q: Floats, within_support: bool) -> Floats:
    """q >= 0 as distributions, cut to the support of p if it has to be; p where next to nothing is left of q."""
    q = np.where(p > 0.0, q, 0.0) if within_support else q
    total = q.sum(axis=1, keepdims=True)
    return np.where(total > 0.5, q / np.maximum(total, 0.5), normalise(p))


def pulled_value(p: Floats, q: Floats, v: Floats, distance: Floats, radius: float, power: float = 1.0) -> Floats:
    """The value of p + t(q−p), with t <= 1 such that t^power·distance <= radius.

    It is a member if `distance` is an upper bound on a distance of q that falls like t^power, or faster, on the way
    to p.
    """
    with np.errstate(all="ignore"):
        share = (radius / distance) ** (1.0 / power) * (1.0 - 4 * EPS)
    share = np.where(distance > radius, np.where(np.isfinite(share), share, 0.0), 1.0)
    nominal = mean(p, v)
    return (1.0 - share) * nominal + share * normalised_mean(q, v, nominal)


def move_outside(p: Floats, y: Floats, within_support: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """(y moved, the states that count): outside the support q is 0, and y so high that v − y is largest elsewhere."""
    if not within_support:
        return y, np.ones(p.shape, dtype=bool)
    return np.where(p > 0.0, y, 2.0 + np.abs(y).max(axis=1, keepdims=True)), p > 0.0


__all__ = ["LEAST_TOTAL", "candidates", "mean", "move_outside", "normalise", "pulled_value"]
