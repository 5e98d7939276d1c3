"""Wrong support functions of the local adversary."""

from typing import Any

import numpy as np

from properties.variants.mutants.sets_forms import change_radius, minimum, mutants_of
from robust_core import LocalAdversary, Wasserstein, sigma
from robust_core.validate import Floats

_mutant = mutants_of(LocalAdversary, "local adversary")


def _reach(uset: LocalAdversary) -> Any:
    return uset.metric <= uset.radius


def _best(reach: Any, v: Floats) -> Floats:
    found: Floats = np.where(reach, v, -np.inf).max(axis=1)
    return np.where(np.isfinite(found), found, v)


def _of_the_argmax(uset: LocalAdversary, p: Floats, v: Floats) -> float:
    """Only the neighbours of the best state move, to it."""
    near = _reach(uset)[int(v.argmax())]
    return float(p @ np.where(near, v.max(), v))


def _average(uset: LocalAdversary, p: Floats, v: Floats) -> float:
    reach = _reach(uset)
    return float(p @ ((reach @ v) / reach.sum(axis=1)))


def _by_index(uset: LocalAdversary, p: Floats, v: Floats) -> float:
    """Neighbours by number, not by distance."""
    place = np.arange(p.size)
    return float(p @ _best(np.abs(place[:, None] - place) <= uset.radius, v))


# A state is not its own neighbour.
OTHERS_ONLY = _mutant(
    "that may not stay", lambda uset, p, v: float(p @ _best(_reach(uset) & ~np.eye(p.size, dtype=bool), v))
)
# < r in place of <= r.
STRICTLY = _mutant("that stays below the radius", lambda uset, p, v: float(p @ _best(uset.metric < uset.radius, v)))
OF_THE_ARGMAX = _mutant("at the best state only", _of_the_argmax)
TWO_STEPS = _mutant("that moves twice", lambda uset, p, v: float(p @ _best(_reach(uset), _best(_reach(uset), v))))
AVERAGE = _mutant("that averages", _average)
LOWEST = _mutant("that takes the lowest", lambda uset, p, v: float(p @ np.where(_reach(uset), v, np.inf).min(axis=1)))
# One neighbourhood for all: that of the whole support.
WHOLE_SUPPORT = _mutant("with one neighbourhood", lambda uset, p, v: float(v[_reach(uset)[p > 0].any(axis=0)].max()))
# All mass is at the likeliest state.
LIKELIEST = _mutant("at the likeliest state", lambda uset, p, v: float(_best(_reach(uset), v)[int(p.argmax())]))
# Mass moves to states of the support only.
WITHIN_SUPPORT = _mutant("within the support", lambda uset, p, v: float(p @ _best(_reach(uset) & (p > 0), v)))
BY_INDEX = _mutant("with neighbours by number", _by_index)
# The best of p·v in the neighbourhood in place of p times the best v.
WEIGHTED = _mutant(
    "that weighs before it chooses", lambda uset, p, v: float(np.where(_reach(uset), p * v, -np.inf).max(axis=1).sum())
)
HALF = _mutant("with half the radius", change_radius(lambda r: r / 2))
DOUBLE = _mutant("with twice the radius", change_radius(lambda r: 2 * r))
BUDGET = _mutant("with a common budget", lambda u, p, v: sigma(Wasserstein(u.radius, u.metric), p, v))
SMALLEST = _mutant("of a kind nature", minimum)
