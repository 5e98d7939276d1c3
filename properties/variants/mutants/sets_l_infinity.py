"""Wrong support functions of the L-infinity ball."""

import numpy as np

from properties.variants.mutants.sets_forms import (
    allowed,
    change_radius,
    falling,
    fill,
    minimum,
    mutants_of,
    top,
    within,
)
from robust_core import L1, LInfinity, sigma
from robust_core.validate import Floats

_mutant = mutants_of(LInfinity, "L-infinity")


def _box(uset: LInfinity, p: Floats) -> tuple[Floats, Floats]:
    upper = np.minimum(p + uset.radius, 1.0)
    return np.maximum(p - uset.radius, 0.0), np.where(allowed(uset, p), upper, 0.0)


def _unconstrained(uset: LInfinity, p: Floats, v: Floats) -> float:
    """q >= 0 is forgotten: mean + r Σ|v − median|."""
    values = v[allowed(uset, p)]
    return float(p @ v) + uset.radius * float(np.abs(values - np.median(values)).sum())


def _capped(uset: LInfinity, p: Floats, v: Floats) -> float:
    return min(_unconstrained(uset, p, v), top(uset, p, v))


def _clipped(uset: LInfinity, p: Floats, v: Floats) -> float:
    """Above the mean up, below it down, then normalised."""
    lower, upper = _box(uset, p)
    q = np.where(v > p @ v, upper, lower)
    return float(q @ v / q.sum()) if q.sum() > 0 else float(p @ v)


def _relative(uset: LInfinity, p: Floats, v: Floats) -> float:
    """p(1 ± r)."""
    return fill(np.maximum(p * (1 - uset.radius), 0.0), np.minimum(p * (1 + uset.radius), 1.0), v, falling(v))


def _lower_only(uset: LInfinity, p: Floats, v: Floats) -> float:
    """No upper bounds: all that is taken goes to the best state."""
    lower, upper = _box(uset, p)
    return fill(lower, np.where(upper > 0, 1.0, 0.0), v, falling(v))


def _upper_only(uset: LInfinity, p: Floats, v: Floats) -> float:
    """No lower bounds."""
    lower, upper = _box(uset, p)
    return fill(0 * lower, upper, v, falling(v))


def _one_receiver(uset: LInfinity, p: Floats, v: Floats) -> float:
    """Only the best state takes up mass, from the lowest."""
    lower, upper = _box(uset, p)
    best = int(np.where(upper > 0, v, -np.inf).argmax())
    q, left = p.copy(), float(upper[best] - p[best])
    for i in np.argsort(v, kind="stable"):
        moved = min(left, q[i] - lower[i])
        q[i] -= moved
        q[best] += moved
        left -= moved
    return float(q @ v)


UNCONSTRAINED = _mutant("without q >= 0", _unconstrained)
CAPPED = _mutant("without q >= 0, at most the maximum", _capped)
CLIPPED = _mutant("clipped and normalised", _clipped)
FROM_THE_LOWEST = _mutant(
    "filled from the lowest", lambda uset, p, v: fill(*_box(uset, p), v, np.argsort(v, kind="stable"))
)
RELATIVE = _mutant("with relative bounds", _relative)
LOWER_ONLY = _mutant("without upper bounds", _lower_only)
UPPER_ONLY = _mutant("without lower bounds", _upper_only)
ONE_RECEIVER = _mutant("that gives to one state", _one_receiver)
HALF = _mutant("with half the radius", change_radius(lambda r: r / 2))
DOUBLE = _mutant("with twice the radius", change_radius(lambda r: 2 * r))
WITHIN = _mutant("that never leaves the support", within(True))
BEYOND = _mutant("that always leaves the support", within(False))
AS_L1 = _mutant("as L1", lambda u, p, v: sigma(L1(u.radius, u.within_support), p, v))
AS_VARIATION = _mutant("as total variation", lambda u, p, v: sigma(L1(2 * u.radius, u.within_support), p, v))
SMALLEST = _mutant("of a kind nature", minimum)
TEN = _mutant("that fills ten states", lambda uset, p, v: fill(*_box(uset, p), v, falling(v)[:10]))
