"""Sets with a metric on states, and the metrics at which laws test them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from robust_core import validate
from robust_core.sets.base import LEVELS, Pick, Threshold, UncertaintySet
from robust_core.validate import Floats


@dataclass(frozen=True)
class MetricBall(UncertaintySet):
    """A set whose radius is a distance between states."""

    radii: ClassVar[tuple[float | Threshold, ...]] = LEVELS
    axes: ClassVar[Mapping[str, int]] = {"radius": 0, "metric": 2}
    splits: ClassVar[bool] = False
    radius: float
    metric: Floats

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "metric", validate.metric("metric", self.metric))

    @classmethod
    def choose(cls, pick: Pick, radius: float, p: Floats, v: Floats) -> Self:
        """A metric among several, and the radius."""
        return cls(radius, choose_metric(pick, len(v)))


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
