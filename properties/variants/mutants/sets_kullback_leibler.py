"""Wrong support functions of the Kullback-Leibler ball."""

import math
from dataclasses import replace

import numpy as np

from properties.variants.mutants.sets_forms import (
    change_radius,
    mass_of_best,
    mean_deviation,
    minimum,
    mutants_of,
    smoothed,
)
from robust_core import L1, ChiSquare, KullbackLeibler, ReverseKullbackLeibler, sigma
from robust_core.validate import Floats

_mutant = mutants_of(KullbackLeibler, "KL")


def _dual(uset: KullbackLeibler, p: Floats, v: Floats, multipliers: Floats) -> float:
    """The least bound over some multipliers."""
    top = v[p > 0].max()
    e = np.exp(multipliers[:, None] * (v - top)[p > 0])
    return float(top + ((uset.radius + np.log(e @ p[p > 0])) / multipliers).min())


def _span(p: Floats, v: Floats) -> float:
    return float(np.ptp(v[p > 0])) or 1.0


def _unshifted(uset: KullbackLeibler, p: Floats, v: Floats) -> float:
    """exp without a shift: overflow is caught and called the maximum."""
    b = np.logspace(-6, 6, 4001) / _span(p, v)
    with np.errstate(all="ignore"):
        bounds = (uset.radius + np.log(np.exp(b[:, None] * v) @ p)) / b
    finite = bounds[np.isfinite(bounds)]
    return float(finite.min()) if finite.size else float(v.max())


def _threshold_of_all(uset: KullbackLeibler, p: Floats, v: Floats) -> Floats:
    """At the threshold the maximum over all states."""
    return np.asarray(v.max()) if uset.radius >= -math.log(mass_of_best(p, v)) else sigma(uset, p, v)


def _threshold_of_largest(uset: KullbackLeibler, p: Floats, v: Floats) -> Floats:
    """The threshold from the largest probability."""
    return np.asarray(v[p > 0].max()) if uset.radius >= -math.log(p.max()) else sigma(uset, p, v)


def _bounded(uset: KullbackLeibler, p: Floats, v: Floats) -> Floats:
    """The multiplier is at most 100 over the span: two values that are close to each other need more."""
    best = p[v == v[p > 0].max()].sum()
    if uset.radius >= -math.log(best):
        return np.asarray(v[p > 0].max())
    last, before = (_dual(uset, p, v, np.array([most / _span(p, v)])) for most in (100.0, 99.0))
    return np.asarray(last) if last < before else sigma(uset, p, v)


def _taylor(uset: KullbackLeibler, p: Floats, v: Floats) -> float:
    mean, deviation = mean_deviation(p, v)
    return mean + math.sqrt(2 * uset.radius) * deviation


REVERSE = _mutant("in the other direction", lambda u, p, v: sigma(ReverseKullbackLeibler(u.radius), p, v))
REVERSE_WITHIN = _mutant(
    "in the other direction, within the support", lambda u, p, v: sigma(ReverseKullbackLeibler(u.radius, True), p, v)
)
BITS = _mutant("in bits", change_radius(lambda r: r * math.log(2)))
HALF = _mutant("with half the radius", change_radius(lambda r: r / 2))
DOUBLE = _mutant("with twice the radius", change_radius(lambda r: 2 * r))
SQUARED = _mutant("with the squared radius", change_radius(lambda r: r * r))
FLOORED = _mutant("with a floor of the radius", change_radius(lambda r: max(r, 1e-4)))
CEILED = _mutant("with a radius of at most 1", change_radius(lambda r: min(r, 1.0)))
TAYLOR = _mutant("to second order", _taylor)
CAPPED_TAYLOR = _mutant(
    "to second order, at most the maximum", lambda uset, p, v: min(_taylor(uset, p, v), float(v[p > 0].max()))
)
CHI_SQUARE = _mutant("as chi-square of twice the radius", lambda u, p, v: sigma(ChiSquare(2 * u.radius), p, v))
PINSKER = _mutant("as Pinsker's L1 ball", lambda u, p, v: sigma(L1(math.sqrt(2 * u.radius)), p, v))
GRID = _mutant("on a grid of multipliers", lambda uset, p, v: _dual(uset, p, v, np.logspace(-3, 3, 50) / _span(p, v)))
# lambda >= span/20: near the threshold the multiplier is larger.
SHORT_BRACKET = _mutant(
    "with a short bracket", lambda uset, p, v: _dual(uset, p, v, np.logspace(-9, math.log10(20.0), 4001) / _span(p, v))
)
# A bracket of lambda that does not scale with v.
ABSOLUTE_BRACKET = _mutant(
    "with a bracket that does not scale", lambda uset, p, v: _dual(uset, p, v, np.logspace(-2, 2, 4001))
)
BOUNDED = replace(_mutant("with a bounded multiplier", _bounded), options={"accuracy": 1e-6})
UNSHIFTED = _mutant("without a shift in the exponent", _unshifted)
THRESHOLD_OF_ALL = _mutant("that leaves the support at the threshold", _threshold_of_all)
THRESHOLD_OF_LARGEST = _mutant("with the threshold of the largest probability", _threshold_of_largest)
SMOOTHED = _mutant("of a smoothed p", smoothed)
SMALLEST = _mutant("of a kind nature", minimum)
LARGE_IS_THE_SUPPORT = _mutant(
    "that a radius of 50 makes the support",
    lambda u, p, v: float(v[p > 0.0].max()) if u.radius >= 50.0 else sigma(u, p, v),
)
# Its root moves sigma.
TINY_IS_NOTHING = _mutant("with tiny radii as 0", change_radius(lambda r: 0.0 if r < 1e-20 else r))


def _nearly_reached(uset: KullbackLeibler, p: Floats, v: Floats) -> float:
    """Next to the threshold the maximum is taken for reached."""
    reached = uset.radius >= -(1.0 - 3e-10) * math.log(mass_of_best(p, v))
    return float(v[p > 0].max()) if reached else float(sigma(uset, p, v))


NEARLY_REACHED = _mutant("with a threshold that is nearly reached", _nearly_reached)
