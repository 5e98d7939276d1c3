"""Wrong support functions of the Wasserstein ball of order 1."""

import math
from typing import Any

import numpy as np

from properties.variants.mutants.sets_forms import change_radius, minimum, mutants_of
from robust_core import LocalAdversary, TotalVariation, Wasserstein, sigma
from robust_core.validate import Floats

_mutant = mutants_of(Wasserstein, "Wasserstein")


def _dual(uset: Wasserstein, p: Floats, v: Floats, multipliers: Floats, metric: Floats) -> float:
    scores = (v - multipliers[:, None, None] * metric).max(axis=2)
    return float((multipliers * uset.radius + scores @ p).min())


def _breaks(metric: Floats, v: Floats, rows: Any = slice(None)) -> Floats:
    far = metric[rows, :, None] - metric[rows, None, :]
    rise = np.broadcast_to(v[:, None] - v[None, :], far.shape)
    usable = (far > 0) & (rise > 0)
    return np.concatenate(([0.0], rise[usable] / far[usable]))


def _squared_distances(uset: Wasserstein, p: Floats, v: Floats) -> float:
    metric = uset.metric**2
    return _dual(uset, p, v, _breaks(metric, v), metric)


def _root_distances(uset: Wasserstein, p: Floats, v: Floats) -> float:
    metric = np.sqrt(uset.metric)
    return _dual(uset, p, v, _breaks(metric, v), metric)


def _lipschitz(uset: Wasserstein, p: Floats, v: Floats) -> float:
    """mean + r·(Lipschitz constant), cut at the maximum."""
    with np.errstate(all="ignore"):
        slopes = (v[:, None] - v) / uset.metric
    found = slopes[np.isfinite(slopes)]
    return min(float(p @ v) + uset.radius * float(found.max() if found.size else 0.0), float(v.max()))


def _one_target(uset: Wasserstein, p: Floats, v: Floats) -> float:
    """All mass that moves goes to the best state, the nearest first."""
    best = int(v.argmax())
    left, value = uset.radius, float(p @ v)
    for i in np.argsort(uset.metric[:, best], kind="stable"):
        moved = min(p[i], left / uset.metric[i, best]) if uset.metric[i, best] > 0 else p[i]
        value += float(moved * (v[best] - v[i]))
        left -= float(moved * uset.metric[i, best])
    return value


def _greedy_by_gain(uset: Wasserstein, p: Floats, v: Floats) -> float:
    """The largest gain first, whatever it costs; a move is made once."""
    n, left, value = p.size, uset.radius, float(p @ v)
    mass = p.copy()
    for i, j in sorted(np.ndindex(n, n), key=lambda pair: v[pair[0]] - v[pair[1]]):
        if v[j] <= v[i]:
            continue
        d = uset.metric[i, j]
        moved = min(mass[i], left / d) if d > 0 else mass[i]
        value += float(moved * (v[j] - v[i]))
        mass[i] -= moved
        left -= float(moved * d)
    return value


def _bracket(uset: Wasserstein, p: Floats, v: Floats) -> float:
    """lambda at most the steepest slope between neighbours by number."""
    steps = np.array([uset.metric[i, i + 1] for i in range(p.size - 1)])
    rises = np.abs(np.diff(v))
    slopes = rises[steps > 0] / steps[steps > 0]
    most = float(slopes.max()) if slopes.size else 1.0
    return min(_dual(uset, p, v, np.linspace(0, most, 2001), uset.metric), float(v.max()))


def _per_state(uset: Wasserstein, p: Floats, v: Floats) -> float:
    """Every state has the budget r for itself, mass or not."""
    moved = [_dual(uset, row, v, _breaks(uset.metric, v, [i]), uset.metric) for i, row in enumerate(np.eye(p.size))]
    return float(p @ np.array(moved))


def _whole_moves(uset: Wasserstein, p: Floats, v: Floats) -> float:
    """No mass is split: the multiplier's plan that costs at most r."""
    lam = np.sort(_breaks(uset.metric, v))
    for x in lam:
        target = np.where((s := v - x * uset.metric) == s.max(axis=1, keepdims=True), uset.metric, np.inf).argmin(
            axis=1
        )
        if p @ uset.metric[np.arange(p.size), target] <= uset.radius:
            return float(p @ v[target])
    return float(p @ v)


def _within_support(uset: Wasserstein, p: Floats, v: Floats) -> float:
    """Mass moves to states of the support only."""
    held = p > 0
    return float(sigma(Wasserstein(uset.radius, uset.metric[np.ix_(held, held)]), p[held] / p[held].sum(), v[held]))


SQUARED_DISTANCES = _mutant("with squared distances", _squared_distances)
ROOT_DISTANCES = _mutant("with roots of distances", _root_distances)
LIPSCHITZ = _mutant("by the Lipschitz constant", _lipschitz)
ONE_TARGET = _mutant("with one target", _one_target)
GREEDY_BY_GAIN = _mutant("greedy by gain", _greedy_by_gain)
# At radius 0 nothing moves, not even over distance 0.
NO_FREE_MOVES = _mutant(
    "without moves of distance 0", lambda uset, p, v: float(p @ v) if uset.radius == 0 else float(sigma(uset, p, v))
)
BRACKET = _mutant("with a bracket of neighbours", _bracket)
PER_STATE = _mutant("with a budget per state", _per_state)
WHOLE_MOVES = _mutant("that splits no mass", _whole_moves)
WITHIN_SUPPORT = _mutant("within the support", _within_support)
HALF = _mutant("with half the radius", change_radius(lambda r: r / 2))
DOUBLE = _mutant("with twice the radius", change_radius(lambda r: 2 * r))
ROOT = _mutant("with the root of the radius", change_radius(math.sqrt))
DISCRETE = _mutant("as total variation", lambda u, p, v: sigma(TotalVariation(min(u.radius, 1.0)), p, v))
LOCAL = _mutant("of order infinity", lambda u, p, v: sigma(LocalAdversary(u.radius, u.metric), p, v))
SMALLEST = _mutant("of a kind nature", minimum)


def _own_slopes(uset: Wasserstein, p: Floats, v: Floats) -> float:
    """Multipliers at which mass leaves a state, not those at which it goes on from one target to another."""
    usable = (uset.metric > 0.0) & (v > v[:, None])
    slopes = (v - v[:, None])[usable] / uset.metric[usable]
    return _dual(uset, p, v, np.concatenate(([0.0], slopes)), uset.metric)


OWN_SLOPES = _mutant("with the slopes from the state itself", _own_slopes)


def _five_stops(uset: Wasserstein, p: Floats, v: Floats) -> float:
    """The hull of each state ends after five segments."""
    value, segments = 0.0, []
    for mass, distances in zip(p, uset.metric, strict=True):
        at, height = 0.0, v[distances == 0].max()
        value += mass * height
        for _ in range(5):
            with np.errstate(all="ignore"):
                slopes = np.where((distances > at) & (v > height), (v - height) / (distances - at), 0.0)
            if not slopes.any():
                break
            to = int(np.where(slopes == slopes.max(), distances, -1.0).argmax())
            segments.append((slopes[to], mass * (distances[to] - at)))
            at, height = distances[to], v[to]
    left = uset.radius
    for slope, length in sorted(segments, reverse=True):
        value += slope * min(left, length)
        left -= min(left, length)
    return float(value)


FIVE_STOPS = _mutant("that stops five times", _five_stops)
