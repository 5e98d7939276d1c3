"""Wrong support functions of restarts."""

import numpy as np

from properties.variants.mutants.sets_forms import change_radius, minimum, mutants_of
from robust_core import Contamination, Restart, TotalVariation, sigma
from robust_core.validate import Floats

_mutant = mutants_of(Restart, "restart")


def _form(uset: Restart, p: Floats, v: Floats, restart: float) -> float:
    return float((1 - uset.radius) * (p @ v) + uset.radius * restart)


def _of_the_support(uset: Restart, p: Floats, v: Floats) -> float:
    """The best restart state with mass."""
    held = (uset.states > 0) & (p > 0)
    return _form(uset, p, v, float(v[held].max()) if held.any() else float(p @ v))


def _conditional(uset: Restart, p: Floats, v: Floats) -> float:
    """Restarts by p on the restart states."""
    w = uset.states * p
    return _form(uset, p, v, float(w @ v / w.sum()) if w.sum() > 0 else float(v[uset.states > 0].mean()))


def _twice(uset: Restart, p: Floats, v: Floats) -> float:
    """Mass that is in the restart states already counts as restarted."""
    restarted = float(uset.states @ p)
    share = max(uset.radius - restarted, 0.0)
    return float((1 - share) * (p @ v) + share * v[uset.states > 0].max())


CONTAMINATION = _mutant("anywhere", lambda u, p, v: sigma(Contamination(u.radius), p, v))
VARIATION = _mutant("as total variation", lambda u, p, v: sigma(TotalVariation(u.radius), p, v))
AVERAGE = _mutant("at random", lambda u, p, v: _form(u, p, v, float(v[u.states > 0].mean())))
LOWEST = _mutant("at the lowest state", lambda u, p, v: _form(u, p, v, float(v[u.states > 0].min())))
FIRST = _mutant("at the first state", lambda u, p, v: _form(u, p, v, float(v[u.states > 0][0])))
COMPLEMENT = _mutant(
    "in the other states", lambda u, p, v: _form(u, p, v, float(np.where(u.states > 0, v.min(), v).max()))
)
MASKED = _mutant("with values masked by zero", lambda u, p, v: _form(u, p, v, float((u.states * v).max())))
OF_THE_SUPPORT = _mutant("in the support", _of_the_support)
CONDITIONAL = _mutant("by p", _conditional)
# p keeps all of its mass.
NOT_MIXED = _mutant("not mixed", lambda uset, p, v: float(p @ v) + uset.radius * float(v[uset.states > 0].max()))
TWICE = _mutant("counted twice", _twice)
SQUARED = _mutant("with the squared radius", change_radius(lambda r: r * r))
HALF = _mutant("with half the radius", change_radius(lambda r: r / 2))
SMALLEST = _mutant("of a kind nature", minimum)
