"""Wrong smoothed operators."""

from collections.abc import Callable
from typing import Any

import numpy as np

from robust_core import Contamination, LogSumExp, Mellowmax, Variant
from robust_core.mdp import MDP
from robust_core.validate import Floats

Backup = Callable[..., Floats]


def _mutant(name: str, make: Backup) -> Variant:
    return Variant(f"smoothed T {name}", "smoothed operator", make, (Contamination,), ("smoothed bellman",))


def _with_top(top: Callable[[Any, Floats, MDP], float]) -> Backup:
    """The right operator with another maximum."""

    def backup(mdp: MDP, uncertainty_set: Contamination, policy: Floats, smoothing: Any, V: Floats) -> Floats:
        R = uncertainty_set.radius
        Q = mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * top(smoothing, V, mdp))
        return np.asarray((policy * Q).sum(axis=1))

    return backup


def _other(smoothing: Any, varrho: float) -> Any:
    return type(smoothing)(varrho)


def _swapped(smoothing: Any, V: Floats, mdp: MDP) -> float:
    other = LogSumExp if isinstance(smoothing, Mellowmax) else Mellowmax
    return other(smoothing.varrho).value(V)


def _overflows(smoothing: Any, V: Floats, mdp: MDP) -> float:
    """LSE without the shift by the maximum."""
    with np.errstate(all="ignore"):
        return float(np.log(np.exp(smoothing.varrho * V).sum()) / smoothing.varrho)


def _weighted(smoothing: Any, V: Floats, mdp: MDP) -> float:
    """The softmax-weighted mean, which is below the maximum too but is no LSE."""
    return float(smoothing.gradient(V) @ V)


def _greedy(mdp: MDP, uncertainty_set: Contamination, policy: Floats, smoothing: Any, V: Floats) -> Floats:
    """The best action in place of the policy."""
    R = uncertainty_set.radius
    Q = mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * smoothing.value(V))
    return np.asarray(Q.min(axis=1))


def _uniform(mdp: MDP, uncertainty_set: Contamination, policy: Floats, smoothing: Any, V: Floats) -> Floats:
    return RIGHT(mdp, uncertainty_set, np.full(policy.shape, 1.0 / mdp.n_actions), smoothing, V)


def _undiscounted_top(mdp: MDP, uncertainty_set: Contamination, policy: Floats, smoothing: Any, V: Floats) -> Floats:
    R = uncertainty_set.radius
    Q = mdp.cost + mdp.gamma * (1.0 - R) * mdp.expectation(V) + R * smoothing.value(V)
    return np.asarray((policy * Q).sum(axis=1))


def _weights_swapped(mdp: MDP, uncertainty_set: Contamination, policy: Floats, smoothing: Any, V: Floats) -> Floats:
    return RIGHT(mdp, Contamination(1.0 - uncertainty_set.radius), policy, smoothing, V)


def _half_radius(mdp: MDP, uncertainty_set: Contamination, policy: Floats, smoothing: Any, V: Floats) -> Floats:
    return RIGHT(mdp, Contamination(uncertainty_set.radius / 2.0), policy, smoothing, V)


def _in_place(mdp: MDP, uncertainty_set: Contamination, policy: Floats, smoothing: Any, V: Floats) -> Floats:
    """Writes the values of the states one after the other into V."""
    for s in range(mdp.n_states):
        V[s] = RIGHT(mdp, uncertainty_set, policy, smoothing, V)[s]
    return V


RIGHT = _with_top(lambda smoothing, V, mdp: smoothing.value(V))
HARD_MAXIMUM = _mutant("with the hard maximum", _with_top(lambda smoothing, V, mdp: float(V.max())))
SWAPPED = _mutant("with the other smooth maximum", _with_top(_swapped))
HALF_VARRHO = _mutant("with half of varrho", _with_top(lambda soft, V, mdp: _other(soft, soft.varrho / 2).value(V)))
UNIT_VARRHO = _mutant("with varrho 1", _with_top(lambda soft, V, mdp: _other(soft, 1.0).value(V)))
UNSCALED = _mutant("not divided by varrho", _with_top(lambda soft, V, mdp: _other(soft, 1.0).value(soft.varrho * V)))
OVERFLOWS = _mutant("that overflows", _with_top(_overflows))
WEIGHTED = _mutant("with a weighted mean", _with_top(_weighted))
MINIMUM = _mutant("with a smooth minimum", _with_top(lambda soft, V, mdp: -soft.value(-V)))
POSITIVE = _mutant("of values above zero", _with_top(lambda soft, V, mdp: soft.value(np.maximum(V, 0.0))))
GREEDY = _mutant("of the best action", _greedy)
UNIFORM = _mutant("of the uniform policy", _uniform)
UNDISCOUNTED_TOP = _mutant("without gamma before the maximum", _undiscounted_top)
WEIGHTS_SWAPPED = _mutant("with R and 1−R swapped", _weights_swapped)
HALF_RADIUS = _mutant("with half the radius", _half_radius)
IN_PLACE = _mutant("in place", _in_place)


def _kept_maximum() -> Backup:
    """Keeps the smooth maximum by the values: another varrho gets that of the first."""
    kept: dict[bytes, float] = {}
    return _with_top(lambda smoothing, V, mdp: kept.setdefault(V.tobytes(), float(smoothing.value(V))))


KEPT_MAXIMUM = _mutant("with a maximum that is kept", _kept_maximum())
