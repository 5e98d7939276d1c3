"""Curves over training time: where they are read, their envelopes, their plateaus."""

import numpy as np

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


def envelope(curves: Floats) -> dict[str, list[float]]:
    """Mean and percentiles over the runs at every checkpoint, to the digits that a plot can show.

    >>> envelope(np.array([[1.0], [3.0]]))
    {'mean': [2.0], 'low': [1.1], 'high': [2.9]}
    """
    low, high = np.percentile(curves, (LOW, HIGH), axis=0)
    rows = {"mean": curves.mean(axis=0), "low": low, "high": high}
    return {name: [float(f"{x:.{PLOT_DIGITS}g}") for x in row.tolist()] for name, row in rows.items()}
