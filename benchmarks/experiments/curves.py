"""Curves over training time: where they are read, their envelopes, their plateaus."""

import numpy as np

from benchmarks.experiments.records import Curve
from robust_core.validate import Floats

CHECKPOINTS = 25
LOW, HIGH = 5.0, 95.0
"""The percentiles of the plotted envelopes."""
PLOT_DIGITS = 5


def checkpoints(steps: int) -> list[int]:
    """25 times, evenly spaced, the last at `steps`.

    >>> checkpoints(100)[:3], checkpoints(100)[-1]
    ([4, 8, 12], 100)
    """
    return [steps * (i + 1) // CHECKPOINTS for i in range(CHECKPOINTS)]


def plateau(curves: Floats) -> Floats:
    """The mean of each curve over its second half: with constant steps the greedy policy never settles."""
    return curves[..., curves.shape[-1] // 2 :].mean(axis=-1)


def envelope(curves: Floats) -> Curve:
    """Mean and percentiles over the runs at every checkpoint, to the digits that a plot can show.

    >>> envelope(np.array([[1.0], [3.0]]))
    Curve(mean=(2.0,), low=(1.1,), high=(2.9,))
    """
    low, high = np.percentile(curves, (LOW, HIGH), axis=0)
    rows = (curves.mean(axis=0), low, high)
    return Curve(*(tuple(float(f"{x:.{PLOT_DIGITS}g}") for x in row.tolist()) for row in rows))
