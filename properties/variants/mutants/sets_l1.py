"""Wrong support functions of the L1 ball."""

from typing import Any

import numpy as np

from properties.variants.mutants.sets_forms import allowed, change_radius, minimum, mutants_of, top, within
from robust_core import L1, Contamination, LInfinity, sigma
from robust_core.validate import Floats

_mutant = mutants_of(L1, "L1")


def _unlimited(uset: L1, p: Floats, v: Floats) -> float:
    """Mass r/2 leaves the lowest value, whether it is there or not."""
    return float(p @ v) + uset.radius / 2 * (top(uset, p, v) - float(v.min()))


def _capped(uset: L1, p: Floats, v: Floats) -> float:
    return min(_unlimited(uset, p, v), top(uset, p, v))


def _taken(uset: L1, p: Floats, v: Floats, order: Any, most: float) -> float:
    left, q = min(uset.radius / 2, most), p.copy()
    for i in order:
        moved = min(left, q[i])
        q[i] -= moved
        left -= moved
    return float(q @ v + (1 - q.sum()) * top(uset, p, v))


def _proportional(uset: L1, p: Floats, v: Floats) -> float:
    """All states give in proportion."""
    share = min(uset.radius / 2, 1.0)
    return float((1 - share) * (p @ v) + share * top(uset, p, v))


def _receiver_capped(uset: L1, p: Floats, v: Floats) -> float:
    """The best state takes at most its own mass again."""
    best = int(np.where(allowed(uset, p), v, -np.inf).argmax())
    return _taken(uset, p, v, np.argsort(v, kind="stable"), float(p[best]))


TV_RADIUS = _mutant("with the radius of total variation", change_radius(lambda r: 2 * r))
HALF = _mutant("with half the radius", change_radius(lambda r: r / 2))
WITHIN = _mutant("that never leaves the support", within(True))
BEYOND = _mutant("that always leaves the support", within(False))
UNLIMITED = _mutant("that takes more than there is", _unlimited)
CAPPED = _mutant("that takes more than there is, at most the maximum", _capped)
FROM_THE_TOP = _mutant(
    "that takes from the top", lambda uset, p, v: _taken(uset, p, v, np.argsort(-v, kind="stable"), 1.0)
)
UNSORTED = _mutant("that does not sort", lambda uset, p, v: _taken(uset, p, v, range(p.size), 1.0))
# Only the lowest state with mass gives.
ONE_DONOR = _mutant(
    "that takes from one state", lambda uset, p, v: _taken(uset, p, v, [int(np.where(p > 0, v, np.inf).argmin())], 1.0)
)
# The radius is taken for one in [0, 1].
CLIPPED_RADIUS = _mutant(
    "with a radius of at most 1", lambda uset, p, v: _taken(uset, p, v, np.argsort(v, kind="stable"), 0.5)
)
PROPORTIONAL = _mutant("that takes in proportion", _proportional)
RECEIVER_CAPPED = _mutant("that gives no more than there was", _receiver_capped)
CONTAMINATION = _mutant("as contamination", lambda u, p, v: sigma(Contamination(min(u.radius, 1.0)), p, v))
L_INFINITY = _mutant("as L-infinity", lambda u, p, v: sigma(LInfinity(u.radius / 2, u.within_support), p, v))
SMALLEST = _mutant("of a kind nature", minimum)
LARGE_IS_EVERYTHING = _mutant(
    "that a radius of 2 makes the simplex", lambda u, p, v: float(v.max()) if u.radius >= 2.0 else sigma(u, p, v)
)
HUNDRED = _mutant(
    "that takes from the hundred lowest",
    lambda uset, p, v: _taken(uset, p, v, np.argsort(v, kind="stable")[:100], 1.0),
)
