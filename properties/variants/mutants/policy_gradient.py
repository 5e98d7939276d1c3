"""Wrong gradients of the robust value of a policy."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robust_core import Contamination, TotalVariation, UncertaintySet, Variant
from robust_core.mdp import MDP
from robust_core.validate import Floats

Gradient = Callable[[MDP, Any, Floats, Floats], Floats]


def _mutant(name: str, make: Gradient, *sets: type[UncertaintySet], **options: Any) -> Variant:
    return Variant(
        f"policy gradient {name}", "policy gradient", make, sets or (Contamination,), ("policy gradient",), options
    )


def _parts(mdp: MDP, policy: Floats, discount: float) -> tuple[Floats, Floats, Floats]:
    """(I − discount·P_pi)⁻¹, the values of the policy and its q at this discount."""
    P = np.einsum("sa,sat->st", policy, mdp.P)
    ahead = np.linalg.inv(np.eye(mdp.n_states) - discount * P)
    W = ahead @ (policy * mdp.cost).sum(axis=1)
    return ahead, W, np.asarray(mdp.cost + discount * (mdp.P @ W))


def right(
    mdp: MDP,
    R: float,
    policy: Floats,
    rho: Floats,
    *,
    worst: Callable[[Floats], int] = lambda W: int(W.argmax()),
    factor: Callable[[float, float], float] = lambda gamma, R: gamma * R / (1.0 - gamma),
) -> Floats:
    """d(s) q(s,a) at discount gamma(1−R)."""
    ahead, W, q = _parts(mdp, policy, mdp.gamma * (1.0 - R))
    start = np.array(rho)
    start[worst(W)] += factor(mdp.gamma, R)
    return np.asarray((start @ ahead)[:, None] * q)


def _softmaxed(gradient: Floats, policy: Floats) -> Floats:
    return np.asarray(policy * (gradient - (policy * gradient).sum(axis=1, keepdims=True)))


def _vanilla(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return right(mdp, 0.0, policy, rho)


def _half(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return right(mdp, uncertainty_set.radius / 2.0, policy, rho)


def _start_alone(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """The restarts of nature are forgotten."""
    return right(mdp, uncertainty_set.radius, policy, rho, factor=lambda gamma, R: 0.0)


def _best_state(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return right(mdp, uncertainty_set.radius, policy, rho, worst=lambda W: int(W.argmin()))


def _restart_without_horizon(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return right(mdp, uncertainty_set.radius, policy, rho, factor=lambda gamma, R: gamma * R)


def _long_q(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """q at discount gamma, visits at gamma(1−R)."""
    R = uncertainty_set.radius
    ahead, W, _ = _parts(mdp, policy, mdp.gamma * (1.0 - R))
    start = np.array(rho)
    start[W.argmax()] += mdp.gamma * R / (1.0 - mdp.gamma)
    return np.asarray((start @ ahead)[:, None] * _parts(mdp, policy, mdp.gamma)[2])


def _nominal_next(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """c + gamma P V with the robust V: the worst case is in V alone."""
    R = uncertainty_set.radius
    ahead, W, _ = _parts(mdp, policy, mdp.gamma * (1.0 - R))
    start = np.array(rho)
    start[W.argmax()] += mdp.gamma * R / (1.0 - mdp.gamma)
    return np.asarray((start @ ahead)[:, None] * (mdp.cost + mdp.gamma * (mdp.P @ W)))


def _undiscounted(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """A mean over the visits of many steps, without the discount."""
    R, P = uncertainty_set.radius, np.einsum("sa,sat->st", policy, mdp.P)
    law = np.linalg.matrix_power(0.5 * (np.eye(mdp.n_states) + P), 64).T @ rho
    return np.asarray(law[:, None] * _parts(mdp, policy, mdp.gamma * (1.0 - R))[2]) / (1.0 - mdp.gamma)


def _normalised(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return (1.0 - mdp.gamma) * right(mdp, uncertainty_set.radius, policy, rho)


def _uniform_start(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return right(mdp, uncertainty_set.radius, policy, np.full(mdp.n_states, 1.0 / mdp.n_states))


def _transposed(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """Visits by (I − bP)⁻¹ and not by its transpose."""
    R = uncertainty_set.radius
    ahead, W, q = _parts(mdp, policy, mdp.gamma * (1.0 - R))
    start = np.array(rho)
    start[W.argmax()] += mdp.gamma * R / (1.0 - mdp.gamma)
    return np.asarray((ahead @ start)[:, None] * q)


def _weighted(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """Weighted by the policy, as for softmax parameters, without their baseline."""
    return policy * right(mdp, uncertainty_set.radius, policy, rho)


def _worst_pair(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """The state with the dearest action, not with the largest value."""
    q = _parts(mdp, policy, mdp.gamma * (1.0 - uncertainty_set.radius))[2]
    return right(mdp, uncertainty_set.radius, policy, rho, worst=lambda W: int(q.max(axis=1).argmax()))


def _without_baseline(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return policy * right(mdp, uncertainty_set.radius, policy, rho)


def _softmax_of_uniform(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """The baseline is the mean over the actions, not that of the policy."""
    gradient = right(mdp, uncertainty_set.radius, policy, rho)
    return np.asarray(policy * (gradient - gradient.mean(axis=1, keepdims=True)))


def _softmax_half(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return _softmaxed(right(mdp, uncertainty_set.radius / 2.0, policy, rho), policy)


def _softmax_vanilla(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return _softmaxed(right(mdp, 0.0, policy, rho), policy)


def _by_contamination(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return right(mdp, uncertainty_set.radius, policy, rho)


VANILLA = _mutant("that is not robust", _vanilla)
HALF = _mutant("with half the radius", _half)
NEVER = _mutant("that is 0", lambda mdp, uncertainty_set, policy, rho: np.zeros_like(mdp.cost))
START_ALONE = _mutant("without the restarts of nature", _start_alone)
BEST_STATE = _mutant("with restarts in the best state", _best_state)
RESTART_WITHOUT_HORIZON = _mutant("with one restart", _restart_without_horizon)
ASCENT = _mutant("uphill", lambda mdp, uncertainty_set, policy, rho: -right(mdp, uncertainty_set.radius, policy, rho))
LONG_Q = _mutant("with q at gamma", _long_q)
NOMINAL_NEXT = _mutant("with the nominal next value", _nominal_next)
UNDISCOUNTED = _mutant("with undiscounted visits", _undiscounted)
NORMALISED = _mutant("with visits that sum to 1", _normalised)
MYOPIC = _mutant(
    "of the first cost", lambda mdp, uncertainty_set, policy, rho: right(MDP(mdp.P, mdp.cost, 0.0), 0.0, policy, rho)
)
UNIFORM_START = _mutant("from a uniform start", _uniform_start)
TRANSPOSED = _mutant("with transposed visits", _transposed)
WEIGHTED = _mutant("weighted by the policy", _weighted)
WORST_PAIR = _mutant("with the dearest pair", _worst_pair)
WITHOUT_BASELINE = _mutant("of softmax without a baseline", _without_baseline, parameters="softmax")
SOFTMAX_OF_UNIFORM = _mutant("of softmax with a uniform baseline", _softmax_of_uniform, parameters="softmax")
SOFTMAX_HALF = _mutant("of softmax with half the radius", _softmax_half, parameters="softmax")
SOFTMAX_VANILLA = _mutant("of softmax that is not robust", _softmax_vanilla, parameters="softmax")
BY_CONTAMINATION = _mutant("of contamination for variation", _by_contamination, TotalVariation)
VANILLA_VARIATION = replace(_mutant("of variation that is not robust", _vanilla), sets=(TotalVariation,))
