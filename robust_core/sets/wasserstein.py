"""Wasserstein ball of order 1: nature buys the moves that raise v most per distance, until the budget r is spent.

A unit of mass at state i is moved along the concave hull of the points (d_ij, v_j): its segments have falling slopes
(gain per distance), and any mean distance t reaches the value of the hull at t. Over all i this is a fractional
knapsack: the segments by falling slope, each at the cost p_i·length. The hulls depend on v and the metric alone, so
all rows share them.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from robust_core.mdp import MDP
from robust_core.sets.base import RowSolver
from robust_core.sets.metrics import MetricBall
from robust_core.sets.rows import weights
from robust_core.validate import Floats, Ints


@dataclass(frozen=True)
class Segments:
    """The segments of all hulls by falling slope: mass of `source` moves from state `start` to state `end`."""

    source: Ints
    start: Ints
    end: Ints
    length: Floats
    gain: Floats
    first: Ints
    """The state where the hull of each source begins: the best at distance 0."""


@dataclass(frozen=True)
class Wasserstein(MetricBall):
    """Wasserstein ball of order 1: {q : min over plans from p to q of Σ plan_ij metric_ij <= r}; q may be anywhere."""

    kind: ClassVar[str] = "wasserstein"

    def row_solver(self, mdp: MDP) -> RowSolver:
        """Worst rows and certified bounds: plans along the hulls."""
        from robust_core.kernels.affine_rows import TransportSolver

        return TransportSolver(mdp, self.by_distance, self.radius)

    def kernel_support(self, mdp: MDP, v: Floats) -> Floats:
        """sigma of all rows of a kernel, compiled."""
        from robust_core.kernels import wasserstein

        return wasserstein.kernel_support(mdp, self.by_distance, self.radius, v)

    @cached_property
    def by_distance(self) -> tuple[Ints, Floats]:
        """The states by distance from each state, and the distances in that order: they serve every v."""
        order = np.argsort(self.metric, axis=1, kind="stable")
        return order.astype(np.int32), np.take_along_axis(self.metric, order, axis=1)

    def row_solution(self, rows: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Σ_i p_i (value where the hull of i begins) + Σ share·p·gain of the segments, and the mass after the moves."""
        parts = segments(self.metric, v)
        p = weights(rows)
        mass = p[..., parts.source]
        cost = mass * parts.length
        before = np.cumsum(cost, axis=-1) - cost
        left = np.asarray(self.radius)[..., None] - before
        with np.errstate(all="ignore"):
            share = np.where(left >= cost, 1.0, np.where(left > 0.0, left / cost, 0.0))
        moved = mass * share
        top = v.max()
        value = top + (p @ (v[parts.first] - top) + moved @ parts.gain)
        unit = np.eye(len(v))
        q = p @ unit[parts.first] + moved @ (unit[parts.end] - unit[parts.start])
        q = np.maximum(q, 0.0)
        return np.minimum(value, top), q / q.sum(axis=-1, keepdims=True)


def segments(metric: Floats, v: Floats) -> Segments:
    """The concave hulls of (metric[i], v) for all i, cut into segments."""
    found: list[tuple[float, int, int, int, float, float]] = []
    firsts = []
    for i, distances in enumerate(metric):
        hull: list[int] = []
        for j in np.lexsort((-v, distances)).tolist():
            if hull and v[j] <= v[hull[-1]]:
                continue
            while len(hull) > 1 and _slope(distances, v, hull[-2], hull[-1]) <= _slope(distances, v, hull[-1], j):
                hull.pop()
            hull.append(j)
        firsts.append(hull[0])
        for a, b in pairwise(hull):
            found.append((_slope(distances, v, a, b), i, a, b, distances[b] - distances[a], v[b] - v[a]))
    found.sort(key=lambda part: -part[0])
    columns = list(zip(*found, strict=True)) or [()] * 6
    source, start, end = (np.array(column, dtype=np.int64) for column in columns[1:4])
    return Segments(
        source, start, end, np.array(columns[4], dtype=float), np.array(columns[5], dtype=float), np.array(firsts)
    )


def _slope(distances: Floats, v: Floats, a: int, b: int) -> float:
    with np.errstate(all="ignore"):
        return float((v[b] - v[a]) / (distances[b] - distances[a]))
