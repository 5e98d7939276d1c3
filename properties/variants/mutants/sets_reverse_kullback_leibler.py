"""Wrong support functions of the reverse Kullback-Leibler ball."""

import math

import numpy as np

from properties.variants.mutants.sets_forms import (
    change_radius,
    mass_of_best,
    mean_deviation,
    minimum,
    mutants_of,
    smoothed,
    top,
    within,
)
from robust_core import ChiSquare, Contamination, KullbackLeibler, ReverseKullbackLeibler, sigma
from robust_core.validate import Floats

_mutant = mutants_of(ReverseKullbackLeibler, "reverse KL")


def _taylor(uset: ReverseKullbackLeibler, p: Floats, v: Floats) -> float:
    mean, deviation = mean_deviation(p, v)
    return min(mean + math.sqrt(2 * uset.radius) * deviation, top(uset, p, v))


def _nothing_left_over(uset: ReverseKullbackLeibler, p: Floats, v: Floats) -> float:
    """q ∝ p/(eta−v) only: the rest that goes to the best state is forgotten."""
    held = p > 0
    highest, span = top(uset, p, v), float(np.ptp(v)) or 1.0
    gaps = np.logspace(-12, 8, 4001)[:, None] * span + (highest - v[held])
    with np.errstate(all="ignore"):
        q = p[held] / gaps
        q /= q.sum(axis=1, keepdims=True)
        divergence = (p[held] * np.log(p[held] / q)).sum(axis=1)
    values = np.where(divergence <= uset.radius, q @ v[held], -np.inf)
    return float(max(values.max(), p @ v))


def _threshold(uset: ReverseKullbackLeibler, p: Floats, v: Floats) -> Floats:
    """The threshold of the other direction: the maximum is never reached where it has mass."""
    return np.asarray(top(uset, p, v)) if uset.radius >= -math.log(mass_of_best(p, v)) else sigma(uset, p, v)


def _bounded_shift(uset: ReverseKullbackLeibler, p: Floats, v: Floats) -> float:
    """eta at least a thousandth of the span above the maximum."""
    highest, span = top(uset, p, v), float(np.ptp(v)) or 1.0
    eta = highest + np.logspace(-3, 9, 4001) * span
    with np.errstate(all="ignore"):
        log_g = np.log(eta[:, None] - np.where(p > 0, v, highest)) @ p
    return float(min((eta - np.exp(log_g - uset.radius)).min(), highest))


REVERSE = _mutant("in the other direction", lambda u, p, v: sigma(KullbackLeibler(u.radius), p, v))
WITHIN = _mutant("that never leaves the support", within(True))
BEYOND = _mutant("that always leaves the support", within(False))
BITS = _mutant("in bits", change_radius(lambda r: r * math.log(2)))
HALF = _mutant("with half the radius", change_radius(lambda r: r / 2))
DOUBLE = _mutant("with twice the radius", change_radius(lambda r: 2 * r))
SQUARED = _mutant("with the squared radius", change_radius(lambda r: r * r))
FLOORED = _mutant("with a floor of the radius", change_radius(lambda r: max(r, 1e-6)))
CHI_SQUARE = _mutant("as chi-square of twice the radius", lambda u, p, v: sigma(ChiSquare(2 * u.radius), p, v))
# Right around a Dirac only.
CONTAMINATION = _mutant("as contamination", lambda uset, p, v: sigma(Contamination(-math.expm1(-uset.radius)), p, v))
TAYLOR = _mutant("to second order", _taylor)
NOTHING_LEFT_OVER = _mutant("without the mass left over", _nothing_left_over)
THRESHOLD = _mutant("with the threshold of the other direction", _threshold)
SMOOTHED = _mutant("of a smoothed p", smoothed)
BOUNDED_SHIFT = _mutant("with a bound on the shift", _bounded_shift)
SMALLEST = _mutant("of a kind nature", minimum)
TWENTY_IS_EVERYTHING = _mutant(
    "that a radius of 20 makes the simplex",
    lambda u, p, v: float(v.max()) if u.radius >= 20.0 and not u.within_support else sigma(u, p, v),
)
