"""Wrong objectives of linear evaluation."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import but
from robust_core import Contamination, Mellowmax, Variant
from robust_core.mdp import MDP
from robust_core.validate import Floats


class Objective:
    """J, its gradient and omega(theta), in parts that a mutant replaces."""

    def __call__(
        self, mdp: MDP, uncertainty_set: Any, policy: Floats, features: Floats, smoothing: Any, theta: Floats
    ) -> Any:
        """(J, gradient, omega)."""
        R, gamma = self.radius(uncertainty_set), self.discount(mdp)
        chain = np.einsum("sa,sat->st", policy, mdp.P)
        mu = self.law(chain)
        V, weighted = features @ theta, features.T * mu
        smooth, softmax = self.smooth(smoothing, V)
        delta = self.cost(mdp, policy) + gamma * ((1.0 - R) * chain @ V + R * smooth) - V
        moment, C = weighted @ delta, self.second_moment(weighted, features)
        slope = self.slope(gamma * (1.0 - R) * chain @ features, gamma * R * softmax @ features, weighted, features)
        omega = np.linalg.solve(C, moment)
        return self.result(self.norm(float(moment @ omega), mu, delta), 2.0 * slope @ omega, omega)

    def radius(self, uncertainty_set: Any) -> float:
        """R."""
        return float(uncertainty_set.radius)

    def discount(self, mdp: MDP) -> float:
        """gamma."""
        return mdp.gamma

    def law(self, chain: Floats) -> Floats:
        """The stationary distribution."""
        S = len(chain)
        return np.asarray(np.linalg.solve((np.eye(S) - chain + np.ones((S, S))).T, np.ones(S)), dtype=np.float64)

    def cost(self, mdp: MDP, policy: Floats) -> Floats:
        """The mean cost of a state."""
        return np.asarray((policy * mdp.cost).sum(axis=1))

    def smooth(self, smoothing: Any, V: Floats) -> tuple[float, Floats]:
        """The smooth maximum and its gradient."""
        return float(smoothing.value(V)), smoothing.gradient(V)

    def second_moment(self, weighted: Floats, features: Floats) -> Floats:
        """C."""
        return np.asarray(weighted @ features)

    def slope(self, nominal: Floats, worst: Floats, weighted: Floats, features: Floats) -> Floats:
        """M."""
        return np.asarray((nominal + worst - features).T @ weighted.T)

    def norm(self, projected: float, mu: Floats, delta: Floats) -> float:
        """J."""
        return projected

    def result(self, J: float, gradient: Floats, omega: Floats) -> Any:
        """What is returned."""
        return J, gradient, omega


class _OtherConstant(Objective):
    """Mellow-max for LSE, and the reverse."""

    def smooth(self, smoothing: Any, V: Floats) -> tuple[float, Floats]:
        sign = 1.0 if isinstance(smoothing, Mellowmax) else -1.0
        value, softmax = super().smooth(smoothing, V)
        return value + sign * float(np.log(len(V))) / smoothing.varrho, softmax


class _FrozenSoftmax(Objective):
    """The gradient of the smooth maximum is that of the hard one."""

    def smooth(self, smoothing: Any, V: Floats) -> tuple[float, Floats]:
        return super().smooth(smoothing, V)[0], np.eye(len(V))[V.argmax()]


class _NoNature(Objective):
    """M without nature's part."""

    def slope(self, nominal: Floats, worst: Floats, weighted: Floats, features: Floats) -> Floats:
        return np.asarray((nominal - features).T @ weighted.T)


class _TransposedSlope(Objective):
    def slope(self, nominal: Floats, worst: Floats, weighted: Floats, features: Floats) -> Floats:
        return np.asarray(super().slope(nominal, worst, weighted, features).T)


class _KeptLaw(Objective):
    """Keeps the stationary distribution by the kernel: another policy gets that of the first."""

    def __init__(self) -> None:
        self.kept: dict[bytes, Floats] = {}

    def __call__(
        self, mdp: MDP, uncertainty_set: Any, policy: Floats, features: Floats, smoothing: Any, theta: Floats
    ) -> Any:
        key = mdp.P.tobytes()
        if key not in self.kept:
            self.kept[key] = super().law(np.einsum("sa,sat->st", policy, mdp.P))
        self.mu = self.kept[key]
        return super().__call__(mdp, uncertainty_set, policy, features, smoothing, theta)

    def law(self, chain: Floats) -> Floats:
        return self.mu


_ALL = ("objective", "objective gradient", "tracked weights")
# A table of powers of the chain that is long enough for a chain that forgets quickly.
_POWERS = {"law": lambda self, chain: np.linalg.matrix_power(chain, 64)[0]}
# The smooth maximum over one block of states.
_BLOCK = {"smooth": lambda self, smoothing, V: _padded(Objective.smooth(self, smoothing, V[:16]), len(V))}


