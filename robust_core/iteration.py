"""Modified policy iteration for a monotone backup T with T(v+k) = Tv + gamma k, and why it ends.

With d = Tv − v and f = gamma/(1−gamma),

    Tv + f min d  <=  V*  <=  Tv + f max d        (MacQueen).

A round makes a backup, fixes its policy and rows of nature, sweeps that Markov chain until its own change is a
hundredth as wide, and makes a backup there. Sweeps of a fixed pair need not come nearer to V*: policy iteration for
both players at once is not known to converge. The safeguard makes it terminate. Let h(v) = f span(Tv − v)/2 be the half
width at v, and x the best point so far:

- a round that ends at y with h(y) <= .9 h(x) is accepted: x = y. Rounds go on from where the last one ended;
- after `PATIENCE` rounds in a row without an accepted one they are thrown away (a *fall*). Then x is replaced by T^m x,
  shifted by a constant, with m = 1 at the first fall and twice as large at every further one, and rounds go on there.

**Termination.** span(Tx − Ty) <= gamma span(x − y) for every x and y: from x <= y + max(x−y) follows Tx <= Ty + gamma
max(x−y), and likewise from below. A shift by a constant moves T by a constant and leaves h alone. So a fall with m
backups makes h(x) at most gamma^m as large, an accepted round at most .9 as large: h(x) never grows, and falls below
every positive accuracy e. With N the number of plain backups that reach e, gamma^N h(0) <= e: after j falls plain
backups alone have made h(x) <= gamma^(2^j − 1) h(0), so there are at most log2(N + 1) + 1 falls with at most 4N + 1
plain backups, and at most log(h(0)/e)/log(1/.9) + 1 accepted rounds. At most `PATIENCE` rounds come before each fall
and each accepted round, and a round has one backup and at most `MOST_SWEEPS` sweeps. So the loop ends, whatever the
sweeps do.

In floats h stops falling at the level of rounding; a fall that does not lower it ends the loop, and the certificate
tells the width that was reached.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from robust_core.validate import EPS, Floats

MOST_SWEEPS = 2_000
"""Of one chain: a span shrinks by gamma at least in each, so a hundredth is certain for gamma <= .9977."""
PATIENCE, ACCEPTED = 25, 0.9
"""Rounds in a row before a fall (on Taxi the half width is above that of the start for 14 rounds, then it collapses),
and the share of the best half width at which a round is accepted."""
NARROWER = 0.01
"""The span of the change at which the sweeps of a chain end, as a share of that at its start."""
Backup: TypeAlias = Callable[[Floats], Any]
"""Values v to an object with `values` = Tv and the `chain` of a policy and of rows of nature, which can `sweep`."""


@dataclass(frozen=True)
class Counts:
    """Backups, sweeps of chains, and falls."""

    backups: int
    sweeps: int
    falls: int


@dataclass
class Point:
    """A point, its backup and the half width there, and the point that follows by a plain backup.

    Its chain is swept once. The rows of nature in it are most of the memory of a plan, so the backup is then given up.
    """

    v: Floats
    found: Any
    half: float
    following: Floats

    @classmethod
    def at(cls, backup: Backup, gamma: float, v: Floats) -> "Point":
        """The point v."""
        found = backup(v)
        change, factor = found.values - v, gamma / (1.0 - gamma)
        low, high = float(change.min()), float(change.max())
        return cls(v, found, factor * 0.5 * (high - low), found.values + factor * 0.5 * (low + high))


def iterate(
    backup: Backup, gamma: float, start: Floats, goal: float, *, most_sweeps: int = MOST_SWEEPS
) -> tuple[Point, Counts]:
    """A point of a half width of at most `goal`, or about the best that rounding allows, and the work it took."""
    point = Point.at(backup, gamma, start)
    backups, sweeps, falls, plain = 1, 0, 0, 1
    tried, left = point, PATIENCE
    while point.half > goal:
        reached, made = _swept(tried, gamma, most_sweeps)
        tried = Point.at(backup, gamma, reached)
        backups, sweeps, left = backups + 1, sweeps + made, left - 1
        if tried.half < point.half and tried.half <= ACCEPTED * point.half:  # the first decides at infinity
            point, left = tried, PATIENCE
        if left:
            continue
        falls, before, left = falls + 1, point.half, PATIENCE
        for _ in range(plain):
            point = Point.at(backup, gamma, point.following)
            backups += 1
            if point.half <= goal:
                break
        plain, tried = 2 * plain, point
        if not point.half < before:  # rounding
            break
    point.found = None
    return point, Counts(backups, sweeps, falls)


def _swept(point: Point, gamma: float, most: int) -> tuple[Floats, int]:
    """The point after sweeps of the fixed pair, and how many there were."""
    v, found, point.found = point.following.copy(), point.found, None
    span, chain = float(np.ptp(found.values - point.v)), found.chain
    del found
    return v, int(chain.sweep(gamma, v, most, NARROWER * span))


def bounds(gamma: float, v: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """MacQueen's bounds on V* from bounds on Tv; every float operation is rounded outwards, by 8 EPS and underflow.

    An `OverflowError` if they are not finite.
    """
    factor, tiny = gamma / (1.0 - gamma), 2.0**-1022
    size = 8.0 * EPS * float(max(np.abs(lower).max(), np.abs(upper).max()) + np.abs(v).max()) + tiny
    below = factor * (float((lower - v).min()) - size)
    above = factor * (float((upper - v).max()) + size)
    least: Floats = lower + below - (8.0 * EPS * (np.abs(lower) + abs(below)) + tiny)
    most: Floats = upper + above + (8.0 * EPS * (np.abs(upper) + abs(above)) + tiny)
    if not (np.isfinite(least).all() and np.isfinite(most).all()):
        raise OverflowError("the values leave the range of float64: rescale the cost")
    return least, most
