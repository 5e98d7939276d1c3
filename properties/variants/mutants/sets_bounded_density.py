"""Wrong support functions of bounded densities (CVaR)."""

import numpy as np

from properties.variants.mutants.sets_forms import change_radius, falling, fill, minimum, mutants_of
from robust_core import BoundedDensity, Contamination, TotalVariation, sigma
from robust_core.validate import Floats

_mutant = mutants_of(BoundedDensity, "bounded density")


def _quantile(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    """The value at risk: where the tail begins."""
    order = falling(v)
    reach = np.cumsum(p[order])
    return float(v[order][min(int(np.searchsorted(reach, 1 - uset.radius)), v.size - 1)])


def _whole_atoms(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    """The mean of the states in the tail; the one at its edge is counted whole."""
    tail = (v >= _quantile(uset, p, v)) & (p > 0)
    return float(p[tail] @ v[tail] / p[tail].sum()) if tail.any() else float(v.max())


def _left_over_at_the_top(uset: BoundedDensity, p: Floats, v: Floats) -> float:
    """The mass R is taken from the lowest and given to the best state."""
    return float(sigma(TotalVariation(uset.radius), np.where(p > 0, p, 0.0), np.where(p > 0, v, v[p > 0].min())))


LEVEL = _mutant("of level 1−R", change_radius(lambda r: min(1.0 - r, 1.0 - 2.0**-53)))
LOWER_TAIL = _mutant("of the lower tail", minimum)
QUANTILE = _mutant("as a quantile", _quantile)
WHOLE_ATOMS = _mutant("that splits no atom", _whole_atoms)
# The part of the mean above the edge, not over 1−R.
NOT_NORMALISED = _mutant("not normalised", lambda uset, p, v: float(sigma(uset, p, v)) * (1 - uset.radius))
# q <= (1+R)p.
DENSITY = _mutant("with the density 1+R", lambda uset, p, v: fill(0 * p, (1 + uset.radius) * p, v, falling(v)))
# The positive part at its bound: Σq = 1 is forgotten.
CAPS_ONLY = _mutant("without sum one", lambda uset, p, v: float(np.maximum(v, 0.0) @ p / (1 - uset.radius)))
# For large R the maximum over all states.
ALL_STATES = _mutant(
    "that leaves the support", lambda uset, p, v: np.asarray(v.max()) if uset.radius >= 0.9 else sigma(uset, p, v)
)
UNSORTED = _mutant("that does not sort", lambda uset, p, v: fill(0 * p, p / (1 - uset.radius), v, range(p.size)))
LEFT_OVER_AT_THE_TOP = _mutant("as variation on the support", _left_over_at_the_top)
SQUARED = _mutant("with the squared radius", change_radius(lambda r: r * r))
HALF = _mutant("with half the radius", change_radius(lambda r: r / 2))
CONTAMINATION = _mutant("as contamination", lambda u, p, v: sigma(Contamination(u.radius), p, v))
VARIATION = _mutant("as total variation", lambda u, p, v: sigma(TotalVariation(u.radius), p, v))
