"""Wrong support functions of the L2 ball."""

import math

import numpy as np

from properties.variants.mutants.sets_forms import (
    allowed,
    change_radius,
    mean_deviation,
    minimum,
    mutants_of,
    top,
    within,
)
from robust_core import L1, L2, LInfinity, sigma
from robust_core.validate import Floats

_mutant = mutants_of(L2, "L2")


def _unconstrained(uset: L2, p: Floats, v: Floats) -> float:
    """q >= 0 is forgotten."""
    values = v[allowed(uset, p)]
    return float(p @ v) + uset.radius * float(np.linalg.norm(values - values.mean()))


def _capped(uset: L2, p: Floats, v: Floats) -> float:
    return min(_unconstrained(uset, p, v), top(uset, p, v))


def _uncentred(uset: L2, p: Floats, v: Floats) -> float:
    """Sum to one is forgotten."""
    return min(float(p @ v) + uset.radius * float(np.linalg.norm(v)), top(uset, p, v))


def _weighted(uset: L2, p: Floats, v: Floats) -> float:
    mean, deviation = mean_deviation(p, v)
    return min(mean + uset.radius * deviation, top(uset, p, v))


def _step(uset: L2, p: Floats, v: Floats) -> Floats:
    free = allowed(uset, p)
    d = np.where(free, v - v[free].mean(), 0.0)
    norm = float(np.linalg.norm(d))
    return uset.radius / norm * d if norm else d


def _clipped(uset: L2, p: Floats, v: Floats) -> float:
    """Negative masses are set to zero and the rest is normalised."""
    q = np.maximum(p + _step(uset, p, v), 0.0)
    return float(q @ v / q.sum())


def _stops_at_zero(uset: L2, p: Floats, v: Floats) -> float:
    """Along the ray until the first state is empty."""
    step = _step(uset, p, v)
    falling = step < 0
    share = min(1.0, float((p[falling] / -step[falling]).min())) if falling.any() else 1.0
    return float((p + share * step) @ v)


def _one_pass(uset: L2, p: Floats, v: Floats) -> float:
    """States with negative mass are taken out once, and their mass is spread over the others."""
    q = p + _step(uset, p, v)
    left = (q >= 0) & allowed(uset, p)
    q = np.where(left, q + q[~left].sum() / left.sum(), 0.0)
    return float(np.maximum(q, 0.0) @ v / np.maximum(q, 0.0).sum())


UNCONSTRAINED = _mutant("without q >= 0", _unconstrained)
CAPPED = _mutant("without q >= 0, at most the maximum", _capped)
UNCENTRED = _mutant("not centred", _uncentred)
WEIGHTED = _mutant("weighted by p", _weighted)
CLIPPED = _mutant("clipped and normalised", _clipped)
STOPS_AT_ZERO = _mutant("that stops at the first zero", _stops_at_zero)
ONE_PASS = _mutant("with one pass", _one_pass)
SQUARED = _mutant("with the squared radius", change_radius(lambda r: r * r))
ROOT = _mutant("with the root of the radius", change_radius(math.sqrt))
HALF = _mutant("with half the radius", change_radius(lambda r: r / 2))
DOUBLE = _mutant("with twice the radius", change_radius(lambda r: 2 * r))
WITHIN = _mutant("that never leaves the support", within(True))
BEYOND = _mutant("that always leaves the support", within(False))
AS_L1 = _mutant("as L1", lambda u, p, v: sigma(L1(u.radius * math.sqrt(p.size), u.within_support), p, v))
AS_L_INFINITY = _mutant("as L-infinity", lambda u, p, v: sigma(LInfinity(u.radius, u.within_support), p, v))
SMALLEST = _mutant("of a kind nature", minimum)
