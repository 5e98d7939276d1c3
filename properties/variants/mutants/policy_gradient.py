"""Wrong gradients of the robust value of a policy."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import but
from robust_core import Contamination, TotalVariation, UncertaintySet, Variant
from robust_core.mdp import MDP
from robust_core.validate import Floats


def _parts(mdp: MDP, policy: Floats, discount: float) -> tuple[Floats, Floats, Floats]:
    """(I − discount·P_pi)⁻¹, the values of the policy and its q at this discount."""
    P = np.einsum("sa,sat->st", policy, mdp.P)
    ahead = np.linalg.inv(np.eye(mdp.n_states) - discount * P)
    W = ahead @ (policy * mdp.cost).sum(axis=1)
    return ahead, W, np.asarray(mdp.cost + discount * (mdp.P @ W))


class Gradient:
    """d(s) q(s,a) at discount gamma(1−R), in parts that a mutant replaces."""

    def __call__(self, mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Any:
        """The gradient in the entries of the policy."""
        R = self.radius(uncertainty_set)
        ahead, W, q = _parts(mdp, policy, mdp.gamma * (1.0 - R))
        start = np.array(self.start(mdp, rho))
        start[self.worst(W, q)] += self.restarts(mdp.gamma, R)
        return self.result(self.visits(start, ahead)[:, None] * self.q(mdp, policy, W, q), mdp, policy)

    def radius(self, uncertainty_set: Any) -> float:
        """R."""
        return float(uncertainty_set.radius)

    def start(self, mdp: MDP, rho: Floats) -> Floats:
        """The distribution of the first state."""
        return rho

    def worst(self, W: Floats, q: Floats) -> int:
        """Where nature restarts."""
        return int(W.argmax())

    def restarts(self, gamma: float, R: float) -> float:
        """How often it does, discounted."""
        return gamma * R / (1.0 - gamma)

    def visits(self, start: Floats, ahead: Floats) -> Floats:
        """The visits of the states, discounted."""
        return np.asarray(start @ ahead)

    def q(self, mdp: MDP, policy: Floats, W: Floats, q: Floats) -> Floats:
        """What an action is worth."""
        return q

    def result(self, gradient: Floats, mdp: MDP, policy: Floats) -> Floats:
        """What is returned."""
        return gradient


def _softmaxed(self: Gradient, gradient: Floats, mdp: MDP, policy: Floats) -> Floats:
    return np.asarray(policy * (gradient - (policy * gradient).sum(axis=1, keepdims=True)))


def _undiscounted(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """A mean over the visits of many steps, without the discount."""
    R, P = uncertainty_set.radius, np.einsum("sa,sat->st", policy, mdp.P)
    law = np.linalg.matrix_power(0.5 * (np.eye(mdp.n_states) + P), 64).T @ rho
    return np.asarray(law[:, None] * _parts(mdp, policy, mdp.gamma * (1.0 - R))[2]) / (1.0 - mdp.gamma)


def _function(name: str, make: Any, *sets: type[UncertaintySet], **options: Any) -> Variant:
    return Variant(
        f"policy gradient {name}", "policy gradient", make, sets or (Contamination,), ("policy gradient",), options
    )


def _some_visits(self: Gradient, start: Floats, ahead: Floats) -> Floats:
    """The visits of 200 steps: at discount 0.9 the others are less than 1e-9 of all."""
    after, total = np.eye(len(start)) - np.linalg.inv(ahead), start
    for _ in range(200):
        total = start + total @ after
    return np.asarray(total)


def _mutant(name: str, *sets: type[UncertaintySet], **parts: Any) -> Variant:
    return _function(name, but(Gradient, **parts)(), *sets)


def _softmax(name: str, **parts: Any) -> Variant:
    return _function(f"of softmax {name}", but(Gradient, **parts)(), parameters="softmax")


VANILLA = _mutant("that is not robust", radius=lambda self, uncertainty_set: 0.0)
HALF = _mutant("with half the radius", radius=lambda self, uncertainty_set: uncertainty_set.radius / 2.0)
NEVER = _mutant("that is 0", result=lambda self, gradient, mdp, policy: np.zeros_like(mdp.cost))
START_ALONE = _mutant("without the restarts of nature", restarts=lambda self, gamma, R: 0.0)
BEST_STATE = _mutant("with restarts in the best state", worst=lambda self, W, q: int(W.argmin()))
RESTART_WITHOUT_HORIZON = _mutant("with one restart", restarts=lambda self, gamma, R: gamma * R)
ASCENT = _mutant("uphill", result=lambda self, gradient, mdp, policy: -gradient)
# Visits at gamma(1−R).
LONG_Q = _mutant("with q at gamma", q=lambda self, mdp, policy, W, q: _parts(mdp, policy, mdp.gamma)[2])
# c + gamma P V with the robust V: the worst case is in V alone.
NOMINAL_NEXT = _mutant(
    "with the nominal next value", q=lambda self, mdp, policy, W, q: mdp.cost + mdp.gamma * (mdp.P @ W)
)
UNDISCOUNTED = _function("with undiscounted visits", _undiscounted)
NORMALISED = _mutant(
    "with visits that sum to 1", result=lambda self, gradient, mdp, policy: (1.0 - mdp.gamma) * gradient
)
MYOPIC = _function(
    "of the first cost",
    lambda mdp, uncertainty_set, policy, rho: Gradient()(MDP(mdp.P, mdp.cost, 0.0), Contamination(0.0), policy, rho),
)
UNIFORM_START = _mutant("from a uniform start", start=lambda self, mdp, rho: np.full(len(rho), 1.0 / len(rho)))
# By (I − bP)⁻¹ and not by its transpose.
TRANSPOSED = _mutant("with transposed visits", visits=lambda self, start, ahead: ahead @ start)
# As for softmax parameters, without their baseline.
WEIGHTED = _mutant("weighted by the policy", result=lambda self, gradient, mdp, policy: policy * gradient)
# The state with the dearest action, not with the largest value.
WORST_PAIR = _mutant("with the dearest pair", worst=lambda self, W, q: int(q.max(axis=1).argmax()))
WITHOUT_BASELINE = _softmax("without a baseline", result=lambda self, gradient, mdp, policy: policy * gradient)
# The baseline is the mean over the actions, not that of the policy.
SOFTMAX_OF_UNIFORM = _softmax(
    "with a uniform baseline",
    result=lambda self, gradient, mdp, policy: policy * (gradient - gradient.mean(axis=1, keepdims=True)),
)
SOFTMAX_HALF = _softmax(
    "with half the radius", radius=lambda self, uncertainty_set: uncertainty_set.radius / 2.0, result=_softmaxed
)
SOFTMAX_VANILLA = _softmax("that is not robust", radius=lambda self, uncertainty_set: 0.0, result=_softmaxed)
BY_CONTAMINATION = _mutant("of contamination for variation", TotalVariation)
VANILLA_VARIATION = _mutant("of variation that is not robust", TotalVariation, radius=lambda self, uncertainty_set: 0.0)
BLOCK = _mutant("with the worst of 16 states", worst=lambda self, W, q: int(W[:16].argmax()))
SOME_VISITS = _function("of 200 steps", but(Gradient, visits=_some_visits)(), accuracy=1e-6)
# Visits of less than a thousandth count as none.
OFTEN_VISITED = _function(
    "of what is often visited",
    but(Gradient, visits=lambda self, start, ahead: np.where(start @ ahead < 1e-3, 0.0, start @ ahead))(),
    accuracy=1e-6,
)
# The first state whose value is that of the worst to six digits.
CLOSE_TO_WORST = _function(
    "with the first that is close to the worst",
    but(Gradient, worst=lambda self, W, q: int(np.isclose(W, W.max(), rtol=1e-6).argmax()))(),
    accuracy=1e-9,
)