def _padded(part: tuple[float, Floats], states: int) -> tuple[float, Floats]:
    value, softmax = part
    return value, np.append(softmax, np.zeros(states - len(softmax)))


def _mutant(name: str, make: Any) -> Variant:
    return Variant(f"objective {name}", "objective", make(), (Contamination,), _ALL)


def _part(number: int, name: str, make: Any) -> Variant:
    """A mutant that returns one part alone."""
    parts = make()
    return Variant(
        f"{_ALL[number]} alone {name}",
        "objective",
        lambda *arguments: parts(*arguments)[number],
        (Contamination,),
        (_ALL[number],),
    )


VANILLA = _mutant("that is not robust", but(Objective, radius=lambda self, uncertainty_set: 0.0))
HALF = _mutant(
    "with half the radius",
    but(Objective, radius=lambda self, uncertainty_set: Objective.radius(self, uncertainty_set) / 2.0),
)
LOST_GAMMA = _mutant("without gamma", but(Objective, discount=lambda self, mdp: 1.0))
# All states alike.
UNIFORM = _mutant("of uniform states", but(Objective, law=lambda self, chain: np.full(len(chain), 1.0 / len(chain))))
FEW_SWEEPS = _mutant(
    "of a law after eight steps",
    but(Objective, law=lambda self, chain: np.full(len(chain), 1.0 / len(chain)) @ np.linalg.matrix_power(chain, 8)),
)
# The right eigenvector for the left one, normalised.
TRANSPOSED = _mutant(
    "of the right eigenvector",
    but(Objective, law=lambda self, chain: Objective.law(self, chain.T / chain.T.sum(axis=1, keepdims=True))),
)
FIRST_ACTION = _mutant(
    "with the costs of the first action", but(Objective, cost=lambda self, mdp, policy: np.asarray(mdp.cost[:, 0]))
)
HARD = _mutant(
    "with the hard maximum",
    but(Objective, smooth=lambda self, smoothing, V: (float(V.max()), np.eye(len(V))[V.argmax()])),
)
OTHER_CONSTANT = _mutant("with the other smooth maximum", _OtherConstant)
FROZEN_SOFTMAX = _mutant("with the gradient of the hard maximum", _FrozenSoftmax)
NO_NATURE = _mutant("without nature in its gradient", _NoNature)
# Only the value of the state depends on theta.
SEMI_GRADIENT = _mutant(
    "with a semi-gradient",
    but(Objective, slope=lambda self, nominal, worst, weighted, features: np.asarray(-features.T @ weighted.T)),
)
TRANSPOSED_SLOPE = _mutant("with a transposed slope", _TransposedSlope)
DIAGONAL = _mutant(
    "with a diagonal second moment",
    but(Objective, second_moment=lambda self, weighted, features: np.diag(np.diag(weighted @ features))),
)
RIDGE = _mutant(
    "with a ridge",
    but(Objective, second_moment=lambda self, weighted, features: weighted @ features + 1e-6 * np.eye(len(weighted))),
)
UNWEIGHTED = _mutant(
    "without the inverse of C", but(Objective, second_moment=lambda self, weighted, features: np.eye(len(weighted)))
)
UNPROJECTED = _mutant(
    "without the projection", but(Objective, norm=lambda self, projected, mu, delta: float(mu @ delta**2))
)
HALF_GRADIENT = _mutant(
    "with half the gradient", but(Objective, result=lambda self, J, gradient, omega: (J, gradient / 2.0, omega))
)
ZERO = _mutant(
    "that is always 0", but(Objective, result=lambda self, J, gradient, omega: (0.0, 0.0 * omega, 0.0 * omega))
)
ORDER = _mutant(
    "with parts in another order", but(Objective, result=lambda self, J, gradient, omega: (J, omega, gradient))
)
SIGN = _mutant(
    "with the sign of its gradient", but(Objective, result=lambda self, J, gradient, omega: (J, -gradient, -omega))
)
KEPT_LAW, GRADIENT_KEPT_LAW, WEIGHTS_KEPT_LAW = (
    _part(number, "with a law that is kept", _KeptLaw) for number in range(3)
)
POWERS, GRADIENT_POWERS, WEIGHTS_POWERS = (
    _part(number, "of a law after 64 steps", but(Objective, **_POWERS)) for number in range(3)
)
BLOCK, GRADIENT_BLOCK, WEIGHTS_BLOCK = (
    _part(number, "with the maximum of 16 states", but(Objective, **_BLOCK)) for number in range(3)
)
# Weights of the smooth maximum that are equal where its exponents hardly differ.
EQUAL_WEIGHTS = _mutant(
    "with equal weights where a maximum is nearly a mean",
    but(
        Objective,
        smooth=lambda self, smoothing, V: (
            smoothing.value(V),
            np.full(len(V), 1.0 / len(V)) if smoothing.varrho * np.ptp(V) < 1e-5 else smoothing.gradient(V),
        ),
    ),
)
