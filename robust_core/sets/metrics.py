"""Metrics on states at which laws test the sets that have one."""

import numpy as np

from robust_core.sets.base import Pick
from robust_core.validate import Floats


def choose_metric(pick: Pick, n: int) -> Floats:
    """The discrete metric, points on a line, a star, a circle, or a pseudometric of groups of states at distance 0."""
    place = np.arange(n, dtype=np.float64)
    shape = pick(("discrete", "line", "star", "pairs", "circle", "squares", "pairs", "threes", "halves"))
    if shape == "line":
        return np.abs(place[:, None] - place)
    if shape == "star":
        arms = 0.25 * (1.0 + place % 3)
        return np.where(np.eye(n, dtype=bool), 0.0, arms[:, None] + arms)
    if shape == "circle":
        steps = np.abs(place[:, None] - place)
        return np.minimum(steps, n - steps) / 2
    if shape in ("pairs", "threes", "halves"):  # groups of states at distance 0
        group = place % 2 if shape == "halves" else place // (2 if shape == "pairs" else 3)
        return np.abs(group[:, None] - group)
    if shape == "squares":  # points at 0, 1, 4, 9 … on a line
        return np.abs(place[:, None] ** 2 - place**2)
    return 1.0 - np.eye(n)
