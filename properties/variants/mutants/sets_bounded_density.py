"""Wrong support functions of bounded densities (CVaR)."""

from typing import Any

import numpy as np

from properties.variants.mutants.sets_forms import altered, falling, fill, reduced
from robust_core import BoundedDensity, Contamination, TotalVariation, Variant, sigma
from robust_core.validate import Floats


def _mutant(name: str, make: Any) -> Variant:
    return Variant(f"bounded density {name}", "support", make, (BoundedDensity,), ("support function",))


def _quantile(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    """The value at risk: where the tail begins."""
    order = falling(v)
    reach = np.cumsum(p[order])
    return float(v[order][min(int(np.searchsorted(reach, 1 - uset.radius)), v.size - 1)])


def _whole_atoms(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    """The mean of the states in the tail; the one at its edge is counted whole."""
    tail = (v >= _quantile(uset, p, v)) & (p > 0)
    return float(p[tail] @ v[tail] / p[tail].sum()) if tail.any() else float(v.max())


def _not_normalised(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    """The part of the mean above the edge, not over 1−R."""
    return float(sigma(uset, p, v)) * (1 - uset.radius)


def _density(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    """q <= (1+R)p."""
    return fill(0 * p, (1 + uset.radius) * p, v, falling(v))


def _caps_only(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    """The positive part at its bound: Σq = 1 is forgotten."""
    return float(np.maximum(v, 0.0) @ p / (1 - uset.radius))


def _all_states(uset: BoundedDensity, p: Floats, v: Floats) -> Floats:
    """For large R the maximum over all states."""
    return np.asarray(v.max()) if uset.radius >= 0.9 else sigma(uset, p, v)


def _unsorted(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    return fill(0 * p, p / (1 - uset.radius), v, range(p.size))


def _left_over_at_the_top(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    """The mass R is taken from the lowest and given to the best state."""
    return float(sigma(TotalVariation(uset.radius), np.where(p > 0, p, 0.0), np.where(p > 0, v, v[p > 0].min())))


LEVEL = _mutant("of level 1−R", altered(lambda r: min(1.0 - r, 1.0 - 2.0**-53)))
LOWER_TAIL = _mutant("of the lower tail", reduced)
QUANTILE = _mutant("as a quantile", _quantile)
WHOLE_ATOMS = _mutant("that splits no atom", _whole_atoms)
NOT_NORMALISED = _mutant("not normalised", _not_normalised)
DENSITY = _mutant("with the density 1+R", _density)
CAPS_ONLY = _mutant("without sum one", _caps_only)
ALL_STATES = _mutant("that leaves the support", _all_states)
UNSORTED = _mutant("that does not sort", _unsorted)
LEFT_OVER_AT_THE_TOP = _mutant("as variation on the support", _left_over_at_the_top)
SQUARED = _mutant("with the squared radius", altered(lambda r: r * r))
HALF = _mutant("with half the radius", altered(lambda r: r / 2))
CONTAMINATION = _mutant("as contamination", lambda u, p, v: sigma(Contamination(u.radius), p, v))
VARIATION = _mutant("as total variation", lambda u, p, v: sigma(TotalVariation(u.radius), p, v))
