"""Wrong support functions of the chi-square ball."""

import math

import numpy as np

from properties.variants.mutants.sets_forms import change_radius, mass_of_best, mean_deviation, minimum, mutants_of
from robust_core import L2, ChiSquare, KullbackLeibler, sigma
from robust_core.validate import Floats

_mutant = mutants_of(ChiSquare, "chi-square")


def _unconstrained(uset: ChiSquare, p: Floats, v: Floats) -> float:
    """q >= 0 is forgotten."""
    mean, deviation = mean_deviation(p, v)
    return mean + math.sqrt(uset.radius) * deviation


def _one_pass(uset: ChiSquare, p: Floats, v: Floats) -> float:
    """States with negative mass are taken out once."""
    kept = p > 0
    for _ in range(2):
        mass = p[kept].sum()
        mean, deviation = mean_deviation(p[kept] / mass, v[kept])
        k = max((1 + uset.radius) * mass - 1, 0.0)
        below = kept & ((v - mean) * math.sqrt(k) < -deviation)
        kept = kept & ~below
    return min(mean + deviation * math.sqrt(k), float(v[p > 0].max()))


def _clipped(uset: ChiSquare, p: Floats, v: Floats) -> float:
    """Negative masses are set to zero and the rest is normalised."""
    mean, deviation = mean_deviation(p, v)
    q = p * np.maximum(1 + (math.sqrt(uset.radius) / deviation if deviation else 0.0) * (v - mean), 0.0)
    return float(q @ v / q.sum())


def _unweighted(uset: ChiSquare, p: Floats, v: Floats) -> float:
    """The variance without weights."""
    return min(float(p @ v) + math.sqrt(uset.radius) * float(v[p > 0].std()), float(v[p > 0].max()))


def _leaves_support(uset: ChiSquare, p: Floats, v: Floats) -> Floats:
    """At the threshold the maximum over all states."""
    return np.asarray(v.max()) if uset.radius >= 1 / mass_of_best(p, v) - 1 else sigma(uset, p, v)


def _greedy(uset: ChiSquare, p: Floats, v: Floats) -> float:
    """The greedy rule with the largest mass of an event, which is that of a larger set."""
    order = np.argsort(-v, kind="stable")
    reach = np.minimum(np.cumsum(p[order]), 1.0)
    largest = np.minimum(reach + np.sqrt(uset.radius * reach * np.maximum(1 - reach, 0.0)), 1.0)
    top = np.where(reach > 0, np.maximum.accumulate(np.where(reach * (1 + uset.radius) >= 1, 1.0, largest)), 0.0)
    return float(np.diff(top, prepend=0.0) @ v[order])


UNCONSTRAINED = _mutant("without q >= 0", _unconstrained)
CAPPED = _mutant(
    "without q >= 0, at most the maximum", lambda uset, p, v: min(_unconstrained(uset, p, v), float(v[p > 0].max()))
)
ONE_PASS = _mutant("with one pass", _one_pass)
CLIPPED = _mutant("clipped and normalised", _clipped)
UNWEIGHTED = _mutant("without weights", _unweighted)
LEAVES_SUPPORT = _mutant("that leaves the support at the threshold", _leaves_support)
GREEDY = _mutant("by the greedy rule", _greedy)
HALF = _mutant("with a factor 1/2", change_radius(lambda r: 2 * r))
DOUBLE = _mutant("with a factor 2", change_radius(lambda r: r / 2))
SQUARED = _mutant("with the squared radius", change_radius(lambda r: r * r))
ROOT = _mutant("with the root of the radius", change_radius(math.sqrt))
SATURATED = _mutant("with r/(1+r)", change_radius(lambda r: r / (1 + r)))
SHIFTED = _mutant("with 1 + r second moments counted as r", change_radius(lambda r: max(r - 1, 0.0)))
FLOORED = _mutant("with a floor of the radius", change_radius(lambda r: max(r, 1e-6)))
SAMPLE = _mutant(
    "with n/(n-1)", lambda u, p, v: sigma(ChiSquare(u.radius * max(p.size, 2) / (max(p.size, 2) - 1)), p, v)
)
DIVERGENCE = _mutant("as KL of half the radius", lambda u, p, v: sigma(KullbackLeibler(u.radius / 2), p, v))
EUCLIDEAN = _mutant("without division by p", lambda u, p, v: sigma(L2(math.sqrt(u.radius), True), p, v))
SMALLEST = _mutant("of a kind nature", minimum)


def _without_rare(uset: ChiSquare, p: Floats, v: Floats) -> Floats:
    """Masses below 1e-16 are taken for rounding."""
    return sigma(uset, np.where(p < 1e-16, 0.0, p), v)


WITHOUT_RARE = _mutant("without rare states", _without_rare)
